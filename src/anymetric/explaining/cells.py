"""Cells: validation rows by group and class, and the confusion counts of decisions about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Columns

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]

# A column with more values than this is an amount, not a group; more groups are not distinguished.
MOST_VALUES, MOST_GROUPS = 6, 6
# A group needs so many rows of each class.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows by group and class.

    Counts are arrays ``(m, M, G, C, C)``: of m vectors of decisions, by measure, group, true class
    and predicted class. The first measure counts rows; each amount column has one more, which sums
    the amounts.

    Parameters
    ----------
    truth : int array of shape (n,)
        The class of each row, from 0; of two classes 1 is the positive one.
    classes : tuple of str
    group : int array of shape (n,)
    groups : tuple of str
        The groups' names; one if there are none.
    columns : tuple of str
        The columns that the groups are made of.
    amounts : dict of arrays of shape (n,)
        Columns with many values that the metric may read.

    Examples
    --------
    >>> cells = Cells(np.array([0, 1, 1]), ("no", "yes"), np.zeros(3, int), ("all",))
    >>> cells.counts(np.array([[1], [1], [0]]))[0, 0, 0].tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """

    truth: Ints
    classes: tuple[str, ...]
    group: Ints
    groups: tuple[str, ...]
    columns: tuple[str, ...] = ()
    amounts: dict[str, Floats64] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def sizes(self) -> Floats64:
        """Rows of each group and class, ``(G, C)``."""
        shape = len(self.groups), len(self.classes)
        code = self.group * shape[1] + self.truth
        return np.bincount(code, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)

    @cached_property
    def members(self) -> list[tuple[int, int, Ints]]:
        """The rows of each group and class that has any."""
        pairs = np.argwhere(self.sizes > 0)
        return [
            (int(g), int(c), np.flatnonzero((self.group == g) & (self.truth == c)))
            for g, c in pairs
        ]

    def counts(self, decisions: NDArray[np.integer]) -> Floats64:
        """Return the counts of decisions ``(n, m)``, which are places among the classes."""
        G, C = self.sizes.shape
        base = (self.group * C + self.truth) * C
        measures = [None, *self.amounts.values()]
        found = [
            [np.bincount(base + one, of, minlength=G * C * C) for of in measures]
            for one in np.asarray(decisions).T
        ]
        return np.array(found, dtype=np.float64).reshape(-1, len(measures), G, C, C)

    def drawn(self, shares: Floats64, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return decisions ``(n, m)``, any rows, with shares ``(m, G, C, C)`` predicted of each."""
        decisions = np.zeros((len(self), len(shares)), dtype=np.intp)
        for g, c, rows in self.members:
            edges = np.rint(np.cumsum(shares[:, g, c], axis=1) * len(rows)).astype(np.intp)
            places = np.arange(len(rows))
            for k, edge in enumerate(edges):
                predicted = np.minimum(np.searchsorted(edge, places, side="right"), len(edge) - 1)
                decisions[rng.permutation(rows), k] = predicted
        return decisions

    def shuffled(
        self, decisions: NDArray[np.integer], rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """Return other decisions ``(n,)`` with the same counts: other rows of each cell."""
        moved = np.array(decisions, dtype=np.intp)
        for _, _, rows in self.members:
            moved[rows] = moved[rng.permutation(rows)]
        return moved


def cells_of(
    truth: Ints, classes: Sequence[str], side: Columns, readable: Sequence[str] | None
) -> Cells:
    """Return the rows by class and by what a metric may read of their columns.

    Parameters
    ----------
    truth : int array of shape (n,)
    classes : sequence of str
    side : mapping from name to array of shape (n,)
    readable : sequence of str or None
        Columns that the metric may read; None for all.

    Examples
    --------
    >>> side = {"groups": np.repeat(["a", "b"], 20), "amount": np.arange(40.0)}
    >>> cells = cells_of(np.tile([0, 1], 20), ("no", "yes"), side, None)
    >>> cells.groups, list(cells.amounts)
    (('a', 'b'), ['amount'])
    """
    names = [name for name in (side if readable is None else readable) if name in side]
    group, used = np.zeros(len(truth), dtype=np.intp), list[str]()
    groups: tuple[str, ...] = ("all rows",)
    for name in sorted(names, key=lambda one: one != "groups"):
        values, place = np.unique(side[name].astype(str), return_inverse=True)
        if not 1 < len(values) <= MOST_VALUES:
            continue
        both = group * len(values) + place
        codes, crossed = np.unique(both, return_inverse=True)
        rows = np.bincount(crossed * len(classes) + truth, minlength=len(codes) * len(classes))
        if len(codes) > MOST_GROUPS or rows.min() < FEWEST:
            continue
        before = groups if used else ("",)
        pairs = [divmod(int(code), len(values)) for code in codes]
        groups = tuple(", ".join(filter(None, (before[a], str(values[b])))) for a, b in pairs)
        group, used = crossed.astype(np.intp), [*used, name]
    amounts = {
        name: np.asarray(side[name], dtype=np.float64)
        for name in names
        if name not in used and is_amount(side[name])
    }
    return Cells(truth, tuple(map(str, classes)), group, groups, tuple(used), amounts)


def is_amount(column: NDArray[np.generic]) -> bool:
    """Return whether a column holds numbers, more than a few and all finite.

    Examples
    --------
    >>> is_amount(np.arange(10)), is_amount(np.array(["a", "b"]))
    (True, False)
    """
    if column.dtype.kind not in "iuf":
        return False
    return bool(np.all(np.isfinite(column)) and len(np.unique(column)) > 2)
