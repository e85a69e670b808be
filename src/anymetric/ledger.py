"""Ledger: counts the evaluations of the metric, and keeps to the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.batches import Batch, batch_scores
from anymetric.data import Floats
from anymetric.metrics import BoundMetric, MetricError, Sweep
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.evaluations import Question, answered, current
from anymetric.metrics.subjects import subject
from anymetric.problem import Problem, blocks

PLACE = "It was call {} of the run."


class BudgetSpent(Exception):  # noqa: N818 - the end of a run, not a mistake
    """The next evaluation would exceed `max_calls`; nothing was evaluated.

    Examples
    --------
    >>> raise BudgetSpent("10 calls are spent")
    Traceback (most recent call last):
    anymetric.ledger.BudgetSpent: 10 calls are spent
    """


@dataclass(frozen=True, eq=False)
class Probe:
    """One evaluation: parameters, profile and cost.

    Examples
    --------
    >>> import numpy as np
    >>> Probe(np.zeros(2), np.ones(1), 0.5).cost
    0.5
    """

    theta: NDArray[np.float64]
    profile: NDArray[np.float64]
    cost: float


@dataclass(frozen=True, eq=False)
class Probes:
    """m evaluations: profiles ``(m, K)`` and their costs ``(m,)``.

    Examples
    --------
    >>> import numpy as np
    >>> Probes(np.zeros((2, 3)), np.ones(2)).costs.tolist()
    [1.0, 1.0]
    """

    profiles: NDArray[np.float64]
    costs: NDArray[np.float64]


class Ledger:
    """A problem with a counter of metric calls and an optional limit on them.

    Parameters
    ----------
    problem : Problem
    max_calls : int, optional
    n_jobs : int, optional
        Processes that share the calls of a slow user's metric.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> ledger = Ledger(Problem(data, "hinge", as_metric("error")))
    >>> ledger.probe(np.zeros((3, 2))).costs.tolist(), ledger.calls
    ([0.5, 0.5, 0.5], 3)
    """

    def __init__(
        self, problem: Problem, max_calls: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.problem = problem
        self.max_calls = max_calls
        self.n_jobs = n_jobs
        self.calls = 0

    @property
    def left(self) -> float:
        """Evaluations that may still be made; with repeats each takes several calls."""
        return np.inf if self.rest is None else self.rest // self.repeats

    @property
    def rest(self) -> int | None:
        """Calls that may still be made; None where there is no limit."""
        return None if self.max_calls is None else self.max_calls - self.calls

    @property
    def repeats(self) -> int:
        """How many calls an evaluation takes."""
        repeats = current().conduct.repeats
        return repeats if isinstance(repeats, int) and self.problem.metric.black_box else 1

    @property
    def evaluations(self) -> float:
        """How many evaluations were allowed in all."""
        return np.inf if self.max_calls is None else self.max_calls // self.repeats

    def evaluate(self, theta: NDArray[Any]) -> Probe:
        """Evaluate one parameter vector."""
        cost = self.cost(self.problem.validation_scores(theta))
        return Probe(np.asarray(theta, dtype=np.float64), self.problem.profile(theta), cost)

    def probe(self, thetas: NDArray[Any], batch: Batch | None = None) -> Probes:
        """Evaluate ``(m, p)`` parameter vectors; with a batch, they apply to its rows only."""
        problem = self.problem
        if batch is None and not problem.shared:
            parts = blocks(thetas, len(problem.valid))
            costs = [self.ask(problem.judge, problem.validation_scores(part)) for part in parts]
            return Probes(problem.profile(thetas), np.concatenate(costs))
        profiles, costs = [], []
        for part in blocks(thetas, max(len(problem.train), len(problem.valid))):
            trained, valid = batch_scores(problem, part, batch)
            costs.append(self.ask(problem.judge, valid))
            profiles.append(problem.profiler.values(trained))
        return Probes(np.concatenate(profiles), np.concatenate(costs))

    def along(self, basis: NDArray[Any], mix: NDArray[np.float64]) -> Probes:
        """Evaluate mixtures ``(b, m)`` of the scores of ``(b, p)`` parameter vectors."""
        problem = self.problem
        scores = problem.validation_scores(basis)
        mix = mix.astype(scores.dtype, copy=False)
        parts = [part.T for part in blocks(mix.T, len(problem.valid))]
        costs = [self.ask(problem.judge, scores @ part) for part in parts]
        return Probes(problem.engine.along(basis, mix), np.concatenate(costs))

    def ask(self, judge: BoundMetric, scores: Floats, again: int = 0) -> NDArray[np.float64]:
        """Return the costs of scores ``(n,)`` or ``(n, m)``, counted; NaN for what was skipped.

        The error of a failure has the number of the call, counted from one.

        Parameters
        ----------
        judge : BoundMetric
        scores : array
        again : int
            How often the same scores were evaluated before, to estimate the noise.
        """
        box = judge.box(scores)
        if box is not None:
            columns = [(box[0], one) for one in (box[1].T if scores.ndim == 2 else [box[1]])]
            return self._called(columns, [again] * len(columns)).reshape(scores.shape[1:])[()]
        evaluations = 1 if scores.ndim == 1 else scores.shape[1]
        self._afford(evaluations)
        try:
            costs = judge.costs(scores)
        except MetricError as error:
            self._note(error)
            if not (judge.metric.black_box and current().conduct.policy.skip):
                raise
            return self._one_by_one(judge, scores, error)
        self.calls += evaluations
        return costs

    def _one_by_one(
        self, judge: BoundMetric, scores: Floats, error: MetricError
    ) -> NDArray[np.float64]:
        """Evaluate again after a failure, column by column; NaN for one that fails."""
        current().conduct.count(error)
        costs = np.full(scores.shape[1:] or (1,), np.nan)
        for k, column in enumerate(scores.T if scores.ndim == 2 else []):
            with suppress(MetricError):
                if k != error.probe and self.left >= 1:
                    self.calls += 1
                    costs[k] = float(judge.costs(column))
        return costs.reshape(scores.shape[1:])[()]

    def cost(self, scores: Floats) -> float:
        """Return the cost of scores ``(n,)`` on the validation rows; infinite if it was skipped."""
        cost = float(self.ask(self.problem.judge, scores))
        return np.inf if np.isnan(cost) else cost

    def ask_each(
        self,
        given: Sequence[tuple[BoundMetric, Floats]],
        again: Sequence[int] = (),
        about: Sequence[Mapping[str, Any]] = (),
    ) -> NDArray[np.float64]:
        """Return the costs of scores ``(n,)``, each by its own bound metric, counted.

        Parameters
        ----------
        given : sequence of (judge, scores)
        again : sequence of int
            How often each was evaluated before; never by default.
        about : sequence of mappings
            What each is about, beside what all are about.
        """
        times = again or [0] * len(given)
        boxes = [box for judge, scores in given if (box := judge.box(scores)) is not None]
        if len(boxes) == len(given):
            return self._called(boxes, times, about)
        pairs = zip(given, times, strict=True)
        return np.array([float(self.ask(judge, scores, time)) for (judge, scores), time in pairs])

    def _called(
        self,
        given: Sequence[tuple[BoundCalls, Floats]],
        again: Sequence[int] = (),
        about: Sequence[Mapping[str, Any]] = (),
    ) -> NDArray[np.float64]:
        """Return the costs by a black box; NaN where an evaluation was skipped."""
        self._afford(len(given))
        repeats, again = self.repeats, again or [0] * len(given)
        subjects = [{**subject(), **one} for one in about or [{}] * len(given)]
        questions = [
            Question(judge, s, 0.0, k, repeat=again[k] * repeats + r, about=subjects[k])
            for k, (judge, s) in enumerate(given)
            for r in range(repeats)
        ]
        values: list[float] = []
        before, most = self.calls, np.inf if self.rest is None else self.rest
        try:
            for answer in answered(questions, self.n_jobs, most):
                self.calls += answer.attempts
                values.append(answer.value)
        except MetricError as error:
            error.answers = tuple(values[::repeats])
            self.calls += error.attempts
            add_call_number(error, self.calls)
            self.calls = max(before + error.made, self.calls)
            raise
        means = [mean_of(values[k : k + repeats]) for k in range(0, len(values), repeats)]
        metrics = (judge.metric for judge, _ in given)
        return np.array([one.cost(mean) for one, mean in zip(metrics, means, strict=True)])

    def count(self, evaluations: int) -> None:
        """Count evaluations that a caller makes without `ask`."""
        self._afford(evaluations)
        self.calls += evaluations

    def _afford(self, evaluations: int) -> None:
        if evaluations > self.left:
            raise BudgetSpent(
                f"{evaluations} calls needed, {self.left:g} of {self.max_calls} left."
            )

    def sweep(self, scores: Floats, limit: int | None = None) -> Sweep:
        """Return the cost at every threshold of scores ``(n,)``, counted.

        A built-in metric evaluates them in one pass, which counts as one call. A user's metric is
        called for each of them, at most `limit` times.
        """
        judge = self.problem.judge
        if self.left < 1 or (limit is not None and limit < 1):
            raise BudgetSpent(f"A sweep needs one call, {self.left:g} of {self.max_calls} left.")
        if isinstance(judge, BoundCalls):
            most = min(self.left, np.inf if limit is None else limit)
            return self._swept(judge, scores, int(most) if np.isfinite(most) else None)
        try:
            sweep = judge.sweep(scores)
        except MetricError as error:
            self._note(error)
            raise
        self.calls += 1
        return sweep

    def _swept(self, judge: BoundCalls, scores: Floats, limit: int | None) -> Sweep:
        """Call a black box at every threshold; those that were skipped are left out."""
        shifts = judge.shifts(scores, limit)
        try:
            costs = self._called([(judge, scores + shift) for shift in shifts])
        except MetricError as error:
            if error.answers:
                costs = np.asarray(judge.metric.cost(np.array(error.answers)))
                error.swept = answered_sweep(judge, shifts, costs)
            raise
        if not np.any(np.isfinite(costs)):
            raise MetricError(f"Metric {judge.metric.name!r} failed at every threshold.")
        return answered_sweep(judge, shifts, costs)

    def _note(self, error: MetricError) -> None:
        add_call_number(error, self.calls + error.probe + 1)
        self.calls += error.made


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of the finite values; NaN if there are none.

    Examples
    --------
    >>> mean_of([0.25, float("nan"), 0.75])
    0.5
    """
    there = [value for value in values if np.isfinite(value)]
    return float(np.mean(there)) if len(there) > 1 else next(iter(there), float("nan"))


def answered_sweep(
    judge: BoundCalls, shifts: NDArray[np.float64], costs: NDArray[np.float64]
) -> Sweep:
    """Return a sweep of the first shifts, without those whose cost is missing."""
    there = np.flatnonzero(np.isfinite(costs))
    values = np.asarray(judge.metric.value(costs[there]), dtype=np.float64)
    return Sweep(shifts[there], values, costs[there])


def add_call_number(error: MetricError, call: int) -> None:
    """Put the number of the call into the message of a failure, in place of an earlier one.

    Examples
    --------
    >>> error = MetricError("Metric 'profit' is nan.")
    >>> add_call_number(error, 3)
    >>> add_call_number(error, 10)
    >>> str(error), error.call
    ("Metric 'profit' is nan. It was call 10 of the run.", 10)
    """
    text, before, now = str(error), PLACE.format(error.call), PLACE.format(call)
    error.args = (text.replace(before, now) if before in text else f"{text} {now}",)
    error.call = call
