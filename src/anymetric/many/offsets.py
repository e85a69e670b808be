"""Offsets: one number a class added to its scores, the post-shift of many classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.cuts import kept
from anymetric.metrics import LabelMetric
from anymetric.metrics.labelled import LabelCountMetric, LabelRowMetric

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Places looked at in the sweep of one class; all of them where there are no more.
LEVELS = 128
# Shifts closer than this, relative to their size, are the same.
APART = 1e-9
# Costs closer than this, relative to their size where it is above one, are the same.
EQUAL = 1e-12
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
    cuts = kept(np.concatenate(([0], distinct, [n])), np.flatnonzero(own) + 1, LEVELS)
    below = np.concatenate(([ranked[0] - 2.0], ranked))[cuts]
    above = np.concatenate((ranked, [ranked[-1] + 2.0]))[cuts]
    return cuts, 0.5 * (below + above)


def prior_corrections(y: Ints, weights: Floats64, classes: int) -> list[Floats64]:
    """Return parts of the log of the classes' shares as offsets, the zeros first.

    A class counts as half a row at least; the unit of the weights does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> most = prior_corrections(np.array([0, 0, 0, 1]), np.full(4, 0.1), 2)[-1]
    >>> np.exp(most - most[0]).round(3).tolist()
    [1.0, 3.0]
    """
    share = np.bincount(y, weights, minlength=classes)
    share *= np.count_nonzero(weights) / share.sum()
    logs = np.log(np.maximum(share, 0.5) / share.sum())
    return [part * (logs - logs.mean()) for part in BEGUN]


def tuned(tally: Tally, scores: Floats64, starts: Sequence[Floats64] | None = None) -> Floats64:
    """Return the offsets ``(C,)`` that lower the cost, one class after another.

    Each sweep finds the best offset of one class with the others as they are; among equals, the
    smallest change, and the first of the starts.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.many.confusions import ConfusionTally
    >>> from anymetric.metrics import ClassAccuracy
    >>> y = np.array([0, 1, 2])
    >>> tally = ConfusionTally(ClassAccuracy(), y, np.zeros(3, int), 1, 3, np.ones(3))
    >>> scores = np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> tally.cost(scores + tuned(tally, scores))
    0.0
    """
    begun = tally.starts() if starts is None else starts
    costs = [tally.cost(scores + one) for one in begun]
    best = lowest(np.array(costs))[0]
    offsets, cost = np.array(begun[best], dtype=np.float64), costs[best]
    moved = scores + offsets
    for _ in range(ROUNDS):
        before = cost
        for c in range(scores.shape[1]):
            shifts, there = tally.curve(moved, c)
            least = lowest(there)
            k = least[np.argmin(np.abs(shifts[least]))]
            if there[k] < cost - rounding(cost):
                offsets[c] += shifts[k]
                moved[:, c] = scores[:, c] + offsets[c]
                cost = float(there[k])
        if before - cost <= ENOUGH * abs(before):
            break
    return offsets


def lowest(costs: Floats64) -> Ints:
    """Return the places of the lowest cost, of all that rounding alone tells apart.

    Examples
    --------
    >>> import numpy as np
    >>> lowest(np.array([0.3, 0.1 + 0.2, 0.4])).tolist()
    [0, 1]
    """
    least = float(costs.min())
    return np.flatnonzero(costs <= least + rounding(least))


def rounding(cost: float) -> float:
    """Return how far apart costs of this size may be and still be the same."""
    return EQUAL * max(1.0, abs(cost))
