"""Domain: how much a training row looks like the rows that judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data, Floats, Matrix, stacked
from anymetric.losses import as_loss
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, minimise

Floats64 = NDArray[np.float64]
# A training row stands for at most this many judging rows: the ratio is noisy where it is large.
MOST = 2.0


def domain_weights(
    model: Linear, train: Data, valid: Data, ridge: float = 3.0, X: Matrix | None = None
) -> Floats64:
    """Return, for each training row, the ratio of densities of valid and train, at most two.

    A logistic regression tells the samples apart; its odds are the ratio.

    Parameters
    ----------
    model : Linear
        The features that the regression sees.
    train, valid : Data
    ridge : float
        Penalty, in units of one judging row.
    X : matrix, optional
        The features of both, training rows first, if they are stacked already.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, 300), rng.normal(9, 1, 300)])[:, np.newaxis]
    >>> train = Data(X, np.ones(600))
    >>> valid = Data(rng.normal(0, 1, (200, 1)), np.ones(200))
    >>> weights = domain_weights(Linear(), train, valid)
    >>> bool(weights[:300].mean() > 10 * weights[300:].mean())
    True
    """
    n, m = len(train), len(valid)
    y = np.concatenate([np.full(n, -1.0), np.full(m, 1.0)])
    rows = np.concatenate(
        [0.5 * train.weights / train.weights.sum(), 0.5 * valid.weights / valid.weights.sum()]
    )
    both = Data(stacked(train.X, valid.X) if X is None else X, y)
    loss = WeightedLoss(model, both, as_loss("logistic"), rows, ridge / m)
    odds = model.scores(train.X, minimise(loss, tolerance=1e-6))
    return np.exp(np.clip(np.asarray(odds, dtype=np.float64), -20.0, np.log(MOST)))


def label_weights(train: Data, valid: Data, scores: tuple[Floats, Floats]) -> Floats64:
    """Return, for each training row, how much likelier its label is among the judging rows.

    A logistic regression on label, score and their product tells the samples apart: where
    training labels are flipped, they disagree with the scores more often than judging labels do.

    Parameters
    ----------
    train, valid : Data
        Their weights count: train rows may be weighted by `domain_weights` already.
    scores : pair of arrays
        Of one model, on train and on valid.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> s = rng.normal(size=4000)
    >>> clean = np.where(s + 0.5 * rng.normal(size=4000) > 0, 1.0, -1.0)
    >>> noisy = np.where((clean > 0) & (rng.random(4000) < 0.4), -1.0, clean)
    >>> X = np.zeros((4000, 1))
    >>> weights = label_weights(Data(X, noisy), Data(X, clean), (s, s))
    >>> bool(weights[(noisy < 0) & (s > 1)].mean() < 0.5 < weights[noisy > 0].mean())
    True
    """
    size = float(scores[1].std()) or 1.0

    def features(data: Data, score: Floats) -> Data:
        z = np.clip(score / size, -3.0, 3.0)
        return Data(np.column_stack([data.y, z, z * data.y]), data.y, data.weights)

    return domain_weights(
        Linear(), features(train, scores[0]), features(valid, scores[1]), ridge=1.0
    )
