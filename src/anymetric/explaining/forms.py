"""Forms: what a formula of counts is built from, each with its values and its words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.rates import COMPLEMENTS, EQUALIZED_ODDS, OVER, rate

Floats64 = NDArray[np.float64]


class Form(Protocol):
    """A function of counts ``(m, M, G, C, C)``."""

    @property
    def size(self) -> int:
        """How complex it is: its numbers, and what it is built from."""
        ...

    def values(self, counts: Floats64) -> Floats64:
        """Return its values ``(m,)``."""
        ...

    def text(self) -> str:
        """Return it in words."""
        ...


def short(number: float) -> str:
    """Return a number with as many digits as anybody reads.

    Examples
    --------
    >>> short(0.30000000000000004), short(1234567.0), short(-2.0)
    ('0.3', '1.23457e+06', '-2')
    """
    return f"{number:.6g}"


@dataclass(frozen=True)
class Constant:
    """The same number whatever is decided."""

    value: float

    size = 1

    def values(self, counts: Floats64) -> Floats64:
        """Return the number, as often as needed."""
        return np.full(len(counts), self.value)

    def text(self) -> str:
        """Return the number."""
        return short(self.value)


@dataclass(frozen=True)
class RateOf:
    """A rate of all rows, of one group, or over groups.

    Parameters
    ----------
    name : str
    over : str
        One of `OVER`; empty for all rows together.
    group : int
        One group alone; -1 for all.
    measure : int
        0 counts rows; others sum an amount.
    label : str
        What the group or the amount is called.

    Examples
    --------
    >>> counts = np.array([[8.0, 2.0], [1.0, 3.0]]).reshape(1, 1, 1, 2, 2)
    >>> RateOf("recall").values(counts).tolist(), RateOf("recall", "worst group").text()
    ([0.75], 'recall of the worst group')
    """

    name: str
    over: str = ""
    group: int = -1
    measure: int = 0
    label: str = ""

    @property
    def size(self) -> int:
        """One, and more for a parameter, groups or amounts."""
        rare = self.name not in ("accuracy", "recall", "precision", "F1", "specificity")
        parameter = self.name.startswith("F-beta")
        return 2 + rare + parameter + bool(self.over) + (self.group >= 0) + (self.measure > 0)

    def values(self, counts: Floats64) -> Floats64:
        """Return the rate."""
        M = counts[:, self.measure]
        if self.name == EQUALIZED_ODDS:
            gaps = [np.ptp(rate(one, M), axis=-1) for one in ("recall", "specificity")]
            return np.asarray(np.maximum(*gaps))
        if self.over:
            return OVER[self.over](rate(self.name, M))
        return rate(self.name, M[:, self.group] if self.group >= 0 else M.sum(axis=1))

    def text(self) -> str:
        """Return its name."""
        name = self.name.replace("F-beta ", "F-beta with beta ")
        if self.measure > 0:
            name = f"{name} weighted by {self.label}"
        if self.over in ("worst group", "best group"):
            return f"{name} of the {self.over}"
        if self.over == "gap between groups":
            return f"gap in {name} between groups"
        if self.over == "lowest over highest group":
            return f"{name} of the lowest group over that of the highest"
        if self.over:
            return f"{self.over.replace(' over groups', '')} of {name} over groups"
        return f"{name} in {self.label}" if self.group >= 0 else name


@dataclass(frozen=True)
class Mistakes:
    """How many rows of a class are decided for another, or what they amount to.

    Parameters
    ----------
    true, predicted : int
    group : int
        -1 for all.
    measure : int
    label : str
        In words.
    rows : float
        What the number is divided by.
    """

    true: int
    predicted: int
    group: int = -1
    measure: int = 0
    label: str = ""
    rows: float = 1.0

    @property
    def size(self) -> int:
        """One, and more for a group, an amount or a share."""
        return 1 + (self.group >= 0) + (self.measure > 0) + (self.rows != 1.0)

    def per(self, rows: float) -> Mistakes:
        """Return the same as a share of so many rows."""
        return replace(self, rows=rows)

    def values(self, counts: Floats64) -> Floats64:
        """Return the numbers."""
        entry = counts[:, self.measure, :, self.true, self.predicted] / self.rows
        return np.asarray(entry[:, self.group] if self.group >= 0 else entry.sum(axis=1))

    def text(self) -> str:
        """Return what they are."""
        name = self.label or f"rows of class {self.true} decided as {self.predicted}"
        return name if self.rows == 1.0 else f"{name} per row"


@dataclass(frozen=True)
class Hinge:
    """How far a rate is beyond a bound; zero on the other side.

    Parameters
    ----------
    of : Form
    bound : float
    above : bool
        Whether it is what exceeds the bound; otherwise what is missing to it.
    """

    of: Form
    bound: float
    above: bool

    @property
    def size(self) -> int:
        """That of the rate, and the bound."""
        return self.of.size + 1

    def values(self, counts: Floats64) -> Floats64:
        """Return the excess."""
        beyond = self.of.values(counts) - self.bound
        return np.asarray(np.maximum(beyond if self.above else -beyond, 0.0))

    def text(self) -> str:
        """Return it in words."""
        side = "above" if self.above else "below"
        return f"what {self.of.text()} is {side} {short(self.bound)}"


@dataclass(frozen=True)
class Sum:
    """A constant and some forms, each times a number.

    Examples
    --------
    >>> Sum(1.0, ((-1.0, RateOf("accuracy")),)).text()
    'error rate'
    >>> Sum(0.0, ((1.0, RateOf("F1")), (-0.5, RateOf("recall", "gap between groups")))).text()
    'F1 - 0.5 x (gap in recall between groups)'
    """

    constant: float
    terms: tuple[tuple[float, Form], ...]

    @property
    def plain(self) -> bool:
        """Whether it is its one term itself."""
        return self.constant == 0.0 and len(self.terms) == 1 and self.terms[0][0] == 1.0

    @property
    def size(self) -> int:
        """The numbers that are not plain, and the terms."""
        numbers = (abs(self.constant) not in (0.0, 1.0)) + sum(
            abs(factor) != 1.0 for factor, _ in self.terms
        )
        own = (self.constant != 0.0) + any(factor < 0 for factor, _ in self.terms)
        return numbers + own + sum(form.size for _, form in self.terms)

    def values(self, counts: Floats64) -> Floats64:
        """Return the sum."""
        found = np.full(len(counts), self.constant)
        for factor, form in self.terms:
            found += factor * form.values(counts)
        return found

    def text(self) -> str:
        """Return it in words."""
        first = self.terms[0] if len(self.terms) == 1 else None
        if first and self.constant == 1.0 and first[0] == -1.0:
            name = first[1].text()
            return COMPLEMENTS.get(name, f"1 - {name}")
        by_row = [one for one in self.terms if isinstance(one[1], Mistakes) and one[1].rows != 1.0]
        if by_row:
            return self._by_row(by_row)
        parts = [] if self.constant == 0.0 and self.terms else [short(self.constant)]
        for factor, form in self.terms:
            name = form.text()
            name = f"({name})" if " " in name and abs(factor) != 1.0 else name
            times = name if abs(factor) == 1.0 else f"{short(abs(factor))} x {name}"
            sign = "-" if factor < 0 else "+"
            parts.append(f"{sign} {times}" if parts else times if factor > 0 else f"-{times}")
        return " ".join(parts)

    def _by_row(self, by_row: list[tuple[float, Form]]) -> str:
        """Return it in words, with what is divided by the number of rows in brackets."""
        counted = [(f, one.per(1.0)) for f, one in by_row if isinstance(one, Mistakes)]
        inside = f"({Sum(0.0, tuple(counted)).text()}) per row"
        rest = Sum(self.constant, tuple(one for one in self.terms if one not in by_row))
        return inside if rest.constant == 0.0 and not rest.terms else f"{rest.text()} + {inside}"
