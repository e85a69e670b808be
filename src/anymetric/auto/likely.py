"""Likely: labels as smooth functions of the score, by which a threshold lies more quietly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.preprocessing import SplineTransformer

from anymetric.auto.pool import concentration
from anymetric.data import Data, quantiles
from anymetric.losses import as_loss
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, minimise

Floats64 = NDArray[np.float64]
# Knots of the curve, and rows of the rarer class without which no curve is drawn.
KNOTS, FEWEST = 4, 30
# A curve from which the labels stray by so many errors is not followed.
STRAYED = 1.2


def doubled(data: Data, scores: Floats64, by: str | None = None) -> Data | None:
    """Return every row twice: as a positive and as a negative, weighted by how likely it is each.

    How likely, a smooth curve of the score says, one for each value of a column if it is named.
    What single labels happen to be near a threshold no longer moves it. None where the labels of
    some value are too few for a curve, or no curve fits them.

    Parameters
    ----------
    data : Data
    scores : array of shape (n,)
    by : str, optional
        A column of `data`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=2000)
    >>> y = np.where(rng.random(2000) < 1.0 / (1.0 + np.exp(-scores)), 1.0, -1.0)
    >>> twice = doubled(Data(np.zeros((2000, 0)), y), scores)
    >>> middle = np.argmin(np.abs(scores))
    >>> bool(abs(twice.weights[middle] - 0.5) < 0.05)
    True
    >>> doubled(Data(np.zeros((5, 0)), y[:5]), scores[:5]) is None
    True
    """
    values = np.zeros(len(data)) if by is None else data.side[by]
    chance = np.empty(len(data))
    for value in np.unique(values):
        own = values == value
        curve = chances(scores[own], data.y[own], data.weights[own])
        if curve is None:
            return None
        chance[own] = curve
    twice = data.take(np.tile(np.arange(len(data)), 2))
    weights = np.concatenate([data.weights * chance, data.weights * (1.0 - chance)])
    return replace(twice, y=np.repeat([1.0, -1.0], len(data)), weights=weights)


def chances(scores: Floats64, y: Floats64, weights: Floats64) -> Floats64 | None:
    """Return how likely each row is a positive by its score; None if labels do not tell.

    The log-odds are a cubic spline of the score; its knots lie where both classes are.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = np.linspace(-3.0, 3.0, 500)
    >>> y = np.where(rng.logistic(size=500) < scores, 1.0, -1.0)
    >>> bool(abs(chances(scores, y, np.ones(500))[250] - 0.5) < 0.1)
    True
    """
    positive = y > 0.0
    if min(effective(weights[~positive]), effective(weights[positive])) < FEWEST:
        return None
    sums = weights[~positive].sum(), weights[positive].sum()
    evenly = weights / np.take(sums, positive.astype(np.intp))
    knots = np.unique(quantiles(scores, np.linspace(0.0, 1.0, KNOTS), evenly))
    if len(knots) < 2:
        return None
    spline = SplineTransformer(knots=knots[:, np.newaxis], extrapolation="linear")
    basis = spline.fit_transform(scores[:, np.newaxis])
    model, loss = Linear(), as_loss("logistic")
    data = Data(basis, y)
    theta = minimise(WeightedLoss(model, data, loss, weights, 1e-2 / effective(weights)))
    chance = np.asarray(expit(model.scores(basis, theta)))
    return chance if strayed(scores, positive, weights, chance) < STRAYED else None


def strayed(
    scores: Floats64, positive: NDArray[np.bool_], weights: Floats64, chance: Floats64
) -> float:
    """Return how far the labels stray from a curve, summed up to any score, in errors of the sum.

    Where the curve is right, hardly ever beyond one. Chances may have a step that no smooth curve
    follows, and there many a threshold lies best.

    Examples
    --------
    >>> import numpy as np
    >>> scores, chance = np.arange(400.0), np.full(400, 0.5)
    >>> mixed, step = np.arange(400) % 2 == 1, np.arange(400) >= 200
    >>> [round(strayed(scores, one, np.ones(400), chance), 2) for one in (mixed, step)]
    [0.05, 10.0]
    """
    order = np.argsort(scores, kind="stable")
    most = float(np.abs(np.cumsum((weights * (positive - chance))[order])).max())
    error = float(np.sqrt(np.sum(weights**2 * chance * (1.0 - chance))))
    return most / max(error, np.finfo(float).tiny)


def effective(weights: Floats64) -> float:
    """Return of how many rows with equal weights a mean would be as certain.

    Examples
    --------
    >>> import numpy as np
    >>> effective(np.full(4, 0.25)), effective(np.array([1.0, 0.0])), effective(np.zeros(0))
    (4.0, 1.0, 0.0)
    """
    return 1.0 / concentration(weights, np.ones(len(weights))) if np.any(weights) else 0.0
