"""Known gradients: how far the estimates are from them (appendix D.3, and Algorithms 2 to 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data, Floats
from anymetric.gradients import FiniteDifferences, LinearInterpolation, Subspace, TwoStep, fit
from anymetric.ledger import Ledger
from anymetric.metrics import BoundMetric, Metric
from anymetric.metrics.rows import Rows
from anymetric.problem import Problem
from anymetric.surrogates import Profiler, bind, per_class_and_group

Floats64 = NDArray[np.float64]

KS = (2, 5, 10, 20, 30, 40, 50)
SIGMAS = (0.001, 0.01)
PROBES, TRIALS = 100, 100
# Ten seeds of ten points are the appendix's hundred.
POINTS = 10


def geometric_mean(z: Floats64) -> Floats64:
    """Return ``(prod_k z_k)^(1/K)`` along the last axis: the f of appendix D.3.

    Examples
    --------
    >>> float(geometric_mean(np.array([1.0, 4.0])))
    2.0
    """
    mean: Floats64 = np.exp(np.mean(np.log(z), axis=-1))
    return mean


def error_at_k(K: int, sigma: float, rng: np.random.Generator, points: int = POINTS) -> float:
    """Return the squared error of linear interpolation, averaged over points and trials.

    Examples
    --------
    >>> error_at_k(2, 0.01, np.random.default_rng(0), points=1) < 0.01
    True
    """
    total = 0.0
    for _ in range(points):
        z = 0.1 + rng.uniform(0.0, 0.9, size=K)
        truth = geometric_mean(z) / (K * z)
        for _ in range(TRIALS):
            one, two = z + sigma * rng.standard_normal((2, PROBES, K))
            H, M = one - two, geometric_mean(one) - geometric_mean(two)
            total += float(np.sum((fit(H, M).gradient - truth) ** 2))
    return total / (points * TRIALS)


@dataclass(frozen=True)
class Psi(Metric):
    """A known function of the profile: its slopes are known too.

    Examples
    --------
    >>> Psi("max").slopes(np.array([0.2, 0.5])).tolist()
    [0.0, 1.0]
    """

    kind: str

    greater_is_better: ClassVar[bool] = False
    needs: ClassVar[tuple[str, ...]] = ("groups",)
    decides: ClassVar[bool] = False
    ceiling: ClassVar[float] = 0.0

    @property
    def name(self) -> str:
        """``psi`` and the kind."""
        return f"psi_{self.kind}"

    def of(self, u: Floats64) -> Floats64:
        """Return psi of profiles, along the last axis."""
        return np.asarray(np.max(u, axis=-1) if self.kind == "max" else geometric_mean(u))

    def slopes(self, u: Floats64) -> Floats64:
        """Return the gradient of psi at one profile."""
        if self.kind == "max":
            return np.asarray(np.arange(len(u)) == np.argmax(u), dtype=np.float64)
        return np.asarray(geometric_mean(u) / (len(u) * u))

    def _bind(self, rows: Rows) -> BoundMetric:
        data = Data(np.zeros((len(rows), 1)), rows.y, side={"groups": rows.side["groups"]})
        return BoundPsi(self, rows, bind(per_class_and_group("logistic"), data))


@dataclass(frozen=True, eq=False)
class BoundPsi(BoundMetric):
    """`Psi` on fixed rows."""

    profiler: Profiler

    def _values(self, scores: Floats) -> Floats64:
        metric: Any = self.metric
        return np.asarray(metric.of(self.profiler.values(scores)))


PSIS = {"smooth": "geometric mean", "max": "maximum"}
CALLS = (16, 64, 256, 1024, 4096)
WIDTH = 0.05
ESTIMATORS = ("finite_differences", "interpolation", "two_step", "subspace")


def estimator(name: str, calls: int) -> Any:
    """Return a gradient estimator that makes about so many metric calls.

    Examples
    --------
    >>> estimator("subspace", 64).m
    32
    """
    return {
        "finite_differences": FiniteDifferences(m=calls - 1, sigma=WIDTH),
        "interpolation": LinearInterpolation(m=calls // 2, sigma=WIDTH),
        "two_step": TwoStep(m=calls // 2, sigma=WIDTH),
        "subspace": Subspace(m=calls // 2, sigma=WIDTH, nonnegative=False),
    }[name]


def known_problem(kind: str, rng: np.random.Generator) -> Problem:
    """Return 400 rows in two groups with the logistic loss per class and group."""
    X = rng.normal(size=(400, 10))
    groups = np.where(rng.random(400) < 0.5, "a", "b")
    y = np.where(X[:, 0] + rng.normal(size=400) > 0.5 * (groups == "a"), 1.0, -1.0)
    data = Data(X, y, side={"groups": groups})
    return Problem(data, per_class_and_group("logistic"), Psi(kind))


def estimation_error(
    kind: str, name: str, calls: int, rng: np.random.Generator, trials: int = 10
) -> float:
    """Return the squared error of an estimator over the gradient's own square, averaged.

    The points depend on the generator only, not on the estimator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> estimation_error("smooth", "subspace", 64, rng, trials=2) < 0.1
    True
    """
    places, draws = rng.spawn(2)
    problem = known_problem(kind, places)
    total = 0.0
    for _ in range(trials):
        here = Ledger(problem).evaluate(0.3 * places.normal(size=problem.size))
        truth = Psi(kind).slopes(here.profile)
        found = estimator(name, calls).estimate(Ledger(problem), here, draws).gradient
        total += float(np.sum((found - truth) ** 2) / np.sum(truth**2))
    return total / trials
