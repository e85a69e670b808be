"""Pulled: what a training row would score had it not trained."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from anymetric.data import Data
from anymetric.models import Linear
from anymetric.models.linear import ROWS
from anymetric.solvers import WeightedLoss, positive_definite

Floats64 = NDArray[np.float64]
# No row pulls its own score further than as if its loss were this part of the bend there.
MOST = 0.9


def left_out(objective: WeightedLoss, theta: Floats64, data: Data, share: Floats64) -> Floats64:
    """Return the score of each row by parameters that it did not train, to second order.

    The intercept stays where it is: without one row of a class every model leans towards the
    other class, and the scores would tell the labels, the wrong way round.

    Parameters
    ----------
    objective : WeightedLoss
        Smooth, of a linear model.
    theta : array of shape (p,)
        Its minimiser.
    data : Data
        Rows that trained.
    share : array of shape (n,)
        Their part of the objective's whole weight; those of none keep their score.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.losses import as_loss
    >>> from anymetric.solvers import minimise
    >>> data = Data(np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0]))
    >>> share = np.full(3, 1 / 3)
    >>> loss = WeightedLoss(Linear(intercept=False), data, as_loss("squared"), share, 0.0)
    >>> left_out(loss, minimise(loss), data, share).round(3).tolist()  # as by (4 + 18) / (4 + 9)
    [1.692, 3.8, 3.0]
    """
    model, loss = objective.model, objective.loss
    assert isinstance(model, Linear)
    free = len(theta) - model.intercept
    H = positive_definite(objective.hessian(theta)[:free, :free])
    root = linalg.solve_triangular(linalg.cholesky(H, lower=True), np.eye(free), lower=True)
    if model.intercept:
        root = np.column_stack([root, np.zeros(free)])
    scores = np.asarray(model.scores(data.X, theta), dtype=np.float64)
    reach = np.empty(len(data))
    for start in range(0, len(data), ROWS):
        block = model.scores(data.X[start : start + ROWS], root)
        reach[start : start + ROWS] = np.einsum("ij,ij->i", block, block)
    pull = np.minimum(share * loss.score_curvature(scores, data.y) * reach, MOST)
    return np.asarray(scores + share * loss.score_slope(scores, data.y) * reach / (1.0 - pull))
