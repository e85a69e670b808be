"""Constraints: limits that a metric must keep while another is trained for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.base import Metric
from anymetric.metrics.functions import metric as of_function
from anymetric.metrics.gaps import ODDS, OddsGap, RateGap, SelectionRate, gap_of
from anymetric.metrics.registry import as_metric
from anymetric.metrics.scorers import is_scorer

Floats64 = NDArray[np.float64]
Direction = Literal[">=", "<="]
_WRITTEN = re.compile(r"^\s*(.+?)\s*(>=|<=)\s*([^@\s]+)\s*(?:@\s*([\d.]+)\s*%?)?\s*$")


@dataclass(frozen=True)
class Constraint:
    """A limit of a metric: `at_least` and `at_most` write it, `parse` reads it.

    Attributes
    ----------
    metric : Metric
    bound : float
    direction : {">=", "<="}
    confidence : float or None
        With which the limit is to hold on new rows, if any.

    Examples
    --------
    >>> limit = Constraint.parse("recall>=0.8 @ 90%")
    >>> limit, limit.confidence
    (recall >= 0.8 @ 90%, 0.9)
    >>> limit.violation(0.75).__round__(6), limit.satisfied(0.8)
    (0.05, True)
    """

    metric: Metric
    bound: float
    direction: Direction
    confidence: float | None = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.bound):
            raise ValueError(f"The bound of {self.metric.name!r} must be finite; got {self.bound}.")
        if self.direction not in (">=", "<="):
            raise ValueError(f"direction must be '>=' or '<='; got {self.direction!r}.")
        if self.confidence is not None and not 0.0 < self.confidence < 1.0:
            raise ValueError(
                f"confidence must lie between 0 and 1, such as 0.9; got {self.confidence}."
            )

    @classmethod
    def parse(cls, text: str) -> Constraint:
        """Read a limit as it is written: ``recall>=0.8``, ``gap(recall)<=0.05 @ 90%``."""
        match = _WRITTEN.match(text)
        try:
            assert match is not None
            name, direction, bound, confidence = match.groups()
            found = float(bound)
        except (AssertionError, ValueError):
            raise ValueError(
                "A limit is written as 'recall>=0.8', 'gap(recall)<=0.05' or, to hold with 90 % "
                f"confidence, 'recall>=0.8 @ 90%'; got {text!r}."
            ) from None
        level = None if confidence is None else float(confidence) / 100.0
        return cls(as_metric(name), found, direction, level)  # type: ignore[arg-type]

    def excess(self, value: Any) -> Any:
        """Return by how much values are beyond the limit; negative inside it."""
        return self.bound - value if self.direction == ">=" else value - self.bound

    def violation(self, value: Any) -> Any:
        """Return by how much values break the limit: zero where they keep it."""
        found = np.maximum(self.excess(value), 0.0)
        return float(found) if np.ndim(found) == 0 else found

    def satisfied(self, value: float) -> bool:
        """Return whether a value keeps the limit, rounding aside."""
        return bool(self.excess(value) <= 1e-12 * max(1.0, abs(self.bound)))

    def __str__(self) -> str:
        text = f"{self.metric.name} {self.direction} {self.bound:g}"
        return text if self.confidence is None else f"{text} @ {100.0 * self.confidence:g}%"

    __repr__ = __str__


def at_least(metric: Any, value: float, *, confidence: float | None = None) -> Constraint:
    """Return the limit that a metric must reach.

    Parameters
    ----------
    metric : str, Metric, scikit-learn scorer or function
        What `as_metric` takes. The direction of a function is not needed.
    value : float
    confidence : float, optional
        With which the limit is to hold on new rows, such as 0.9.

    Examples
    --------
    >>> from anymetric import at_least
    >>> at_least("recall", 0.8)
    recall >= 0.8
    """
    return Constraint(_limited(metric, True), float(value), ">=", confidence)


def at_most(metric: Any, value: float, *, confidence: float | None = None) -> Constraint:
    """Return the limit that a metric must not pass.

    Parameters
    ----------
    metric, value, confidence
        As for `at_least`.

    Examples
    --------
    >>> from anymetric import at_most, gap
    >>> at_most(gap("recall"), 0.05)
    gap(recall) <= 0.05
    """
    return Constraint(_limited(metric, False), float(value), "<=", confidence)


def gap(metric: Any, groups: str = "groups") -> Metric:
    """Return the largest difference of a metric between groups, as a metric.

    Parameters
    ----------
    metric : str, Metric, scikit-learn scorer or function
        What is compared; ``"equalized_odds"`` is the wider of the gaps in true-positive and in
        false-positive rate, ``"demographic_parity"`` the gap in ``"selection_rate"``.
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> from anymetric import gap
    >>> gap("recall").name, gap("equalized_odds").name
    ('gap(recall)', 'gap(equalized_odds)')
    """
    if isinstance(metric, str) and metric in ODDS:
        return OddsGap(groups)
    if isinstance(metric, str) and metric == "demographic_parity":
        return RateGap(SelectionRate(), groups)
    return gap_of(_limited(metric, True), groups)


def as_constraints(given: Any) -> tuple[Constraint, ...]:
    """Return the limits that were given: none, one, or several; texts are parsed.

    Examples
    --------
    >>> as_constraints("recall>=0.8"), as_constraints(None)
    ((recall >= 0.8,), ())
    """
    if given is None:
        return ()
    if isinstance(given, str):
        return (Constraint.parse(given),)
    if isinstance(given, Constraint):
        return (given,)
    if not isinstance(given, Iterable):
        raise TypeError(
            "subject_to takes at_least(metric, value), at_most(metric, value), a text such as "
            f"'recall>=0.8', or a list of them; got {given!r}."
        )
    return tuple(one for each in given for one in as_constraints(each))


def _limited(metric: Any, greater: bool) -> Metric:
    """Return the metric; which way a function is better, its limit says."""
    if isinstance(metric, str | Metric) or is_scorer(metric) or not callable(metric):
        return as_metric(metric)
    try:
        return as_metric(metric)
    except ValueError:
        return of_function(metric, greater_is_better=greater)  # type: ignore[no-any-return]
