"""Rows: sums on the workers of a Dask cluster, where the rows are.

Only parameters go out, and only sums come back. What a lost worker had is rebuilt by another: rows
in files are read again, those of a collection are computed again from its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.engines.distributed.waiting import Awaited
from anymetric.engines.rows import (
    Part,
    Shard,
    Source,
    Sums,
    Work,
    added,
    joined,
    part_sums,
    pick,
)
from anymetric.errors import import_extra
from anymetric.threads import one_thread


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask array or data frame, without importing Dask.

    Examples
    --------
    >>> is_collection(np.zeros((2, 1)))
    False
    """
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(
        X, "to_delayed"
    )


def client_of(client: Any = None) -> Any:
    """Return a client, the current one by default, or say how to make one.

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     client_of() is client
    True
    """
    if client is not None:
        return client
    distributed = import_extra("distributed", needed_by="Fitting on Dask", extra="dask")
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ValueError(
            "Dask collections need a client, and there is none: make one with "
            "distributed.Client(...), or give client= to fit."
        ) from error


@dataclass(frozen=True, eq=False)
class OnDask:
    """A source whose parts are read by the workers of a Dask client.

    Parameters
    ----------
    source : Source
        Such as `ParquetRows`, with files that every worker can read.
    client : distributed.Client
    timeout : float
        Seconds that may pass without any part being done.

    Examples
    --------
    >>> from distributed import Client
    >>> from anymetric.engines.parquet import ParquetRows
    >>> import tempfile, pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).to_parquet(f"{folder}/rows.parquet")
    ...     with Client(processes=False, dashboard_address=":0") as client:
    ...         source = OnDask(ParquetRows(folder), client)
    ...         rows = source.rows(lambda one: Data(one.X, one.y))
    ...         rows.sums(lambda data, start: (data.X.sum(axis=0),))
    (array([3.]),)
    """

    source: Source
    client: Any
    timeout: float = 600.0

    def __len__(self) -> int:
        return len(self.source)

    @property
    def parts(self) -> Sequence[Any]:
        """Those of the source."""
        return self.source.parts

    @property
    def memory(self) -> int:
        """What the source allows."""
        return self.source.memory

    def take(self, numbers: NDArray[np.intp]) -> Shard:
        """Let the workers pick some rows."""
        return joined(found for part in self.asked(taken, numbers) for found in part)

    def rows(self, read: Callable[[Shard], Data]) -> DaskRows:
        """Return the rows as they are read by this."""
        return DaskRows(self, read)

    def named(self, X: Any) -> Any:
        """Return features with names, where the source has them."""
        return self.source.named(X) if hasattr(self.source, "named") else X

    def asked(self, task: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what a task makes of each part, in their order."""
        return Awaited(self.client, self.timeout).each(task, self.parts, *arguments)


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows that the workers of a cluster sum up.

    The parts are added in their order, so that the sums do not depend on the workers.

    Examples
    --------
    >>> DaskRows.__name__  # made by `OnDask(...).rows(read)`
    'DaskRows'
    """

    source: OnDask
    read: Callable[[Shard], Data]

    def __len__(self) -> int:
        return len(self.source)

    @property
    def memory(self) -> int:
        """What the source allows."""
        return self.source.memory

    def sums(self, work: Work) -> Sums:
        """Send the work to the parts, and add up what comes back."""
        return added(iter(self.source.asked(alone, part_sums, self.read, work)))

    def sample(self, numbers: NDArray[np.intp]) -> Data:
        """Return some rows."""
        return self.read(self.source.take(numbers))


@dataclass(frozen=True, eq=False)
class DaskCollection:
    """A Dask array or data frame with its target: each partition is a part, kept by the cluster.

    Parameters
    ----------
    X : dask array or data frame
    y : dask array or series
    client : distributed.Client
    weights : dask array or series, optional
    side : mapping from name to dask array or series
    memory : int
        Bytes of rows that may be held at home.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     X = da.ones((5, 2), chunks=(3, 2))
    ...     rows = DaskCollection(X, da.arange(5, chunks=3), client)
    ...     len(rows), len(rows.parts), OnDask(rows, client).take(np.array([1, 4])).y.tolist()
    (5, 2, [1, 4])
    """

    X: Any
    y: Any
    client: Any
    weights: Any = None
    side: Mapping[str, Any] | None = None
    memory: int = 1 << 30

    @cached_property
    def parts(self) -> list[Any]:
        """A future for each partition, which the cluster can compute again."""
        delayed = import_extra("dask", needed_by="Fitting on Dask", extra="dask").delayed
        columns = {"y": self.y, "weights": self.weights, **(self.side or {})}
        pieces = {"X": self._pieces(self.X), **{k: self._pieces(v) for k, v in columns.items()}}
        for name, found in pieces.items():
            if found and len(found) != len(pieces["X"]):
                raise ValueError(
                    f"{name} has {len(found)} partitions and X {len(pieces['X'])}: give both the "
                    "same partitions."
                )
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        make = delayed(part_of, pure=False)
        return list(
            self.client.compute(
                [
                    make(
                        int(starts[k]), {name: found[k] for name, found in pieces.items() if found}
                    )
                    for k in range(len(pieces["X"]))
                ]
            )
        )

    @cached_property
    def sizes(self) -> list[int]:
        """Rows of each partition."""
        if hasattr(self.X, "chunks") and not np.isnan(self.X.chunks[0]).any():
            return [int(n) for n in self.X.chunks[0]]
        count = import_extra("dask", needed_by="Fitting on Dask", extra="dask").delayed(len)
        found = self.client.compute([count(piece) for piece in self._pieces(self.X)])
        return [int(n) for n in self.client.gather(found)]

    def __len__(self) -> int:
        return sum(self.sizes)

    def take(self, numbers: NDArray[np.intp]) -> Shard:
        """Let the workers pick some rows."""
        return OnDask(self, self.client).take(numbers)

    def _pieces(self, collection: Any) -> list[Any]:
        """Return the partitions; of an array, with all columns of their rows."""
        if collection is None:
            return []
        if hasattr(collection, "chunks"):
            rows = self.X.chunks[0] if hasattr(self.X, "chunks") else collection.chunks[0]
            collection = collection.rechunk(
                {0: rows} | dict.fromkeys(range(1, collection.ndim), -1)
            )
        return list(np.ravel(collection.to_delayed()))


def part_of(start: int, pieces: dict[str, Any]) -> list[tuple[int, Shard]]:
    """Return one partition as a part.

    Examples
    --------
    >>> [(start, len(one)) for start, one in part_of(7, {"X": np.ones((2, 1)), "y": np.ones(2)})]
    [(7, 2)]
    """
    side = {name: column for name, column in pieces.items() if name not in ("X", "y", "weights")}
    return [(start, Shard(pieces["X"], pieces["y"], pieces.get("weights"), side))]


def alone(part: Part, task: Callable[..., Any], *arguments: Any) -> Any:
    """Do a task on a worker with one thread, as it is done elsewhere."""
    with one_thread():
        return task(part, *arguments)


def taken(part: Part, numbers: NDArray[np.intp]) -> list[Shard]:
    """Return the rows of a part that have these numbers.

    Examples
    --------
    >>> shard = Shard(np.arange(4.0).reshape(-1, 1), np.zeros(4))
    >>> [one.X.ravel().tolist() for one in taken([(10, shard)], np.array([3, 11]))]
    [[1.0]]
    """
    found = []
    for start, shard in part:
        first, last = np.searchsorted(numbers, [start, start + len(shard)])
        if last > first:
            found.append(pick(shard, numbers[first:last] - start))
    return found
