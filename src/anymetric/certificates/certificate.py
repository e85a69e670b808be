"""Certificate: a bound that holds on new rows with a confidence, and the watch over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from anymetric.certificates.evidence import evidence
from anymetric.certificates.readings import Reading
from anymetric.metrics import Metric, Rows


@dataclass(frozen=True)
class Claim:
    """A bound of a metric and the required confidence.

    Examples
    --------
    >>> from anymetric.metrics import Precision
    >>> print(Claim(Precision(), 0.8, True, 0.9))
    precision >= 0.80 at 90 %
    """

    metric: Metric
    level: float
    at_least: bool = True
    confidence: float = 0.9

    @property
    def risk(self) -> float:
        """The chance that the claim is made though it does not hold."""
        return 1.0 - self.confidence

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        percent = f"{100.0 * self.confidence:g} %"
        return f"{self.metric.name} {sign} {shown(self.level)} at {percent}"


@dataclass(frozen=True)
class Certificate:
    """Evidence of held-out validation rows for a bound; print it.

    Attributes
    ----------
    claim : Claim
    certified : bool
    value : float
        The metric on these rows.
    bound : float
        What is certified in any case: the level itself, or the best that is.
    flagged, rows : int
        Rows flagged, and all rows that certified.
    p_value : float
    needed : int or None
        Where it is not certified: about so many rows would do; None if no number would.
    approximate : bool
        Whether the confidence is kept only roughly: the bootstrap.
    threshold : float or None
        Where scores were cut.
    labels : tuple
        The two classes, or none.

    Examples
    --------
    >>> from anymetric.metrics import Precision
    >>> claim = Claim(Precision(), 0.8, True, 0.9)
    >>> print(Certificate(claim, True, 0.84, 0.8, 212, 1000, 0.07))
    precision >= 0.80 at 90 %: 0.84 on 212 flagged of 1,000 held-out rows
    >>> print(Certificate(claim, False, 0.83, 0.71, 40, 300, 0.3, needed=1100))
    precision >= 0.80 at 90 % is not certifiable with 300 rows; the best that is: 0.71; 0.80 needs
    about 1,100
    """

    claim: Claim
    certified: bool
    value: float
    bound: float
    flagged: int | None
    rows: int
    p_value: float
    needed: int | None = None
    approximate: bool = False
    threshold: float | None = None
    labels: tuple[Any, ...] | None = None
    groups: tuple[Any, ...] = ()

    def __str__(self) -> str:
        about = " (approximate: by the bootstrap)" if self.approximate else ""
        level = shown(self.claim.level)
        if self.certified:
            on = "" if self.flagged is None else f"{self.flagged:,} flagged of "
            return f"{self.claim}: {shown(self.value)} on {on}{self.rows:,} held-out rows{about}"
        needs = f"no number of rows will do, as the value here is {shown(self.value)}"
        if self.needed is not None:
            needs = f"{level} needs about {self.needed:,}"
        return (
            f"{self.claim} is not certifiable with {self.rows:,} rows; the best that is: "
            f"{shown(self.bound)}; {needs}{about}"
        )

    def monitor(
        self,
        y: Any,
        predictions: Any,
        *,
        groups: Any = None,
        side: dict[str, Any] | None = None,
        after: Watch | None = None,
        risk: float = 0.05,
    ) -> Watch:
        """Watch the bound on new rows, as often as you like.

        An alarm is false with probability `risk` at most over all checks together, as long as each
        is given the one before it as `after`.

        Parameters
        ----------
        y, predictions : array-like of shape (n,)
            New labels and what the model had decided.
        groups, side : optional
            Columns that the metric reads.
        after : Watch, optional
            What was returned the last time.
        risk : float
            The chance of a false alarm, ever.
        """
        if self.labels is None:
            raise ValueError(
                "monitor() watches decisions between two classes; these rows have none."
            )
        positive = self.labels[-1]
        truth = np.where(np.asarray(y) == positive, 1.0, -1.0)
        scores = np.where(np.asarray(predictions) == positive, 1.0, -1.0)
        if truth.shape != scores.shape or truth.ndim != 1:
            raise ValueError(
                f"monitor() needs a label and a prediction for each row; got shapes {truth.shape} "
                f"and {scores.shape}."
            )
        columns = {name: np.asarray(column) for name, column in (side or {}).items()}
        if groups is not None:
            columns["groups"] = np.asarray(groups)
        rows = Rows.of(self.claim.metric.name, truth, None, columns, self.labels, None)
        missing = [name for name in self.claim.metric.needs if name not in columns]
        if missing:
            raise ValueError(f"monitor() needs the column {missing[0]!r}, which the metric reads.")
        known = {"groups": np.asarray(self.groups)} if self.groups else {}
        reader = evidence(self.claim.metric, Rows(truth, rows.weights, {**columns, **known}))
        return self._watched(reader.read(rows, scores), len(truth), after, risk)

    def _watched(self, new: Reading, rows: int, after: Watch | None, risk: float) -> Watch:
        reading = new if after is None or after.reading is None else after.reading.plus(new)
        before = 0 if after is None else after.rows
        level, at_least = self.claim.level, self.claim.at_least
        alarm = (after is not None and after.alarm) or reading.alarm(level, at_least, risk)
        return Watch(bool(alarm), reading.value, before + rows, self.claim, risk, reading)


@dataclass(frozen=True)
class Watch:
    """The evidence of new rows so far; pass it to the next call of `Certificate.monitor`.

    Attributes
    ----------
    alarm : bool
        Whether the bound is refuted.
    value : float
        The metric on all rows watched.
    rows : int

    Examples
    --------
    >>> from anymetric.metrics import Precision
    >>> print(Watch(False, 0.83, 120, Claim(Precision(), 0.8), 0.05))
    no alarm: precision is 0.83 on 120 new rows, which do not refute precision >= 0.80
    """

    alarm: bool
    value: float
    rows: int
    claim: Claim
    risk: float
    reading: Reading | None = None

    def __str__(self) -> str:
        name, sign = self.claim.metric.name, ">=" if self.claim.at_least else "<="
        bound = f"{name} {sign} {shown(self.claim.level)}"
        on = f"{name} is {shown(self.value)} on {self.rows:,} new rows"
        if self.alarm:
            return (
                f"ALARM: {on}; if {bound} still held, the chance of this at any check would be at "
                f"most {100.0 * self.risk:g} %: retrain, or certify again"
            )
        return f"no alarm: {on}, which do not refute {bound}"


def shown(number: float) -> str:
    """Return a number with two decimals, or more where it has more.

    Examples
    --------
    >>> shown(0.8), shown(0.825), shown(12.5)
    ('0.80', '0.825', '12.50')
    """
    two, short = f"{number:.2f}", f"{number:.4g}"
    return short if abs(float(two) - float(short)) > 5e-7 and len(short) <= 5 else two
