"""Partition: rows in cells, each class of each group, whose counts a function may read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.judges.shapes import Shapes
from anymetric.data import Columns

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows in cells: each class of each group, by columns with few values.

    Attributes
    ----------
    columns : tuple of str
    values : list of arrays
        The distinct values of each column, sorted.
    codes : array of int
        The cells that there are, as numbers in the product of classes and values, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> side = {"groups": np.array(["n", "s", "s", "n"])}
    >>> partition = Partition.by(np.array([-1.0, -1.0, 1.0, -1.0]), side, ["groups"])
    >>> partition.of(np.array([1.0, -1.0, 1.0]), {"groups": np.array(["s", "n", "n"])}).tolist()
    [2, 0, 3]
    """

    columns: tuple[str, ...]
    values: list[NDArray[np.generic]]
    codes: Ints

    @classmethod
    def by(cls, y: Floats64, side: Columns, columns: Sequence[str]) -> Partition:
        """Divide rows by their class and by some columns."""
        values = [np.unique(sortable(side[name])) for name in columns]
        whole = cls(tuple(columns), values, np.zeros(0, dtype=np.intp))
        return replace(whole, codes=np.unique(whole._coded(y, side)[0]))

    def __len__(self) -> int:
        return len(self.codes)

    def shapes(self, sizes: Floats64) -> Shapes:
        """Return the usual formulas of the cells, with so many rows in each."""
        groups = math.prod(len(one) for one in self.values)
        group = np.unique(self.codes % groups, return_inverse=True)[1]
        return Shapes(self.codes >= groups, group.astype(np.intp), sizes)

    def of(self, y: Floats64, side: Columns) -> Ints:
        """Return each row's cell; rows whose cell is not known have the number after the last."""
        code, known = self._coded(y, side)
        place = np.searchsorted(self.codes, code)
        near = np.minimum(place, len(self) - 1)
        return np.where(known & (self.codes[near] == code), place, len(self))

    def _coded(self, y: Floats64, side: Columns) -> tuple[Ints, NDArray[np.bool_]]:
        code, known = (y > 0.0).astype(np.intp), np.ones(len(y), dtype=bool)
        for name, values in zip(self.columns, self.values, strict=True):
            column = sortable(side[name])
            place = np.minimum(np.searchsorted(values, column), len(values) - 1)
            known &= values[place] == column
            code = code * len(values) + place
        return code, known


def sortable(column: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return a column whose values can be sorted."""
    return column.astype(str) if column.dtype == object else column
