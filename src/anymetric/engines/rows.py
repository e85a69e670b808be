"""Rows: where they are, in memory, in files or on other machines, and sums over all of them.

Shards are summed in a fixed order, so that a sum does not depend on who computes it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data
from anymetric.errors import import_extra
from anymetric.models.products import row_block

Sums: TypeAlias = tuple[NDArray[np.float64], ...]
#: From the rows of a shard, and the number of its first row, to arrays that are added up.
Work: TypeAlias = Callable[[Data, int], Sums]
# Rows of a shard of a table in memory.
ROWS = 1 << 16


class RowsLost(RuntimeError):  # noqa: N818 - it reads as what it says
    """The rows, or the machines that sum them, are out of reach.

    ``best`` is the estimator with the model of the sample, if there is one: fitted and usable.

    Examples
    --------
    >>> RowsLost("The scheduler is gone.").best is None
    True
    """

    def __init__(self, message: str, best: Any = None) -> None:
        super().__init__(message)
        self.best = best


class Rows(Protocol):
    """Rows that can be summed over: the interface of an engine.

    Examples
    --------
    >>> held: Rows = HeldRows(Data(np.eye(2), np.array([1.0, -1.0])))
    >>> held.sums(lambda data, start: (data.y, data.X.sum(axis=0)))[1].tolist()
    [1.0, 1.0]
    """

    def __len__(self) -> int:
        """Return how many rows there are."""
        ...

    @property
    def memory(self) -> int:
        """Bytes of rows that may be held in memory, for models that cannot be summed."""
        ...

    def sums(self, work: Work) -> Sums:
        """Return the sums of what `work` finds in each shard, added in the shards' order."""
        ...

    def sample(self, numbers: NDArray[np.intp]) -> Data:
        """Return the rows of these numbers, which rise, in memory."""
        ...


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows in memory.

    Examples
    --------
    >>> rows = HeldRows(Data(np.ones((5, 1)), np.arange(5.0)), shard=2)
    >>> rows.sums(lambda data, start: (np.array([len(data), start]),))[0].tolist()
    [5, 6]
    """

    data: Data
    shard: int = ROWS

    def __len__(self) -> int:
        return len(self.data)

    @property
    def memory(self) -> int:
        """No limit: the rows are in memory."""
        return sys.maxsize

    def sums(self, work: Work) -> Sums:
        """Add up the shards."""
        starts = range(0, len(self.data), self.shard)
        return added(work(cut(self.data, s, s + self.shard), s) for s in starts)

    def sample(self, numbers: NDArray[np.intp]) -> Data:
        """Return some rows."""
        return self.data.take(numbers)


@dataclass(frozen=True, eq=False)
class Shard:
    """Rows as they are stored, before they are checked.

    Attributes
    ----------
    X : matrix or data frame
    y : array of shape (n,)
    weights : array of shape (n,), optional
    side : mapping from name to column

    Examples
    --------
    >>> len(Shard(np.zeros((3, 1)), np.zeros(3)))
    3
    """

    X: Any
    y: Any
    weights: Any = None
    side: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.X.shape[0])


class Part(Protocol):
    """A run of neighbouring shards that one worker reads; it can be sent, and read again.

    Examples
    --------
    >>> part: Part = [(0, Shard(np.zeros((3, 1)), np.zeros(3)))]
    >>> [start for start, shard in part]
    [0]
    """

    def __iter__(self) -> Iterator[tuple[int, Shard]]:
        """Yield the number of its first row with each shard."""
        ...


class Source(Protocol):
    """Stored rows: what a file format or a collection implements.

    Examples
    --------
    >>> from anymetric.engines.parquet import ParquetRows
    >>> source: type[Source] = ParquetRows
    """

    @property
    def parts(self) -> Sequence[Part]:
        """The parts, in order: the same for every reader."""
        ...

    @property
    def memory(self) -> int:
        """Bytes of rows that may be held in memory, for models that cannot be summed."""
        ...

    def __len__(self) -> int:
        """Return how many rows there are."""
        ...

    def take(self, numbers: NDArray[np.intp]) -> Shard:
        """Return the rows of these numbers, which rise."""
        ...


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Stored rows, read again in every pass: memory holds a few shards at a time.

    Parameters
    ----------
    source : Source
    read : callable
        From a shard to checked rows.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from anymetric.engines.parquet import ParquetRows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).to_parquet(f"{folder}/rows.parquet")
    ...     rows = ReadRows(ParquetRows(folder), lambda one: Data(one.X, one.y))
    ...     rows.sums(lambda data, start: (data.X.sum(axis=0),))
    (array([3.]),)
    """

    source: Source
    read: Callable[[Shard], Data]

    def __len__(self) -> int:
        return len(self.source)

    @property
    def memory(self) -> int:
        """What the source allows."""
        return self.source.memory

    def sums(self, work: Work) -> Sums:
        """Read everything once, and add it up."""
        return added(part_sums(part, self.read, work) for part in self.source.parts)

    def sample(self, numbers: NDArray[np.intp]) -> Data:
        """Return some rows; everything is read once."""
        return self.read(self.source.take(numbers))


def part_sums(part: Part, read: Callable[[Shard], Data], work: Work) -> Sums:
    """Return the sums over one part.

    Examples
    --------
    >>> shards = [(0, Shard(np.ones((2, 1)), np.zeros(2))), (2, Shard(np.ones((1, 1)), np.ones(1)))]
    >>> part_sums(shards, lambda one: Data(one.X, one.y), lambda data, start: (data.X.sum(0),))
    (array([3.]),)
    """
    return added(work(read(shard), start) for start, shard in part)


def added(found: Iterator[Sums]) -> Sums:
    """Add tuples of arrays, one after the other.

    Examples
    --------
    >>> added(iter([(np.ones(2),), (np.ones(2),)]))
    (array([2., 2.]),)
    """
    total: list[NDArray[np.float64]] = []
    for one in found:
        total = [a + b for a, b in zip(total, one, strict=True)] if total else list(one)
    return tuple(total)


def pick(shard: Shard, places: NDArray[np.intp]) -> Shard:
    """Return some rows of a shard.

    Examples
    --------
    >>> pick(Shard(np.ones((3, 1)), np.arange(3)), np.array([0, 2])).y.tolist()
    [0, 2]
    """

    def some(column: Any) -> Any:
        if column is None:
            return None
        return column.iloc[places] if hasattr(column, "iloc") else column[places]

    side = {name: some(column) for name, column in shard.side.items()}
    return Shard(some(shard.X), some(shard.y), some(shard.weights), side)


def joined(shards: Iterable[Shard]) -> Shard:
    """Return the rows of several shards in one.

    Examples
    --------
    >>> joined([Shard(np.ones((2, 1)), np.zeros(2)), Shard(np.ones((1, 1)), np.ones(1))]).y.tolist()
    [0.0, 0.0, 1.0]
    """
    found = list(shards)

    def whole(columns: list[Any]) -> Any:
        if columns[0] is None:
            return None
        if hasattr(columns[0], "iloc"):
            return import_extra("pandas", needed_by="A data frame", extra="cli").concat(columns)
        if sparse.issparse(columns[0]):
            return sparse.csr_array(sparse.vstack(columns, format="csr"))
        return np.concatenate(columns)

    side = {name: whole([one.side[name] for one in found]) for name in found[0].side}
    parts = ([getattr(one, name) for one in found] for name in ("X", "y", "weights"))
    X, y, weights = map(whole, parts)
    return Shard(X, y, weights, side)


def cut(data: Data, start: int, stop: int) -> Data:
    """Return neighbouring rows without a copy."""
    rows = slice(start, min(stop, len(data)))
    side = {name: column[rows] for name, column in data.side.items()}
    return Data(row_block(data.X, rows.start, rows.stop), data.y[rows], data.weights[rows], side)
