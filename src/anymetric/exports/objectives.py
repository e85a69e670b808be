"""Objectives: the learned loss as LightGBM, XGBoost and CatBoost call it; none is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.exports.loss import LearnedLoss

Floats64 = NDArray[np.float64]
LIBRARIES = ("lightgbm", "xgboost", "catboost")


@dataclass(frozen=True, eq=False)
class Objective:
    """The learned loss as an objective of LightGBM and XGBoost.

    Both of their interfaces are served: ``(y_true, y_pred, sample_weight)`` as scikit-learn's
    estimators call it, ``(scores, dataset)`` as ``train`` does. Labels are 0, 1, ... in the order
    of `classes_`. Rows that bring a weight count by that weight; rows without one by the learned
    weight of their class.

    Parameters
    ----------
    loss : LearnedLoss

    Examples
    --------
    >>> objective = Objective(LearnedLoss(((1.0, None),), 2, (1.0, 3.0)))
    >>> gradient, hessian = objective(np.array([0, 1]), np.zeros(2))
    >>> gradient.tolist()
    [0.5, -1.5]
    """

    loss: LearnedLoss

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> tuple[Floats64, Floats64]:
        """Return gradient and Hessian by the scores."""
        y, scores, weight = read_rows(y_true, y_pred, sample_weight)
        return self.loss.derivatives(y, scores, weight)

    def init_score(self, y: Any, sample_weight: Any = None) -> Any:
        """Return the best constant score: LightGBM's `init_score`, XGBoost's `base_score`."""
        return self.loss.init_score(np.asarray(y), sample_weight)


@dataclass(eq=False)  # CatBoost writes attributes of its own
class CatBoostObjective:
    """The learned loss as CatBoost's `loss_function`, for two classes or numbers.

    Parameters
    ----------
    loss : LearnedLoss

    Examples
    --------
    >>> objective = CatBoostObjective(LearnedLoss(((1.0, None),), 2, (1.0, 3.0)))
    >>> objective.calc_ders_range([0.0, 0.0], [0.0, 1.0], None)
    [(-0.5, -0.25), (1.5, -0.75)]
    """

    loss: LearnedLoss

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> list[tuple[Any, Any]]:
        """Return first and second derivatives of what CatBoost maximises: minus the loss."""
        y, scores = np.asarray(targets, dtype=np.float64), np.asarray(approxes, dtype=np.float64)
        weight = None if weights is None else np.asarray(weights, dtype=np.float64)
        first, second = self.loss.derivatives(y, scores, weight)
        return list(zip((-first).tolist(), (-second).tolist(), strict=True))

    def init_score(self, y: Any, sample_weight: Any = None) -> Any:
        """Return the best constant score: CatBoost's `baseline`, one number a row."""
        return self.loss.init_score(np.asarray(y), sample_weight)


@dataclass(eq=False)  # CatBoost writes attributes of its own
class CatBoostClassesObjective:
    """The learned loss of more than two classes as CatBoost's `loss_function`.

    Parameters
    ----------
    loss : LearnedLoss

    Examples
    --------
    >>> objective = CatBoostClassesObjective(LearnedLoss(((1.0, None),), 3, (1.0, 1.0, 1.0)))
    >>> first, second = objective.calc_ders_multi([0.0, 0.0, 0.0], 1.0, 1.0)
    >>> [round(one, 3) for one in first]
    [-0.333, 0.667, -0.333]
    """

    loss: LearnedLoss

    def calc_ders_multi(self, approxes: Any, target: Any, weight: Any) -> tuple[Any, Any]:
        """Return the derivatives of one row; second ones as a matrix with zeros off its diagonal.

        CatBoost brings a weight of one for rows that have none: these count by that.
        """
        y, scores = np.array([target]), np.asarray(approxes, dtype=np.float64)[np.newaxis, :]
        first, second = self.loss.derivatives(y, scores, np.array([weight]))
        return (-first[0]).tolist(), np.diag(-second[0]).tolist()

    def init_score(self, y: Any, sample_weight: Any = None) -> Any:
        """Return the best constant scores of the classes."""
        return self.loss.init_score(np.asarray(y), sample_weight)


def read_rows(y_true: Any, y_pred: Any, weight: Any) -> tuple[NDArray[Any], Floats64, Any]:
    """Return labels, scores and weights, whichever interface brings them.

    Examples
    --------
    >>> class Dataset:
    ...     def get_label(self):
    ...         return [1.0]
    ...
    ...     def get_weight(self):
    ...         return None
    >>> y, scores, weight = read_rows([0.3], Dataset(), None)
    >>> y.tolist(), scores.tolist()
    ([1.0], [0.3])
    """
    if hasattr(y_pred, "get_label"):
        y_true, y_pred, weight = y_pred.get_label(), y_true, y_pred.get_weight()
    return np.asarray(y_true), np.asarray(y_pred, dtype=np.float64), weight


def objective_for(library: str, loss: LearnedLoss) -> Any:
    """Return the objective in the form that a library calls.

    Examples
    --------
    >>> type(objective_for("catboost", LearnedLoss(((1.0, None),), 2))).__name__
    'CatBoostObjective'
    """
    check_library(library, LIBRARIES)
    if library == "catboost":
        return (CatBoostClassesObjective if loss.classes > 2 else CatBoostObjective)(loss)
    return Objective(loss)


def check_library(library: str, known: tuple[str, ...]) -> None:
    """Refuse a library that there is no form for.

    Examples
    --------
    >>> check_library("sklearn", LIBRARIES)
    Traceback (most recent call last):
    ...
    ValueError: library must be one of 'lightgbm', 'xgboost', 'catboost'; got 'sklearn'.
    """
    if library not in known:
        raise ValueError(f"library must be one of {', '.join(map(repr, known))}; got {library!r}.")
