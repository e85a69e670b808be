"""Blends: weighted sums of surrogates, and the parameters that minimise them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from anymetric.auto.pool import LINEAR, Candidate
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.surrogates import Bound
from anymetric.surrogates.profiler import local

Floats64 = NDArray[np.float64]
# A sum of surrogates with kinks is followed no further than this; from parameters for the same sum
# on most of the same queries, than that.
ITERATIONS, AGAIN = 60, 20
# Blends nearer than this differ at most in the queries that train.
SAME = 1e-3


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
    both : bool
        Whether the queries that judge train too, by turns.
    family : str
        Which kind of model is trained.

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
    both: bool = False
    family: str = LINEAR

    def mixed(self, other: Blend) -> Blend:
        """Return the even mixture of two."""
        name = f"{self.name} + {other.name}"
        return replace(self, name=name, weights=0.5 * (self.weights + other.weights))

    @property
    def with_judges(self) -> Blend:
        """The same, trained on the judging queries too."""
        return replace(self, name=f"{self.name}, judges too", both=True)

    def distance(self, other: Blend) -> float:
        """Return how far another is: by weights first, then by ridge and rows."""
        apart = float(np.abs(self.weights - other.weights).sum())
        ridges = abs(float(np.log(self.strength / other.strength)))
        return apart + 10.0 * SAME * ridges + 0.1 * SAME * (self.both != other.both)

    def steps_from(self, other: Blend | None) -> int:
        """Return how many iterations to take from the parameters of another."""
        near = other is not None and self.distance(other) < SAME
        return AGAIN if near else ITERATIONS


@dataclass(frozen=True, eq=False)
class Served(Candidate):
    """A candidate, with the blend that it was trained on.

    Attributes
    ----------
    blend : Blend
    folds : tuple of arrays
        Parameters trained without each fold of the judging queries; none if no judge trained.
    """

    blend: Blend = field(default_factory=lambda: Blend("", np.ones(1)))
    folds: tuple[Floats64, ...] = ()

    def without(self, k: int) -> Floats64:
        """Return parameters that fold k of the judging queries did not train."""
        return self.folds[k] if self.folds else self.theta


def minimised(
    problem: Problem,
    weights: Floats64,
    strength: float,
    theta: Floats64 | None = None,
    iterations: int = ITERATIONS,
) -> Floats64:
    """Return the minimiser of weighted surrogates and a ridge, the intercept left free.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "squared_hinge", as_metric("error"))
    >>> minimised(problem, np.ones(1), 2.0).round(4).tolist()
    [0.6667, 0.0]
    """
    penalty = np.full(problem.size, strength / len(problem.train))
    if isinstance(problem.model, Linear) and problem.model.intercept:
        penalty[-1] = 0.0
    result = optimize.minimize(
        penalised(problem, weights, penalty),
        np.zeros(problem.size) if theta is None else theta,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "ftol": 1e-7, "gtol": 1e-6},
    )
    return np.asarray(result.x)


def penalised(
    problem: Problem, weights: Floats64, penalty: Floats64
) -> Callable[[Floats64], tuple[float, Floats64]]:
    """Return ``theta -> weights . profile(theta) + penalty . theta^2 / 2``, with its gradient.

    Surrogates without weight are not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
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
