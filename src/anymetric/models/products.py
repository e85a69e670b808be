"""Products of a table with columns and with rows, each in the order in which it is fastest read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats, Matrix, Sparse

# Rows whose single-precision sum keeps its digits.
SUMMED = 1 << 15
# Bytes of a table that fits into the cache, and of a row that justifies a call.
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
    if sparse.issparse(slopes):
        return block_sums(slopes, X)[0]
    total = np.zeros((*slopes.shape[:-1], X.shape[1]))
    for start in range(0, X.shape[0], SUMMED):
        rows = slice(start, min(start + SUMMED, X.shape[0]))
        total += one_sum(X[rows], slopes[..., rows], streamed(X))
    return total


def block_sums(slopes: Sparse, *tables: Floats) -> list[NDArray[np.float64]]:
    """Return ``slopes @ X`` for sparse slopes and some tables, each by one product.

    The slopes get a row for each block of rows of X, and the blocks are added in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> slopes, one = sparse.csr_array([[1.0, 0.0, 2.0]]), np.ones(3, np.float32)
    >>> [sums.tolist() for sums in block_sums(slopes, np.ones((3, 1), np.float32), one)]
    [[[3.0]], [3.0]]
    """
    found = slopes.tocsc()
    K, n = found.shape
    ends = found.indptr[[*range(0, n, SUMMED), n]]
    count = len(ends) - 1
    first = np.repeat(np.arange(count, dtype=found.indices.dtype) * K, np.diff(ends))
    placed = found.data, found.indices + first, found.indptr
    blocks = sparse.csc_array(placed, shape=(K * count, n))
    parts = ((blocks @ X).reshape(count, K, *X.shape[1:]) for X in tables)
    return [np.asarray(part.sum(axis=0, dtype=np.float64)) for part in parts]


def sums_and_totals(
    X: Matrix, slopes: Floats | Sparse
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``slopes @ X`` and the sums of the slopes.

    Examples
    --------
    >>> import numpy as np
    >>> sums, total = sums_and_totals(np.eye(2, dtype=np.float32), sparse.csc_array([[1.0, 2.0]]))
    >>> sums.tolist(), total.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    if sparse.issparse(slopes) and not sparse.issparse(X) and X.dtype == np.float32:
        sums, total = block_sums(slopes, X, np.ones(X.shape[0], np.float32))
        return sums, total
    return row_sums(X, slopes), totals(slopes)


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
