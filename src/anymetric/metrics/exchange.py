"""Exchange: predictions as a table that programs of any language, and people, can read."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.errors import import_extra

SECOND = {"decisions": "prediction", "scores": "score", "probabilities": "probability"}
ROW = "row"


def predictions_table(
    y_true: Any, second: Any, columns: Mapping[str, Any], on: str | None
) -> dict[str, NDArray[Any]]:
    """Return columns by name: the row, the truth, what is predicted, then metadata.

    Examples
    --------
    >>> table = predictions_table(np.array([0, 1]), np.array([1, 1]), {"amount": [5, 7]}, None)
    >>> {name: column.tolist() for name, column in table.items()}
    {'row': [0, 1], 'y_true': [0, 1], 'prediction': [1, 1], 'amount': [5, 7]}
    """
    rows = columns.get(ROW)
    table = {ROW: np.arange(len(y_true)) if rows is None else np.asarray(rows)}
    table |= _spread("y_true", np.asarray(y_true))
    table |= _spread(SECOND.get(on or "", "prediction"), np.asarray(second))
    further = {name: np.asarray(column) for name, column in columns.items() if name != ROW}
    return table | {name: c for name, c in further.items() if c.shape == (len(y_true),)}


def _spread(name: str, column: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if column.ndim == 1:
        return {name: column}
    return {f"{name}_{k}": part for k, part in enumerate(column.T)}


def write_table(table: Mapping[str, NDArray[Any]], path: Path, form: str) -> None:
    """Write a table in one of `FORMATS`."""
    FORMATS[form](table, path)


def _write_csv(table: Mapping[str, NDArray[Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def _write_lines(table: Mapping[str, NDArray[Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in zip(*(column.tolist() for column in table.values()), strict=True):
            file.write(json.dumps(dict(zip(table, row, strict=True)), default=str) + "\n")


def _write_parquet(table: Mapping[str, NDArray[Any]], path: Path) -> None:
    arrow = import_extra("pyarrow", needed_by="A table in Parquet", extra="cli")
    parquet = import_extra("pyarrow.parquet", needed_by="A table in Parquet", extra="cli")
    columns = {name: column.tolist() for name, column in table.items()}
    parquet.write_table(arrow.table(columns), path)


FORMATS: dict[str, Callable[[Mapping[str, NDArray[Any]], Path], None]] = {
    "csv": _write_csv,
    "jsonl": _write_lines,
    "parquet": _write_parquet,
}
