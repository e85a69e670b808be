"""ParquetRows: rows in Parquet files, which may be larger than memory."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.engines.rows import Shard
from anymetric.errors import import_extra

# Parts that are read by one worker each: what travels in a pass does not depend on the rows.
PARTS = 64
# Names of columns that are no features, beside the target.
ROLES = ("sample_weight", "groups", "source")


def arrow(module: str = "dataset") -> Any:
    """Return a module of pyarrow, or say how to install it."""
    return import_extra(f"pyarrow.{module}", needed_by="ParquetRows", extra="cli")


@dataclass(frozen=True)
class ParquetRows:
    """Rows in Parquet files, for `fit` in the place of X and y.

    The files are read a few times from the first to the last, and memory holds some shards of them.

    Parameters
    ----------
    path : str, path or list of them
        Files; `*` and the like stand for names of files, and a folder for all Parquet files in it.
    target : str
        The column of y.
    features : list of str, optional
        The columns of X; all that have no other role, by default. Columns of text and dictionaries
        are categories.
    sample_weight, groups, source : str, optional
        Columns that `fit` takes under these names.
    side : tuple of str
        Columns of metadata that the metric reads.
    sparse : (str, str, int), optional
        The features are sparse: a column with a list of the places of each row's entries, one with
        a list of the entries, and the number of features.
    batch : int
        Rows of a shard, at most.
    most_parts : int
        Parts of which the sums are added up at home; each is read by one worker.
    memory : int
        Bytes of rows that may be held in memory, where a model is not fitted by sums over the rows,
        such as trees.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pd.DataFrame({"a": np.arange(9.0), "b": 1.0, "y": np.arange(9) % 2})
    >>> table.to_parquet(f"{folder.name}/part-0.parquet")
    >>> rows = ParquetRows(f"{folder.name}/part-*.parquet", target="y")
    >>> len(rows), rows.columns, rows.take(np.array([2, 5])).y.tolist()
    (9, ('a', 'b'), [0, 1])
    """

    path: str | Path | Sequence[str | Path]
    target: str = "y"
    features: Sequence[str] | None = None
    sample_weight: str | None = None
    groups: str | None = None
    source: str | None = None
    side: tuple[str, ...] = ()
    sparse: tuple[str, str, int] | None = None
    batch: int = 1 << 16
    most_parts: int = PARTS
    memory: int = 1 << 30
    _counts: dict[str, list[int]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files, sorted by name."""
        asked = [self.path] if isinstance(self.path, str | Path) else list(self.path)
        found: list[str] = []
        for one in map(str, asked):
            there = str(Path(one) / "*.parquet") if Path(one).is_dir() else one
            found += sorted(glob.glob(there))
        if not found:
            raise FileNotFoundError(f"No Parquet file is there: {self.path}.")
        return tuple(found)

    @cached_property
    def parts(self) -> tuple[ParquetPart, ...]:
        """Runs of row groups of about the same size, at most `most_parts` of them."""
        places = [(file, k, n) for file in self.files for k, n in enumerate(self._groups_of(file))]
        most = -(-sum(n for _, _, n in places) // self.most_parts)
        parts: list[ParquetPart] = []
        start = 0
        while places:
            taken: list[tuple[str, int]] = []
            rows = 0
            while places and (not taken or rows < most):
                file, k, n = places.pop(0)
                taken.append((file, k))
                rows += n
            parts.append(ParquetPart(self, tuple(taken), start))
            start += rows
        return tuple(parts)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of X."""
        names = list(self.schema.names)
        roles = [self.target, *self.side, *(getattr(self, role) for role in ROLES)]
        known = [one for one in roles if one is not None]
        for name in (*known, *(self.features or ()), *(self.sparse or ())[:2]):
            if name not in names:
                raise ValueError(
                    f"{self.files[0]} has no column {name!r}; it has {', '.join(names)}."
                )
        if self.sparse is not None:
            return tuple(self.sparse[:2])
        return tuple(self.features or [name for name in names if name not in known])

    @cached_property
    def schema(self) -> Any:
        """The names and the types of the columns, of the first file."""
        return arrow("parquet").read_schema(self.files[0])

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The columns of X that hold text or dictionaries."""
        types = arrow("types")
        tests = types.is_dictionary, types.is_string, types.is_large_string
        own = [] if self.sparse is not None else self.columns
        return tuple(name for name in own if any(f(self.schema.field(name).type) for f in tests))

    def __len__(self) -> int:
        return sum(n for file in self.files for n in self._groups_of(file))

    def __getstate__(self) -> dict[str, Any]:
        # What is found out by reading is found out again, where there is need of it.
        kept = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**kept, "_counts": {}, "columns": self.columns, "categories": self.categories}

    def take(self, numbers: NDArray[np.intp]) -> Shard:
        """Return the rows of these numbers, which rise; the files are read once."""
        return self.shard(self.table(numbers, every=False).to_batches()[0])

    def table(self, numbers: NDArray[np.intp], every: bool = True) -> Any:
        """Return these rows as an Arrow table: of every column, or of those with a role."""
        found = []
        for part in self.parts:
            for start, batch in part.batches(every):
                first, last = np.searchsorted(numbers, [start, start + batch.num_rows])
                if last > first:
                    found.append(batch.take(arrow("lib").array(numbers[first:last] - start)))
        table = arrow("lib").Table.from_batches(found, schema=None if found else self.schema)
        return table.unify_dictionaries().combine_chunks()

    def shard(self, batch: Any) -> Shard:
        """Return a record batch as rows."""

        def column(name: str | None) -> Any:
            return None if name is None else values(batch.column(name))

        side = {name: column(name) for name in self.side}
        side |= {role: column(getattr(self, role)) for role in ROLES[1:] if getattr(self, role)}
        return Shard(self._features(batch), column(self.target), column(self.sample_weight), side)

    def named(self, X: Any) -> Any:
        """Return dense features with the names of their columns."""
        if sparse.issparse(X) or hasattr(X, "columns"):
            return X
        pandas = import_extra("pandas", needed_by="ParquetRows", extra="cli")
        return pandas.DataFrame(X, columns=list(self.columns), copy=False)

    def _features(self, batch: Any) -> Any:
        if self.sparse is not None:
            places, entries, width = self.sparse
            return from_lists(batch.column(places), batch.column(entries), width)
        if self.categories:
            return frame_of(batch.select(list(self.columns)), self.categories)
        arrays = [values(batch.column(name)) for name in self.columns]
        kind = np.float32 if all(a.dtype == np.float32 for a in arrays) else np.float64
        table = allotted((len(arrays), batch.num_rows), kind)
        for k, one in enumerate(arrays):
            table[k] = one
        return table.T

    def _groups_of(self, file: str) -> list[int]:
        """Return the rows of each row group."""
        if file not in self._counts:
            found = arrow("parquet").read_metadata(file)
            rows = [found.row_group(k).num_rows for k in range(found.num_row_groups)]
            self._counts[file] = rows
        return self._counts[file]

    @property
    def needed(self) -> list[str]:
        """The columns that are read."""
        roles = [self.target, *self.side, *(getattr(self, role) for role in ROLES)]
        return list(dict.fromkeys([*self.columns, *(one for one in roles if one is not None)]))


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups, read a batch at a time: a path and a range of rows is all it is.

    Attributes
    ----------
    rows : ParquetRows
    places : tuple of (file, row group)
    start : int
        The number of the first row.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).to_parquet(f"{folder}/rows.parquet")
    ...     part = ParquetRows(folder).parts[0]
    ...     [(start, len(shard)) for start, shard in part]
    [(0, 2)]
    """

    rows: ParquetRows
    places: tuple[tuple[str, int], ...]
    start: int

    def __iter__(self) -> Iterator[tuple[int, Shard]]:
        for start, batch in self.batches():
            yield start, self.rows.shard(batch)

    def batches(self, every: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield the number of its first row with each record batch, maybe of every column."""
        start, by_file = self.start, dict[str, list[int]]()
        for file, k in self.places:
            by_file.setdefault(file, []).append(k)
        for file, groups in by_file.items():
            for fragment in arrow().dataset(file, format="parquet").get_fragments():
                some = fragment.subset(row_group_ids=groups)
                for batch in some.to_batches(
                    columns=None if every else self.rows.needed,
                    batch_size=self.rows.batch,
                    batch_readahead=2,
                    fragment_readahead=1,
                ):
                    if batch.num_rows:
                        yield start, batch
                        start += batch.num_rows


def frame_of(batch: Any, categories: Sequence[str]) -> Any:
    """Return a record batch as a data frame, with text as categories.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"a": ["x", "y"], "b": [1.0, 2.0]})
    >>> frame_of(batch, ["a"]).dtypes.astype(str).tolist()
    ['category', 'float64']
    """
    frame = batch.to_pandas()
    return frame.astype(dict.fromkeys(categories, "category"))


def values(column: Any) -> NDArray[Any]:
    """Return an Arrow column as an array; without a copy where there is no need of one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> values(pa.array(["a", "b"])).tolist(), values(pa.array([1, None])).tolist()
    (['a', 'b'], [1.0, nan])
    """
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    return np.asarray(column.to_numpy(zero_copy_only=False))


def allotted(shape: tuple[int, int], kind: type[np.floating[Any]]) -> NDArray[Any]:
    """Return an empty array in memory of Arrow's, which is kept for the next one.

    Examples
    --------
    >>> allotted((2, 3), np.float32).shape
    (2, 3)
    """
    size = shape[0] * shape[1] * np.dtype(kind).itemsize
    return np.frombuffer(arrow("lib").allocate_buffer(size), dtype=kind).reshape(shape)


def from_lists(places: Any, entries: Any, width: int) -> sparse.csr_array:
    """Return the sparse rows that two columns of lists hold.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_lists(pa.array([[1], []]), pa.array([[2.0], []]), 3).toarray().tolist()
    [[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    """
    offsets = values(places.offsets)
    data, indices = values(entries.flatten()), values(places.flatten())
    kind = data.dtype if data.dtype == np.float32 else np.float64
    held = data.astype(kind), indices.astype(np.int32), (offsets - offsets[0]).astype(np.int32)
    return sparse.csr_array(held, shape=(len(places), width))
