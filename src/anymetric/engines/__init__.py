"""Engines: where the sums over the training rows run."""

from anymetric.engines.distributed import DaskCollection, DaskRows, OnDask
from anymetric.engines.engine import Engine, Local
from anymetric.engines.merging import Merged, merge
from anymetric.engines.parquet import ParquetPart, ParquetRows
from anymetric.engines.rows import HeldRows, Part, ReadRows, Rows, RowsLost, Shard, Source
from anymetric.engines.tables import lighter
from anymetric.engines.works import (
    Counts,
    Curvatures,
    FoldScores,
    Profiles,
    Term,
    ValuesAndSlopes,
    Weighed,
)

__all__ = [
    "Counts",
    "Curvatures",
    "DaskCollection",
    "DaskRows",
    "Engine",
    "FoldScores",
    "HeldRows",
    "Local",
    "Merged",
    "OnDask",
    "ParquetPart",
    "ParquetRows",
    "Part",
    "Profiles",
    "ReadRows",
    "Rows",
    "RowsLost",
    "Shard",
    "Source",
    "Term",
    "ValuesAndSlopes",
    "Weighed",
    "lighter",
    "merge",
]
