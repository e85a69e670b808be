"""Offsets: a number for each class, or a threshold for each label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.decisions.thresholds import EQUAL, NoRule, equals
from anymetric.auto.judges.base import Judge
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.auto.records import Assessment

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Parts of tuned class offsets that are tried, and rows that they are tuned on at most.
PARTS, TUNED = (0.0, 0.5, 1.0), 8000
# Sweeps over all classes at most.
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class ClassOffsets:
    """An offset for each class, or a threshold for each label.

    To avoid overfitting, they are tuned without each fold of the rows in turn and evaluated
    on that fold. What is kept is their mean over the folds, or half of it, or nothing.

    Attributes
    ----------
    fold : array of shape (n,)
    y : array of shape (n,)
    exclusive : bool
        Whether the highest score decides.

    Examples
    --------
    >>> from anymetric.auto.judges.classes import ClassesJudge
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import ClassAccuracy, Classes
    >>> y = np.tile([0.0, 1.0, 2.0], 20)
    >>> rows = Data(np.zeros((60, 1)), y)
    >>> judge = ClassesJudge.of(ClassAccuracy(), rows, Classes("abc"), np.ones((60, 2)))
    >>> scores = np.eye(3)[y.astype(int)] + np.array([2.0, 0.0, 0.0])
    >>> ClassOffsets(np.arange(60) % 5, y, True).assess(scores, judge).cost
    0.0
    """

    fold: Ints
    y: Floats64
    exclusive: bool

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Tune on other folds, and take the part of the offsets that is best on average."""
        plain = NoRule().assess(scores, judge)
        if judge.thrifty or judge.left < 2 * judge.price:
            return plain
        tuned = self._out_of_fold(scores, judge)
        if tuned is None:
            return plain
        own, mean = tuned
        found = [plain]
        for part in PARTS[1:]:
            if np.any(own) and judge.left >= judge.price:
                one = NoRule().assess(scores + part * own, judge)
                found.append(replace(one, offsets=part * mean))
        return min(found, key=lambda one: one.mean)

    def _out_of_fold(self, scores: Floats64, judge: Judge) -> tuple[Floats64, Floats64] | None:
        """Return offsets for each row by the other folds, ``(n, C)``, and their mean ``(C,)``."""
        own, found = np.zeros_like(scores), []
        for k in range(int(self.fold.max()) + 1):
            others = evenly(self._others(k), self.y)
            part = judge.take(others)
            if part is None:
                return None
            offsets = tuned_offsets(part, scores[others])
            if self.exclusive:
                offsets = offsets - offsets.mean()
            own[self.fold == k] = offsets
            found.append(offsets)
        return own, np.mean(found, axis=0)

    def _others(self, k: int) -> Ints:
        """Return the rows outside a fold, and those inside whose class is not outside."""
        kept = self.fold != k
        if self.exclusive:
            kept |= ~np.isin(self.y, self.y[kept])
        return np.flatnonzero(kept)


def tuned_offsets(judge: Judge, scores: Floats64, rounds: int = ROUNDS) -> Floats64:
    """Return the offsets ``(C,)`` that lower the cost on the rows, one class after another.

    Among equals the smallest change is made, and the search begins at the first of the starts.

    Examples
    --------
    >>> from anymetric.auto.judges.classes import ClassesJudge
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import ClassAccuracy, Classes
    >>> data = Data(np.zeros((3, 1)), np.array([0.0, 1.0, 2.0]))
    >>> judge = ClassesJudge.of(ClassAccuracy(), data, Classes("abc"), np.ones((3, 0)))
    >>> scores = np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> float(judge.evaluate(scores + tuned_offsets(judge, scores))[0])
    0.0
    """
    starts = judge.starts(scores.shape[1])
    costs = np.array([judge.evaluate(scores + one)[0] for one in starts])
    first = int(equals(costs)[0])
    offsets, cost = np.array(starts[first], dtype=np.float64), float(costs[first])
    moved = scores + offsets
    counted = judge if isinstance(judge, ClassesJudge) else None
    tally = None if counted is None else counted.tally(moved)
    for _ in range(rounds):
        before = cost
        for c in range(scores.shape[1]):
            if counted is not None:
                shifts, there = counted.sweep(moved, c, tally=tally)
            else:
                shifts, there = judge.sweep(moved, c)
            if len(shifts) == 0:
                continue
            least = equals(there[:, 0])
            k = least[np.argmin(np.abs(shifts[least]))]
            if there[k, 0] < cost - EQUAL * abs(cost):
                offsets[c] += shifts[k]
                moved[:, c] = scores[:, c] + offsets[c]
                tally = None if counted is None else counted.tally(moved, tally, c)
                cost = float(there[k, 0])
        if before - cost <= 1e-3 * abs(before):
            break
    return offsets


def evenly(rows: Ints, y: Floats64, most: int = TUNED) -> Ints:
    """Return no more than so many of the rows, the classes in the same shares.

    Examples
    --------
    >>> len(evenly(np.arange(20_000), np.zeros(20_000)))
    6667
    """
    step = -(-len(rows) // most)
    return rows if step == 1 else np.sort(rows[np.argsort(y[rows], kind="stable")][::step])
