"""Exchange: predictions as a table that programs of any language, and people, can read."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.errors import import_extra

SECOND = {"decisions": "prediction", "scores": "score", "probabilities": "probability"}
ROW = "row"
# Columns that predictions have by themselves.
RESERVED = ("y_true", *SECOND.values())
# What stands for a missing value in pandas.
MISSING = ("NAType", "NaTType")
NUMBER = re.compile(
    r"(?:\[1\]\s+)?([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity))",
    re.IGNORECASE | re.ASCII,
)


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


def plain(column: NDArray[Any]) -> list[Any]:
    """Return a column as Python's own values: dates as texts, what is missing as None.

    Examples
    --------
    >>> plain(np.array(["2020-01-01", "NaT"], "M8[ns]")), plain(np.array([1.5, np.nan]))
    (['2020-01-01T00:00:00.000000000', None], [1.5, nan])
    """
    if column.dtype.kind in "mM":
        texts = np.datetime_as_string(column) if column.dtype.kind == "M" else column.astype(str)
        return [None if text == "NaT" else text for text in texts.tolist()]
    values: list[Any] = column.tolist()
    if column.dtype.kind != "O":
        return values
    return [None if type(value).__name__ in MISSING else value for value in values]


def number(text: str) -> float:
    """Return the number that a text is, in plain digits; R's print has a mark before it.

    Examples
    --------
    >>> number(" 0.5 "), number("[1] -1e-3")
    (0.5, -0.001)
    >>> number("1_000")
    Traceback (most recent call last):
    ValueError: '1_000' is no number
    """
    found = NUMBER.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no number")
    return float(found[1])


def _write_csv(table: Mapping[str, NDArray[Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(plain(column) for column in table.values()), strict=True))


def _write_lines(table: Mapping[str, NDArray[Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in zip(*(plain(column) for column in table.values()), strict=True):
            cells = dict(zip(table, map(_strict, row), strict=True))
            file.write(json.dumps(cells, default=str, allow_nan=False) + "\n")


def _strict(value: Any) -> Any:
    """Return what JSON can say: it has no NaN, and the infinite only as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _write_parquet(table: Mapping[str, NDArray[Any]], path: Path) -> None:
    arrow = import_extra("pyarrow", needed_by="A table in Parquet", extra="cli")
    parquet = import_extra("pyarrow.parquet", needed_by="A table in Parquet", extra="cli")
    columns = {name: plain(column) for name, column in table.items()}
    parquet.write_table(arrow.table(columns), path)


FORMATS: dict[str, Callable[[Mapping[str, NDArray[Any]], Path], None]] = {
    "csv": _write_csv,
    "jsonl": _write_lines,
    "parquet": _write_parquet,
}
