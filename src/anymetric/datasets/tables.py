"""Tables: from the text of a file to blocks of feature columns with names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Block:
    """Some feature columns and their names.

    Examples
    --------
    >>> import numpy as np
    >>> Block(["a", "b"], np.zeros((5, 2))).values.shape
    (5, 2)
    """

    names: list[str]
    values: NDArray[np.float64]


def read_columns(raw: bytes, header: Sequence[str] | None = None) -> dict[str, list[str]]:
    """Read a CSV file into columns of text by name; without ``header`` the first line names them.

    Blanks around a value are dropped and lines with no value are passed over.

    Examples
    --------
    >>> read_columns(b"a,b\\n1, x\\n2, y\\n")
    {'a': ['1', '2'], 'b': ['x', 'y']}
    """
    text = io.StringIO(raw.decode("utf-8"), newline="")
    rows = [row for row in csv.reader(text, skipinitialspace=True) if row]
    names = list(header) if header is not None else rows.pop(0)
    if any(len(row) != len(names) for row in rows):
        raise ValueError(f"Every row must have the {len(names)} columns {names}; some have not.")
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def numbers(column: Iterable[str], *, missing: float = np.nan) -> NDArray[np.float64]:
    """Turn text into numbers; an empty text is ``missing``.

    Examples
    --------
    >>> numbers(["1", "", "-2.5"]).tolist()
    [1.0, nan, -2.5]
    """
    return np.array([float(value) if value else missing for value in column])


def one_hot(name: str, column: Sequence[Any], levels: Sequence[Any]) -> Block:
    """Make one 0/1 column for each level.

    Examples
    --------
    >>> one_hot("size", ["S", "L", "S"], ["L", "S"]).values.tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    place = {level: k for k, level in enumerate(levels)}
    codes = np.array([place[value] for value in column])
    return Block([f"{name}={level}" for level in levels], _hot(codes, len(levels)))


def buckets(name: str, column: NDArray[np.float64], cuts: Sequence[float]) -> Block:
    """Make one 0/1 column for each interval between cuts, closed on the right.

    Examples
    --------
    >>> ages = buckets("age", np.array([20.0, 30.0, 31.0]), [30.0])
    >>> ages.names, ages.values.tolist()
    (['age<=30', 'age>30'], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    """
    inner = [f"{low:g}<{name}<={high:g}" for low, high in pairwise(cuts)]
    names = [f"{name}<={cuts[0]:g}", *inner, f"{name}>{cuts[-1]:g}"]
    return Block(names, _hot(np.searchsorted(cuts, column), len(names)))


def thermometer(name: str, column: NDArray[np.float64], cuts: Sequence[float]) -> Block:
    """Make one 0/1 column for each cut: is the value above it?

    Examples
    --------
    >>> thermometer("priors", np.array([0.0, 2.0, 9.0]), [0.0, 3.0]).values.tolist()
    [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    """
    above = column[:, None] > np.asarray(cuts)
    return Block([f"{name}>{cut:g}" for cut in cuts], above.astype(np.float64))


def standardised(columns: Mapping[str, NDArray[np.float64]]) -> Block:
    """Shift and scale each column to mean 0 and standard deviation 1 over these rows.

    Examples
    --------
    >>> standardised({"x": np.array([1.0, 3.0])}).values.ravel().tolist()
    [-1.0, 1.0]
    """
    values = np.stack(list(columns.values()), axis=1)
    return Block(list(columns), (values - values.mean(axis=0)) / values.std(axis=0))


def side_by_side(blocks: Sequence[Block]) -> tuple[NDArray[np.float64], list[str]]:
    """Join blocks into one matrix and one list of names.

    Examples
    --------
    >>> matrix, names = side_by_side(
    ...     [Block(["a"], np.ones((2, 1))), Block(["b"], np.zeros((2, 1)))]
    ... )
    >>> matrix.tolist(), names
    ([[1.0, 0.0], [1.0, 0.0]], ['a', 'b'])
    """
    names = [name for block in blocks for name in block.names]
    return np.hstack([block.values for block in blocks]), names


def dense_text(raw: bytes, columns: int) -> NDArray[np.float64]:
    """Parse numbers between blanks, ``columns`` to a line.

    Examples
    --------
    >>> dense_text(b"1 2\\n3.5\\t-4\\n", columns=2).tolist()
    [[1.0, 2.0], [3.5, -4.0]]
    """
    table = np.loadtxt(io.BytesIO(raw), comments=None, ndmin=2)
    if table.shape[1] != columns:
        raise ValueError(f"Lines of {columns} numbers were expected; got {table.shape[1]} a line.")
    return table


def _hot(codes: NDArray[np.intp], levels: int) -> NDArray[np.float64]:
    matrix = np.zeros((codes.size, levels))
    matrix[np.arange(codes.size), codes] = 1.0
    return matrix
