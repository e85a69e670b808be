"""Simulated: the two-dimensional task of section 6.1, and the best that a line can do on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import norm

from anymetric.datasets.dataset import Dataset, no_groups

POSITIVE_SHARE = 0.1
POSITIVE_VARIANCE = 0.2
NEGATIVE_VARIANCE = 0.1

_DESCRIPTION = (
    "Section 6.1: positives from N([0, 0], 0.2 I), negatives from an equal mixture of "
    "N([-1, -1], 0.1 I) and N([1, 1], 0.1 I). The metadata column `component` is 0 for a positive, "
    "1 and 2 for the two kinds of negatives."
)


def load_simulated(n: int = 5000, *, random_state: int | np.random.Generator) -> Dataset:
    """Draw the simulated task of section 6.1: 10 % positives between two clouds of negatives.

    Parameters
    ----------
    n : int
        How many rows; exactly ``round(n / 10)`` of them are positive.
    random_state : int or Generator

    Returns
    -------
    Dataset
        Two features, no groups; metadata column ``component`` (0, 1 or 2).

    Examples
    --------
    >>> load_simulated(random_state=0)
    Dataset('simulated', 5000 x 2, 10.00 % positive, groups: all)
    """
    rng = np.random.default_rng(random_state)
    positives = round(POSITIVE_SHARE * n)
    component = np.concatenate(
        [np.zeros(positives, dtype=np.int64), rng.integers(1, 3, size=n - positives)]
    )
    rng.shuffle(component)
    centre = np.array([0.0, -1.0, 1.0])[component]
    spread = np.sqrt(np.where(component == 0, POSITIVE_VARIANCE, NEGATIVE_VARIANCE))
    X = centre[:, None] + spread[:, None] * rng.standard_normal((n, 2))
    y = (component == 0).astype(np.int64)
    side = {"component": component}
    return Dataset("simulated", X, y, no_groups(n), ["x1", "x2"], side, _DESCRIPTION)


@dataclass(frozen=True)
class LinearOptimum:
    """The best linear rule ``direction @ x > threshold`` and its cost.

    Attributes
    ----------
    cost : float
    direction : (float, float)
        Of length one.
    threshold : float

    Examples
    --------
    >>> LinearOptimum(0.5, (1.0, 0.0), 0.0).cost
    0.5
    """

    cost: float
    direction: tuple[float, float]
    threshold: float


def linear_gmean_cost(angle: float, threshold: float) -> float:
    """Return the expected cost ``1 - sqrt(TPR x TNR)`` of a line on the simulated distribution.

    The rule is ``cos(angle) x1 + sin(angle) x2 > threshold``: along a unit direction the
    positives are N(0, 0.2) and the negatives N(-m, 0.1) or N(m, 0.1), m = cos + sin.

    Examples
    --------
    >>> linear_gmean_cost(0.0, 100.0)  # nothing is called positive
    1.0
    """
    m = np.cos(angle) + np.sin(angle)
    true_positive = norm.sf(threshold / np.sqrt(POSITIVE_VARIANCE))
    clouds = (threshold - np.array([-m, m])) / np.sqrt(NEGATIVE_VARIANCE)
    true_negative = float(np.mean(norm.cdf(clouds)))
    return float(1.0 - np.sqrt(true_positive * true_negative))


def best_linear_gmean() -> LinearOptimum:
    """Find the lowest G-mean cost that any line has on the simulated distribution.

    A coarse grid over direction and threshold finds the valley, Nelder-Mead its floor.
    A second optimum with the opposite direction mirrors this one.

    Examples
    --------
    >>> round(best_linear_gmean().cost, 4)
    0.3151
    """
    grid = [(a, t) for a in np.linspace(0.0, np.pi, 25) for t in np.linspace(-2.0, 2.0, 41)]
    start = min(grid, key=lambda place: linear_gmean_cost(*place))
    found = minimize(_cost_at, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    angle, threshold = (float(value) for value in found.x)
    direction = (float(np.cos(angle)), float(np.sin(angle)))
    return LinearOptimum(float(found.fun), direction, threshold)


def _cost_at(place: NDArray[np.float64]) -> float:
    return linear_gmean_cost(float(place[0]), float(place[1]))
