"""Tables: the same features dense or sparse, whichever this machine multiplies faster."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from anymetric.data import Matrix
from anymetric.metrics.evaluations import decided
from anymetric.models.products import row_block

# Tables of fewer entries stay as they are: there is nothing to gain.
SMALL = 1 << 17
# A sparse table of more entries than this is not made dense.
LARGE = 1 << 23
# Tables with a larger share of non-zeros are not even tried as sparse.
DENSITY = 0.3
# Another form must be clearly faster, so that a tie never makes two runs differ in rounding.
CLEARLY = 0.6
# Entries of the rows that are timed (fewer would flatter what the cache holds), and how often.
SAMPLE = 1 << 22
REPEATS = 3

_measured: dict[tuple[Any, ...], bool] = {}


def lighter(X: Matrix) -> Matrix:
    """Return X dense or sparse: as it is, unless the other form is clearly faster here.

    Both products of the method, ``X @ theta`` and ``slopes @ X``, are timed on some rows of X.
    A table of the same shape and density gets the same answer in the same process.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((40_000, 100))
    >>> X[:, 0] = 1.0
    >>> type(lighter(X)).__name__, type(lighter(X[:100])).__name__
    ('csr_array', 'ndarray')
    """
    entries = X.shape[0] * X.shape[1]
    if entries <= SMALL:
        return X
    if sparse.issparse(X):
        return _as_dense(X) if entries <= LARGE and _faster(X, _as_dense) else X
    if not _mostly_zero(X):
        return X
    return _as_sparse(X) if _faster(X, _as_sparse) else X


def _as_dense(X: Matrix) -> Matrix:
    return X.toarray() if sparse.issparse(X) else X


def _as_sparse(X: Matrix) -> Matrix:
    # Sparse kernels sum in the precision of what they store.
    return sparse.csr_array(X).astype(np.float64, copy=False)


def _mostly_zero(X: Any) -> bool:
    """Whether few entries are not zero: in some rows first, which settles most tables."""
    some = X[:: max(len(X) // 256, 1)]
    if np.count_nonzero(some) > 1.5 * DENSITY * some.size:
        return False
    return bool(np.count_nonzero(X) <= DENSITY * X.size)


def _faster(X: Matrix, other: Callable[[Matrix], Matrix]) -> bool:
    """Whether the other form multiplies clearly faster on some rows of X."""
    stored = X.nnz if sparse.issparse(X) else int(np.count_nonzero(X))
    key = (sparse.issparse(X), X.shape, X.dtype.str, stored)

    def measured() -> bool:
        if key not in _measured:
            rows = row_block(X, 0, min(X.shape[0], max(SAMPLE // X.shape[1], 1)))
            first, second = race(rows, other(rows))
            _measured[key] = second < CLEARLY * first
        return _measured[key]

    return bool(decided(f"another form of {key} is faster", measured))


def race(*tables: Matrix) -> list[float]:
    """Return the seconds that both products take with each table: the best of some turns.

    Examples
    --------
    >>> import numpy as np
    >>> len(race(np.eye(3), sparse.csr_array(np.eye(3))))
    2
    """
    best = [np.inf for _ in tables]
    for _ in range(REPEATS):
        for k, X in enumerate(tables):
            theta, slopes = np.ones(X.shape[1], X.dtype), np.ones(X.shape[0], X.dtype)
            began = time.perf_counter()
            X @ theta
            slopes @ X
            best[k] = min(best[k], time.perf_counter() - began)
    return best
