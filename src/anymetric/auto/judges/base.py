"""Judges: from scores of the validation rows to costs, on the rows and on resamples of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.records import Assessment
from anymetric.ledger import Ledger
from anymetric.metrics import GainMetric

if TYPE_CHECKING:
    from anymetric.auto.judges.counts import CountsJudge

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
GroupSweep = tuple[Floats64, Floats64]
# Shares of the rows that are flagged in a sweep which must ask for every threshold.
SHARES = tuple(np.linspace(0.0, 1.0, 14)[1:-1])


class Judge(ABC):
    """Turns scores ``(n, C)`` of the validation rows into costs.

    A judge of your own needs `evaluate`; the rest follows. `sweep` and `take` make decision rules
    faster where the judge knows a shorter way.

    Attributes
    ----------
    price : int
        Metric calls of one evaluation.

    Examples
    --------
    >>> class Distance(Judge):
    ...     def evaluate(self, scores):
    ...         return np.array([abs(scores.mean() - 1.0)])
    >>> shifts, costs = Distance().sweep(np.array([[0.0], [4.0]]))
    >>> costs.shape[1]
    1
    """

    price: int = 1

    @abstractmethod
    def evaluate(self, scores: Floats64) -> Floats64:
        """Return the cost ``(1 + B,)`` on the rows, then on each resample.

        A row is decided for where its score is above zero or, with many classes, the highest.
        """

    def resample(self, scores: Floats64) -> Floats64:
        """Return the costs ``(B,)`` on the resamples alone."""
        return self.evaluate(scores)[1:]

    @property
    def left(self) -> float:
        """How many more metric calls there are."""
        return np.inf

    @property
    def thrifty(self) -> bool:
        """Whether calls are few: candidates are compared without resamples until the end."""
        return False

    @property
    def spent(self) -> bool:
        """Whether no more candidates can be compared."""
        return self.left < self.price

    def sweep(
        self, scores: Floats64, output: int = 0, moving: Bools | None = None
    ) -> tuple[Floats64, Floats64]:
        """Return shifts ``(t,)`` of one output and their costs ``(t, 1 + B)``, or ``(t, 1)``.

        Parameters
        ----------
        scores : array of shape (n, C)
        output : int
        moving : boolean array of shape (n,), optional
            Only these rows are shifted.
        """
        rows = np.ones(len(scores), dtype=bool) if moving is None else moving
        shifts = shifts_flagging(margins(scores, output)[rows], SHARES)
        column = np.eye(scores.shape[1])[output] * rows[:, np.newaxis]
        return shifts, np.stack([self.evaluate(scores + shift * column) for shift in shifts])

    def sweep_groups(self, scores: Floats64, member: Ints, groups: int) -> GroupSweep | None:
        """Return shifts of every group at once ``(t, groups)`` and their costs ``(t, 1 + B)``.

        None where that would take too many evaluations: groups are then swept one by one.

        Parameters
        ----------
        scores : array of shape (n, 1)
        member : array of shape (n,)
            Each row's group, from 0.
        groups : int
        """
        return None

    def take(self, rows: Ints) -> Judge | None:
        """Return a judge of some rows only, without resamples; None if there is none."""
        return None

    def starts(self, outputs: int) -> list[Floats64]:
        """Return class offsets to begin a search from, the zeros first."""
        return [np.zeros(outputs)]

    def finalists(
        self, found: Sequence[Assessment], again: Callable[[int, Judge], Assessment]
    ) -> list[Assessment | None]:
        """Return assessments that are ready for selection; None for what is out of the running.

        Parameters
        ----------
        found : sequence of Assessment
            As they were when each candidate was trained.
        again : callable
            Assesses a candidate, by its place, with another judge.
        """
        return list(found)

    def closing(self) -> Judge | None:
        """Return the judge of the answer; None if there are no calls left for it."""
        return self if self.left >= self.price else None

    def confirmed(self, scores: Floats64) -> bool:
        """Return whether the cost of an answer is as the judge said; it may ask the metric."""
        return True

    def varies(self, scores: Floats64) -> bool:
        """Return whether some threshold of the scores changes the cost."""
        return bool(np.ptp(self.sweep(scores)[1][:, 0]) > 0.0)

    def of_counts(self) -> CountsJudge | None:
        """Return an exact judge of the same metric, or of what was learned of it; None if none is.

        Where there is one, training rows may help to place a threshold.
        """
        return None

    @property
    def gains(self) -> GainMetric | None:
        """What each row brings, where the metric is a sum of that; None where it is not."""
        return None

    @property
    def metric_error(self) -> float:
        """How far off a learned formula typically is; NaN where none was learned."""
        return float("nan")


class ExactJudge(Judge):
    """A judge that needs the metric's formula alone: calls are counted, not made.

    Once it is `closing`, one call pays for all that is asked about the answer.
    """

    ledger: Ledger | None

    @property
    def left(self) -> float:
        """How many more evaluations there are."""
        return np.inf if self.ledger is None else self.ledger.left

    def closing(self) -> Judge | None:
        """Count one call, for all that is asked about the answer."""
        if self.ledger is None:
            return self
        if self.ledger.left < 1:
            return None
        self.ledger.count(1)
        this: Any = self
        free: Judge = replace(this, ledger=None)
        return free

    def _count(self) -> None:
        if self.ledger is not None:
            self.ledger.count(1)


def margins(scores: Floats64, output: int) -> Floats64:
    """Return by how much an output's score is above what it must pass.

    Examples
    --------
    >>> margins(np.array([[1.0, 3.0, 2.0]]), 0).tolist(), margins(np.array([[4.0]]), 0).tolist()
    ([-2.0], [4.0])
    """
    if scores.shape[1] == 1:
        return scores[:, 0]
    rest = np.delete(scores, output, axis=1).max(axis=1)
    return np.asarray(scores[:, output] - rest)


def without_missing(costs: Floats64) -> Floats64:
    """Return costs of one candidate, its mean where one is missing; infinite if all are.

    Examples
    --------
    >>> without_missing(np.array([0.1, np.nan, 0.3])).tolist()
    [0.1, 0.2, 0.3]
    """
    there = np.isfinite(costs)
    return np.where(there, costs, costs[there].mean() if np.any(there) else np.inf)


def shifts_flagging(
    margin: Floats64, shares: Sequence[float] | Floats64, also: float | None = None
) -> Floats64:
    """Return shifts under which these shares of the rows are above zero, none of them nobody.

    Examples
    --------
    >>> shifts_flagging(np.array([1.0, 2.0, 3.0, 4.0]), [0.25, 0.5]).tolist()
    [-3.5, -2.5]
    """
    ranked = np.sort(margin)[::-1]
    counts = np.clip(np.rint(np.asarray(shares) * len(ranked)), 1, max(len(ranked) - 1, 1))
    places = np.unique(counts.astype(np.intp))
    below = ranked[np.minimum(places, len(ranked) - 1)]
    shifts = -0.5 * (ranked[places - 1] + below)
    return np.unique(shifts if also is None else np.append(shifts, also))
