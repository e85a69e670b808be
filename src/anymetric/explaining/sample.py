"""Sample: the answers that formulas are fitted to, and what fits within noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.cells import Cells
from anymetric.explaining.forms import Form, Mistakes, RateOf
from anymetric.explaining.rates import EQUALIZED_ODDS, OVER, rate_names

Floats64 = NDArray[np.float64]
# Answers are the same within this part of their size; a formula fits within so many times the
# noise: as a whole, and for each answer.
EXACT, WITHIN, EACH = 1e-7, 1.3, 4.0
# Rates that are tried with sums of amounts in the place of counts.
OF_AMOUNTS = ("recall", "precision", "accuracy", "F1", "specificity")


@dataclass(frozen=True, eq=False)
class Sample:
    """Counts ``(m, M, G, C, C)`` with the values ``(m,)`` that the metric gave them.

    Attributes
    ----------
    cells : Cells
    counts, values : arrays
    noise : float
        The standard deviation of one answer.
    """

    cells: Cells
    counts: Floats64
    values: Floats64
    noise: float = 0.0

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[np.generic]) -> Sample:
        """Return some of the answers."""
        return replace(self, counts=self.counts[rows], values=self.values[rows])

    @cached_property
    def scale(self) -> float:
        """The size of the answers."""
        return float(np.abs(self.values).max(initial=0.0)) or 1.0

    @property
    def spread(self) -> float:
        """How far answers differ, beyond noise."""
        return math.sqrt(max(float(np.var(self.values)) - self.noise**2, 0.0))

    @property
    def tolerance(self) -> float:
        """The root-mean-square error within which a formula fits."""
        return max(EXACT * self.scale, WITHIN * self.noise)

    @property
    def each(self) -> float:
        """The error within which one answer is as predicted."""
        return max(EXACT * self.scale, EACH * self.noise)

    def missed(self, form: Form) -> Floats64:
        """Return by how much a formula misses each answer."""
        return self.values - form.values(self.counts)

    def error(self, form: Form) -> float:
        """Return the root-mean-square error of a formula."""
        return float(np.sqrt(np.mean(self.missed(form) ** 2)))

    def fits(self, form: Form) -> bool:
        """Return whether a formula is right for all answers, within noise."""
        missed = np.abs(self.missed(form))
        within = np.sqrt(np.mean(missed**2)) <= self.tolerance
        return bool(within and missed.max() <= 1.5 * self.each)

    @cached_property
    def library(self) -> list[RateOf]:
        """The usual rates of these cells, the plainest first."""
        return library(self.cells)

    @cached_property
    def columns(self) -> Floats64:
        """Their values, ``(m, rates)``."""
        return np.column_stack([one.values(self.counts) for one in self.library])


def library(cells: Cells) -> list[RateOf]:
    """Return the usual rates: of all rows, over groups, in one group, weighted by amounts."""
    C, G = len(cells.classes), len(cells.groups)
    names = rate_names(C)
    found = [RateOf(name) for name in names]
    if C > 2:
        kinds = ("recall of class", "precision of class", "F1 of class")
        found += [RateOf(f"{kind} {c}") for kind in kinds for c in range(C)]
    if G > 1:
        found += [RateOf(name, over) for over in OVER for name in names]
        found += [RateOf(n, group=g, label=cells.groups[g]) for g in range(G) for n in names]
        found += [RateOf(EQUALIZED_ODDS)] if C == 2 else []
    for k, amount in enumerate(cells.amounts, start=1):
        of = OF_AMOUNTS if C == 2 else ("accuracy",)
        found += [RateOf(name, measure=k, label=amount) for name in of]
    return found


def mistakes(cells: Cells, by_group: bool = False, amounts: bool = False) -> list[Mistakes]:
    """Return the kinds of mistakes: true class by predicted class, perhaps by group.

    Examples
    --------
    >>> cells = Cells(np.array([0, 1]), ("no", "yes"), np.zeros(2, int), ("all",))
    >>> [one.text() for one in mistakes(cells)]
    ['false alarms', 'missed yes']
    """
    C = len(cells.classes)
    groups: Iterable[int] = range(len(cells.groups)) if by_group else [-1]
    measures = range(len(cells.amounts) + 1) if amounts else [0]
    return [
        Mistakes(i, j, g, k, label(cells, i, j, g, k))
        for k in measures
        for g in groups
        for i in range(C)
        for j in range(C)
        if i != j
    ]


def label(cells: Cells, true: int, predicted: int, group: int = -1, measure: int = 0) -> str:
    """Return what a kind of mistake is called."""
    if len(cells.classes) > 2:
        kind = f"rows of {cells.classes[true]} decided as {cells.classes[predicted]}"
    else:
        kind = f"missed {cells.classes[1]}" if true else "false alarms"
    if group >= 0:
        kind = f"{kind} in {cells.groups[group]}"
    return kind if measure == 0 else f"{list(cells.amounts)[measure - 1]} of {kind}"


def simplest(low: float, high: float) -> float:
    """Return the number with the fewest digits in an interval.

    Examples
    --------
    >>> simplest(0.7891, 0.8113), simplest(2.9999, 3.00001), simplest(-0.26, -0.24)
    (0.8, 3.0, -0.25)
    """
    if low <= 0.0 <= high:
        return 0.0
    size = math.floor(math.log10(max(abs(low), abs(high))))
    for digits in range(-size, -size + 15):
        for step in (10.0**-digits, 5.0 * 10.0 ** (-digits - 1), 2.5 * 10.0 ** (-digits - 1)):
            found = math.ceil(low / step - 1e-12) * step
            if found <= high + 1e-12 * abs(high):
                return float(f"{found:.12g}")
    return (low + high) / 2.0
