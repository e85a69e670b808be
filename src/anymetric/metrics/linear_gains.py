"""Linear gains: what flagging a row brings, as a sum of products of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Columns
from anymetric.metrics.profit import GainMetric, Gains

Floats64 = NDArray[np.float64]
Term = tuple[str, ...]


@dataclass(frozen=True)
class LinearGains(GainMetric):
    """Gains that are linear in products of metadata columns, as they were found of a function.

    Parameters
    ----------
    name : str
        The function's.
    terms : tuple of tuples of str
        Products of columns; the empty one is a constant.
    positive, negative : tuple of float
        What flagging a row of each class brings, for each term.
    left : float
        What every row brings that is not flagged.

    Examples
    --------
    >>> desk = LinearGains("desk", ((), ("amount",)), (-5.0, 1.0), (-5.0, 0.0))
    >>> desk.shown
    'desk: positive +1 amount -5, negative -5'
    >>> desk.gains({"amount": np.array([100.0, 3.0])}, 2).positive.tolist()
    [95.0, -2.0]
    """

    name: str
    terms: tuple[Term, ...]
    positive: tuple[float, ...]
    negative: tuple[float, ...]
    left: float = 0.0

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the terms."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term))

    def gains(self, side: Columns, n: int) -> Gains:
        """Return what each outcome would bring, from the columns."""
        there = {name: self._finite(side[name], f"column {name!r}", n) for name in self.needs}
        table, left = products(self.terms, there, n), np.full(n, self.left)
        positive, negative = (table @ np.array(gain) for gain in (self.positive, self.negative))
        return Gains(left + positive, left + negative, left, left)

    @property
    def shown(self) -> str:
        """What flagging a positive row brings, and a negative one, in proportion and few digits."""
        kinds = [list(zip(self.terms, x, strict=True)) for x in (self.positive, self.negative)]
        used = [(bool(term), abs(x)) for kind in kinds for term, x in kind if x]
        unit = next((x for column, x in used if column), 1.0)
        parts = [
            " ".join(f"{x / unit:+.3g} {' * '.join(term)}".strip() for term, x in kind[::-1] if x)
            for kind in kinds
        ]
        return f"{self.name}: positive {parts[0] or '0'}, negative {parts[1] or '0'}"


def products(terms: Sequence[Term], side: Columns, n: int) -> Floats64:
    """Return the products of columns ``(n, terms)``; ones for the empty one.

    Examples
    --------
    >>> side = {"a": np.array([2.0]), "b": np.array([3.0])}
    >>> products(((), ("a",), ("a", "b")), side, 1).tolist()
    [[1.0, 2.0, 6.0]]
    """
    found = np.ones((n, len(terms)))
    for k, term in enumerate(terms):
        for name in term:
            found[:, k] *= side[name]
    return found
