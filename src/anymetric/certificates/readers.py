"""Readers: how rows are counted for one metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.certificates.readings import Combined, Extreme, Outcomes, Reading, Resampled
from anymetric.metrics import GainMetric, Metric, Rows

Floats64 = NDArray[np.float64]
Four = tuple[float, float, float, float]
RESAMPLES = 200


class Evidence(Protocol):
    """How rows are read for one metric; `approximate` where the risk is not exactly kept."""

    @property
    def approximate(self) -> bool:
        """Whether the risk is kept only roughly."""

    def read(self, rows: Rows, scores: Floats64) -> Reading:
        """Return what rows with these scores say."""


@dataclass(frozen=True)
class Rate:
    """A ratio of counts of true and false positives, false and true negatives.

    Parameters
    ----------
    top, bottom : four numbers
        What a row of each outcome adds above and below the line.
    within : (column, value), optional
        Rows of one group only.

    Examples
    --------
    >>> rows = Rows(np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4))
    >>> Rate((1, 0, 0, 0), (1, 1, 0, 0)).read(rows, np.array([1.0, -1.0, 1.0, -1.0])).value
    0.5
    """

    top: Four
    bottom: Four
    within: tuple[str, Any] | None = None
    approximate: bool = False

    def read(self, rows: Rows, scores: Floats64) -> Reading:
        """Count the rows by outcome; rows with weights are kept one by one."""
        outcome = np.where(scores > 0.0, 0, 2) + ~rows.positive  # tp, fp, fn, tn
        own = np.ones(len(rows), bool)
        if self.within is not None:
            own = np.asarray(rows.side[self.within[0]] == self.within[1])
        top, bottom = np.array(self.top, float), np.array(self.bottom, float)
        if np.all((rows.weights == 1.0) | (rows.weights == 0.0)):
            own &= rows.weights > 0.0
            counts = np.bincount(outcome[own], minlength=4).astype(np.float64)
            return Outcomes(counts, top, bottom)
        return by_row(rows.weights[own], top[outcome[own]], bottom[outcome[own]])


@dataclass(frozen=True)
class ClassRate:
    """Rows taken for their class, among all rows or among those of one class.

    Examples
    --------
    >>> from anymetric.metrics import Classes
    >>> rows = Rows(np.array([0.0, 1.0, 2.0]), np.ones(3), labels=Classes(("a", "b", "c")))
    >>> ClassRate().read(rows, np.eye(3)).value
    1.0
    """

    code: int | None = None
    approximate: bool = False

    def read(self, rows: Rows, scores: Floats64) -> Reading:
        """Count right and wrong rows."""
        own = np.ones(len(rows), bool) if self.code is None else rows.y == self.code
        right = np.argmax(scores, axis=1)[own] == rows.y[own]
        weights = rows.weights[own]
        if np.all(weights == 1.0):
            counts = np.array([right.sum(), (~right).sum()], dtype=np.float64)
            return Outcomes(counts, np.array([1.0, 0.0]), np.ones(2))
        return by_row(weights, right.astype(np.float64), np.ones(len(right)))


@dataclass(frozen=True)
class Gain:
    """A mean of row gains: of a table of four gains, or of amounts.

    Amounts have no bound but the largest that was seen: the risk is kept as far as new rows gain
    and lose no more, and that is called approximate.

    Examples
    --------
    >>> from anymetric.metrics import Profit
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2))
    >>> Gain(Profit(tp=5.0, fp=-1.0)).read(rows, np.ones(2)).value
    2.0
    """

    profit: GainMetric

    @property
    def approximate(self) -> bool:
        """Whether gains are amounts."""
        return bool(self.profit.needs)

    def read(self, rows: Rows, scores: Floats64) -> Reading:
        """Return the gains by outcome, or row by row."""
        profit, flagged = self.profit, scores > 0.0
        gains = profit.gains(rows.side, len(rows))
        if not profit.needs:
            tp, fp, fn, tn = (float(one[0]) for one in gains)
            return Rate((tp, fp, fn, tn), (1.0, 1.0, 1.0, 1.0)).read(rows, scores)
        won = np.where(rows.positive, gains.tp, gains.fp)
        left = np.where(rows.positive, gains.fn, gains.tn)
        return by_row(rows.weights, np.where(flagged, won, left), np.ones(len(rows)))


@dataclass(frozen=True)
class Parts:
    """A formula of several metrics.

    Examples
    --------
    >>> recall, specificity = Rate(*RATES["recall"]), Rate(*RATES["specificity"])
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2))
    >>> from anymetric.certificates.formulas import mean
    >>> Parts((recall, specificity), mean, (1, 1)).read(rows, np.ones(2)).value
    0.5
    """

    parts: tuple[Evidence, ...]
    formula: Any
    signs: tuple[int, ...]

    @property
    def approximate(self) -> bool:
        """Whether a part is."""
        return any(part.approximate for part in self.parts)

    def read(self, rows: Rows, scores: Floats64) -> Reading:
        """Read every part."""
        found = tuple(part.read(rows, scores) for part in self.parts)
        return Combined(found, self.formula, self.signs)


@dataclass(frozen=True)
class Furthest:
    """The largest or the smallest of several metrics.

    Examples
    --------
    >>> recall, specificity = Rate(*RATES["recall"]), Rate(*RATES["specificity"])
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2))
    >>> Furthest((recall, specificity), largest=False).read(rows, np.ones(2)).value
    0.0
    """

    parts: tuple[Evidence, ...]
    largest: bool

    @property
    def approximate(self) -> bool:
        """Whether a part is."""
        return any(part.approximate for part in self.parts)

    def read(self, rows: Rows, scores: Floats64) -> Reading:
        """Read every part."""
        return Extreme(tuple(part.read(rows, scores) for part in self.parts), self.largest)


@dataclass(frozen=True)
class Bootstrap:
    """Any metric at all: its standard error over bootstrap resamples.

    Examples
    --------
    >>> from anymetric.metrics import Matthews
    >>> rows = Rows(np.tile([1.0, -1.0], 50), np.ones(100))
    >>> round(Bootstrap(Matthews()).read(rows, rows.y).value, 6)
    1.0
    """

    metric: Metric
    approximate: bool = True

    def read(self, rows: Rows, scores: Floats64) -> Reading:
        """Ask the metric about the rows, and about resamples of them."""
        rng = np.random.default_rng(0)
        draws = [rng.integers(len(rows), size=len(rows)) for _ in range(RESAMPLES)]
        found = [self._value(rows, scores, draw) for draw in draws]
        known = [value for value in found if value is not None]
        value = self._value(rows, scores, np.arange(len(rows)))
        if value is None or len(known) < RESAMPLES // 2:
            return Resampled(((0.0 if value is None else value, np.inf),))
        return Resampled(((value, float(np.std(known, ddof=1))),))

    def _value(self, rows: Rows, scores: Floats64, draw: NDArray[np.intp]) -> float | None:
        side = {name: column[draw] for name, column in rows.side.items()}
        X = None if rows.X is None or not self.metric.reads_features else rows.X[draw]
        try:
            bound = self.metric.bind(
                rows.y[draw], weights=rows.weights[draw], side=side, labels=rows.labels, X=X
            )
            return float(bound.values(scores[draw]))
        except (ValueError, RuntimeError):  # a resample without a class, or without a group
            return None


def by_row(weights: Floats64, top: Floats64, bottom: Floats64) -> Outcomes:
    """Return rows that count one by one, by their weights.

    Examples
    --------
    >>> by_row(np.array([2.0, 1.0]), np.array([1.0, 0.0]), np.ones(2)).value
    0.6666666666666666
    """
    unit = weights / max(float(weights.max(initial=0.0)), np.finfo(float).tiny)
    return Outcomes(np.ones(len(unit)), unit * top, unit * bottom, tabled=False)


RATES: dict[str, tuple[Four, Four]] = {
    "precision": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "recall": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "specificity": ((0, 0, 0, 1), (0, 1, 0, 1)),
    "fallout": ((0, 1, 0, 0), (0, 1, 0, 1)),
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "error": ((0, 1, 1, 0), (1, 1, 1, 1)),
    "selection_rate": ((1, 1, 0, 0), (1, 1, 1, 1)),
}
