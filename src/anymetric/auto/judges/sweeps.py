"""Sweeps: the cost of a metric of counts along the offset of one class or label, by one sort."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.judges.counts import spaced
from anymetric.metrics import ConfusionMetric, LabelMetric
from anymetric.metrics.confusion import reads_margins
from anymetric.metrics.counts import ROUNDING
from anymetric.metrics.labelled import LabelCountMetric, LabelRowMetric

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
# Places looked at in the sweep of one class; all of them where there are no more.
LEVELS = 128
# Shifts closer than this, relative to their size, are the same.
APART = 1e-9


def along_class(
    metric: ConfusionMetric,
    y: Ints,
    group: Ints,
    groups: int,
    weights: Floats64,
    scores: Floats64,
    c: int,
) -> tuple[Floats64, Floats64]:
    """Return shifts of class c ``(t,)`` and the costs as rows leave their best other class for it.

    Examples
    --------
    >>> from anymetric.metrics import ClassAccuracy
    >>> scores, y = np.array([[3.0, 0.0], [2.0, 1.0]]), np.array([0, 1])
    >>> shifts, costs = along_class(ClassAccuracy(), y, y * 0, 1, np.ones(2), scores, 1)
    >>> shifts.tolist(), costs.tolist()
    ([0.0, 2.0, 4.0], [0.5, 0.0, 0.5])
    """
    other = best_other(scores, c)
    gap = scores[np.arange(len(other)), other] - scores[:, c]
    order = np.argsort(gap, kind="stable")
    cuts, shifts = levels(gap[order], y[order] == c)
    C, t = scores.shape[1], len(cuts)
    margins = reads_margins(metric)
    place = group * C + y

    def cell(decided: Ints | int) -> Ints:
        if margins:
            return np.asarray(2 * (group * C + decided) + (y == decided))
        return np.asarray(place * C + decided)

    size = groups * C * (2 if margins else C)
    begin = np.repeat(np.arange(t - 1) * size, np.diff(cuts))
    w, before = weights[order], cell(other)
    out = np.bincount(begin + before[order], w, minlength=(t - 1) * size)
    into = np.bincount(begin + cell(c)[order], w, minlength=(t - 1) * size)
    sums = np.empty((t, size))
    sums[0] = np.bincount(before, weights, minlength=size)
    np.cumsum((into - out).reshape(t - 1, size), axis=0, out=sums[1:])
    sums[1:] += sums[0]
    # Summed and taken away again, nothing may come out a little below nothing.
    sums[sums <= ROUNDING * sums[0].sum()] = 0.0
    if not margins:
        return shifts, np.asarray(metric.cost(metric.of_groups(sums.reshape(t, groups, C, C))))
    assert reads_margins(metric)
    pairs = sums.reshape(t, groups, C, 2)
    true = np.bincount(place, weights, minlength=groups * C).reshape(groups, C)
    right = pairs[..., 1]
    values = metric.of_group_margins(right, np.broadcast_to(true, right.shape), pairs.sum(axis=-1))
    return shifts, np.asarray(metric.cost(values))


@dataclass(frozen=True, eq=False)
class Tally:
    """The weights of the rows that are given each label, rightly and in all, and that have it.

    Examples
    --------
    >>> scores = np.array([[1.0], [1.0]])
    >>> tally = Tally.of(np.array([[True], [False]]), np.ones(2), scores)
    >>> tally.right.tolist(), tally.got.tolist(), tally.sums.tolist()
    ([1.0], [2.0], [1.0])
    """

    right: Floats64
    got: Floats64
    sums: Floats64
    by_threshold: dict[int, CountsByThreshold] = field(default_factory=dict)

    @classmethod
    def of(cls, true: Bools, weights: Floats64, scores: Floats64) -> Tally:
        """Count all labels."""
        given = scores > 0.0
        return cls(weights @ (given & true), weights @ given, weights @ true)

    def moved(self, true: Bools, weights: Floats64, scores: Floats64, c: int) -> Tally:
        """Return the counts after the scores of one label have moved: those of the others stay."""
        right, got, given = self.right.copy(), self.got.copy(), scores[:, c] > 0.0
        right[c], got[c] = weights @ (given & true[:, c]), weights @ given
        return replace(self, right=right, got=got)

    def counts_along(
        self, true: Bools, weights: Floats64, scores: Floats64, c: int
    ) -> CountsByThreshold:
        """Return what one label's thresholds count, which its own offset only moves."""
        if c not in self.by_threshold:
            self.by_threshold[c] = CountsByThreshold.of(true[:, c], weights, scores[:, c])
        return self.by_threshold[c].moved(scores[0, c])


@dataclass(frozen=True, eq=False)
class CountsByThreshold:
    """The shifts at which rows get a label in turn, from none to all, and the weights of these.

    Examples
    --------
    >>> counts = CountsByThreshold.of(np.array([True, False]), np.ones(2), np.array([1.0, 0.5]))
    >>> counts.shifts.tolist(), counts.right.tolist(), counts.got.tolist()
    ([-2.0, -0.75, 0.5], [0.0, 1.0, 1.0], [0.0, 1.0, 2.0])
    """

    shifts: Floats64
    right: Floats64
    got: Floats64
    first: float

    @classmethod
    def of(cls, true: Bools, weights: Floats64, scores: Floats64) -> CountsByThreshold:
        """Sort, and count."""
        order = np.argsort(-scores, kind="stable")
        cuts, shifts = levels(-scores[order], true[order])
        right = running(np.where(true, weights, 0.0)[order], cuts)
        return cls(shifts, right, running(weights[order], cuts), float(scores[0]))

    def moved(self, first: float) -> CountsByThreshold:
        """Return the same after an offset has been added, which the first row's score tells."""
        return replace(self, shifts=self.shifts - (first - self.first), first=first)


def along_label(
    metric: LabelMetric,
    true: Bools,
    weights: Floats64,
    scores: Floats64,
    c: int,
    tally: Tally | None = None,
) -> tuple[Floats64, Floats64]:
    """Return shifts of label c ``(t,)`` and the costs as rows get it in turn, from none to all.

    Examples
    --------
    >>> from anymetric.metrics import Hamming
    >>> true, scores = np.array([[True], [False]]), np.array([[1.0], [0.5]])
    >>> shifts, costs = along_label(Hamming(), true, np.ones(2), scores, 0)
    >>> float(shifts[np.argmin(costs)]), float(costs.min())
    (-0.75, 0.0)
    """
    if isinstance(metric, LabelCountMetric):
        tally = tally or Tally.of(true, weights, scores)
        along, total = tally.counts_along(true, weights, scores, c), weights.sum(keepdims=True)
        values = metric.along(tally.right, tally.sums, tally.got, total, c, along.right, along.got)
        return along.shifts, np.asarray(metric.cost(values))
    assert isinstance(metric, LabelRowMetric)
    gap = -scores[:, c]
    order = np.argsort(gap, kind="stable")
    cuts, shifts = levels(gap[order], true[order, c])
    given = scores > 0.0
    given[:, c] = False
    w = weights / weights.sum()
    right, rows, got = (x.sum(axis=1).astype(np.float64) for x in (given & true, true, given))
    before = metric.of_rows(right, rows, got)
    gain = metric.of_rows(right + true[:, c], rows, got + 1.0) - before
    return shifts, np.asarray(metric.cost(w @ before + running((w * gain)[order], cuts)))


def running(steps: Floats64, cuts: Ints) -> Floats64:
    """Return the sums of the first so many steps, for each cut."""
    return np.concatenate([[0.0], np.cumsum(steps)])[cuts]


def levels(ranked: Floats64, own: Bools) -> tuple[Ints, Floats64]:
    """Return how many rows have joined at each level, and the shifts that make them join.

    Where there are too many places, half of those kept are even in rank and half follow a row of
    the class itself: for a rare class that is where it matters.

    Parameters
    ----------
    ranked : array of shape (n,)
        Shifts at which each row joins, rising.
    own : boolean array of shape (n,)
        Which rows are of the class itself.

    Examples
    --------
    >>> counts, shifts = levels(np.array([-1.0, 1.0, 1.0]), np.array([True, False, True]))
    >>> counts.tolist(), shifts.tolist()
    ([0, 1, 3], [-2.0, 0.0, 2.0])
    """
    n = len(ranked)
    # Rows that differ by rounding only are joined: no shift lies safely between them.
    apart = np.diff(ranked) > APART * np.maximum(np.abs(ranked[1:]), 1.0)
    cuts = np.concatenate(([0], np.flatnonzero(apart) + 1, [n]))
    if len(cuts) > LEVELS:
        even = cuts[spaced(len(cuts), LEVELS // 2)]
        near = np.unique(cuts[np.searchsorted(cuts, np.flatnonzero(own) + 1)])
        cuts = np.union1d(even, near[spaced(len(near), LEVELS // 2)])
    below = np.concatenate(([ranked[0] - 2.0], ranked))[cuts]
    above = np.concatenate((ranked, [ranked[-1] + 2.0]))[cuts]
    return cuts, 0.5 * (below + above)


def best_other(scores: Floats64, c: int) -> Ints:
    """Return each row's best class other than c, the first among equals.

    Examples
    --------
    >>> best_other(np.array([[3.0, 1.0, 2.0], [0.0, 1.0, 0.0]]), 0).tolist()
    [2, 1]
    """
    best: Ints = np.argmax(scores, axis=1)
    mine = np.flatnonzero(best == c)
    others = scores[mine]
    others[:, c] = -np.inf
    best[mine] = np.argmax(others, axis=1)
    return best
