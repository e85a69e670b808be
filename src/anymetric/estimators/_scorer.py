"""Scorer: any metric in the form that scikit-learn's searches take."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils.multiclass import type_of_target

from anymetric.estimators._columns import side_columns
from anymetric.metrics import as_metric


def scorer(metric, *, greater_is_better=None):
    """Return a scikit-learn scorer for the metric: greater is better, whatever its direction.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric
    greater_is_better : bool, optional
        For a function whose name does not tell.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(random_state=0)
    >>> bool(cross_val_score(LogisticRegression(), X, y, scoring=scorer("error")).mean() > -0.3)
    True
    """
    metric = as_metric(metric, greater_is_better=greater_is_better)
    return make_scorer(
        partial(value_of, metric=metric),
        response_method=("decision_function", "predict"),
        greater_is_better=metric.greater_is_better,
    )


def value_of(y_true, y_score, sample_weight=None, groups=None, side=None, *, metric):
    """Return the metric of scores, or of a regressor's predictions."""
    y_true = np.asarray(y_true)
    labels = None
    if type_of_target(y_true) == "binary":
        labels = tuple(np.unique(y_true).tolist())
        y_true = np.where(y_true == labels[-1], 1.0, -1.0)
    columns = side_columns(y_true[:, np.newaxis], side, groups=groups)
    bound = metric.bind(y_true, weights=sample_weight, side=columns, labels=labels)
    return float(bound.values(np.asarray(y_score, dtype=np.float64)))
