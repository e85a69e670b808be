"""Allowance: how many evaluations may still be asked for, as far as anybody has said."""

from __future__ import annotations

import math

from anymetric.metrics.evaluations import current


def left() -> float:
    """Return how many new evaluations whoever answers now allows; infinity without a limit.

    Examples
    --------
    >>> left()
    inf
    """
    return float(getattr(current(), "left", math.inf))
