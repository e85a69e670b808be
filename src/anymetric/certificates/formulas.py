"""Formulas: how the parts of a metric make it up. Each rises or falls in every part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats64 = NDArray[np.float64]


def mean(parts: Floats64) -> float:
    """Return the mean.

    Examples
    --------
    >>> mean(np.array([0.5, 1.0]))
    0.75
    """
    return float(np.mean(parts))


balanced_rate = mean


def balanced_error(parts: Floats64) -> float:
    """Return one less the mean.

    Examples
    --------
    >>> balanced_error(np.array([0.5, 1.0]))
    0.25
    """
    return 1.0 - float(np.mean(parts))


def geometric_mean(parts: Floats64) -> float:
    """Return the geometric mean.

    Examples
    --------
    >>> geometric_mean(np.array([0.25, 1.0]))
    0.5
    """
    return float(np.prod(parts) ** (1.0 / len(parts)))


def difference(parts: Floats64) -> float:
    """Return the first less the second.

    Examples
    --------
    >>> difference(np.array([0.75, 0.5]))
    0.25
    """
    return float(parts[0] - parts[1])


@dataclass(frozen=True)
class weighted_sum:  # noqa: N801  (called as a function)
    """A constant and a weight for each part.

    Examples
    --------
    >>> weighted_sum(1.0, (-1.0, 0.5))(np.array([0.75, 0.5]))
    0.5
    """

    constant: float
    weights: tuple[float, ...]

    def __call__(self, parts: Floats64) -> float:
        """Return the sum."""
        return self.constant + float(np.dot(self.weights, parts))
