"""Rarity: how much harder than by its spread a column of two values is to be held back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Matrix
from anymetric.models import Linear
from anymetric.models.linear import extremes, sum_of_squares, two_valued, weighted_sum

Floats64 = NDArray[np.float64]


def rarity(model: Linear, X: Matrix) -> Floats64:
    """Return, for each parameter, by what a ridge is to be multiplied: one, or more.

    A column of two values, one of them rare, has a small spread: standardised, its rare value
    lies far out, and a ridge hardly holds its weight. Measured by half the range instead, it is
    held as if both values were equally frequent. Other columns are left as they are, and so is
    every column of a model that does not standardise.

    Parameters
    ----------
    model : Linear
    X : array or csr_array of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.column_stack([np.arange(10.0), np.arange(10) < 5, np.arange(10) < 1])
    >>> rarity(Linear.standardised(X), X).round(2).tolist()
    [1.0, 1.0, 2.78, 1.0]
    """
    factor = np.ones(model.size(X))
    if model.scale is None:
        return factor
    low, high = extremes(X)
    rows = np.ones(X.shape[0])
    mean = weighted_sum(X, rows) / len(rows)
    variance = sum_of_squares(X, rows, mean) / len(rows)
    two = two_valued(low, high, mean, variance)
    half = 0.5 * (high - low)
    factor[: len(two)][two] = np.maximum((half / model.scale)[two] ** 2, 1.0)
    return factor
