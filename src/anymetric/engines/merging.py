"""Merging: rows that say the same are summed once, with the weight of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Matrix

Words = NDArray[np.uint64]
# Merging pays if no more than this share of the rows is left.
PAYS = 0.8
# Columns that are compared first, rows used to choose them, and rows in a block.
FIRST = 8
DISTINGUISHING = 512
ROWS = 2048


@dataclass(frozen=True, eq=False)
class Merged:
    """Which rows are kept, and for every row the place of the one that stands for it.

    Examples
    --------
    >>> import numpy as np
    >>> Merged(np.array([0, 2]), np.array([0, 0, 1])).kept.tolist()
    [0, 2]
    """

    kept: NDArray[np.intp]
    group: NDArray[np.intp]


def merge(X: Matrix, keys: Words) -> Merged | None:
    """Return the distinct rows of X and keys, sorted by keys; None if merging would not pay.

    Rows are found by a hash and then compared: what is merged is equal.

    Parameters
    ----------
    X : array or csr_array of shape (n, d)
    keys : uint64 array of shape (n, q)
        What else must be equal, as words of bits.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0]])
    >>> found = merge(X, np.array([[0], [0], [0], [7]], dtype=np.uint64))
    >>> found.kept.tolist(), found.group.tolist()
    ([0, 1, 3], [0, 1, 0, 2])
    """
    own = hashed(keys)
    if not sparse.issparse(X):
        columns = X[:, distinguishing(X)]
        if distinct(hashed(bits(columns)) + own) > PAYS * len(own):
            return None
    found = own + (sparse_hashed(X) if sparse.issparse(X) else dense_hashed(X))
    if distinct(found) > PAYS * len(own):
        return None
    order = np.argsort(found, kind="stable")
    again = np.flatnonzero(found[order[1:]] == found[order[:-1]]) + 1
    before, after = order[again - 1], order[again]
    same = np.zeros(len(order), dtype=bool)
    same[again] = equal_rows(X, before, after) & np.all(keys[before] == keys[after], axis=1)
    return in_order(order, same, keys)


def in_order(order: NDArray[np.intp], same: NDArray[np.bool_], keys: Words) -> Merged:
    """Return the runs of equal rows in `order`, sorted by their keys, then as they came."""
    run = np.cumsum(~same) - 1
    kept = order[~same]
    places = np.lexsort((kept, *keys[kept].T[::-1]))
    rank = np.empty(len(kept), dtype=np.intp)
    rank[places] = np.arange(len(kept))
    group = np.empty(len(order), dtype=np.intp)
    group[order] = rank[run]
    return Merged(kept[places], group)


def distinguishing(X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the columns, of some, that take the most values in some rows.

    Examples
    --------
    >>> import numpy as np
    >>> distinguishing(np.column_stack([np.zeros(9), np.arange(9)])).tolist()
    [1, 0]
    """
    columns = np.unique(np.linspace(0, X.shape[1] - 1, 8 * FIRST).astype(np.intp))
    some = np.sort(X[:: max(len(X) // DISTINGUISHING, 1)][:, columns], axis=0)
    values = np.count_nonzero(some[1:] != some[:-1], axis=0)
    return columns[np.argsort(-values, kind="stable")[:FIRST]]


def distinct(words: Words) -> int:
    """Return how many different words there are.

    Examples
    --------
    >>> import numpy as np
    >>> distinct(np.array([3, 1, 3], dtype=np.uint64))
    2
    """
    ranked = np.sort(words)
    return 1 + int(np.count_nonzero(ranked[1:] != ranked[:-1]))


def bits(values: NDArray[Any]) -> Words:
    """Return floats as words of their bits.

    Examples
    --------
    >>> import numpy as np
    >>> bits(np.array([0.0, 1.0])).tolist()
    [0, 4607182418800017408]
    """
    values = np.ascontiguousarray(values)
    if values.dtype == np.float32:
        return values.view(np.uint32).astype(np.uint64)
    return values.astype(np.float64, copy=False).view(np.uint64)


def mixed(words: Words) -> Words:
    """Return each word with every bit spread over all others (the finaliser of splitmix64)."""
    out = words ^ (words >> np.uint64(30))
    out *= np.uint64(0xBF58476D1CE4E5B9)
    out ^= out >> np.uint64(27)
    out *= np.uint64(0x94D049BB133111EB)
    out ^= out >> np.uint64(31)
    return out


def salt(columns: NDArray[np.integer[Any]]) -> Words:
    """Return a word for each column, so that equal values in different columns differ."""
    return mixed(columns.astype(np.uint64) + np.uint64(1))


def hashed(words: Words) -> Words:
    """Return one word for each row of words."""
    salted: Words = mixed(words + salt(np.arange(words.shape[1])))
    return np.asarray(salted.sum(axis=1, dtype=np.uint64))


def dense_hashed(X: NDArray[Any]) -> Words:
    """Return one word for each row, a block of rows at a time."""
    parts = [hashed(bits(X[start : start + ROWS])) for start in range(0, len(X), ROWS)]
    return np.concatenate(parts)


def sparse_hashed(X: sparse.csr_array) -> Words:
    """Return one word for each row, of what is stored alone."""
    words = mixed(bits(X.data) + salt(X.indices))
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
    return np.asarray(total[X.indptr[1:]] - total[X.indptr[:-1]])


def equal_rows(X: Matrix, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return whether each of these pairs of rows holds the same values.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> equal_rows(sparse.csr_array(X), np.array([0, 0]), np.array([1, 2])).tolist()
    [False, True]
    """
    same = np.zeros(len(first), dtype=bool)
    for start in range(0, len(first), ROWS):
        part = slice(start, start + ROWS)
        if sparse.issparse(X):
            same[part] = equal_stored(X[first[part]], X[second[part]])
        else:
            same[part] = np.all(X[first[part]] == X[second[part]], axis=1)
    return same


def equal_stored(A: sparse.csr_array, B: sparse.csr_array) -> NDArray[np.bool_]:
    """Return which rows of A and B store the same values at the same places."""
    as_many = np.diff(A.indptr) == np.diff(B.indptr)
    A, B = A[np.flatnonzero(as_many)], B[np.flatnonzero(as_many)]
    apart = (A.indices != B.indices) | (A.data != B.data)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    same: NDArray[np.bool_] = as_many.copy()
    same[as_many] = np.bincount(row, apart, minlength=A.shape[0]) == 0
    return same


def membership(shares: sparse.csr_array) -> NDArray[np.uint64]:
    """Return which slices each row is in, as bits: 64 slices to a word.

    Examples
    --------
    >>> membership(sparse.csr_array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])).tolist()
    [[1], [3], [0]]
    """
    k, n = shares.shape
    words = np.zeros((n, -(-k // 64)), dtype=np.uint64)
    for slice_ in range(k):
        rows = shares.indices[shares.indptr[slice_] : shares.indptr[slice_ + 1]]
        words[rows, slice_ // 64] |= np.uint64(1) << np.uint64(slice_ % 64)
    return words
