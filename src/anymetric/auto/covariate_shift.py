"""Covariate shift: density ratios of validation to training rows, and of their labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import MOST_LIKE
from anymetric.data import Data, Floats, Matrix, stacked
from anymetric.losses import as_loss
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, minimise

Floats64 = NDArray[np.float64]


def density_ratio(
    model: Linear, train: Data, valid: Data, ridge: float = 3.0, X: Matrix | None = None
) -> Floats64:
    """Return the ratio of the densities of valid and train at each training row, at most two.

    The odds of a logistic regression that discriminates between the samples. Large ratios are
    noisy, hence the bound.

    Parameters
    ----------
    model : Linear
        The features that the regression sees.
    train, valid : Data
    ridge : float
        Penalty, in units of one validation row.
    X : matrix, optional
        The features of both, training rows first, if they are stacked already.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, 300), rng.normal(9, 1, 300)])[:, np.newaxis]
    >>> valid = Data(rng.normal(0, 1, (200, 1)), np.ones(200))
    >>> ratio = density_ratio(Linear(), Data(X, np.ones(600)), valid)
    >>> bool(ratio[:300].mean() > 10 * ratio[300:].mean())
    True
    """
    log = model.scores(train.X, log_ratio(model, train, valid, ridge, X))
    return np.exp(np.clip(np.asarray(log, dtype=np.float64), -20.0, np.log(MOST_LIKE)))


def log_ratio(
    model: Linear, train: Data, valid: Data, ridge: float = 3.0, X: Matrix | None = None
) -> Floats64:
    """Return the parameters of the logarithm of the ratio, before it is bounded.

    Examples
    --------
    >>> train, valid = (Data(np.array([[x]]), np.ones(1)) for x in (-1.0, 1.0))
    >>> bool(log_ratio(Linear(), train, valid)[0] > 0.0)
    True
    """
    n, m = len(train), len(valid)
    y = np.concatenate([np.full(n, -1.0), np.full(m, 1.0)])
    rows = np.concatenate([0.5 * d.weights / d.weights.sum() for d in (train, valid)])
    both = Data(stacked(train.X, valid.X) if X is None else X, y)
    loss = WeightedLoss(model, both, as_loss("logistic"), rows, ridge / m)
    return minimise(loss, tolerance=1e-6)


def label_ratio(train: Data, valid: Data, scores: tuple[Floats, Floats]) -> Floats64:
    """Return the density ratio of validation to training rows, by label and score.

    From a logistic regression on label, score and their product: flipped training labels
    disagree with the scores more often than validation labels do.

    Parameters
    ----------
    train, valid : Data
        With weights: training rows may be weighted by `density_ratio` already.
    scores : pair of arrays of shape (n,)
        Of one model, on train and on valid.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> s = rng.normal(size=4000)
    >>> clean = np.where(s + 0.5 * rng.normal(size=4000) > 0, 1.0, -1.0)
    >>> noisy = np.where((clean > 0) & (rng.random(4000) < 0.4), -1.0, clean)
    >>> X = np.zeros((4000, 1))
    >>> ratio = label_ratio(Data(X, noisy), Data(X, clean), (s, s))
    >>> bool(ratio[(noisy < 0) & (s > 1)].mean() < 0.5 < ratio[noisy > 0].mean())
    True
    """
    size = float(scores[1].std()) or 1.0

    def features(data: Data, score: Floats) -> Data:
        z = np.clip(score / size, -3.0, 3.0)
        return Data(np.column_stack([data.y, z, z * data.y]), data.y, data.weights)

    return density_ratio(
        Linear(), features(train, scores[0]), features(valid, scores[1]), ridge=1.0
    )
