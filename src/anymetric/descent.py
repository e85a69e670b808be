"""Descent: projected gradient descent in surrogate space (Algorithm 1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.gradients import Estimate, GradientEstimator, LinearInterpolation
from anymetric.gradients.settings import positive
from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.metrics.subjects import about
from anymetric.projections import Adagrad, Projector
from anymetric.solution import Iteration, Solution, Status, keeping

Watcher = Callable[[Iteration], bool | None]


@dataclass(frozen=True, eq=False)
class FirstEstimate:
    """A first estimate made in advance, and the state of the generator after it.

    Examples
    --------
    >>> import numpy as np
    >>> known = FirstEstimate(Estimate(np.zeros(2), np.zeros(2)), np.random.default_rng(0))
    >>> known.estimate.gradient.tolist()
    [0.0, 0.0]
    """

    estimate: Estimate
    rng: np.random.Generator


@dataclass(frozen=True)
class Descent:
    """Algorithm 1. The defaults are the paper's.

    Parameters
    ----------
    iterations : int
        T. The paper takes 250.
    step : float
        eta. The paper tunes it on validation: see `Tuned`.
    gradient : GradientEstimator
    projection : Projector
    decay : float
        The t-th step is ``step / t**decay``; 0 is the paper's constant step.
    normalised : bool
        Divide the gradient by its length, so that `step` is how far the target moves, whatever
        the unit of the metric.
    patience : int
        Iterations without any change (no probe changes the cost, or the profile does not move)
        before a start is abandoned.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> data = Data(X, np.where(X[:, 0] > 0.5, 1.0, -1.0))
    >>> ledger = Ledger(Problem(data, per_class("hinge"), as_metric("gmean")))
    >>> descent = Descent(iterations=5, gradient=LinearInterpolation(m=50, sigma=0.5))

    One iteration, a generator of iterations, or the whole run:

    >>> first = descent.advance(ledger, descent.start(ledger, np.zeros(3)), rng)
    >>> costs = [iteration.cost for iteration in descent.iterate(ledger, np.zeros(3), rng)]
    >>> descent.run(ledger, [np.zeros(3)], rng).cost <= costs[0]
    True
    """

    takes_starts: ClassVar[bool] = True
    cross_fits: ClassVar[bool] = False

    iterations: int = 250
    step: float = 0.1
    gradient: GradientEstimator = field(default_factory=LinearInterpolation)
    projection: Projector = field(default_factory=Adagrad)
    decay: float = 0.0
    normalised: bool = False
    patience: int = 10

    def __post_init__(self) -> None:
        positive("iterations", self.iterations)
        positive("step", self.step)
        positive("patience", self.patience)

    def start(self, ledger: Ledger, theta: NDArray[np.float64], number: int = 0) -> Iteration:
        """Evaluate a starting point: iteration 0."""
        with about(stage="descent", start=number, iteration=0):
            here = ledger.evaluate(theta)
        return Iteration(0, number, here, here.profile, calls=ledger.calls)

    def advance(
        self,
        ledger: Ledger,
        last: Iteration,
        rng: np.random.Generator,
        estimate: Estimate | None = None,
    ) -> Iteration:
        """Run one iteration: estimate (unless one is given), step, project, evaluate."""
        with about(stage="descent", start=last.start, iteration=last.number + 1):
            return self._advance(ledger, last, rng, estimate)

    def _advance(
        self, ledger: Ledger, last: Iteration, rng: np.random.Generator, estimate: Estimate | None
    ) -> Iteration:
        began = time.perf_counter()
        number = last.number + 1
        eta = self.step / number**self.decay
        if estimate is None:
            estimate = self.gradient.estimate(ledger, last.here, rng)
        length = float(np.linalg.norm(estimate.gradient)) if self.normalised else 1.0
        target = last.point - eta * estimate.gradient / (length or 1.0)
        # Theorem 2 sets eta = 1 / beta^2 and requires the accuracy 1 / (beta^2 T).
        projection = self.projection.project(
            ledger.problem,
            target,
            last.theta,
            accuracy=eta / self.iterations,
            state=None if last.projection is None else last.projection.state,
        )
        cost = ledger.cost(ledger.problem.validation_scores(projection.theta))
        here = Probe(projection.theta, projection.profile, cost)
        seconds = time.perf_counter() - began
        calls = ledger.calls
        return Iteration(
            number, last.start, here, projection.point, target, estimate, projection, calls, seconds
        )

    def iterate(
        self,
        ledger: Ledger,
        theta: NDArray[np.float64],
        rng: np.random.Generator,
        number: int = 0,
        estimate: Estimate | None = None,
    ) -> Iterator[Iteration]:
        """Yield the iterations from one start; the caller may stop, print or save them."""
        iteration = self.start(ledger, theta, number)
        yield iteration
        while iteration.number < self.iterations:
            iteration = self.advance(ledger, iteration, rng, estimate)
            estimate = None
            yield iteration

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None = None,
        known: Sequence[FirstEstimate] | None = None,
    ) -> Solution:
        """Run from every start and keep the best iteration by cost.

        Parameters
        ----------
        watch : function of a Iteration, optional
            Called after every iteration; a true return value stops the run.
        known : one FirstEstimate a start, optional
            Estimates at the starts, where they were made already.
        """
        iterations: list[Iteration] = []
        ends: list[Status] = []
        with keeping(lambda cut: conclude(iterations, [cut], ledger.calls) if iterations else None):
            try:
                for number, child in enumerate(rng.spawn(len(starts))):
                    estimate = None
                    if known is not None:
                        estimate, child = known[number].estimate, deepcopy(known[number].rng)
                    walk = self.iterate(ledger, starts[number], child, number, estimate)
                    ends.append(follow(walk, iterations, self.patience, watch))
                    if ends[-1] is Status.STOPPED:
                        break
            except BudgetSpent:
                ends.append(Status.BUDGET)
        if not iterations:
            raise ValueError(
                "max_metric_calls must allow one evaluation of a starting model; got "
                f"{ledger.max_calls}."
            )
        return conclude(iterations, ends, ledger.calls)


def follow(
    walk: Iterator[Iteration], iterations: list[Iteration], patience: int, watch: Watcher | None
) -> Status:
    """Append to `iterations` until all are done, nothing changes, or the caller stops."""
    flat = still = 0
    before: Iteration | None = None
    for iteration in walk:
        iterations.append(iteration)
        if watch is not None and watch(iteration):
            return Status.STOPPED
        if iteration.estimate is not None and before is not None:
            flat = flat + 1 if iteration.estimate.flat else 0
            moved = not np.array_equal(iteration.theta, before.theta)
            still = 0 if moved or iteration.estimate.flat else still + 1
        if flat >= patience:
            return Status.FLAT
        if still >= patience:
            return Status.CONVERGED
        before = iteration
    return Status.COMPLETED


def conclude(iterations: Sequence[Iteration], ends: Sequence[Status], calls: int) -> Solution:
    """Return the best iteration and the status of the run, or that of the best start."""
    best = min(iterations, key=lambda iteration: iteration.cost)
    final = ends[-1]
    if final not in (Status.BUDGET, Status.STOPPED, Status.FAILED):
        moving = [end for end in ends if end is not Status.FLAT]
        final = ends[best.start] if moving and ends[best.start] in moving else ends[-1]
        final = moving[0] if moving and final is Status.FLAT else final
    return Solution(best, final, tuple(iterations), calls)
