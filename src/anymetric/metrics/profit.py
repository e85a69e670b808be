"""Profit: what the decisions earn, from a table of gains or from each row's own amount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.cells import Cells
from anymetric.metrics.decisions import DecisionMetric
from anymetric.metrics.rows import Rows


@dataclass(frozen=True)
class Profit(DecisionMetric):
    """Expected gain of a row: what true and false positives and negatives bring.

    Parameters
    ----------
    tp, fp, fn, tn : float or str
        The gain of each outcome: a number, or the name of a side column that holds it for each
        row. A minus before the name makes it a loss: ``fn="-amount"``.
    flag_cost : float
        What flagging a row costs, rightly or wrongly.

    Examples
    --------
    A fraud desk: a fraud that is caught saves its amount, and every look costs 5.

    >>> import numpy as np
    >>> desk = Profit(tp="amount", flag_cost=5.0)
    >>> amount = np.array([100.0, 40.0, 70.0, 10.0])
    >>> bound = desk.bind(np.array([1.0, -1.0, 1.0, -1.0]), side={"amount": amount})
    >>> float(bound.values(np.array([1.0, 1.0, -1.0, -1.0])))
    22.5
    """

    tp: float | str = 0.0
    fp: float | str = 0.0
    fn: float | str = 0.0
    tn: float | str = 0.0
    flag_cost: float = 0.0

    name = "profit"
    greater_is_better = True
    ceiling = 0.0

    def __post_init__(self) -> None:
        if not any((self.tp, self.fp, self.fn, self.tn, self.flag_cost)):
            raise ValueError("Profit needs a gain: for instance Profit(tp=5.0, fp=-1.0).")

    @property
    def needs(self) -> tuple[str, ...]:
        """The side columns named by the gains."""
        named = (x.lstrip("-") for x in (self.tp, self.fp, self.fn, self.tn) if isinstance(x, str))
        return tuple(dict.fromkeys(named))

    def cells(self, rows: Rows) -> tuple[Cells, NDArray[np.float64]]:
        """Return one cell, its weights the gain of flagging a row over leaving it."""
        tp, fp, fn, tn = (self._gain(x, rows) for x in (self.tp, self.fp, self.fn, self.tn))
        flagged = np.where(rows.positive, tp, fp) - self.flag_cost
        left = np.where(rows.positive, fn, tn)
        cells = Cells(np.zeros(len(rows), dtype=np.intp), rows.weights * (flagged - left), 1)
        return cells, np.array([rows.weights @ left, rows.weights.sum()])

    def from_sums(
        self, sums: NDArray[np.float64], kept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the mean gain."""
        return np.asarray((kept[..., 0] + sums[..., 0]) / kept[..., 1])

    def _gain(self, gain: float | str, rows: Rows) -> Any:
        if not isinstance(gain, str):
            return gain
        column = rows.side[gain.lstrip("-")].astype(np.float64)
        if not np.all(np.isfinite(column)):
            raise ValueError(
                f"Metric {self.name!r} needs finite gains; the side column {gain.lstrip('-')!r} "
                f"has {int(np.sum(~np.isfinite(column)))} that are not."
            )
        return -column if gain.startswith("-") else column
