"""Tuning: the paper's grids of step and sigma, judged by the validation cost."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from anymetric.descent import Descent, Known, Watcher
from anymetric.ledger import Ledger
from anymetric.problem import Problem
from anymetric.solution import Solution

# Appendix, "Choice of Hyper-parameters".
FMEASURE_STEPS = (0.05, 0.1, 0.5, 1.0, 5.0)
FMEASURE_SIGMAS = (0.05, 0.1, 0.5)
RANKING_STEPS = (0.001, 0.005, 0.01)
RANKING_SIGMAS = (1.5,)
PROXY_STEPS = (0.01, 0.05, 0.1, 0.5, 1.0)
PROXY_SIGMAS = (0.01, 0.05, 0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Tuned:
    """A descent run at every step and sigma of a grid; the lowest validation cost wins.

    All runs share the random draws, and all steps at one sigma share the first gradient.

    Parameters
    ----------
    descent : Descent
        Its step and its gradient's sigma are replaced by those of the grid.
    steps, sigmas : sequences of float
        The paper's grid for F-measures by default.
    n_jobs : int or None
        Sigmas run in parallel, through joblib.

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
    >>> descent = Descent(turns=3, gradient=LinearInterpolation(m=20))
    >>> solution = Tuned(descent, steps=(0.1, 1.0), sigmas=(0.1,)).run(ledger, [np.zeros(3)], rng)
    >>> sorted(solution.settings)
    ['grid', 'sigma', 'step']
    """

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
        """Run the grid. A limit on the calls is shared out evenly over its runs."""
        rounds = len(self.steps) * len(self.sigmas)
        share = None if ledger.max_calls is None else int(ledger.left) // rounds
        (child,) = rng.spawn(1)
        columns = Parallel(n_jobs=self.n_jobs)(
            delayed(run_sigma)(self, sigma, ledger.problem, share, starts, child, watch)
            for sigma in self.sigmas
        )
        ledger.calls += sum(calls for _, calls in columns)
        runs = [run for column, _ in columns for run in column]
        best = min(runs, key=lambda run: run.cost)
        grid = [{**run.settings, "cost": run.cost} for run in runs]
        chosen: Solution = replace(
            best, calls=ledger.calls, settings={**best.settings, "grid": grid}
        )
        return chosen


def run_sigma(
    tuned: Tuned,
    sigma: float,
    problem: Problem,
    share: int | None,
    starts: Sequence[NDArray[np.float64]],
    rng: np.random.Generator,
    watch: Watcher | None,
) -> tuple[list[Solution], int]:
    """Run every step at one sigma; return the runs and the metric calls made."""
    gradient = replace(tuned.descent.gradient, sigma=sigma)  # type: ignore[type-var]
    shared = Ledger(problem)
    known = None
    # Until the first step is taken nothing depends on its length.
    if share is None and len(tuned.steps) > 1:
        known = [
            Known.at(gradient, shared, theta, child)
            for theta, child in zip(starts, deepcopy(rng).spawn(len(starts)), strict=True)
        ]
    runs, calls = [], shared.calls
    for step in tuned.steps:
        ledger = Ledger(problem, share)
        descent = replace(tuned.descent, step=step, gradient=gradient)
        run = descent.run(ledger, starts, deepcopy(rng), watch, known)
        runs.append(replace(run, settings={"step": step, "sigma": sigma}))
        calls += ledger.calls
    return runs, calls
