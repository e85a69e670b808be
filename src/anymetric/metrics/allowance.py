"""Allowance: how many evaluations the current evaluator still allows."""

from __future__ import annotations

import math

from anymetric.metrics.evaluations import current


def left() -> float:
    """Return how many new evaluations are still allowed; infinity without a limit.

    Examples
    --------
    >>> left()
    inf
    """
    return float(getattr(current(), "left", math.inf))
