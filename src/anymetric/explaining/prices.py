"""Prices: what one more mistake of each kind costs, at the model's own decisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.cells import Cells
from anymetric.explaining.composed import Capped, Limit, Rounded
from anymetric.explaining.design import wide
from anymetric.explaining.forms import Form
from anymetric.explaining.sample import label

Floats64 = NDArray[np.float64]
# Rows that change their decision to find a slope: one, or this part of the cell.
PART = 0.01
# Draws that show whether a formula reads groups or a class.
DRAWS = 40


@dataclass(frozen=True)
class Price:
    """What one more mistake costs.

    Attributes
    ----------
    mistake : str
        The kind, in words.
    true, predicted, group : str
        The class of the row, what it is decided for, and its group; empty for all groups.
    rows : int
        Rows of that class and group.
    price : float
        By how much the metric gets worse for one such mistake more; negative if it gets better.
    ratio : float
        The price in units of the cheapest mistake that costs anything, or of a false alarm.

    Examples
    --------
    >>> Price("missed yes", "yes", "no", "", 40, 0.02, 5.0).ratio
    5.0
    """

    mistake: str
    true: str
    predicted: str
    group: str
    rows: int
    price: float
    ratio: float = float("nan")


def prices(form: Form, cells: Cells, base: Floats64, greater: bool) -> tuple[Price, ...]:
    """Return the price of every kind of mistake at counts ``(M, G, C, C)``."""
    form = smooth(form, base)
    by_group = len(cells.groups) > 1 and reads_groups(form, cells)
    found = []
    for g in range(len(cells.groups)) if by_group else (-1,):
        for i, true in enumerate(cells.classes):
            for j, said in enumerate(cells.classes):
                rows = int(cells.sizes[g, i] if g >= 0 else cells.sizes[:, i].sum())
                if i == j or rows == 0:
                    continue
                slope = slope_of(form, cells, base, (g, i, j))
                group = cells.groups[g] if g >= 0 else ""
                price = (-slope if greater else slope) + 0.0  # no negative zero
                found.append(Price(label(cells, i, j, g), true, said, group, rows, price))
    return related(found)


def related(found: list[Price]) -> tuple[Price, ...]:
    """Return prices with their ratios to a false alarm, or to the cheapest of them."""
    unit = unit_of(found)
    if unit is None:
        return tuple(found)
    return tuple(
        Price(*(p.mistake, p.true, p.predicted, p.group, p.rows, p.price), p.price / unit.price)
        for p in found
    )


def unit_of(found: list[Price] | tuple[Price, ...]) -> Price | None:
    """Return the mistake that others are compared with; None if none costs anything."""
    costly = sorted((p for p in found if p.price > 1e-12), key=lambda one: one.price)
    alarms = [p for p in costly if p.mistake.startswith("false alarms")]
    return next(iter(alarms or costly), None)


def smooth(form: Form, base: Floats64) -> Form:
    """Return what a formula is about the counts of a model: no rounding, one side of a bound."""
    if isinstance(form, Rounded):
        return smooth(form.of, base)
    if isinstance(form, Limit):
        kept = bool(form.kept(base[np.newaxis])[0])
        return smooth(form.of if kept else form.otherwise, base)
    if isinstance(form, Capped):
        return Capped(smooth(form.of, base), form.low, form.high)
    return form


def slope_of(form: Form, cells: Cells, base: Floats64, kind: tuple[int, int, int]) -> float:
    """Return by how much a formula changes with one more row of a class decided otherwise."""
    moved = [shifted(cells, base, kind, step) for step in steps(cells, base, kind)]
    if len(moved) < 2:
        return 0.0
    values = form.values(np.stack([counts for counts, _ in moved]))
    return float((values[1] - values[0]) / (moved[1][1] - moved[0][1]))


def steps(cells: Cells, base: Floats64, kind: tuple[int, int, int]) -> list[float]:
    """Return two numbers of rows to move: fewer mistakes and more, as far as there are rows."""
    g, i, j = kind
    entry = base[0, g, i] if g >= 0 else base[0, :, i].sum(axis=0)
    wide = max(1.0, PART * float(entry.sum()))
    back, on = min(wide, float(entry[j])), min(wide, float(entry[i]))
    return [-back, on] if back + on > 0.0 else []


def shifted(
    cells: Cells, base: Floats64, kind: tuple[int, int, int], rows: float
) -> tuple[Floats64, float]:
    """Return counts with so many more rows decided otherwise, and how many these are."""
    g, i, j = kind
    moved = base.copy()
    share = (base[0, :, i, i] if rows > 0.0 else base[0, :, i, j]).copy()
    if g >= 0:
        share = np.eye(len(share))[g] * share
    part = rows * share / max(float(share.sum()), 1e-300)
    # Amounts move with the mean amount of the class.
    each = base.sum(axis=-1)[:, :, i] / np.maximum(base[0].sum(axis=-1)[:, i], 1.0)
    moved[:, :, i, j] += part * each
    moved[:, :, i, i] -= part * each
    return moved, rows


def reads_groups(form: Form, cells: Cells) -> bool:
    """Return whether a formula changes when decisions move from one group to another."""
    rng = np.random.default_rng(0)
    first = drawn(cells, rng)
    second = first.copy()
    for c in range(len(cells.classes)):
        rows = np.flatnonzero(cells.truth == c)
        second[rows] = second[rng.permutation(rows)]
    return differs(form, cells, first, second)


def reads_class(form: Form, cells: Cells, place: int) -> bool:
    """Return whether a formula changes with the decisions about the rows of a class."""
    rng = np.random.default_rng(0)
    first, other = drawn(cells, rng), drawn(cells, rng)
    second = np.where((cells.truth == place)[:, np.newaxis], other, first)
    return differs(form, cells, first, second)


def drawn(cells: Cells, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return decisions of all kinds, ``(n, DRAWS)``."""
    return cells.drawn(np.stack([wide(cells, rng) for _ in range(DRAWS)]), rng)


def differs(form: Form, cells: Cells, first: NDArray[np.intp], second: NDArray[np.intp]) -> bool:
    """Return whether a formula has other values for other decisions."""
    values = [form.values(cells.counts(one)) for one in (first, second)]
    scale = max(float(np.abs(values[0]).max()), 1e-12)
    return bool(np.abs(values[0] - values[1]).max() > 1e-6 * scale)
