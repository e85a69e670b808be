"""Calls: a metric asked one probe at a time, its answers checked and its failures explained."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.errors import WorkspaceError
from anymetric.metrics.base import BoundMetric, MetricError
from anymetric.metrics.digests import digest
from anymetric.metrics.evaluations import Question, asked
from anymetric.metrics.exchange import predictions_table
from anymetric.metrics.faults import within
from anymetric.metrics.identity import identity
from anymetric.metrics.thresholds import Sweep, called_shifts
from anymetric.metrics.traced import users_line


@dataclass(frozen=True, eq=False)
class BoundCalls(BoundMetric):
    """A metric that is a black box: one call for each probe, always with fresh arrays."""

    @abstractmethod
    def call(self, scores: NDArray[np.float64]) -> Any:
        """Ask the metric about scores ``(n,)``."""

    @cached_property
    def names(self) -> NDArray[Any] | None:
        """The user's labels, negative first; None for regression."""
        return None if self.rows.labels is None else np.asarray(self.rows.labels)

    @cached_property
    def identity(self) -> str:
        """A hash of what the metric is: two of one name are two."""
        return digest(self.metric.name, identity(self.metric))

    def truth(self) -> NDArray[Any]:
        """Return the targets as the user knows them."""
        if self.names is None:
            return self.rows.y.copy()
        return self.names[self.rows.positive.astype(np.intp)]

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        return self._answers([Question(self, column, 0.0, k) for k, column in enumerate(scores.T)])

    def box(self, scores: Floats) -> tuple[BoundCalls, Floats]:
        """Return itself and the scores, ``(n,)`` or ``(n, m)``."""
        return self, self._checked(scores, (1, 2))

    def shifts(self, scores: Floats, limit: int | None = None) -> NDArray[np.float64]:
        """Return the thresholds of scores ``(n,)`` that a sweep asks about."""
        if not self.metric.decides:
            super().sweep(scores, limit)
        if self.names is None:
            raise ValueError(
                f"Metric {self.metric.name!r} is bound without labels: a regression has no "
                "threshold to sweep."
            )
        return called_shifts(self._checked(scores, (1,)), limit)

    def sweep(self, scores: Floats, limit: int | None = None) -> Sweep:
        """Return the metric at every threshold, one call for each."""
        shifts = self.shifts(scores, limit)
        try:
            questions = [Question(self, scores, float(s), k) for k, s in enumerate(shifts)]
            return self._swept(shifts, self._answers(questions))
        except MetricError as error:
            if error.answers:
                error.swept = self._swept(shifts, np.array(error.answers))
            raise

    def _swept(self, shifts: NDArray[np.float64], values: NDArray[np.float64]) -> Sweep:
        return Sweep(shifts[: len(values)], values, self.metric.cost(values))

    def _answers(self, questions: Sequence[Question]) -> NDArray[np.float64]:
        return asked(questions)

    @property
    def slots(self) -> int:
        """How many calls may be made at the same time in threads."""
        return int(getattr(self.metric, "slots", 1))

    def stop(self) -> None:
        """End the calls that other threads are waiting for, where that can be done."""
        getattr(self.metric, "stop", lambda: None)()

    def reads(self, scores: Floats) -> NDArray[Any]:
        """Return what of scores ``(n,)`` the metric sees: their signs, or the numbers."""
        decided = self.metric.decides and self.names is not None
        return np.asarray(scores > 0.0) if decided else np.asarray(scores, dtype=np.float64)

    def table(self, scores: Floats) -> dict[str, NDArray[Any]]:
        """Return scores ``(n,)`` as a table for a program or a person."""
        seen = self.reads(scores)
        on = "scores" if self.names is not None else None
        if self.names is not None and seen.dtype == bool:
            seen, on = self.names[seen.astype(np.intp)], "decisions"
        return predictions_table(self.truth(), seen, self.rows.side, on)

    def answer(self, probe: int, column: Floats) -> float:
        """Have a question about scores ``(n,)`` answered; a failure is a `MetricError`."""
        return float(self._answers([Question(self, column, 0.0, probe)])[0])

    def measure(self, probe: int, column: Floats, timeout: float | None = None) -> float:
        """Call the metric on scores ``(n,)``: without a finite number it is a `MetricError`."""
        try:
            answer = within(timeout, lambda: self.call(np.array(column, dtype=np.float64)))
        except WorkspaceError:
            raise
        except (Exception, SystemExit) as error:
            where = users_line(error)
            what = f"{type(error).__name__}: {error}" + (f" ({where})" if where else "")
            raise self._failure(probe, what) from error
        number = _number(answer)
        if number is None:
            raise self._failure(probe, f"one finite number was expected, got {_shown(answer)}")
        return number

    def _failure(self, probe: int, what: str) -> MetricError:
        return MetricError(
            f"Metric {self.metric.name!r} failed at probe {probe}: {what}. It was called on "
            f"{self._called_on()}.",
            probe=probe,
        )

    def _called_on(self) -> str:
        count = f"{len(self.rows)} rows"
        if self.names is not None:
            count += f", {int(self.rows.positive.sum())} of them positive"
        return count


def _number(answer: Any) -> float | None:
    """Return the answer if it is one finite real number."""
    if isinstance(answer, str | bytes) or _shape(answer) != () or np.iscomplexobj(answer):
        return None
    try:
        number = float(answer)
    except (TypeError, ValueError, OverflowError):
        return None
    return number + 0.0 if np.isfinite(number) else None  # a database knows no negative zero


def _shape(answer: Any) -> tuple[int, ...]:
    try:
        return tuple(np.shape(answer))
    except ValueError:
        return (len(answer),)


def _shown(answer: Any) -> str:
    shape = _shape(answer)
    if shape:
        return f"a {type(answer).__name__} of shape {shape}"
    text = repr(answer)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(answer).__name__})"
