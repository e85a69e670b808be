"""Offsets: one number a class added to its scores, the post-shift of many classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics import ConfusionMetric, LabelMetric
from anymetric.metrics.labelled import LabelCountMetric, LabelRowMetric

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Places looked at in the sweep of one class; all of them where there are no more.
LEVELS = 128
# Shifts closer than this, relative to their size, are the same.
APART = 1e-9
# Sweeps over all classes at most.
ROUNDS = 3
# A round that lowers the cost by no more than this share of it is the last.
ENOUGH = 1e-3
# Prior corrections from which the sweeps may begin, in units of the log of the classes' shares.
BEGUN = (0.0, -0.5, 0.5, -1.0)


class Tally(Protocol):
    """A metric on fixed rows, swept along the offset of one class at a time."""

    def cost(self, scores: Floats64) -> float:
        """Return the cost of scores ``(n, C)``."""
        ...

    def curve(self, scores: Floats64, c: int) -> tuple[Floats64, Floats64]:
        """Return shifts of class c ``(t,)`` and the costs there."""
        ...

    def take(self, rows: Ints) -> Tally:
        """Return the tally of these rows only."""
        ...

    def starts(self) -> list[Floats64]:
        """Return offsets to begin from, the zeros first."""
        ...


@dataclass(frozen=True, eq=False)
class ConfusionTally:
    """A confusion metric: a row joins a class where its score there passes all its others.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import ClassAccuracy
    >>> y = np.array([0, 1, 2])
    >>> tally = ConfusionTally(ClassAccuracy(), y, np.zeros(3, int), 1, 3, np.ones(3))
    >>> scores = np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    >>> shifts, costs = tally.curve(scores, 1)
    >>> round(tally.cost(scores), 3), round(float(costs.min()), 3)
    (0.333, 0.0)
    """

    metric: ConfusionMetric
    y: Ints
    group: Ints
    groups: int
    classes: int
    weights: Floats64

    @cached_property
    def place(self) -> Ints:
        """The first cell of each row's group and class."""
        return (self.group * self.classes + self.y) * self.classes

    def cost(self, scores: Floats64) -> float:
        """Count the decisions and apply the formula."""
        return float(self._costs(self._sums(self.place + np.argmax(scores, axis=1))))

    def curve(self, scores: Floats64, c: int) -> tuple[Floats64, Floats64]:
        """Move rows from their best other class to c, from none to all: one sort."""
        others = scores.copy()
        others[:, c] = -np.inf
        rival = np.argmax(others, axis=1)
        gap = others[np.arange(len(self.y)), rival] - scores[:, c]
        order = np.argsort(gap, kind="stable")
        cuts, shifts = levels(gap[order], self.y[order] == c)
        step = np.searchsorted(cuts, np.arange(len(order)), side="right") - 1  # moved after step
        size, t = self.groups * self.classes**2, len(cuts)
        w, flat = self.weights[order], step * size
        out = np.bincount(flat + (self.place + rival)[order], w, minlength=t * size)
        into = np.bincount(flat + (self.place + c)[order], w, minlength=t * size)
        moved = (into - out).reshape(t, size)
        start = self._sums(self.place + rival)
        sums = start + np.concatenate([np.zeros((1, size)), np.cumsum(moved, axis=0)[:-1]])
        # Summed and taken away again, nothing may come out a little below nothing.
        return shifts, self._costs(np.where(sums > 1e-12 * start.sum(), sums, 0.0))

    def take(self, rows: Ints) -> ConfusionTally:
        """Return the tally of these rows only."""
        return replace(self, y=self.y[rows], group=self.group[rows], weights=self.weights[rows])

    def starts(self) -> list[Floats64]:
        """Return prior corrections of several strengths."""
        share = np.bincount(self.y, self.weights, minlength=self.classes)
        logs = np.log(np.maximum(share, 0.5) / share.sum())
        return [t * (logs - logs.mean()) for t in BEGUN]

    def _sums(self, cell: Ints) -> Floats64:
        size = self.groups * self.classes**2
        return np.bincount(cell, self.weights, minlength=size).astype(np.float64)

    def _costs(self, sums: Floats64) -> Floats64:
        C = self.classes
        tables = sums.reshape(*sums.shape[:-1], self.groups, C, C)
        return np.asarray(self.metric.cost(self.metric.of_groups(tables)))


@dataclass(frozen=True, eq=False)
class LabelTally:
    """A metric of sets of labels: a row gets a label where its score there passes zero.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import Hamming
    >>> tally = LabelTally(Hamming(), np.array([[True, False], [False, False]]), np.ones(2))
    >>> shifts, costs = tally.curve(np.array([[1.0, -1.0], [0.5, -1.0]]), 0)
    >>> float(shifts[np.argmin(costs)]), float(costs.min())
    (-0.75, 0.0)
    """

    metric: LabelMetric
    true: NDArray[np.bool_]
    weights: Floats64

    def cost(self, scores: Floats64) -> float:
        """Give the labels and apply the formula."""
        return float(self.metric.cost(self.metric.of_labels(scores > 0.0, self.true, self.weights)))

    def curve(self, scores: Floats64, c: int) -> tuple[Floats64, Floats64]:
        """Give label c to rows in turn, from none to all: one sort."""
        gap = -scores[:, c]
        order = np.argsort(gap, kind="stable")
        cuts, shifts = levels(gap[order], self.true[order, c])
        given = scores > 0.0
        given[:, c] = False
        if isinstance(self.metric, LabelCountMetric):
            return shifts, self._by_label(given, c, order, cuts)
        assert isinstance(self.metric, LabelRowMetric)
        return shifts, self._by_row(given, c, order, cuts)

    def _by_label(self, given: NDArray[np.bool_], c: int, order: Ints, cuts: Ints) -> Floats64:
        w = self.weights
        right, got = (np.tile(w @ x, (len(cuts), 1)) for x in (given & self.true, given))
        right[:, c] = running(np.where(self.true[:, c], w, 0.0)[order], cuts)
        got[:, c] = running(w[order], cuts)
        true = np.tile(w @ self.true, (len(cuts), 1))
        metric = self.metric
        assert isinstance(metric, LabelCountMetric)
        return np.asarray(metric.cost(metric.of_counts(right, true, got, w.sum(keepdims=True))))

    def _by_row(self, given: NDArray[np.bool_], c: int, order: Ints, cuts: Ints) -> Floats64:
        metric, w = self.metric, self.weights / self.weights.sum()
        assert isinstance(metric, LabelRowMetric)
        right, true, got = (
            x.sum(axis=1).astype(np.float64) for x in (given & self.true, self.true, given)
        )
        before = metric.of_rows(right, true, got)
        gain = metric.of_rows(right + self.true[:, c], true, got + 1.0) - before
        return np.asarray(metric.cost(w @ before + running((w * gain)[order], cuts)))

    def take(self, rows: Ints) -> LabelTally:
        """Return the tally of these rows only."""
        return replace(self, true=self.true[rows], weights=self.weights[rows])

    def starts(self) -> list[Floats64]:
        """Return zeros: a label's threshold is its own."""
        return [np.zeros(self.true.shape[1])]


def running(steps: Floats64, cuts: Ints) -> Floats64:
    """Return the sums of the first so many steps, for each cut."""
    return np.concatenate([[0.0], np.cumsum(steps)])[cuts]


def levels(ranked: Floats64, own: NDArray[np.bool_]) -> tuple[Ints, Floats64]:
    """Return how many rows join at each level, and the shifts that make them.

    Where there are more places than `LEVELS`, half of those kept are even in rank and half follow
    a row of the class itself: for a rare class that is where it matters.

    Parameters
    ----------
    ranked : array of shape (n,)
        Shifts at which each row joins, rising.
    own : boolean array of shape (n,)
        Which rows are of the class itself.

    Examples
    --------
    >>> import numpy as np
    >>> counts, shifts = levels(np.array([-1.0, 1.0, 1.0]), np.array([True, False, True]))
    >>> counts.tolist(), shifts.tolist()
    ([0, 1, 3], [-2.0, 0.0, 2.0])
    """
    n = len(ranked)
    # Rows that rounding alone tells apart join together: no shift lies safely between them.
    apart = np.diff(ranked) > APART * np.maximum(np.abs(ranked[1:]), 1.0)
    distinct = np.flatnonzero(apart) + 1
    cuts = np.concatenate(([0], distinct, [n]))
    if len(cuts) > LEVELS:
        even = cuts[spaced(len(cuts), LEVELS // 2)]
        after = cuts[np.searchsorted(cuts, np.flatnonzero(own) + 1)] if own.any() else even
        after = np.unique(after)
        cuts = np.union1d(even, after[spaced(len(after), LEVELS // 2)])
    below = np.concatenate(([ranked[0] - 2.0], ranked))[cuts]
    above = np.concatenate((ranked, [ranked[-1] + 2.0]))[cuts]
    return cuts, 0.5 * (below + above)


def spaced(count: int, kept: int) -> Ints:
    """Return so many of the places 0 to count - 1, even and different."""
    return np.unique(np.linspace(0, count - 1, min(count, kept)).round().astype(np.intp))


def tuned(tally: Tally, scores: Floats64, starts: Sequence[Floats64] | None = None) -> Floats64:
    """Return the offsets ``(C,)`` that lower the cost, one class after another.

    Each sweep finds the best offset of one class with the others as they are; among equals, the
    smallest change.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import ClassAccuracy
    >>> y = np.array([0, 1, 2])
    >>> tally = ConfusionTally(ClassAccuracy(), y, np.zeros(3, int), 1, 3, np.ones(3))
    >>> scores = np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> tally.cost(scores + tuned(tally, scores))
    0.0
    """
    begun = tally.starts() if starts is None else starts
    costs = [tally.cost(scores + one) for one in begun]
    best = int(np.argmin(costs))
    offsets, cost = np.array(begun[best], dtype=np.float64), costs[best]
    for _ in range(ROUNDS):
        before = cost
        for c in range(scores.shape[1]):
            shifts, there = tally.curve(scores + offsets, c)
            lowest = np.flatnonzero(there <= there.min() + 1e-12)
            k = lowest[np.argmin(np.abs(shifts[lowest]))]
            if there[k] < cost - 1e-12:
                offsets[c] += shifts[k]
                cost = float(there[k])
        if before - cost <= ENOUGH * abs(before):
            break
    return offsets
