"""Counts: metrics of two classes by how many rows are flagged, exact for all thresholds at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import SWEPT
from anymetric.auto.judges.base import Bools, ExactJudge, Floats64, GroupSweep, Ints
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import DecisionMetric, GainMetric, Rows

# Of a class with a smaller share than this, thresholds beside its rows are looked at.
RARE = 1 / 16
# Thresholds of each of two, or of three groups in a grid; resamples that screen it; combinations
# that all resamples compare; thresholds beside the best that they compare too.
GRIDS, FEW, FINALISTS, BESIDE = (100, 22), 8, 300, 4


@dataclass(frozen=True, eq=False)
class CountsJudge(ExactJudge):
    """A judge for metrics of counts: all thresholds and all resamples from one sort.

    Attributes
    ----------
    metric : DecisionMetric
    y, cell : arrays of shape (n,)
    size : int
        How many cells there are.
    weights : array of shape (1 + B, n)
        Of the rows themselves first, then of the resamples.
    totals : array of shape (1 + B, ...)
    ledger : Ledger, optional
        Counts an evaluation as one call, all thresholds included.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> judge = CountsJudge.of(as_metric("error"), data, np.ones((4, 2)))
    >>> shifts, costs = judge.sweep(np.array([[2.0], [1.0], [4.0], [0.0]]))
    >>> float(shifts[costs[:, 0].argmin()]), float(costs.min())
    (-1.5, 0.0)
    """

    metric: DecisionMetric
    y: Floats64
    cell: Ints
    size: int
    weights: Floats64
    totals: Floats64
    ledger: Ledger | None = None

    @classmethod
    def of(
        cls, metric: DecisionMetric, data: Data, resamples: Floats64, ledger: Ledger | None = None
    ) -> CountsJudge:
        """Bind the metric to the rows and to every resample ``(n, B)`` of them."""
        if metric.additive:
            cells, _ = metric.cells(Rows(data.y, data.weights, data.side))
            weights = np.empty((1 + resamples.shape[1], len(data)))
            weights[0] = data.weights
            np.multiply(resamples.T, data.weights, out=weights[1:])
            totals = summed(weights, cells.cell, cells.size)
            return cls(metric, data.y, cells.cell, cells.size, weights, totals, ledger)
        side = {
            name: np.unique(column, return_inverse=True)[1] if column.dtype.kind in "OU" else column
            for name, column in data.side.items()
        }
        every = [np.ones(len(data)), *resamples.T]
        found = [metric.cells(Rows(data.y, data.weights * r, side)) for r in every]
        weights = np.stack([cells.weights for cells, _ in found])
        totals = np.stack([total for _, total in found])
        cells = found[0][0]
        return cls(metric, data.y, cells.cell, cells.size, weights, totals, ledger)

    def evaluate(self, scores: Floats64) -> Floats64:
        """Return the costs of the decisions as they are; one call."""
        self._count()
        flagged = np.flatnonzero(scores[:, 0] > 0.0)
        sums = summed(self.weights, self.cell[flagged], self.size, flagged)
        return self._costs(sums)

    def sweep(
        self, scores: Floats64, output: int = 0, moving: Bools | None = None
    ) -> tuple[Floats64, Floats64]:
        """Return shifts ``(t,)`` and costs ``(t, 1 + B)``; one call, of some rows none."""
        if moving is None:
            self._count()
        shifts, sums = self.flagged(scores, moving)
        return shifts, self._costs(sums)

    def flagged(self, scores: Floats64, moving: Bools | None = None) -> tuple[Floats64, Floats64]:
        """Return shifts ``(t,)`` and the weights flagged in each cell, ``(t, 1 + B, cells)``."""
        score = scores[:, 0]
        rows = np.arange(len(score)) if moving is None else np.flatnonzero(moving)
        order = rows[np.argsort(-score[rows], kind="stable")]
        ranked = score[order]
        cuts = thinned(ranked, self.y[order])
        above = np.concatenate(([ranked[0] + 1.0], ranked))[cuts]
        below = np.concatenate((ranked, [ranked[-1] - 1.0]))[cuts]
        step = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
        place = step * self.size + self.cell[order]
        count = (len(cuts) - 1) * self.size
        steps = summed(self.weights, place, count, order).reshape(-1, len(cuts) - 1, self.size)
        sums = np.zeros((steps.shape[0], len(cuts), self.size))
        np.cumsum(steps, axis=1, out=sums[:, 1:])
        if moving is not None:
            kept = np.flatnonzero((score > 0.0) & ~moving)
            sums += summed(self.weights, self.cell[kept], self.size, kept)[:, np.newaxis]
        return -0.5 * (above + below), np.moveaxis(sums, 1, 0)

    def sweep_groups(self, scores: Floats64, member: Ints, groups: int) -> GroupSweep | None:
        """Return the best of a grid of shifts of two or three groups; not counted."""
        if not 2 <= groups <= len(GRIDS) + 1 or len(np.unique(member)) < groups:
            return None
        alone = []
        for group in range(groups):
            own = member == group
            masked = np.where(own[:, np.newaxis], scores, -np.inf)
            alone.append(self.flagged(masked, own))
        places = [evenly_hit(sums, GRIDS[groups - 2]) for _, sums in alone]
        screened = self._grid(alone, places, slice(0, 1 + FEW))
        found = np.argsort(screened.mean(axis=1), kind="stable")[:FINALISTS]
        at = np.unravel_index(found, [len(place) for place in places])
        chosen = np.stack([place[k] for place, k in zip(places, at, strict=True)], axis=1)
        costs = self._costs(sum(sums[p] for (_, sums), p in zip(alone, chosen.T, strict=True)))
        best = chosen[int(np.argmin(costs.mean(axis=1)))]
        near = [beside(k, len(shifts)) for k, (shifts, _) in zip(best, alone, strict=True)]
        closer = np.stack([one.ravel() for one in np.meshgrid(*near, indexing="ij")], axis=1)
        again = self._grid(alone, near, slice(None))
        every = np.concatenate([chosen, closer])
        shifts = [levels[k] for (levels, _), k in zip(alone, every.T, strict=True)]
        return np.stack(shifts, axis=1), np.concatenate([costs, again])

    def _grid(
        self, alone: list[tuple[Floats64, Floats64]], places: list[Ints], few: slice
    ) -> Floats64:
        """Return the costs of all combinations of the groups' thresholds: counts add up."""
        total = np.zeros((1, *alone[0][1][:1, few].shape[1:]))
        for (_, sums), place in zip(alone, places, strict=True):
            total = (total[:, np.newaxis] + sums[place][:, few]).reshape(-1, *total.shape[1:])
        return replace(self, totals=self.totals[few], ledger=None)._costs(total)

    def of_counts(self) -> CountsJudge:
        """Return the judge itself."""
        return self

    @property
    def gains(self) -> GainMetric | None:
        """The metric, if it is a mean of gains."""
        return self.metric if isinstance(self.metric, GainMetric) else None

    def take(self, rows: Ints) -> CountsJudge:
        """Return a judge of some rows only; nothing is counted."""
        weights = self.weights[:1, rows]
        totals = summed(weights, self.cell[rows], self.size) if self.metric.additive else None
        assert totals is not None, "only metrics whose totals are sums can be taken apart"
        return replace(
            self, y=self.y[rows], cell=self.cell[rows], weights=weights, totals=totals, ledger=None
        )

    def _costs(self, sums: Floats64) -> Floats64:
        """Return costs ``(..., 1 + B)`` of the weights flagged in each cell."""

        def values(metric: Any) -> Floats64:
            return np.asarray(metric.from_sums(sums, self.totals))

        return self.metric.joint_costs(values)


def summed(weights: Floats64, place: Ints, count: int, columns: Ints | None = None) -> Floats64:
    """Return sums ``(m, count)`` of weights ``(m, n)``, or of some of their columns, by place.

    Columns are gathered in order of their place and added in runs: several times faster than a
    scatter for each of m.

    Examples
    --------
    >>> summed(np.array([[1.0, 2.0, 4.0]]), np.array([0, 2, 0]), 3).tolist()
    [[5.0, 0.0, 2.0]]
    """
    found = np.zeros((len(weights), count))
    if len(place) == 0:
        return found
    order = np.argsort(place, kind="stable")
    sorted_place = place[order]
    start = np.flatnonzero(np.diff(sorted_place, prepend=-1))
    gathered = weights[:, order if columns is None else columns[order]]
    found[:, sorted_place[start]] = np.add.reduceat(gathered, start, axis=1)
    return found


def thinned(ranked: Floats64, y: Floats64, most: int = SWEPT) -> Ints:
    """Return how many rows are flagged at each threshold, from none to all, thinned if too many.

    Even in rank or, where a class is rare, half of them beside its rows: where a hit more never
    harms, the best threshold lies there.

    Parameters
    ----------
    ranked : array of shape (n,)
        Scores, falling.
    y : array of shape (n,)

    Examples
    --------
    >>> thinned(np.array([3.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0])).tolist()
    [0, 1, 3]
    """
    distinct = np.flatnonzero(ranked[1:] < ranked[:-1]) + 1
    cuts = np.concatenate(([0], distinct, [len(ranked)]))
    if len(cuts) <= most:
        return cuts
    positive = y > 0.0
    share = positive.mean()
    near: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
    if share < RARE:
        near = np.flatnonzero(positive) + 1
    elif share > 1.0 - RARE:
        near = np.flatnonzero(~positive)
    if len(near) == 0:
        return cuts[spaced(len(cuts), most)]
    near = np.unique(cuts[np.searchsorted(cuts, near)])
    return np.union1d(cuts[spaced(len(cuts), most // 2)], near[spaced(len(near), most // 2)])


def beside(place: int, count: int) -> Ints:
    """Return the places about one, itself in the midst.

    Examples
    --------
    >>> beside(1, 20).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    return np.arange(max(place - BESIDE, 0), min(place + BESIDE + 1, count))


def evenly_hit(sums: Floats64, most: int) -> Ints:
    """Return thresholds between which even parts of the classes lie, of weights flagged at each.

    Parameters
    ----------
    sums : array of shape (t, 1 + B, cells)
        Rising in t.
    most : int

    Examples
    --------
    >>> evenly_hit(np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 99]).reshape(-1, 1, 1), 3).tolist()
    [0, 7, 8]
    """
    whole = sums[-1, 0]
    flagged = (sums[:, 0] / np.where(whole > 0.0, whole, 1.0)).sum(axis=-1)
    wanted = np.linspace(0.0, flagged[-1], most)
    right = np.clip(np.searchsorted(flagged, wanted), 1, len(flagged) - 1)
    left = wanted - flagged[right - 1] < flagged[right] - wanted
    return np.unique(np.append(right - left, [0, len(flagged) - 1])).astype(np.intp)


def spaced(count: int, most: int) -> Ints:
    """Return so many of the places 0 to count - 1, even and different.

    Examples
    --------
    >>> spaced(9, 3).tolist(), spaced(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.linspace(0, count - 1, min(count, most)).round().astype(np.intp)
