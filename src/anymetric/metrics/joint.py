"""Joint: the cost of an objective under limits, of one sample or of rows and their resamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats64 = NDArray[np.float64]
# What a broken limit costs before its violation counts, in units of the objective's cost.
JUMP = 1e3
# The share of resamples in which a limit must be kept, and what one unit beyond it costs in the
# others: on the rows alone the best threshold lies just before the limit, and new rows break it
# every other time.
KEPT, PRICE = 2 / 3, 1.0
# What a unit costs by which a limit that is kept on the rows is not kept in so many resamples.
MARGIN = 10.0


def joined(costs: Floats64, excesses: Sequence[Floats64], jump: float = JUMP) -> Floats64:
    """Return the costs of an objective under limits, entry by entry.

    Parameters
    ----------
    costs : array of shape (...)
    excesses : sequence of arrays of shape (...)
        By how much each limit is passed; negative inside it.
    jump : float
        The cost of violating a limit, and of each unit of the violation.

    Examples
    --------
    >>> joined(np.array([0.5, 0.1]), [np.array([-0.2, 0.3])]).tolist()
    [0.5, 1300.1]
    """
    beyond = sum(np.maximum(one, 0.0) for one in map(rounded, excesses))
    return np.asarray(costs + np.where(beyond > 0.0, jump * (1.0 + beyond), 0.0))


def settled(costs: Floats64, excesses: Sequence[Floats64], jump: float = JUMP) -> Floats64:
    """Return the costs of an objective under limits on rows and, in the last axis, on resamples.

    Models that satisfy all limits on the rows cost less than those that do not. Limits should
    also hold in two resamples of three, with a small penalty. Resampling inflates gaps between
    groups: this bias is estimated over all resamples and removed.

    Parameters
    ----------
    costs : array of shape (..., 1 + B)
        On the rows first, then on the resamples.
    excesses : sequence of arrays of shape (..., 1 + B)

    Examples
    --------
    >>> costs = np.full((2, 4), 0.2)
    >>> beyond = np.array([[-0.1, -0.2, -0.1, 0.0], [0.1, 0.0, 0.1, 0.2]])
    >>> settled(costs, [beyond])[:, 0].round(3).tolist()
    [0.2, 1101.2]
    """
    if costs.shape[-1] == 1:
        return joined(costs, excesses, jump)
    found, short = costs.copy(), np.zeros(costs.shape[:-1])
    broken = np.zeros(costs.shape[:-1], dtype=bool)
    for one in map(rounded, excesses):
        own = one[..., :1] + one[..., 1:] - one[..., 1:].mean(axis=-1, keepdims=True)
        place = int(np.ceil(KEPT * own.shape[-1])) - 1
        short += np.maximum(np.partition(own, place, axis=-1)[..., place], 0.0)
        found[..., 1:] += PRICE * np.maximum(own, 0.0)
        broken |= one[..., 0] > 0.0
    margin = MARGIN * short + jump * np.where(broken, 1.0 + short, 0.0)
    return found + margin[..., np.newaxis]


def rounded(excess: Floats64) -> Floats64:
    """Return by how much a limit is passed, nothing where that is rounding."""
    return np.where(np.abs(excess) <= 1e-12, 0.0, excess)
