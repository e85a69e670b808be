"""Lists: the ranking surrogates of two classes within each query, many queries at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.blocks import Queries
from anymetric.data import Floats
from anymetric.surrogates.base import MatrixSlopes
from anymetric.surrogates.ranking import full_rows, window_cdf

# Scores processed together, so that they stay in the cache.
BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class Side:
    """The rows of one class in some queries, as lines of a table.

    Attributes
    ----------
    rows : array of shape (q, L)
    real : array of shape (q, L)
        Which places hold a row; the others are padding.

    Examples
    --------
    >>> import numpy as np
    >>> side = Side.of(np.array([[4, 5], [6, 7]]), np.array([[False, True], [True, True]]))
    >>> side.rows.tolist(), side.counts.tolist()
    ([[5, 4], [6, 7]], [1, 2])
    """

    rows: NDArray[np.intp]
    real: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: NDArray[np.intp], chosen: NDArray[np.bool_]) -> Side:
        """Take the chosen places of a table, moved to the front."""
        order = np.argsort(~chosen, axis=1, kind="stable")[:, : int(chosen.sum(axis=1).max())]
        return cls(np.take_along_axis(rows, order, 1), np.take_along_axis(chosen, order, 1))

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Rows of each query."""
        return np.asarray(self.real.sum(axis=1))

    def downhill(self, scores: NDArray[np.float64]) -> tuple[Any, Any]:
        """Sort scores ``(m, n)``: return them ``(m, q, L)``, best first, and their places.

        Padding comes last, as zeros.
        """
        keys = np.where(self.real, -scores[:, self.rows], np.inf)
        order = np.argsort(keys, axis=-1)
        ranked = -np.take_along_axis(keys, order, axis=-1)
        return np.where(np.isfinite(ranked), ranked, 0.0), order


@dataclass(frozen=True, eq=False)
class Table:
    """Some queries: what each weighs, and its rows of either class."""

    share: NDArray[np.float64]
    positives: Side
    negatives: Side


def tables(
    queries: Queries, positive: NDArray[np.bool_], share: NDArray[np.float64]
) -> list[Table]:
    """Return the queries that weigh something, in tables of like sizes.

    Examples
    --------
    >>> import numpy as np
    >>> queries = Queries.of(np.array([1, 1, 2, 2]))
    >>> positive = np.array([True, False, False, True])
    >>> table = tables(queries, positive, np.array([0.5, 0.5]))[0]
    >>> table.positives.rows.tolist(), table.negatives.rows.tolist()
    ([[0], [3]], [[1], [2]])
    """
    made = []
    for block in queries.blocks(share > 0.0):
        one, other = (block.real & (positive[block.rows] == sign) for sign in (True, False))
        sides = Side.of(block.rows, one), Side.of(block.rows, other)
        made.append(Table(share[block.queries], *sides))
    return made


@dataclass(frozen=True, eq=False)
class BoundLists(ABC):
    """A surrogate of two classes on fixed rows, the mean over queries."""

    tables: list[Table]
    n: int

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the mean over the queries."""
        columns = np.asarray(scores, dtype=np.float64).reshape(self.n, -1).T
        total = np.zeros(len(columns))
        for table in self.tables:
            for part in self._parts(len(columns), table):
                total[part] += self.of_table(columns[part], table) @ table.share
        return total.reshape(scores.shape[1:])[..., np.newaxis]

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Return the derivatives by each query's scores."""
        return self.local(scores)[1].slopes

    def local(self, scores: Floats) -> tuple[NDArray[np.float64], MatrixSlopes]:
        """Return the value and its derivatives, from one sort of each query."""
        row, total = np.zeros(self.n), 0.0
        columns = np.asarray(scores, dtype=np.float64)[np.newaxis, :]
        for table in self.tables:
            values, up, down = self.local_of(columns, table)
            total += float(values @ table.share)
            share = table.share[:, np.newaxis]
            for side, slopes in ((table.positives, up), (table.negatives, down)):
                row[side.rows[side.real]] = (share * slopes)[side.real]
        return np.array([total]), MatrixSlopes(full_rows(row[np.newaxis, :]))

    def _parts(self, m: int, table: Table) -> Iterator[slice]:
        size = table.positives.rows.size + table.negatives.rows.size
        width = max(BLOCK // size, 1)
        return (slice(first, first + width) for first in range(0, m, width))

    @abstractmethod
    def of_table(self, scores: NDArray[np.float64], table: Table) -> NDArray[np.float64]:
        """Return values ``(m, q)`` of scores ``(m, n)``."""

    @abstractmethod
    def local_of(self, scores: NDArray[np.float64], table: Table) -> tuple[Any, Any, Any]:
        """Return values ``(q,)`` of scores ``(1, n)``, and slopes ``(q, L)`` of either class."""


@dataclass(frozen=True, eq=False)
class PrecisionLists(BoundLists):
    """`AveragePrecisionAtK` within each query; k is at most its positives.

    Examples
    --------
    >>> import numpy as np
    >>> queries = Queries.of(np.zeros(3))
    >>> made = tables(queries, np.array([True, False, False]), np.ones(1))
    >>> PrecisionLists(made, 3, 1).values(np.array([0.0, 1.0, -5.0])).tolist()
    [2.0]
    """

    k: int | None

    def of_table(self, scores: NDArray[np.float64], table: Table) -> NDArray[np.float64]:
        """Return the maximum over the number of true positives, over k."""
        return np.asarray(self._swept(scores, table)[0] / self._depth(table))

    def local_of(self, scores: NDArray[np.float64], table: Table) -> tuple[Any, Any, Any]:
        """Differentiate at the maximising label vector."""
        value, true, up, down = self._swept(scores, table)
        depth, true = self._depth(table)[:, np.newaxis], true[0][:, np.newaxis]
        false, missed = depth - true, np.maximum(table.positives.counts[:, np.newaxis] - true, 1)
        pushed = np.where(places(up[0]) >= true, -false / missed / depth, 0.0)
        pulled = np.where(places(down[0]) < false, 1.0 / depth, 0.0)
        return value[0] / depth[:, 0], pushed, pulled

    def _depth(self, table: Table) -> NDArray[np.intp]:
        counts = table.positives.counts
        return counts if self.k is None else np.minimum(counts, self.k)

    def _swept(self, scores: NDArray[np.float64], table: Table) -> tuple[Any, Any, Any, Any]:
        """Return the largest value, its number of true positives, and both classes' orders."""
        ranked, up = table.positives.downhill(scores)
        above, down = table.negatives.downhill(scores)
        depth, counts = self._depth(table)[:, np.newaxis], table.positives.counts[:, np.newaxis]
        true = np.arange(int(depth.max()) + 1)
        false = depth - true
        possible = (false >= 0) & (false <= table.negatives.counts[:, np.newaxis])
        false = np.where(possible, false, 0)
        top = np.take_along_axis(
            started(above), np.broadcast_to(false, (len(scores), *false.shape)), -1
        )
        found = started(ranked)
        bottom = found[..., -1:] - found[..., : len(true)]
        value = false + top - false / np.maximum(counts - true, 1) * bottom
        value = np.where(possible, value, -np.inf)
        return value.max(axis=-1), value.argmax(axis=-1), up, down


@dataclass(frozen=True, eq=False)
class RecallLists(BoundLists):
    """`PrecisionAtRecall` within each query.

    Examples
    --------
    >>> import numpy as np
    >>> queries = Queries.of(np.zeros(3))
    >>> made = tables(queries, np.array([True, True, False]), np.ones(1))
    >>> RecallLists(made, 3, 0.5, 0.05).values(np.array([3.0, 1.0, 0.5])).round(6).tolist()
    [0.0]
    """

    recall: float
    smoothing: float

    def of_table(self, scores: NDArray[np.float64], table: Table) -> NDArray[np.float64]:
        """Return the mean excess of the negatives over the smoothed quantile, less one."""
        return np.asarray(self._excess(scores, table)[0])

    def local_of(self, scores: NDArray[np.float64], table: Table) -> tuple[Any, Any, Any]:
        """Push negatives above the margin down, and the quantile's positives up."""
        values, kept, order, parts = self._excess(scores, table)
        down = (kept[0] > 0.0) / table.negatives.counts[:, np.newaxis]
        pushed = np.empty(parts.shape)
        np.put_along_axis(pushed, order[0], parts, axis=1)
        return values[0], -down.sum(axis=1, keepdims=True) * pushed, down

    def _excess(self, scores: NDArray[np.float64], table: Table) -> tuple[Any, Any, Any, Any]:
        """Return the values, each negative's excess, the positives' order and their parts."""
        ranked, order = table.positives.downhill(scores)
        parts = self._parts_of(table)
        margin = 1.0 - (ranked * parts).sum(axis=-1)
        above = margin[..., np.newaxis] + scores[:, table.negatives.rows]
        kept = np.where(table.negatives.real, np.maximum(above, 0.0), 0.0)
        return kept.sum(axis=-1) / table.negatives.counts, kept, order, parts

    def _parts_of(self, table: Table) -> NDArray[np.float64]:
        """Return the part of each place, from the best, in the quantile: its window's mass."""
        counts = table.positives.counts[:, np.newaxis]
        place = np.minimum(np.arange(table.positives.rows.shape[1] + 1), counts)
        mass = window_cdf((1.0 - place / counts - (1.0 - self.recall)) / self.smoothing)
        parts = -np.diff(mass, axis=1)
        return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def places(order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of each entry in the order of its line.

    Examples
    --------
    >>> import numpy as np
    >>> places(np.array([[2, 0, 1]])).tolist()
    [[1, 2, 0]]
    """
    found = np.empty_like(order)
    np.put_along_axis(found, order, np.broadcast_to(np.arange(order.shape[-1]), order.shape), -1)
    return found


def started(ranked: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return running sums along the last axis that begin with zero.

    Examples
    --------
    >>> import numpy as np
    >>> started(np.array([3.0, 1.0])).tolist()
    [0.0, 3.0, 4.0]
    """
    total = np.zeros((*ranked.shape[:-1], ranked.shape[-1] + 1))
    np.cumsum(ranked, axis=-1, out=total[..., 1:])
    return total
