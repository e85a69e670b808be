"""Cells: rows sorted once by slice, so that decisions are summed without floating copies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.thresholds import Thresholds

# So many ones fit in a byte: a block of this length is summed in eight bits.
BLOCK = 255


@dataclass(frozen=True, eq=False)
class Cells:
    """A partition of the rows into `size` cells, each row with a weight.

    Parameters
    ----------
    cell : int array of shape (n,)
    weights : array of shape (n,)
        May be negative: a gain, for instance.
    size : int

    Examples
    --------
    >>> import numpy as np
    >>> cells = Cells(np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), size=2)
    >>> cells.totals.tolist()
    [1.0, 5.0]
    >>> cells.sums(np.array([[True, False], [True, True], [False, True]])).tolist()
    [[1.0, 2.0], [0.0, 5.0]]
    """

    cell: NDArray[np.intp]
    weights: NDArray[np.float64]
    size: int

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """The weight of each cell, of shape (size,)."""
        return self._binned(slice(None))

    @cached_property
    def even(self) -> bool:
        """Whether the rows that count all weigh the same, so that counting them is enough."""
        heavy = self.weights[self.weights != 0.0]
        return bool(np.all(heavy == heavy[:1]))

    @cached_property
    def blocks(self) -> list[tuple[int, NDArray[np.intp]]]:
        """Rows that count, cut into short blocks that lie within one cell."""
        rows = np.flatnonzero(self.weights)
        rows = rows[np.argsort(self.cell[rows], kind="stable")]
        edges = np.searchsorted(self.cell[rows], np.arange(self.size + 1))
        return [
            (cell, rows[start : min(start + BLOCK, edges[cell + 1])])
            for cell in range(self.size)
            for start in range(edges[cell], edges[cell + 1], BLOCK)
        ]

    def sums(self, decisions: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the weight flagged in each cell, ``(m, size)``, of decisions ``(n, m)``."""
        if decisions.shape[1] == 1:
            flagged = np.flatnonzero(decisions[:, 0])
            return self._binned(flagged)[None, :]
        ones = np.ascontiguousarray(decisions).view(np.uint8)
        sums = np.zeros((self.size, decisions.shape[1]))
        for cell, rows in self.blocks:
            block = ones.take(rows, axis=0)
            if self.even:
                sums[cell] += self.weights[rows[0]] * block.sum(axis=0, dtype=np.uint8)
            else:
                sums[cell] += self.weights[rows] @ block.astype(np.float64)
        return sums.T

    def swept(self, cuts: Thresholds) -> NDArray[np.float64]:
        """Return the weight flagged in each cell at every threshold, ``(t, size)``."""
        steps = np.zeros((len(self.cell) + 1, self.size))
        steps[np.arange(1, len(steps)), self.cell[cuts.order]] = self.weights[cuts.order]
        return np.cumsum(steps, axis=0, out=steps)[cuts.flagged]

    def _binned(self, rows: NDArray[np.intp] | slice) -> NDArray[np.float64]:
        sums = np.bincount(self.cell[rows], self.weights[rows], minlength=self.size)
        return sums.astype(np.float64)
