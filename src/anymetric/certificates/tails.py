"""Tails: how surprising rows would be if a bound did not hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, logsumexp

Floats64 = NDArray[np.float64]
# Bet sizes, as parts of the largest that no single row can lose.
BETS = np.geomspace(0.004, 0.96, 24)


def binomial_tail(successes: float, trials: float, rate: float) -> float:
    """Return ``P(Binomial(trials, rate) >= successes)``.

    Counts are compared as they are: ``ceil(trials * rate)`` would round 0.1 * 30 up to 4. For
    counts that are not whole, as predicted for another number of rows, the incomplete beta
    function goes smoothly between the whole ones.

    Examples
    --------
    >>> round(binomial_tail(9, 10, 0.8), 4)  # 10 * 0.8^9 * 0.2 + 0.8^10
    0.3758
    >>> binomial_tail(0, 0, 0.8)
    1.0
    """
    if successes <= 0.0 or rate >= 1.0:
        return 1.0
    if rate <= 0.0:
        return 0.0
    return float(betainc(successes, trials - successes + 1.0, rate))


def log_wealth(values: Floats64, counts: Floats64, worst: float) -> float:
    """Return the log of what is won by betting that the mean of `values` is above zero.

    A bettor bets a constant part of the wealth on every row, and the wealth is the mean over
    a grid of such parts. If the mean is not above zero, the wealth is a nonnegative
    supermartingale that starts at one: it reaches ``1 / risk`` with a chance of `risk` at most,
    however often it is checked (Ville; Waudby-Smith and Ramdas 2024, section 4). The order of
    the rows does not matter.

    Parameters
    ----------
    values : array of shape (k,)
        What a row may bring.
    counts : array of shape (k,)
        Rows that brought it.
    worst : float
        No row can bring less; below zero.

    Examples
    --------
    >>> values = np.array([1.0, -1.0])
    >>> log_wealth(values, np.array([60.0, 40.0]), -1.0) > 0.0
    True
    >>> log_wealth(values, np.array([50.0, 50.0]), -1.0) > 0.0
    False
    """
    gains = np.log1p(np.multiply.outer(BETS / -worst, values))  # (bets, k)
    return float(logsumexp(gains @ counts) - np.log(len(BETS)))


def betting_p_value(values: Floats64, counts: Floats64, worst: float) -> float:
    """Return a p-value of "the mean of `values` is not above zero", by betting against it.

    Examples
    --------
    >>> betting_p_value(np.array([1.0, -1.0]), np.array([90.0, 10.0]), -1.0) < 0.001
    True
    """
    return float(np.exp(min(0.0, -log_wealth(values, counts, worst))))
