"""Asking: questions about decisions, through the path that counts calls and keeps answers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics import BoundMetric, MetricError
from anymetric.metrics.allowance import left
from anymetric.metrics.evaluations import Question, answered

Floats64 = NDArray[np.float64]


@dataclass(eq=False)
class Asker:
    """A bound metric that may be asked so many times more.

    Parameters
    ----------
    bound : BoundMetric
    classes : int
    most : float
        Calls in all, retries included.
    seconds : float
        No call begins later than this.
    n_jobs : int, optional

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("accuracy").bind(np.array([1.0, -1.0]))
    >>> asker = Asker(bound, 2, most=1)
    >>> asker.values(np.array([[1, 0], [0, 0]])).tolist(), asker.calls
    ([1.0, nan], 1)
    """

    bound: BoundMetric
    classes: int
    most: float = np.inf
    seconds: float = np.inf
    n_jobs: int | None = None
    calls: int = 0
    failure: str = ""
    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Calls that may still be made."""
        if time.monotonic() - self.began > self.seconds:
            return 0.0
        return max(min(self.most - self.calls, left()), 0.0)

    def values(self, decisions: NDArray[np.integer], again: int = 0) -> Floats64:
        """Return the values ``(m,)`` of decisions ``(n, m)``; NaN for what has no answer."""
        if self.classes == 2:
            return self.of_scores(np.where(decisions > 0, 1.0, -1.0), again)
        table = np.eye(self.classes)[decisions.T]  # (m, n, C)
        return self.of_scores(table.reshape(len(table), -1).T, again)

    def of_scores(self, scores: Floats64, again: int = 0) -> Floats64:
        """Return the values ``(m,)`` of scores ``(n, m)``; NaN for what has no answer."""
        found = np.full(scores.shape[1], np.nan)
        many = int(min(self.left, len(found)))
        if many > 0:
            asked = scores[:, :many]
            boxed = self.bound.box(asked[:, 0]) is not None
            (self._called if boxed else self._computed)(asked, found, again)
        return found

    def _computed(self, scores: Floats64, found: Floats64, again: int) -> None:
        self.calls += scores.shape[1]
        for k, column in enumerate(scores.T):
            try:
                found[k] = float(self.bound.values(column))
            except MetricError as error:
                self.failure = str(error)

    def _called(self, scores: Floats64, found: Floats64, again: int) -> None:
        questions = []
        for k, column in enumerate(scores.T):
            box = self.bound.box(np.ascontiguousarray(column))
            assert box is not None
            questions.append(Question(box[0], box[1], 0.0, k, repeat=again))
        before = self.calls
        try:
            for k, answer in enumerate(answered(questions, self.n_jobs, self.left)):
                self.calls += answer.attempts
                found[k] = answer.value
                self.failure = str(answer.error) if answer.error else self.failure
        except MetricError as error:  # the policy says so, or too many failed
            self.calls = max(before + error.made, self.calls + error.attempts)
            self.most, self.failure = self.calls, str(error)
