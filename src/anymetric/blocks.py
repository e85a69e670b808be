"""Blocks: rows of queries side by side, queries of like sizes together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A block holds queries whose sizes differ by no more than this factor: so little is padding.
LIKE = 1.25
# A few small queries more in a block cost less than a block of their own: up to half may be padding
# in a block of no more places than this.
SMALL = 1 << 14


@dataclass(frozen=True, eq=False)
class Block:
    """Some queries as lines of a table, short ones padded at the end.

    Attributes
    ----------
    rows : array of shape (q, L)
        Row numbers; padding repeats the query's first row.
    real : array of shape (q, L)
        Which places hold a row of the query.
    queries : array of shape (q,)
        Which queries these are.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(
    ...     np.array([[0, 1], [2, 2]]), np.array([[True, True], [True, False]]), np.array([0, 1])
    ... )
    >>> block.of(np.array([5.0, 6.0, 7.0]), padding=0.0).tolist()
    [[5.0, 6.0], [7.0, 0.0]]
    """

    rows: NDArray[np.intp]
    real: NDArray[np.bool_]
    queries: NDArray[np.intp]

    def of(self, column: NDArray[Any], padding: float) -> NDArray[Any]:
        """Return a column laid out like the table."""
        return np.where(self.real, column[self.rows], padding)


@dataclass(frozen=True, eq=False)
class Queries:
    """Which query each row belongs to.

    Attributes
    ----------
    member : array of shape (n,)
        The query of each row, from 0 to Q - 1.
    order : array of shape (n,)
        Rows sorted by query.
    start : array of shape (Q,)
        Where each query begins in `order`.

    Examples
    --------
    >>> import numpy as np
    >>> queries = Queries.of(np.array(["b", "a", "b"]))
    >>> queries.member.tolist(), queries.sizes.tolist()
    ([1, 0, 1], [1, 2])
    >>> [rows.tolist() for rows in queries]
    [[1], [0, 2]]
    >>> Queries.of(np.array(["10", "9"])).member.tolist()
    [1, 0]
    """

    member: NDArray[np.intp]
    order: NDArray[np.intp]
    start: NDArray[np.intp]

    @classmethod
    def of(cls, column: NDArray[Any]) -> Queries:
        """Number the queries of a column by name: numbers, as text too, by their size."""
        text = column.astype(str) if column.dtype == object else column
        names, member, counts = np.unique(text, return_inverse=True, return_counts=True)
        by_size = _by_size(names)
        member, counts = np.argsort(by_size)[member], counts[by_size]
        order = np.argsort(member, kind="stable")
        return cls(member, order, np.cumsum(counts) - counts)

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[NDArray[np.intp]]:
        return iter(np.split(self.order, self.start[1:]))

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Rows in each query."""
        return np.diff(self.start, append=len(self.order))

    def mean(self, column: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean of a column over each query's rows."""
        return np.bincount(self.member, column, minlength=len(self)) / self.sizes

    def any(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which queries have a chosen row."""
        return np.bincount(self.member, chosen, minlength=len(self)) > 0

    def blocks(self, kept: NDArray[np.bool_]) -> list[Block]:
        """Return the kept queries in blocks of like sizes, the smallest first."""
        queries = np.flatnonzero(kept)
        queries = queries[np.argsort(self.sizes[queries], kind="stable")]
        sizes = self.sizes[queries]
        blocks, first = [], 0
        while first < len(queries):
            last = first + _block_length(sizes[first:])
            blocks.append(self._block(queries[first:last]))
            first = last
        return blocks

    def _block(self, queries: NDArray[np.intp]) -> Block:
        place = np.arange(self.sizes[queries].max())
        real = place < self.sizes[queries, np.newaxis]
        inside = self.start[queries, np.newaxis] + np.where(real, place, 0)
        return Block(self.order[inside], real, queries)


def _by_size(names: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order of sorted names in which texts that are all numbers rise as numbers."""
    try:
        return np.argsort(names.astype(np.float64), kind="stable")
    except (TypeError, ValueError):
        return np.arange(len(names))


def _block_length(sizes: NDArray[np.intp]) -> int:
    """Return how many of the queries, the smallest first, go into one block."""
    alike = int(np.searchsorted(sizes, LIKE * sizes[0], side="right"))
    places = sizes * np.arange(1, len(sizes) + 1)
    fits = (places <= SMALL) & (places <= 2 * np.cumsum(sizes))
    return max(alike, int(np.flatnonzero(fits)[-1]) + 1 if fits.any() else 0)
