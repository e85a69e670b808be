"""Kitchens by query: blends of surrogates trained on whole queries, with honest scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.blends import Blend, Served, minimised
from anymetric.auto.pool import FOLDS, Recipe
from anymetric.blocks import Queries
from anymetric.data import Data, stacked
from anymetric.metrics.ranked import QUERY, relevance
from anymetric.models import Linear
from anymetric.models.ensemble import LinearScorer
from anymetric.models.tables import Plain
from anymetric.problem import Problem
from anymetric.starts import plain

Floats64 = NDArray[np.float64]
# Fewer judging queries than this cannot judge by turns.
FEWEST_QUERIES = 10


@dataclass(frozen=True, eq=False)
class QueryKitchen:
    """Trains blends; a query that trains too is scored by a model without it.

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
    # Reads rows for linear models that are to stand beside others.
    plain: Plain | None = None
    beside: bool = False

    @classmethod
    def build(cls, problem: Problem, rng: np.random.Generator) -> QueryKitchen:
        """Deal the judging queries into folds, those with rows of both classes evenly."""
        queries = Queries.of(problem.valid.column(QUERY))
        order = np.lexsort((rng.random(len(queries)), telling(queries, problem.valid)))
        dealt = np.empty(len(queries), dtype=np.intp)
        dealt[order] = np.arange(len(queries)) % FOLDS
        return cls(problem, dealt[queries.member])

    def standardised(self, categorical: Sequence[int] = ()) -> QueryKitchen:
        """Return the same for linear models beside others, with features as these can read them."""
        problem = self.problem
        train, valid = problem.train, problem.valid
        plain = Plain.of(stacked(train.X, valid.X), tuple(categorical))
        if plain is not None and not plain.idle:
            train = replace(train, X=plain.table(train.X))
            valid = train if self.single else replace(valid, X=plain.table(valid.X))
        model = Linear.standardised(train.X, train.weights)
        surrogates = problem.profiler.surrogates
        problem = replace(problem, train=train, valid=valid, model=model, surrogates=surrogates)
        return QueryKitchen(problem, self.fold, plain, beside=True)

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
        values = self.problem.profiler.values(np.zeros(len(self.problem.train)))
        return np.where(values > 0.0, values, 1.0)

    @cached_property
    def joins(self) -> bool:
        """Whether other queries judge than train, enough and with the columns to train too."""
        needs = {QUERY, *(c for s in self.problem.profiler.surrogates for c in s.needs)}
        there = all(name in self.problem.valid.side for name in needs)
        return not self.single and there and not self.few_of(self.problem.valid)

    @cached_property
    def both(self) -> Problem:
        """The problem on all queries, those that judge last."""
        rows = joined(self.problem.train, self.problem.valid)
        surrogates = self.problem.profiler.surrogates
        return replace(self.problem, train=rows, valid=rows, surrogates=surrogates)

    @cached_property
    def others(self) -> list[Problem]:
        """The problem without each fold of the judging queries."""
        whole = self.problem if self.single else self.both
        before = len(whole.train) - len(self.fold)
        fold = np.append(np.full(before, -1), self.fold)
        parts = [whole.train.take(np.flatnonzero(fold != k)) for k in range(FOLDS)]
        return [replace(whole, train=part, valid=part) for part in parts]

    def trained(self, blend: Blend, theta: Floats64 | None = None) -> Floats64:
        """Return the parameters of a blend, sought from `theta` if given."""
        return self._minimised(self.problem, blend, theta)

    def cook(self, blend: Blend, near: Served | None = None) -> Served:
        """Train a blend, and score the judging queries by models that they did not train.

        Each model is sought from that of what is near, which had not seen those queries either.
        """
        # Where all scores are equal every order is as good, and a loss with kinks leads nowhere.
        theta = plain(self.problem) if near is None else near.theta
        theta = self._minimised(self.both if blend.both else self.problem, blend, theta, near)
        scores = np.asarray(self.problem.judged(theta), dtype=np.float64)
        folds: tuple[Floats64, ...] = ()
        if blend.both or (self.single and not self.few):
            folds = tuple(self._without(k, blend, near) for k in range(FOLDS))
        for k, found in enumerate(folds):
            out = np.flatnonzero(self.fold == k)
            scores[out] = self.problem.model.scores(self.problem.valid.X[out], found)
        trained = np.asarray(self.problem.scores(theta), dtype=np.float64)
        recipe = Recipe(blend.name, self.problem.train.weights)
        scorer = LinearScorer(*self._raw(theta), self.plain) if self.beside else None
        return Served(recipe, theta, trained, scores, scorer, blend=blend, folds=folds)

    def _raw(self, theta: Floats64) -> tuple[Floats64, float]:
        """Return weights and offset on features as they are."""
        assert isinstance(self.problem.model, Linear)
        weights, offset = self.problem.model.raw(theta)
        return weights, float(offset)

    @cached_property
    def _free_intercept(self) -> bool:
        """Whether no surrogate feels the intercept, which then would go anywhere."""
        within = all(QUERY in s.needs for s in self.problem.profiler.surrogates)
        return within and getattr(self.problem.model, "intercept", False)

    def _without(self, k: int, blend: Blend, near: Served | None) -> Floats64:
        """Return the parameters of a blend trained without a fold of the judging queries."""
        other = self.others[k]
        theta = plain(other) if near is None else near.without(k)
        return self._minimised(other, blend, theta, near)

    def _minimised(
        self, problem: Problem, blend: Blend, theta: Floats64 | None, near: Served | None = None
    ) -> Floats64:
        steps = blend.steps_from(None if near is None else near.blend)
        found = minimised(problem, blend.weights / self.units, blend.strength, theta, steps)
        if self._free_intercept:
            found[-1] = 0.0
        return found


def joined(train: Data, valid: Data) -> Data:
    """Return the rows of both; their queries are different ones, whatever their names.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Data(np.zeros((2, 1)), np.ones(2), side={"query": np.array([7, 7])})
    >>> joined(rows, rows).side["query"].tolist()
    [0, 0, 1, 1]
    """
    first, second = (Queries.of(data.column(QUERY)) for data in (train, valid))
    shared = [name for name in train.side if name in valid.side]
    side = {name: np.append(train.side[name], valid.side[name]) for name in shared}
    side[QUERY] = np.append(first.member, len(first) + second.member)
    return replace(train.followed_by(valid), side=side)


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
