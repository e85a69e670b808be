"""Adagrad: the iterates of the paper's solver for its comparison methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def adagrad(
    gradient: Callable[[Floats], Floats], theta: Floats, step: float, iterations: int
) -> Floats:
    """Return the start and all iterates, ``(iterations + 1, p)``.

    Examples
    --------
    >>> import numpy as np
    >>> path = adagrad(lambda theta: 2.0 * theta, np.array([1.0]), step=0.5, iterations=2)
    >>> path.ravel().round(3).tolist()
    [1.0, 0.5, 0.276]
    """
    squares = np.zeros_like(theta)
    path = [theta]
    for _ in range(iterations):
        slope = gradient(theta)
        squares = squares + slope**2
        theta = theta - step * slope / (np.sqrt(squares) + 1e-10)
        path.append(theta)
    return np.stack(path)
