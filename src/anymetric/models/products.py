"""Products of a table with columns and with rows, each in the order in which it is fastest read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats, Matrix, Sparse

# Rows whose single-precision sum keeps its digits.
SUMMED = 1 << 15
# Bytes up to which a table is taken to stay in the cache, and of a row that is worth a call.
IN_CACHE = 1 << 24
LONG = 400


def times(X: Matrix, columns: Floats) -> Floats:
    """Return ``X @ columns`` for columns of shape ``(d,)`` or ``(d, m)``.

    Examples
    --------
    >>> import numpy as np
    >>> times(np.eye(2), np.array([3.0, 4.0])).tolist()
    [3.0, 4.0]
    """
    if sparse.issparse(X):
        return np.asarray(X @ np.ascontiguousarray(columns))
    if columns.ndim == 1 and streamed(X):
        return np.asarray(np.vecdot(X, columns))
    return np.asarray(X @ columns)


def row_sums(X: Matrix, slopes: Floats | Sparse) -> NDArray[np.float64]:
    """Return ``slopes @ X`` for slopes of shape ``(n,)`` or ``(K, n)``.

    Single precision is summed in blocks of rows, and the blocks in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> row_sums(sparse.csr_array([[1.0, 0.0], [2.0, 3.0]]), np.ones(2)).tolist()
    [3.0, 3.0]
    """
    if sparse.issparse(X) and sparse.issparse(slopes):
        # A dense right-hand side spares the search for places where two rows meet.
        return np.ascontiguousarray((X.T @ slopes.T.toarray()).T, dtype=np.float64)
    if X.dtype == np.float64 or sparse.issparse(X):
        return one_sum(X, slopes, streamed(X))
    by_row = slopes.tocsc().T if sparse.issparse(slopes) else slopes
    total = np.zeros((*slopes.shape[:-1], X.shape[1]))
    for start in range(0, X.shape[0], SUMMED):
        rows = slice(start, min(start + SUMMED, X.shape[0]))
        total += one_sum(X[rows], some(by_row, rows), streamed(X))
    return total


def totals(slopes: Floats | Sparse) -> NDArray[np.float64]:
    """Return the sums of ``(n,)`` or ``(K, n)`` slopes, in double precision.

    Examples
    --------
    >>> totals(sparse.csc_array([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [3.0, 3.0]
    """
    if isinstance(slopes, sparse.csc_array):
        sums = np.bincount(slopes.indices, slopes.data, minlength=slopes.shape[0])
        return np.asarray(sums, dtype=np.float64)
    return np.asarray(slopes.sum(axis=-1, dtype=np.float64))


def one_sum(X: Any, slopes: Any, stream: bool) -> NDArray[np.float64]:
    """Return ``slopes @ X``, summed in the precision of X."""
    if stream and slopes.ndim == 1:
        return np.asarray(np.einsum("i,ij->j", slopes, X), dtype=np.float64)
    return np.asarray(slopes @ X, dtype=np.float64)


def some(by_row: Any, rows: slice) -> Any:
    """Return the slopes of these rows, from ``(..., n)`` slopes or their sparse transpose."""
    if isinstance(by_row, sparse.csr_array):
        return row_block(by_row, rows.start, rows.stop).T
    return by_row[..., rows]


def streamed(X: Matrix) -> bool:
    """Whether X comes from memory, row by row.

    BLAS reads several rows at a time: fast in the cache, but from memory it takes twice as long
    as one row after the other.

    Examples
    --------
    >>> import numpy as np
    >>> streamed(np.zeros((10, 10)))
    False
    """
    if sparse.issparse(X) or X.nbytes <= IN_CACHE:
        return False
    return bool(X.strides[0] >= LONG and X.flags.c_contiguous)


def row_block(X: Matrix, start: int, stop: int) -> Matrix:
    """Return rows of X without copying what they hold.

    Examples
    --------
    >>> row_block(sparse.csr_array([[1.0, 0.0], [0.0, 2.0]]), 1, 2).toarray().tolist()
    [[0.0, 2.0]]
    """
    if not sparse.issparse(X):
        return X[start:stop]
    first, last = X.indptr[start], X.indptr[stop]
    stored = X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first
    return sparse.csr_array(stored, shape=(len(stored[2]) - 1, X.shape[1]))
