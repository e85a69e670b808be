"""Cross-fit: another model, and scores of rows that did not train it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from anymetric.auto.sample import dealt
from anymetric.data import stacked

Floats64 = NDArray[np.float64]
# From rows, targets and weights to what scores new rows.
Fit = Callable[[Any, NDArray[Any], Floats64], Callable[[Any], ArrayLike]]


@dataclass(frozen=True, eq=False)
class CrossFit:
    """A model of all rows, and out-of-fold scores of the rows that tune its decision rule.

    Attributes
    ----------
    model : callable
        What `fit` returned for all rows: from rows to scores.
    scores : array of shape (n,) or (n, C)
        Of the validation rows, or of all rows where there were none.

    Examples
    --------
    >>> CrossFit(lambda X: X[:, 0], np.zeros(2)).scores.tolist()
    [0.0, 0.0]
    """

    model: Callable[[Any], ArrayLike]
    scores: Floats64


def cross_fit(
    fit: Fit,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    X_val: Any = None,
    y_val: ArrayLike | None = None,
    sample_weight_val: ArrayLike | None = None,
    n_splits: int = 5,
    random_state: int = 0,
) -> CrossFit:
    """Train another model with learned weights, and score the rows that tune its decision rule.

    Validation rows that trained our model train the other one too: each is scored by a model of
    the training rows and of the other folds. Without validation rows all rows are cross-fitted.

    Parameters
    ----------
    fit : callable
        ``fit(X, y, weight)`` trains, and returns a function from rows to scores.
    X, y : array-like
        The training rows.
    sample_weight : array-like of shape (n,), optional
        `sample_weight_`; absent where no training row has a weight.
    X_val, y_val : array-like, optional
        The validation rows.
    sample_weight_val : array-like of shape (n_val,), optional
        `sample_weight_val_`; without it validation rows do not train.
    n_splits : int
    random_state : int

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X[:, 0] > 0.0).astype(int)
    >>> def fit(X, y, weight):
    ...     return LogisticRegression().fit(X, y, sample_weight=weight).decision_function
    >>> crossed = cross_fit(fit, X, y)
    >>> crossed.scores.shape, bool(np.mean((crossed.scores > 0.0) == (y == 1)) > 0.95)
    ((200,), True)
    """
    y, single = np.asarray(y), X_val is None
    target = y if single else np.asarray(y_val)
    trains = single or sample_weight_val is not None
    rows, labels, weights = X, y, given_weights(sample_weight, y, single or not trains)
    if not single and trains:
        rows, labels = joined(X, X_val), np.concatenate([y, target])
        weights = np.concatenate([weights, np.asarray(sample_weight_val, dtype=np.float64)])
    model = weighted_fit(fit, rows, labels, weights)
    if not trains:
        return CrossFit(model, np.asarray(model(X_val), dtype=np.float64))
    held = X if single else X_val
    codes = np.unique(target, return_inverse=True)[1].astype(np.float64)
    fold = dealt(codes, np.random.default_rng(random_state), n_splits)
    parts = {}
    for k in range(n_splits):
        out = np.flatnonzero(fold == k)
        left = weights.copy()
        left[len(labels) - len(target) + out] = 0.0
        parts[k] = out, weighted_fit(fit, rows, labels, left)(_safe_indexing(held, out))
    return CrossFit(model, in_order(parts, len(target)))


def in_order(parts: dict[int, tuple[NDArray[np.intp], Any]], n: int) -> Floats64:
    """Return the folds' scores in the order of the rows."""
    tables = [np.asarray(scores, dtype=np.float64) for _, scores in parts.values()]
    found = np.empty((n, *tables[0].shape[1:]))
    for (out, _), scores in zip(parts.values(), tables, strict=True):
        found[out] = scores
    return found


def given_weights(weight: ArrayLike | None, y: NDArray[Any], alone: bool) -> Floats64:
    """Return training weights; where validation rows train and none were given, zeros."""
    if weight is not None:
        return np.asarray(weight, dtype=np.float64)
    return np.ones(len(y)) if alone else np.zeros(len(y))


def weighted_fit(fit: Fit, X: Any, y: NDArray[Any], weights: Floats64) -> Callable[[Any], Any]:
    """Train on the rows that weigh something; their weights have mean one."""
    used = np.flatnonzero(weights > 0.0)
    if len(used) == 0:
        raise ValueError(
            "All weights are zero: give sample_weight or sample_weight_val as clf.sample_weight_ "
            "and clf.sample_weight_val_ have them."
        )
    mean = float(weights[used].mean())
    return fit(_safe_indexing(X, used), y[used], weights[used] / mean)


def joined(first: Any, second: Any) -> Any:
    """Return the rows of both: arrays, sparse matrices or pandas frames.

    Examples
    --------
    >>> joined([[1.0]], np.array([[2.0]])).tolist()
    [[1.0], [2.0]]
    """
    if hasattr(first, "iloc") and hasattr(second, "iloc"):
        return import_module("pandas").concat([first, second])
    return stacked(*(one if hasattr(one, "shape") else np.asarray(one) for one in (first, second)))
