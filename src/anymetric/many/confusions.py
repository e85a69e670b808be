"""Confusions: metrics of the confusion matrix, swept along the offset of one class at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from anymetric.many.offsets import levels, prior_corrections, running
from anymetric.metrics import ConfusionMetric, CostMatrix
from anymetric.metrics.confusion import reads_margins
from anymetric.metrics.counts import ROUNDING

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]


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

    @property
    def size(self) -> int:
        """How many cells the decisions are counted in."""
        return self.groups * self.classes**2

    def cells(self, decided: Ints | int) -> Ints:
        """Return each row's cell if it is taken for these classes, or for this one."""
        return self.place * self.classes + decided

    def costs(self, sums: Floats64) -> Floats64:
        """Return the costs ``(...)`` of the weights in each cell, ``(..., size)``."""
        tables = sums.reshape(*sums.shape[:-1], self.groups, self.classes, self.classes)
        return np.asarray(self.metric.cost(self.metric.of_groups(tables)))

    @cached_property
    def place(self) -> Ints:
        """The number of each row's group and class."""
        return self.group * self.classes + self.y

    def cost(self, scores: Floats64) -> float:
        """Count the decisions and apply the formula."""
        return float(self.costs(self._sums(self.cells(np.argmax(scores, axis=1)))))

    def curve(self, scores: Floats64, c: int) -> tuple[Floats64, Floats64]:
        """Move rows from their best other class to c, from none to all: one sort."""
        rival = rivals(scores, c)
        gap = scores[np.arange(len(rival)), rival] - scores[:, c]
        order = np.argsort(gap, kind="stable")
        cuts, shifts = levels(gap[order], self.y[order] == c)
        return shifts, self._along(rival, c, order, cuts)

    def _along(self, rival: Ints, c: int, order: Ints, cuts: Ints) -> Floats64:
        """Return the costs when so many of the rows have left their rivals for c."""
        size, t = self.size, len(cuts)
        begin = np.repeat(np.arange(t - 1) * size, np.diff(cuts))
        w, left = self.weights[order], self.cells(rival)
        out = np.bincount(begin + left[order], w, minlength=(t - 1) * size)
        into = np.bincount(begin + self.cells(c)[order], w, minlength=(t - 1) * size)
        sums = np.empty((t, size))
        sums[0] = self._sums(left)
        np.cumsum((into - out).reshape(t - 1, size), axis=0, out=sums[1:])
        sums[1:] += sums[0]
        # Summed and taken away again, nothing may come out a little below nothing.
        sums[sums <= ROUNDING * sums[0].sum()] = 0.0
        return self.costs(sums)

    def take(self, rows: Ints) -> Self:
        """Return the tally of these rows only."""
        return replace(self, y=self.y[rows], group=self.group[rows], weights=self.weights[rows])

    def starts(self) -> list[Floats64]:
        """Return prior corrections of several strengths."""
        return prior_corrections(self.y, self.weights, self.classes)

    def _sums(self, cell: Ints) -> Floats64:
        return np.bincount(cell, self.weights, minlength=self.size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class MarginTally(ConfusionTally):
    """A metric of each class's right, true and decided rows: two cells a class, wrong and right.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import ClassAccuracy
    >>> y = np.array([0, 1, 2])
    >>> tally = MarginTally(ClassAccuracy(), y, np.zeros(3, int), 1, 3, np.ones(3))
    >>> tally.size, tally.cells(np.array([0, 0, 2])).tolist()
    (6, [1, 0, 5])
    """

    @property
    def size(self) -> int:
        """How many cells the decisions are counted in."""
        return 2 * self.groups * self.classes

    def cells(self, decided: Ints | int) -> Ints:
        """Return each row's cell if it is taken for these classes, or for this one."""
        return np.asarray(2 * (self.group * self.classes + decided) + (self.y == decided))

    def costs(self, sums: Floats64) -> Floats64:
        """Return the costs ``(...)`` of the weights in each cell, ``(..., size)``."""
        assert reads_margins(self.metric)
        pairs = sums.reshape(*sums.shape[:-1], self.groups, self.classes, 2)
        right = pairs[..., 1]
        true = np.broadcast_to(self.true, right.shape)
        values = self.metric.of_group_margins(right, true, right + pairs[..., 0])
        return np.asarray(self.metric.cost(values))

    @cached_property
    def true(self) -> Floats64:
        """The weight of each group's rows of each class, ``(G, C)``."""
        sums = np.bincount(self.place, self.weights, minlength=self.groups * self.classes)
        return sums.astype(np.float64).reshape(self.groups, self.classes)


@dataclass(frozen=True, eq=False)
class CostTally(ConfusionTally):
    """A cost matrix: each row that moves changes the sum by itself.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 1])
    >>> tally = CostTally(CostMatrix([[0, 1], [5, 0]]), y, np.zeros(2, int), 1, 2, np.ones(2))
    >>> tally.curve(np.array([[2.0, 0.0], [1.0, 0.0]]), 1)[1].tolist()
    [2.5, 0.0, 0.5]
    """

    metric: CostMatrix

    @cached_property
    def prices(self) -> Floats64:
        """What each row costs if it is taken for each class, ``(n, C)``."""
        return np.asarray(self.metric.costs)[self.y] * self.weights[:, np.newaxis]

    def _along(self, rival: Ints, c: int, order: Ints, cuts: Ints) -> Floats64:
        """Return the costs when so many of the rows have left their rivals for c."""
        before = self.prices[np.arange(len(rival)), rival]
        sums = before.sum() + running((self.prices[:, c] - before)[order], cuts)
        return np.asarray(self.metric.cost(sums / self.weights.sum()))


def tally_for(metric: ConfusionMetric) -> type[ConfusionTally]:
    """Return the kind of tally that reads no more of the decisions than the metric does.

    Examples
    --------
    >>> from anymetric.metrics import ClassF
    >>> tally_for(ClassF()).__name__
    'MarginTally'
    """
    if reads_margins(metric):
        return MarginTally
    return CostTally if type(metric) is CostMatrix else ConfusionTally


def rivals(scores: Floats64, c: int) -> Ints:
    """Return each row's best class other than c, the first among equals.

    Examples
    --------
    >>> import numpy as np
    >>> rivals(np.array([[3.0, 1.0, 2.0], [0.0, 1.0, 0.0]]), 0).tolist()
    [2, 1]
    """
    best: Ints = np.argmax(scores, axis=1)
    mine = np.flatnonzero(best == c)
    others = scores[mine]
    others[:, c] = -np.inf
    best[mine] = np.argmax(others, axis=1)
    return best
