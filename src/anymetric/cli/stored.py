"""Stored: several Parquet files as one table, of which memory holds a sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.screening import many, sampled
from anymetric.cli.faults import UserError, first_line, need
from anymetric.cli.roles import Roles, Sample
from anymetric.cli.schema import Schema
from anymetric.cli.targets import Target
from anymetric.cli.vectors import Features
from anymetric.engines import ParquetRows, Part, Shard

if TYPE_CHECKING:
    from anymetric.cli.work import Work

# What a table says that is a sample: the pattern, how many rows there are, and which these are.
PATTERN, COUNT, NUMBERS = "pattern", "count", "numbers"


def read_pattern(path: Path) -> Any:
    """Return the rows of the files, or a sample of them where they are very many."""
    if path.suffix not in (".parquet", ".pq"):
        raise UserError(f"{path}: several files are read together where they are Parquet.")
    need("pyarrow")
    rows = ParquetRows(str(path))
    try:
        count = len(rows)
        numbers = sampled(count, np.random.default_rng(0)) if many(count) else np.arange(count)
        table = rows.table(numbers).to_pandas()
    except FileNotFoundError as error:
        raise UserError(f"{path}: there is no such file.") from error
    except Exception as error:  # Arrow raises what it likes about a damaged file
        raise UserError(f"{path} cannot be read as Parquet: {first_line(error)}.") from error
    if many(count):
        table.attrs |= {PATTERN: str(path), COUNT: count, NUMBERS: numbers}
    return table


def numbered(sample: Sample, table: Any) -> Sample:
    """Return a sample with the numbers that its rows have in the files."""
    if NUMBERS not in table.attrs:
        return sample
    pattern = table.attrs[PATTERN], table.attrs[COUNT]
    return replace(sample, rows=table.attrs[NUMBERS][sample.rows], stored=pattern)


def told(sample: Sample) -> str:
    """Say that a table is a sample; empty if it is none."""
    if sample.stored is None:
        return ""
    return (
        f"{sample.name}: {sample.stored[1]:,} rows. Methods are compared on a sample of "
        f"{len(sample):,}; the saved model is fitted to all rows where it can be."
    )


def all_rows(work: Work, estimator: Any, train: Sample, features: Features) -> StoredTable | None:
    """Return all rows of the files for an estimator that can be fitted to them, or None."""
    target = work.setting.target
    fits = (
        bool(getattr(estimator, "_reads_stored", False))
        and getattr(estimator, "method", "") == "auto"
    )
    two = target.labels is not None and not target.many
    if train.stored is None or not fits or not two or work.asked.box is not None:
        return None
    return StoredTable(train.stored[0], work.asked.roles, target, features)


@dataclass(frozen=True, eq=False)
class StoredTable:
    """Files as rows for `fit`, read by the steps that a sample of them fixed.

    Parameters
    ----------
    pattern : str
    roles : Roles
    target : Target
    features : Features
    memory : int
        Bytes of rows that may be held.
    """

    pattern: str
    roles: Roles
    target: Target
    features: Features
    memory: int = 1 << 30

    @cached_property
    def files(self) -> ParquetRows:
        """The files."""
        return ParquetRows(self.pattern)

    @property
    def parts(self) -> list[Part]:
        """Those of the files."""
        return [TablePart(self, k) for k in range(len(self.files.parts))]

    def __len__(self) -> int:
        return len(self.files)

    def take(self, numbers: NDArray[np.intp]) -> Shard:
        """Return some rows."""
        return self.read(self.files.table(numbers).to_pandas())

    def read(self, table: Any) -> Shard:
        """Return a piece of the table as rows of numbers."""
        schema: Schema = self.features.schema
        known = table[table[self.roles.target].notna()]
        roles = replace(self.roles, drop=(), keep=(), kinds=())
        if not len(known):
            width = len(self.features.names)
            return Shard(np.zeros((0, width)), np.zeros(0, dtype=np.int64))
        sample = Sample.of(schema.read(known), roles, self.pattern, schema.features)
        X = self.features.matrix(sample.X)
        named = {"groups": sample.groups, "source": sample.source}
        side = {name: column for name, column in named.items() if column is not None}
        y = self.target.codes(sample.y, self.pattern)
        return Shard(X, y, None, {**side, **sample.side})


@dataclass(frozen=True, eq=False)
class TablePart:
    """A part of the files, read as rows of numbers."""

    table: StoredTable
    number: int

    def __iter__(self) -> Iterator[tuple[int, Shard]]:
        for start, batch in self.table.files.parts[self.number].batches(every=True):
            shard = self.table.read(batch.to_pandas())
            if len(shard):
                yield start, shard
