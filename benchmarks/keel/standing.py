"""Standing: ranks, win rates, Elo and improvability of methods over tasks.

The formulas are those of the package bencheval, 0.1.0, whose intervals resample tasks; here whole
data sets are drawn, as the metrics of one set go together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import rankdata

Floats = NDArray[np.float64]
# Elo points to a tenfold chance, the mean rating, and a ridge where one method always wins.
SCALE, CENTRE, RIDGE = 400.0, 1000.0, 1e-7
RESAMPLES = 200


def ranks(values: Floats) -> Floats:
    """Return the rank of each method, the last axis, in each task; equals share theirs."""
    return rankdata(-values.round(9), axis=-1)


def win_rates(values: Floats) -> Floats:
    """Return the share of duels that each method wins, half of each tie, from (tasks, methods)."""
    count = values.shape[-1]
    return (count - ranks(values).mean(axis=0)) / (count - 1)


def improvability(values: Floats) -> Floats:
    """Return how much of its error the best method of a task would save, the mean over tasks.

    >>> improvability(np.array([[0.9, 0.8], [0.5, 0.6]]))
    array([0.1 , 0.25])
    """
    errors = 1.0 - values
    best = errors.min(axis=-1, keepdims=True)
    shares = 1.0 - np.divide(best, errors, out=np.ones_like(errors), where=errors > 0.0)
    return shares.mean(axis=0).round(12)


def elo(values: Floats) -> Floats:
    """Return the maximum likelihood ratings (Bradley and Terry), from values (tasks, methods)."""
    tasks, count = values.shape
    wins = win_rates(values) * tasks * (count - 1)

    above = np.triu_indices(count, 1)

    def loss(strengths: Floats) -> tuple[float, Floats]:
        column = strengths[:, np.newaxis]
        pairs = np.logaddexp(column, strengths)[above].sum()
        value = tasks * pairs - wins @ strengths + RIDGE * strengths @ strengths
        # A method does not meet itself, which the half takes away.
        chances = expit(column - strengths).sum(axis=1) - 0.5
        return value, tasks * chances - wins + 2.0 * RIDGE * strengths

    found = minimize(loss, np.zeros(count), jac=True, method="L-BFGS-B", options={"gtol": 1e-9})
    return CENTRE + SCALE * (found.x - found.x.mean()) / np.log(10.0)


def elo_interval(values: Floats, seed: int = 0) -> tuple[Floats, Floats]:
    """Return the bounds of a 95 % interval, from values (sets, metrics, methods)."""
    rng = np.random.default_rng(seed)
    draws = rng.integers(len(values), size=(RESAMPLES, len(values)))
    found = [elo(values[draw].reshape(-1, values.shape[-1])) for draw in draws]
    low, high = np.quantile(found, [0.025, 0.975], axis=0)
    return low, high
