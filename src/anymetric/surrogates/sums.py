"""Sums: slices that share a loss, on fixed rows, and their derivatives by the scores."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats
from anymetric.losses import Loss


@dataclass(frozen=True, eq=False)
class BoundSlices:
    """Surrogates that share a loss: one pass of the loss, one product with the slices' shares.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.surrogates import Sliced
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> Sliced("hinge").bind(data).values(np.array([2.0, 2.0])).tolist()
    [1.5]
    """

    loss: Loss
    y: NDArray[np.float64]
    shares: sparse.csr_array
    # Rows by columns of a block: the temporaries of one block stay in the cache.
    block: int = 1 << 17

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Average the losses over each slice."""
        if scores.ndim == 1:
            losses = self.loss.of_scores(scores, self.y)
            return np.asarray(self.shares @ losses, dtype=np.float64)
        n, m = scores.shape
        rows = max(self.block // max(m, 1), 64)
        starts = range(0, n, rows)
        total = sum(self.sums(scores[start : start + rows], start) for start in starts)
        return np.ascontiguousarray(np.transpose(total))

    def sums(self, scores: Floats, start: int) -> NDArray[np.float64]:
        """Return what the rows from `start` on add to ``(k, m)`` values, by their scores."""
        stop = start + len(scores)
        losses = self.loss.of_scores(scores, self.y[start:stop])
        return np.asarray(self._part(start, stop) @ losses, dtype=np.float64)

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Scale each share by the slope of its row's loss."""
        return self.scaled(self.loss.score_slope(scores, self.y))

    def local(self, scores: Floats) -> tuple[NDArray[np.float64], Spread]:
        """Return the values and their derivatives, from one pass of the loss."""
        losses, slopes = self.loss.with_slopes(scores, self.y)
        return np.asarray(self.shares @ losses, dtype=np.float64), Spread(self, slopes)

    def scaled(self, slope: Floats) -> sparse.csr_array:
        """Return the shares, each times its row's number."""
        # A shallow copy keeps the places of the shares, which SciPy would check again.
        scaled = copy(self.shares)
        scaled.data = self.shares.data * slope[self.shares.indices]
        return scaled

    def scaled_rows(self, slope: Floats) -> sparse.csc_array:
        """Return the same with its rows in order: a product then reads X from top to bottom."""
        single = slope.dtype == np.float32
        scaled = copy(self._single if single else self.rows)
        scaled.data = scaled.data * (slope if self._apart else slope[self._row_of])
        return scaled.T

    @cached_property
    def rows(self) -> sparse.csr_array:
        """The shares by row, ``(n, k)``."""
        return sparse.csr_array(self.shares.T)

    @cached_property
    def _single(self) -> sparse.csr_array:
        return self.rows.astype(np.float32)

    @cached_property
    def _apart(self) -> bool:
        """Whether every row is in one slice."""
        return bool(np.all(np.diff(self.rows.indptr) == 1))

    @cached_property
    def _row_of(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.y)), np.diff(self.rows.indptr))

    def _part(self, start: int, stop: int) -> sparse.csc_array:
        S = self.rows
        first, last = S.indptr[start], S.indptr[stop]
        pointers = S.indptr[start : stop + 1] - first
        part = (S.data[first:last], S.indices[first:last], pointers)
        return sparse.csc_array(part, shape=(S.shape[1], stop - start))


@dataclass(frozen=True, eq=False)
class Spread:
    """The derivatives of slices by the scores: one slope a row, shared out over the slices.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.surrogates import Sliced
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> _, spread = Sliced("hinge").bind(data).local(np.zeros(2))
    >>> spread.mixed(np.array([2.0])).tolist(), spread.matrix().toarray().tolist()
    ([-1.0, 1.0], [[-0.5, 0.5]])
    """

    slices: BoundSlices
    slopes: Floats

    def mixed(self, weights: NDArray[np.float64]) -> Floats:
        """Return the ``(n,)`` derivative of the values' sum by these weights."""
        return np.asarray((self.slices.rows @ weights) * self.slopes)

    def matrix(self) -> sparse.csc_array:
        """Return the ``(k, n)`` derivatives."""
        return self.slices.scaled_rows(self.slopes)
