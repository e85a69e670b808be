"""Readings: what rows say about a metric, and how surely.

A reading is a sufficient summary of rows: readings of two samples add up to that of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from anymetric.certificates.tails import betting_p_value, binomial_tail, log_wealth

Floats64 = NDArray[np.float64]
HALVINGS = 30
# The smallest risk for which a bound of several parts is evaluated.
LEAST_RISK = 1e-9


class Reading(Protocol):
    """What rows say about one metric.

    `p_value` is that of "the bound does not hold"; `scale` predicts it for so many times the
    rows. `alarm` tests whether the bound is refuted, at a risk that holds for any number of checks.
    """

    @property
    def value(self) -> float:
        """The metric on the rows."""

    def p_value(self, level: float, at_least: bool, scale: float = 1.0) -> float:
        """Return the p-value of the rows under the hypothesis that the bound does not hold."""

    def alarm(self, level: float, at_least: bool, risk: float) -> bool:
        """Return whether these rows refute the bound."""

    def plus(self, other: Self) -> Self:
        """Return the reading of both samples."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A ratio of means, from rows counted by outcome.

    The metric is ``E[top] / E[bottom]``: at least `level` means that ``E[top - level bottom]`` is
    at least zero. Where that has one value above zero and one below, among all outcomes that
    there can be, the rows that have either are a binomial sample: exact. Otherwise its mean is
    bounded by betting.

    Attributes
    ----------
    counts, top, bottom : arrays of shape (k,)
        Rows of each outcome; what such a row adds above and below the line.
    tabled : bool
        Whether these are all outcomes that there can be.

    Examples
    --------
    >>> precision = Outcomes(np.array([9.0, 1.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    >>> precision.value, round(precision.p_value(0.8, True), 4)
    (0.9, 0.3758)
    """

    counts: Floats64
    top: Floats64
    bottom: Floats64
    tabled: bool = True

    @property
    def value(self) -> float:
        """The ratio; 0 if nothing is below the line."""
        below = float(self.counts @ self.bottom)
        return float(self.counts @ self.top) / below if below else 0.0

    @property
    def rows(self) -> int:
        """Rows that count."""
        return int(self.counts[(self.top != 0.0) | (self.bottom != 0.0)].sum())

    def margins(self, level: float, at_least: bool) -> tuple[Floats64, Floats64]:
        """Return what each outcome adds to the claim, and the rows; outcomes that add nothing
        are left out.
        """
        margins = self.top - level * self.bottom
        telling = margins != 0.0
        return (margins if at_least else -margins)[telling], self.counts[telling]

    def p_value(self, level: float, at_least: bool, scale: float = 1.0) -> float:
        """Return the exact binomial tail, or the inverse of what a bettor wins."""
        margins, counts = self.margins(level, at_least)
        counts = counts * scale
        good, worst = margins.max(initial=0.0), margins.min(initial=0.0)
        if good <= 0.0 or worst >= 0.0:  # nothing could fail, or nothing could hold
            return 0.0 if worst >= 0.0 and good > 0.0 else 1.0
        won = margins > 0.0
        if self.tabled and np.all(margins == np.where(won, good, worst)):
            return binomial_tail(counts[won].sum(), counts.sum(), -worst / (good - worst))
        return betting_p_value(margins, counts, worst)

    def log_evidence(self, level: float, at_least: bool) -> float:
        """Return the log of the wealth of who bets against the bound."""
        margins, counts = self.margins(level, not at_least)
        worst = float(margins.min(initial=0.0))
        if worst >= 0.0:  # every outcome breaks the bound
            return np.inf if counts.sum() else 0.0
        return log_wealth(margins, counts, worst)

    def alarm(self, level: float, at_least: bool, risk: float) -> bool:
        """Return whether who bets against the bound has won ``1 / risk``."""
        return bool(self.log_evidence(level, at_least) >= -np.log(risk))

    def plus(self, other: Self) -> Self:
        """Add up the counts; rows with amounts of their own are put side by side."""
        if self.tabled:
            return replace(self, counts=self.counts + other.counts)
        top, bottom = np.append(self.top, other.top), np.append(self.bottom, other.bottom)
        counts = np.append(self.counts, other.counts)
        return replace(self, counts=counts, top=top, bottom=bottom)


@dataclass(frozen=True, eq=False)
class Extreme:
    """The largest or the smallest of several metrics: worst group, largest gap.

    That the smallest is at least x means that every one is: each is tested at the whole risk,
    and the largest p-value counts (an intersection-union test).

    Examples
    --------
    >>> good = Outcomes(np.array([9.0, 1.0]), np.array([1.0, 0.0]), np.ones(2))
    >>> poor = Outcomes(np.array([5.0, 5.0]), np.array([1.0, 0.0]), np.ones(2))
    >>> worst = Extreme((good, poor), largest=False)
    >>> worst.value, worst.p_value(0.8, True) == poor.p_value(0.8, True)
    (0.5, True)
    """

    parts: tuple[Reading, ...]
    largest: bool

    @property
    def value(self) -> float:
        """The extreme value."""
        return (max if self.largest else min)(part.value for part in self.parts)

    def p_value(self, level: float, at_least: bool, scale: float = 1.0) -> float:
        """Return the largest p-value; where one part suffices, the smallest times their number."""
        found = [part.p_value(level, at_least, scale) for part in self.parts]
        if at_least != self.largest:
            return max(found)
        return min(1.0, len(found) * min(found))

    def alarm(self, level: float, at_least: bool, risk: float) -> bool:
        """Return whether a part refutes the bound, at its share of the risk."""
        each = at_least != self.largest
        share = risk / len(self.parts) if each else risk
        found = [part.alarm(level, at_least, share) for part in self.parts]
        return any(found) if each else all(found)

    def plus(self, other: Self) -> Self:
        """Add part to part."""
        return replace(self, parts=added(self.parts, other.parts))


@dataclass(frozen=True, eq=False)
class Combined:
    """A formula that rises or falls in each of several metrics: G-mean, a mean over groups.

    Each part gets its share of the risk for a bound on its worse side; the formula at these
    bounds bounds the metric (the corner of a box).

    Attributes
    ----------
    parts : tuple of Reading
    formula : callable
        From the parts' values, in an array, to the metric.
    signs : tuple of int
        +1 where the formula rises in a part, -1 where it falls.

    Examples
    --------
    >>> rate = Outcomes(np.array([9.0, 1.0]), np.array([1.0, 0.0]), np.ones(2))
    >>> mean = Combined((rate, rate), np.mean, (1, 1))
    >>> mean.value, mean.p_value(0.5, True) < mean.p_value(0.6, True)
    (0.9, True)
    """

    parts: tuple[Reading, ...]
    formula: Callable[[Floats64], float]
    signs: tuple[int, ...]

    @property
    def value(self) -> float:
        """The formula at the parts' values."""
        return float(self.formula(np.array([part.value for part in self.parts])))

    def p_value(self, level: float, at_least: bool, scale: float = 1.0) -> float:
        """Return the smallest risk at which the box lies on the right side."""

        def holds(log_risk: float) -> bool:
            share = float(np.exp(log_risk)) / len(self.parts)
            corner = [
                bound(partial(_sure, part, share, scale), up) for part, up in self._sides(at_least)
            ]
            value = float(self.formula(np.array(corner)))
            return value >= level if at_least else value <= level

        if not holds(0.0):
            return 1.0
        return float(np.exp(first_true(holds, np.log(LEAST_RISK), 0.0, HALVINGS // 2)))

    def alarm(self, level: float, at_least: bool, risk: float) -> bool:
        """Return whether even the best corner of the box breaks the bound."""
        share = risk / len(self.parts)
        corner = [
            bound(partial(_refuted, part, share), not up) for part, up in self._sides(at_least)
        ]
        value = float(self.formula(np.array(corner)))
        return value < level if at_least else value > level

    def plus(self, other: Self) -> Self:
        """Add part to part."""
        return replace(self, parts=added(self.parts, other.parts))

    def _sides(self, at_least: bool) -> list[tuple[Reading, bool]]:
        """Return for each part whether the bound that counts is a lower one."""
        return [(p, (sign > 0) == at_least) for p, sign in zip(self.parts, self.signs, strict=True)]


@dataclass(frozen=True, eq=False)
class Resampled:
    """Any metric, with the standard error that bootstrap resamples give it: approximate.

    Examples
    --------
    >>> reading = Resampled(((0.9, 0.05),))
    >>> reading.value, round(reading.p_value(0.8, True), 4)
    (0.9, 0.0228)
    """

    looks: tuple[tuple[float, float], ...]

    @property
    def value(self) -> float:
        """The metric on the rows of the last check."""
        return self.looks[-1][0]

    def p_value(self, level: float, at_least: bool, scale: float = 1.0) -> float:
        """Return the normal tail beyond the bound."""
        value, error = self.looks[-1]
        ahead = value - level if at_least else level - value
        if error == 0.0:
            return 0.0 if ahead > 0.0 else 1.0
        return float(norm.sf(ahead * np.sqrt(scale) / error))

    def alarm(self, level: float, at_least: bool, risk: float) -> bool:
        """Return whether one check refutes the bound; the k-th has ``6 / (pi k)^2`` of the risk."""
        shares = [6.0 * risk / (np.pi * k) ** 2 for k in range(1, len(self.looks) + 1)]
        found = [Resampled((look,)).p_value(level, not at_least) for look in self.looks]
        return any(p <= share for p, share in zip(found, shares, strict=True))

    def plus(self, other: Self) -> Self:
        """Combine the checks."""
        return replace(self, looks=self.looks + other.looks)


def _sure(part: Reading, risk: float, scale: float, level: float, lower: bool) -> bool:
    return part.p_value(level, lower, scale) <= risk


def _refuted(part: Reading, risk: float, level: float, lower: bool) -> bool:
    """Return whether new rows rule out the other side of a level, at any number of checks."""
    return part.alarm(level, not lower, risk)


def added(first: tuple[Reading, ...], second: tuple[Reading, ...]) -> tuple[Reading, ...]:
    """Return the sums of readings, pair by pair."""
    return tuple(a.plus(b) for a, b in zip(first, second, strict=True))


def bound(certain: Callable[[float, bool], bool], lower: bool) -> float:
    """Return a confidence bound of a rate: the highest level that a test finds certainly reached,
    or the lowest that it finds certainly not passed.

    Examples
    --------
    >>> rate = Outcomes(np.array([9.0, 1.0]), np.array([1.0, 0.0]), np.ones(2))
    >>> round(bound(lambda x, lower: rate.p_value(x, lower) <= 0.05, True), 3)  # Clopper-Pearson
    0.606
    """
    if lower:
        return -first_true(lambda x: certain(-x, True), -1.0, 0.0, HALVINGS)
    return first_true(lambda x: certain(x, False), 0.0, 1.0, HALVINGS)


def first_true(holds: Callable[[float], bool], low: float, high: float, halvings: int) -> float:
    """Return where a claim that stays true begins to be: at `high` if nowhere before.

    Examples
    --------
    >>> round(first_true(lambda x: x * x > 2.0, 0.0, 2.0, 40), 6)
    1.414214
    """
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
