"""Features: how probable it is that the features of a training row are none that clean rows have.

If noisy rows are a mixture of rows like the clean ones and of corrupted rows, the ratio of the two
densities tells how much of the mixture is clean at each row. A model that tells noisy from clean
rows, out of fold, estimates it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from anymetric.suspects.models import SoftModel

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# A model must tell noisy from clean rows by so many standard errors, and have so many clean rows.
CERTAIN, FEWEST = 3.0, 50
FOLDS = 4


def unlike(model: SoftModel, n: int, m: int, fold: Ints, weights: Floats64) -> Floats64:
    """Return the probability that each of n noisy rows is of a kind that m clean rows lack.

    Zeros where the model cannot tell the samples apart, or where clean rows are too few to say.

    Parameters
    ----------
    model : SoftModel
        Of all rows, noisy ones first.
    n, m : int
    fold : array of shape (n + m,)
    weights : array of shape (n + m,)
        Rows of weight zero are scored and train nothing.

    Examples
    --------
    >>> from anymetric.suspects.models import SoftTrees
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, 300), rng.normal(8, 1, 100), rng.normal(0, 1, 200)])
    >>> model = SoftTrees(X[:, np.newaxis], trees=20, leaves=4)
    >>> p = unlike(model, 400, 200, np.arange(600) % 4, np.ones(600))
    >>> bool(p[:300].mean() < 0.1 < 0.8 < p[300:].mean())
    True
    """
    if m < FEWEST:
        return np.zeros(n)
    noisy = np.arange(n + m) < n
    targets = np.column_stack([~noisy, noisy]).astype(np.float64)
    scores = np.empty(n + m)
    for k in range(int(fold.max()) + 1):
        train = np.where(fold == k, 0.0, weights)
        for own in (noisy, ~noisy):
            train[own] *= 0.5 * (n + m) / max(train[own].sum(), 1e-300)
        scores[fold == k] = model.fit(targets, train, k)[fold == k, 1]
    area = float(roc_auc_score(noisy, scores))
    if area - 0.5 < CERTAIN * np.sqrt((n + m + 1.0) / (12.0 * n * m)):
        return np.zeros(n)
    return mixed(scores[:n], scores[n:])


def mixed(noisy: Floats64, clean: Floats64) -> Floats64:
    """Return the corrupted share of the mixture at each noisy row, from log density ratios.

    Where corrupted rows lie apart, the ratio at a typical clean row is the clean share of the
    noisy rows; where they do not it is about one, and nothing is claimed.

    Examples
    --------
    >>> mixed(np.log([0.5, 0.5, 50.0]), np.log([0.5, 0.5, 0.5])).round(2).tolist()
    [0.0, 0.0, 0.99]
    """
    share = min(float(np.exp(np.median(clean))), 1.0)
    spread = float(np.quantile(clean, 0.95))  # clean rows vary too: their own spread is no sign
    found = 1.0 - share * np.exp(-np.maximum(noisy, np.log(share)))
    return np.where(noisy > spread, found, found * expit(-20.0))
