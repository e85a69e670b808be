"""Tuning: grid search of step and sigma, as in the paper, by the validation cost."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from anymetric.descent import Descent, FirstEstimate, Watcher, conclude
from anymetric.gradients import GradientEstimator
from anymetric.ledger import Ledger, add_call_number
from anymetric.metrics import MetricError
from anymetric.metrics.evaluations import carried
from anymetric.problem import Problem
from anymetric.solution import Interrupted, Iteration, Solution, Status, keeping
from anymetric.summary import Summary

# Appendix, "Choice of Hyper-parameters".
FMEASURE_STEPS = (0.05, 0.1, 0.5, 1.0, 5.0)
FMEASURE_SIGMAS = (0.05, 0.1, 0.5)
RANKING_STEPS = (0.001, 0.005, 0.01)
RANKING_SIGMAS = (1.5,)
PROXY_STEPS = (0.01, 0.05, 0.1, 0.5, 1.0)
PROXY_SIGMAS = (0.01, 0.05, 0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Tuned:
    """Grid search of the step and sigma of a descent, by the validation cost.

    All runs share the random draws, and all steps at one sigma share the first gradient.

    Parameters
    ----------
    descent : Descent
        Its step and its gradient's sigma are replaced by those of the grid.
    steps, sigmas : sequences of float
        The paper's grid for F-measures by default.
    n_jobs : int or None
        Number of runs in parallel, through joblib.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.gradients import LinearInterpolation
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> data = Data(X, np.where(X[:, 0] > 0.5, 1.0, -1.0))
    >>> ledger = Ledger(Problem(data, per_class("hinge"), as_metric("gmean")))
    >>> descent = Descent(iterations=3, gradient=LinearInterpolation(m=20))
    >>> solution = Tuned(descent, steps=(0.1, 1.0), sigmas=(0.1,)).run(ledger, [np.zeros(3)], rng)
    >>> sorted(solution.summary.chosen), len(solution.summary.tried)
    (['sigma', 'step'], 2)
    """

    takes_starts: ClassVar[bool] = True
    cross_fits: ClassVar[bool] = False

    descent: Descent = field(default_factory=Descent)
    steps: Sequence[float] = FMEASURE_STEPS
    sigmas: Sequence[float] = FMEASURE_SIGMAS
    n_jobs: int | None = None

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Run the grid. A limit on the calls is split evenly among its runs.

        `watch` is called in this process; for runs in other processes, once they are done.
        """
        elsewhere = effective_n_jobs(self.n_jobs) > 1
        runs: list[Solution] = []
        evaluated: list[Iteration] = []

        def cut(short: BaseException, status: Status) -> Solution | None:
            last = getattr(short, "best", None)
            found = runs if last is None else [*runs, last]
            if evaluated:
                found = [*found, conclude(evaluated, [status], ledger.calls)]
            return replace(best_of(found, ledger.calls), status=status) if found else None

        try:
            finished = self._runs(ledger, starts, rng, None if elsewhere else watch, evaluated)
            for run in finished:
                ledger.calls += run.calls
                runs.append(run)
                if stops(run, watch if elsewhere else None):
                    cancel(finished)
                    return replace(best_of(runs, ledger.calls), status=Status.STOPPED)
        except MetricError as error:
            ledger.calls += error.call or 0
            add_call_number(error, ledger.calls)
            error.best = cut(error, Status.FAILED)
            raise
        except KeyboardInterrupt as stop:
            ledger.calls += getattr(getattr(stop, "best", None), "calls", 0)
            raise Interrupted(cut(stop, Status.STOPPED)) from stop
        return best_of(runs, ledger.calls)

    def _runs(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None,
        evaluated: list[Iteration],
    ) -> Generator[Solution, None, None]:
        """Return the runs of the grid as they are done, in its order."""
        cells = [Cell(step, sigma) for sigma in self.sigmas for step in self.steps]
        share = None
        if ledger.max_calls is not None:
            cells = cells[: max(int(ledger.left), 1)]  # each needs one evaluation at least
            share = (ledger.rest or 0) // len(cells)
        (child,) = rng.spawn(1)
        # The first estimate does not depend on the step.
        known = self._known(ledger, starts, child, evaluated) if share is None else {}
        jobs = (
            delayed(carried(cell.run))(
                self.descent, ledger.problem, share, starts, child, watch, known
            )
            for cell in cells
        )
        runs: Generator[Solution, None, None] = Parallel(self.n_jobs, return_as="generator")(jobs)
        return runs

    def _known(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        evaluated: list[Iteration],
    ) -> dict[float, list[FirstEstimate]]:
        """Return the first estimates at each sigma, counted; the starts go into `evaluated`."""
        if len(self.steps) == 1:
            return {}
        found = Parallel(self.n_jobs, return_as="generator")(
            delayed(carried(first_estimates))(self.descent, sigma, ledger.problem, starts, rng)
            for sigma in self.sigmas
        )
        known = {}
        for sigma, (made, iterations, calls) in zip(self.sigmas, found, strict=True):
            ledger.calls += calls
            evaluated[:] = iterations
            known[sigma] = made
        return known


@dataclass(frozen=True)
class Cell:
    """One run of the grid.

    Examples
    --------
    >>> Cell(0.1, 0.05)
    Cell(step=0.1, sigma=0.05)
    """

    step: float
    sigma: float

    def run(
        self,
        descent: Descent,
        problem: Problem,
        share: int | None,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None,
        known: dict[float, list[FirstEstimate]],
    ) -> Solution:
        """Run the descent with this step and sigma; every cell sees the same random draws."""
        gradient = with_sigma(descent, self.sigma)
        cell = replace(descent, step=self.step, gradient=gradient)
        first = known.get(self.sigma)
        summary = Summary(chosen={"step": self.step, "sigma": self.sigma})
        try:
            run = cell.run(Ledger(problem, share), starts, deepcopy(rng), watch, first)
        except (MetricError, Interrupted) as cut:
            if cut.best is not None:
                cut.best = replace(cut.best, summary=summary)
            if isinstance(cut, MetricError):
                cut.args = (f"{cut} The run had step {self.step:g} and sigma {self.sigma:g}.",)
            raise
        return replace(run, summary=summary)


def first_estimates(
    descent: Descent,
    sigma: float,
    problem: Problem,
    starts: Sequence[NDArray[np.float64]],
    rng: np.random.Generator,
) -> tuple[list[FirstEstimate], list[Iteration], int]:
    """Return the estimates at the starts, the evaluated starts, and the metric calls of both."""
    ledger, gradient = Ledger(problem), with_sigma(descent, sigma)
    known: list[FirstEstimate] = []
    iterations: list[Iteration] = []
    with keeping(lambda cut: conclude(iterations, [cut], ledger.calls) if iterations else None):
        for number, child in enumerate(deepcopy(rng).spawn(len(starts))):
            iterations.append(descent.start(ledger, starts[number], number))
            known.append(
                FirstEstimate(gradient.estimate(ledger, iterations[-1].here, child), child)
            )
    return known, iterations, ledger.calls


def with_sigma(descent: Descent, sigma: float) -> GradientEstimator:
    """Return the descent's gradient estimator with another sigma."""
    return replace(descent.gradient, sigma=sigma)  # type: ignore[type-var]


def stops(run: Solution, watch: Watcher | None) -> bool:
    """Whether the caller has stopped a run, or stops it when given its iterations."""
    if run.status is Status.STOPPED:
        return True
    return watch is not None and any(watch(iteration) for iteration in run.iterations)


def cancel(finished: Generator[Solution, None, None]) -> None:
    """Cancel the runs under way, without joblib's warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*have been cancelled", category=UserWarning)
        finished.close()


def best_of(runs: Sequence[Solution], calls: int) -> Solution:
    """Return the run of the lowest cost, with the results of the whole grid."""
    best = min(runs, key=lambda run: run.cost)
    chosen = [(run.summary.chosen, run.cost) for run in runs if run.summary.chosen]
    tried = tuple({**settings, "cost": cost} for settings, cost in chosen)
    found: Solution = replace(best, calls=calls, summary=replace(best.summary, tried=tried))
    return found


def max_iterations(method: Any, starts: int) -> int | None:
    """Return the maximum number of iterations of a method; None if there is none.

    Examples
    --------
    >>> max_iterations(Descent(iterations=9), 2)
    20
    """
    if isinstance(method, Descent):
        return starts * (method.iterations + 1)
    if isinstance(method, Tuned):
        runs = len(method.steps) * len(method.sigmas)
        return runs * (max_iterations(method.descent, starts) or 0) or None
    return None
