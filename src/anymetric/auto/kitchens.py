"""Kitchens by query: weighted sums of surrogates, trained on whole queries, with honest scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from anymetric.auto.pool import FOLDS, Candidate, Recipe
from anymetric.blocks import Queries
from anymetric.data import Data
from anymetric.metrics.ranked import QUERY, relevance
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.surrogates import Bound
from anymetric.surrogates.profiler import local

Floats64 = NDArray[np.float64]
# A sum of surrogates with kinks is followed no further than this.
ITERATIONS = 60
# Fewer judging queries than this cannot judge by turns.
FEWEST_QUERIES = 10


@dataclass(frozen=True, eq=False)
class Blend:
    """A weighted sum of the surrogates, each in units of its value where all scores are equal.

    Attributes
    ----------
    name : str
    weights : array of shape (K,)
        They sum to one.
    strength : float
        Ridge, in units of one row.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = Blend("one", np.array([1.0, 0.0])), Blend("two", np.array([0.0, 1.0]))
    >>> one.mixed(two).name, one.mixed(two).weights.tolist()
    ('one + two', [0.5, 0.5])
    """

    name: str
    weights: Floats64
    strength: float = 30.0

    def mixed(self, other: Blend) -> Blend:
        """Return the even mixture of two."""
        name = f"{self.name} + {other.name}"
        return replace(self, name=name, weights=0.5 * (self.weights + other.weights))


@dataclass(frozen=True, eq=False)
class Served(Candidate):
    """A candidate, with the blend that it was trained on."""

    blend: Blend = field(default_factory=lambda: Blend("", np.ones(1)))


@dataclass(frozen=True, eq=False)
class QueryKitchen:
    """Trains blends; where there is but one sample, a query is scored by a model without it.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import Pairwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=200) > 0.0, 1.0, -1.0)
    >>> data = Data(X, y, side={"query": np.repeat(np.arange(20), 10)})
    >>> kitchen = QueryKitchen.build(Problem(data, Pairwise(), as_metric("map")), rng)
    >>> served = kitchen.cook(Blend("pairs", np.ones(1)))
    >>> bool(served.theta[0] > 2.0 * abs(served.theta[1])), served.valid.shape
    (True, (200,))
    """

    problem: Problem
    fold: NDArray[np.intp]  # of each judging row

    @classmethod
    def build(cls, problem: Problem, rng: np.random.Generator) -> QueryKitchen:
        """Deal the judging queries into folds, those with rows of both classes evenly."""
        queries = Queries.of(problem.valid.column(QUERY))
        order = np.lexsort((rng.random(len(queries)), telling(queries, problem.valid)))
        dealt = np.empty(len(queries), dtype=np.intp)
        dealt[order] = np.arange(len(queries)) % FOLDS
        return cls(problem, dealt[queries.member])

    @property
    def single(self) -> bool:
        """Whether there is but one sample."""
        return self.problem.valid is self.problem.train

    @cached_property
    def few(self) -> bool:
        """Whether there is one sample, of too few queries to judge by turns."""
        return self.single and self.few_of(self.problem.valid)

    @staticmethod
    def few_of(data: Data) -> bool:
        """Return whether rows have too few queries with rows of different relevance."""
        return int(telling(Queries.of(data.column(QUERY)), data).sum()) < FEWEST_QUERIES

    @cached_property
    def units(self) -> Floats64:
        """Each surrogate where all scores are equal; one if that is its least."""
        values = self.problem.profile(np.zeros(self.problem.size))
        return np.where(values > 0.0, values, 1.0)

    @cached_property
    def others(self) -> list[Problem]:
        """The problem without each fold of the queries."""
        parts = [self.problem.train.take(np.flatnonzero(self.fold != k)) for k in range(FOLDS)]
        return [replace(self.problem, train=part, valid=part) for part in parts]

    def trained(self, blend: Blend, theta: Floats64 | None = None) -> Floats64:
        """Return the parameters of a blend, sought from `theta` if given."""
        return self._minimised(self.problem, blend, theta)

    def cook(self, blend: Blend, theta: Floats64 | None = None) -> Served:
        """Train a blend, and score the judging queries by models that they did not train."""
        theta = self.trained(blend, theta)
        scores = np.asarray(self.problem.judged(theta), dtype=np.float64)
        if self.single and not self.few:
            for k, other in enumerate(self.others):
                out = np.flatnonzero(self.fold == k)
                found = self._minimised(other, blend, theta)
                scores[out] = self.problem.model.scores(self.problem.valid.X[out], found)
        trained = np.asarray(self.problem.scores(theta), dtype=np.float64)
        recipe = Recipe(blend.name, self.problem.train.weights)
        return Served(recipe, theta, trained, scores, blend)

    def _minimised(self, problem: Problem, blend: Blend, theta: Floats64 | None) -> Floats64:
        """Return the minimiser of the blend and its ridge, the intercept left free."""
        penalty = np.full(problem.size, blend.strength / len(problem.train))
        if isinstance(problem.model, Linear) and problem.model.intercept:
            penalty[-1] = 0.0
        objective = penalised(problem, blend.weights / self.units, penalty)
        start = np.zeros(problem.size) if theta is None else theta
        result = optimize.minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": ITERATIONS, "ftol": 1e-7, "gtol": 1e-6},
        )
        return np.asarray(result.x)


def telling(queries: Queries, data: Data) -> NDArray[np.bool_]:
    """Return which queries have rows of different relevance.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, 1.0]))
    >>> telling(Queries.of(np.array([1, 1, 2])), data).tolist()
    [True, False]
    """
    grades = relevance(data)[queries.order]
    highest = np.maximum.reduceat(grades, queries.start)
    return np.asarray(highest > np.minimum.reduceat(grades, queries.start))


def penalised(
    problem: Problem, weights: Floats64, penalty: Floats64
) -> Callable[[Floats64], tuple[float, Floats64]]:
    """Return ``theta -> weights . profile(theta) + penalty . theta^2 / 2``, with its gradient.

    Surrogates without weight are not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> f = penalised(Problem(data, "hinge", as_metric("error")), np.ones(1), np.zeros(2))
    >>> f(np.zeros(2))[0]
    1.0
    """
    X, model = problem.tables[0], problem.model
    parts = weighed_parts(problem, weights)

    def objective(theta: Floats64) -> tuple[float, Floats64]:
        scores = model.scores(X, theta)
        found = [(w, *local(part, scores)) for part, w in parts]
        kept = penalty * theta
        value = sum(float(w @ values) for w, values, _ in found) + 0.5 * float(kept @ theta)
        slope = np.asarray(sum(slopes.mixed(w) for w, _, slopes in found))
        return value, model.pullback(X, theta, slope) + kept

    return objective


def weighed_parts(problem: Problem, weights: Floats64) -> list[tuple[Bound, Floats64]]:
    """Return the parts of the profiler that weigh something, with their weights."""
    profiler = problem.profiler
    nothing = np.zeros(len(problem.train))
    sizes = [1] if len(profiler) == 1 else [len(part.values(nothing)) for part in profiler.parts]
    placed = np.empty_like(weights)
    placed[profiler.order] = weights
    shares = np.split(placed, np.cumsum(sizes)[:-1])
    return [(part, w) for part, w in zip(profiler.parts, shares, strict=True) if np.any(w)]
