"""Trials: the models that a baseline tries, each evaluated, counted and kept."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.metrics import MetricError, Sweep
from anymetric.problem import Problem, blocks
from anymetric.solution import Iteration, Solution, Status
from anymetric.summary import Summary, plain

Floats = NDArray[np.float64]


class Trials:
    """A problem, a count of metric calls, and the models tried so far.

    Parameters
    ----------
    problem : Problem
    max_calls : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> trials = Trials(Problem(data, "logistic", as_metric("error")))
    >>> trials.judge(np.array([-1.0, 0.0]), C=1.0)
    >>> trials.shifted(np.array([1.0, 5.0]), C=10.0)
    >>> solution = trials.solution()
    >>> solution.cost, solution.summary.chosen, solution.calls
    (0.0, {'shift': -5.0, 'C': 10.0}, 2)
    """

    def __init__(self, problem: Problem, max_calls: int | None = None) -> None:
        self.problem = problem
        self.ledger = Ledger(problem, max_calls)
        self.iterations: list[Iteration] = []
        self.settings: list[dict[str, Any]] = []
        self._last = time.perf_counter()

    def judge(self, theta: Floats, scores: Floats | None = None, **settings: Any) -> None:
        """Keep a model at its own threshold, by its scores of the validation rows."""
        scores = self.scores(theta) if scores is None else scores
        self.keep(theta, float(self.ledger.ask(self.problem.judge, scores)), **settings)

    def shifted(self, theta: Floats, limit: int | None = None, **settings: Any) -> None:
        """Keep a model at its best threshold: `shift`, to be added to its intercept."""
        self.at_best(self.scores(theta), theta, limit, **settings)

    def at_best(
        self,
        scores: Floats,
        theta: Floats,
        limit: int | None = None,
        profile: Floats | None = None,
        **settings: Any,
    ) -> None:
        """Keep a model at the best threshold of these scores of its, even if a later one fails."""
        swept = None
        try:
            swept = self.sweep(scores, limit)
        except MetricError as error:
            swept = error.swept
            raise
        finally:
            if swept is not None:
                cost, shift = float(swept.costs[swept.best]), float(swept.shifts[swept.best])
                self.keep(theta, cost, profile, shift=shift, **settings)

    def best_of(self, thetas: Floats, **settings: Any) -> None:
        """Keep the best of many models ``(m, p)``; a short budget evaluates evenly spaced ones."""
        if self.ledger.left < 1:
            raise BudgetSpent(f"All {self.ledger.max_calls} calls are spent.")
        numbers = np.arange(len(thetas))
        if len(thetas) > self.ledger.left:
            # The last are the best trained.
            numbers = np.linspace(len(thetas) - 1, 0, int(self.ledger.left)).round().astype(int)
        costs: list[float] = []
        try:
            for part in blocks(thetas[numbers], len(self.problem.valid)):
                costs.extend(self.ledger.ask(self.problem.judge, self.scores(part)))
        except MetricError as error:
            costs.extend(self.problem.metric.cost(np.array(error.answers)))
            raise
        finally:
            if costs:
                best = int(np.argmin(costs))
                number = int(numbers[best])
                self.keep(thetas[number], float(costs[best]), iteration=number, **settings)

    def sweep(self, scores: Floats, limit: int | None = None) -> Sweep:
        """Evaluate every threshold of the validation scores, or the scores as they are."""
        metric = self.problem.metric
        if metric.decides:
            return self.ledger.sweep(scores, limit)
        costs = np.atleast_1d(self.ledger.ask(self.problem.judge, scores))
        return Sweep(np.zeros(1), metric.value(costs), costs)

    def share(self, rounds: int) -> int | None:
        """Return how many thresholds each of several sweeps may evaluate; None for all."""
        if np.isinf(self.ledger.left):
            return None
        return max(int(self.ledger.left) // rounds, 1)

    def scores(self, theta: Floats) -> Floats:
        """Return the validation scores of one model or of many."""
        return np.asarray(self.problem.model.scores(self.problem.valid.X, theta), dtype=np.float64)

    def keep(
        self, theta: Floats, cost: float, profile: Floats | None = None, **settings: Any
    ) -> None:
        """Keep a model that has been evaluated elsewhere."""
        now = time.perf_counter()
        profile = self.problem.profile(theta) if profile is None else profile
        here = Probe(theta, profile, cost)
        number, calls = len(self.iterations), self.ledger.calls
        self.iterations.append(
            Iteration(number, 0, here, profile, calls=calls, seconds=now - self._last)
        )
        self.settings.append(settings)
        self._last = now

    def solution(self, status: Status = Status.COMPLETED) -> Solution:
        """Return the best of the trials: among equals the first."""
        if not self.iterations:
            raise ValueError(
                "max_metric_calls must allow one evaluation of a model; got "
                f"{self.ledger.max_calls}."
            )
        best = min(self.iterations, key=lambda iteration: iteration.cost)
        tried = tuple(
            {**plain(settings), "cost": iteration.cost}
            for settings, iteration in zip(self.settings, self.iterations, strict=True)
        )
        summary = Summary(chosen=self.settings[best.number], tried=tried)
        return Solution(best, status, tuple(self.iterations), self.ledger.calls, summary)
