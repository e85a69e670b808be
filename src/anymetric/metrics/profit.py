"""Profit: what the decisions earn, from gains of each outcome that may differ by row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Columns
from anymetric.metrics.cells import Cells
from anymetric.metrics.decisions import DecisionMetric
from anymetric.metrics.rows import Rows
from anymetric.metrics.signatures import function_name, read_signature

Floats64 = NDArray[np.float64]


class Gains(NamedTuple):
    """What each outcome would bring, for every row.

    Examples
    --------
    >>> gains = Gains(*np.array([[9.0], [-1.0], [0.0], [0.0]]))
    >>> gains.positive.tolist(), gains.negative.tolist()
    ([9.0], [-1.0])
    """

    tp: Floats64
    fp: Floats64
    fn: Floats64
    tn: Floats64

    @property
    def positive(self) -> Floats64:
        """What flagging brings more than leaving, if the row is positive."""
        return self.tp - self.fn

    @property
    def negative(self) -> Floats64:
        """The same if it is negative: as a rule a loss."""
        return self.fp - self.tn


class GainMetric(DecisionMetric):
    """A mean over rows of gains that depend on the row, its label and its decision alone.

    A subclass says what each outcome of a row brings, from columns that are known when decisions
    are made. That is enough to weigh every row's own costs: see `RowRule`.

    Examples
    --------
    >>> metric: GainMetric = Profit(tp="amount", flag_cost=5.0)
    >>> metric.gains({"amount": np.array([100.0, 3.0])}, 2).positive.tolist()
    [95.0, -2.0]
    """

    greater_is_better = True
    ceiling = 0.0

    @abstractmethod
    def gains(self, side: Columns, n: int) -> Gains:
        """Return what each outcome would bring, for n rows with these columns."""

    def cells(self, rows: Rows) -> tuple[Cells, Floats64]:
        """Return one cell, its weights the gain of flagging a row over leaving it."""
        gains = self.gains(rows.side, len(rows))
        left = np.where(rows.positive, gains.fn, gains.tn)
        more = np.where(rows.positive, gains.positive, gains.negative)
        cells = Cells(np.zeros(len(rows), dtype=np.intp), rows.weights * more, 1)
        return cells, np.array([rows.weights @ left, rows.weights.sum()])

    def from_sums(self, sums: Floats64, kept: Floats64) -> Floats64:
        """Return the mean gain."""
        return np.asarray((kept[..., 0] + sums[..., 0]) / kept[..., 1])

    def _finite(self, gains: Any, what: str, n: int) -> Floats64:
        """Return a gain of every row as numbers; refuse what is none."""
        values = np.asarray(gains, dtype=np.float64)
        if values.shape not in ((), (n,)):
            raise ValueError(
                f"Metric {self.name!r}: {what} must have one value for each of the {n} rows; got "
                f"an array of shape {values.shape}."
            )
        wrong = int(np.count_nonzero(~np.isfinite(values)))
        if wrong:
            raise ValueError(
                f"Metric {self.name!r} needs finite gains; {what} has {wrong} that are not."
            )
        return np.broadcast_to(values, (n,))


@dataclass(frozen=True)
class Profit(GainMetric):
    """Expected gain of a row: what true and false positives and negatives bring.

    Parameters
    ----------
    tp, fp, fn, tn : float, str or distribution
        The gain of each outcome: a number, or the name of a metadata column that holds it for each
        row; a minus before the name makes it a loss: ``fn="-amount"``. Or anything with a
        ``mean()``: a frozen distribution of scipy, an array of costs as they were observed. A mean
        is all that counts of it: profit is a sum of gains, so its expectation reads nothing else.
    flag_cost : float, str or distribution
        What flagging a row costs, rightly or wrongly.

    Examples
    --------
    Fraud detection: a fraud that is caught saves its amount, and every review costs 5.

    >>> import numpy as np
    >>> desk = Profit(tp="amount", flag_cost=5.0)
    >>> amount = np.array([100.0, 40.0, 70.0, 10.0])
    >>> bound = desk.bind(np.array([1.0, -1.0, 1.0, -1.0]), side={"amount": amount})
    >>> float(bound.values(np.array([1.0, 1.0, -1.0, -1.0])))
    22.5

    Reviews with costs that vary by row:

    >>> from scipy.stats import gamma
    >>> float(Profit(tp=20.0, flag_cost=gamma(2.0, scale=2.5)).gains({}, 1).positive[0])
    15.0
    """

    tp: Any = 0.0
    fp: Any = 0.0
    fn: Any = 0.0
    tn: Any = 0.0
    flag_cost: Any = 0.0

    name = "profit"

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in ("tp", "fp", "fn", "tn", "flag_cost")}
        for name, gain in given.items():
            if not isinstance(gain, str) and not np.isscalar(gain) and not hasattr(gain, "mean"):
                raise TypeError(
                    f"{name} must be a number, a column's name or a distribution with a mean(); "
                    f"got {gain!r}."
                )
        if all(np.isscalar(gain) and not gain for gain in given.values()):
            raise ValueError("Profit needs a gain: for instance Profit(tp=5.0, fp=-1.0).")

    @property
    def needs(self) -> tuple[str, ...]:
        """The metadata columns named by the gains."""
        given = (self.tp, self.fp, self.fn, self.tn, self.flag_cost)
        return tuple(dict.fromkeys(x.lstrip("-") for x in given if isinstance(x, str)))

    def gains(self, side: Columns, n: int) -> Gains:
        """Return what each outcome would bring, from the columns."""
        tp, fp, fn, tn = (self._gain(x, side, n) for x in (self.tp, self.fp, self.fn, self.tn))
        cost = self._gain(self.flag_cost, side, n)
        return Gains(tp - cost, fp - cost, fn, tn)

    def _gain(self, gain: Any, side: Columns, n: int) -> Floats64:
        if not isinstance(gain, str):
            value = gain.mean() if hasattr(gain, "mean") else gain
            return self._finite(value, "a gain", n)
        name = gain.lstrip("-")
        column = self._finite(side[name], f"the metadata column {name!r}", n)
        return -column if gain.startswith("-") else column


@dataclass(frozen=True)
class RowGains(GainMetric):
    """The mean of a user's function of each row's gain.

    Parameters
    ----------
    function : callable
        ``f(y_true, y_pred, column, ...)``, with zeros and ones for what is true and what is
        decided, returns one gain for every row; further arguments get the metadata columns of their
        names. No row's gain may depend on other rows.

    Examples
    --------
    >>> def earned(y_true, y_pred, amount):
    ...     return y_pred * np.where(y_true == 1, np.minimum(amount, 50.0), -5.0)
    >>> metric = RowGains(earned)
    >>> metric.needs, metric.gains({"amount": np.array([80.0, 20.0])}, 2).positive.tolist()
    (('amount',), [50.0, 20.0])
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"RowGains takes a function f(y_true, y_pred); got {self.function!r}.")

    @property
    def name(self) -> str:
        """The function's."""
        return function_name(self.function)

    @property
    def needs(self) -> tuple[str, ...]:
        """The metadata columns that the function takes by name."""
        return read_signature(self.function)[1]

    def gains(self, side: Columns, n: int) -> Gains:
        """Call the function for each outcome in turn."""
        columns = {name: np.asarray(side[name]) for name in self.needs}
        outcomes = ((1, 1), (0, 1), (1, 0), (0, 0))
        gains = [self.function(np.full(n, y), np.full(n, d), **columns) for y, d in outcomes]
        return Gains(*(self._finite(one, "what the function returns", n) for one in gains))
