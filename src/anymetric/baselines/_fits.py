"""Fits: logistic regressions, plain, weighted, and cross-fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.losses import as_loss
from anymetric.models import Linear, Model
from anymetric.solvers import WeightedLoss, minimise

Floats = NDArray[np.float64]

# Tried where the user fixes no C.
GRID = (0.001, 0.01, 0.1, 1.0, 10.0)


def logistic(
    model: Model, data: Data, C: float, rows: Floats | None = None, start: Floats | None = None
) -> Floats:
    """Return the minimiser of ``C sum_i r_i log(1 + exp(-y_i f_i)) + |w|^2 / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> round(float(logistic(Linear(), data, C=1.0)[0]), 3)
    0.675
    """
    rows = data.weights if rows is None else rows
    ridge = 1.0 / (C * float(rows.sum()))
    return minimise(WeightedLoss(model, data, as_loss("logistic"), rows, ridge), start)


def balanced(data: Data, ratio: float = 1.0) -> Floats:
    """Return weights of the same sum under which positives weigh `ratio` times the negatives.

    Examples
    --------
    >>> import numpy as np
    >>> balanced(Data(np.zeros((3, 1)), np.array([1.0, -1.0, -1.0]))).tolist()
    [1.5, 0.75, 0.75]
    """
    positive = data.y > 0.0
    total = float(data.weights.sum())
    share = np.where(positive, ratio, 1.0) * total / (1.0 + ratio)
    mass = np.where(positive, data.weights[positive].sum(), data.weights[~positive].sum())
    return np.asarray(data.weights * share / mass)


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Logistic regressions on rows of which some are validation rows, scored out-of-fold.

    Parameters
    ----------
    model : Linear
    data : Data
        The rows to train on.
    judged : int array of shape (j,)
        Which of them are validation rows.
    fold : int array of shape (j,)
        The fold of each validation row.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.array([[1.0], [-1.0]] * 4), np.array([1.0, -1.0] * 4))
    >>> fit = CrossFit(Linear(), data, np.arange(8), folds(data.y, 2, np.random.default_rng(0)))
    >>> theta, scores = fit.at(1.0)
    >>> bool(np.all(scores * data.y > 0))
    True
    """

    model: Linear
    data: Data
    judged: NDArray[np.intp]
    fold: NDArray[np.intp]

    def at(self, C: float, start: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the model of all rows, and the out-of-fold scores of the validation rows."""
        theta = logistic(self.model, self.data, C, start=start)
        scores = np.empty(len(self.judged))
        for number in np.unique(self.fold):
            held = self.judged[self.fold == number]
            rows = self.data.weights.copy()
            rows[held] = 0.0
            without = logistic(self.model, self.data, C, rows, theta) if rows.any() else theta
            scores[self.fold == number] = self.model.scores(self.data.X[held], without)
        return theta, scores


def out_of_fold(
    model: Model,
    data: Data,
    C: float,
    rows: Floats,
    fold: NDArray[np.intp],
    start: Floats | None = None,
) -> Floats:
    """Return each row's score by a logistic regression that was trained without its fold.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.array([[1.0], [-1.0]] * 4), np.array([1.0, -1.0] * 4))
    >>> fold = np.arange(8) // 4
    >>> scores = out_of_fold(Linear(), data, 1.0, data.weights, fold)
    >>> bool(np.all(scores * data.y > 0))
    True
    """
    scores = np.empty(len(fold))
    for number in np.unique(fold):
        held = np.flatnonzero(fold == number)
        without = logistic(model, data, C, np.where(fold == number, 0.0, rows), start)
        scores[held] = model.scores(data.X[held], without)
    return scores


def folds(strata: NDArray[np.generic], count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Deal rows out to folds, each value of `strata` evenly.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(folds(np.repeat([0, 1], 5), 5, np.random.default_rng(0))).tolist()
    [2, 2, 2, 2, 2]
    """
    order = rng.permutation(len(strata))
    order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(len(strata), dtype=np.intp)
    fold[order] = np.arange(len(strata)) % count
    return fold
