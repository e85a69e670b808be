"""Portable: any fitted baseline as the estimator that a saved model holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric.baselines.ranking import LambdaRank
from anymetric.estimators import MetricClassifier, MetricRegressor
from anymetric.history import History
from anymetric.metrics import Classes
from anymetric.models.ensemble import Ensemble
from anymetric.models.trees import Trees
from anymetric.solution import Status
from anymetric.summary import Summary

# What carries over as it is.
CARRIED = (
    "classes_",
    "coef_",
    "cost_",
    "decision_rule_",
    "history_",
    "intercept_",
    "link_",
    "metric_",
    "model_",
    "n_features_in_",
    "n_metric_calls_",
    "status_",
    "summary_",
    "surrogates_",
    "validation_",
    "validation_score_",
)


def portable(model: Any, metric: Any) -> Any:
    """Return a fitted model as a `MetricClassifier` or `MetricRegressor` that scores rows alike.

    Parameters
    ----------
    model : fitted estimator
        Of ours, of `anymetric.baselines`, or scikit-learn's or LightGBM's for many classes.
    metric : Metric
        What it was trained for.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric.baselines import TunedThreshold
    >>> X, y = make_classification(300, random_state=0)
    >>> model = TunedThreshold("f1", random_state=0).fit(X, y)
    >>> same = portable(model, "f1")
    >>> type(same).__name__, bool(np.all(same.predict(X) == model.predict(X)))
    ('MetricClassifier', True)
    """
    if type(model) in (MetricClassifier, MetricRegressor):
        return model
    numbers = getattr(model, "classes_", None) is None and not isinstance(model, LambdaRank)
    shell = MetricRegressor if numbers else MetricClassifier
    lines = hasattr(model, "coef_")
    kept: Any = shell(metric, model="linear" if lines else "boosted", random_state=0)
    for name in CARRIED:
        if hasattr(model, name):
            setattr(kept, name, getattr(model, name))
    if lines:
        kept.__dict__.pop("model_", None)
    elif hasattr(model, "booster_"):
        grown = Trees(model.booster_.model_to_string())
        kept.model_ = Ensemble.of([grown], [1.0], getattr(model, "shift_", 0.0))
    for name, usual in usually(metric).items():
        if not hasattr(kept, name):
            setattr(kept, name, usual)
    if not numbers and len(getattr(model, "classes_", ())) > 2:
        kept._classes = Classes(tuple(np.asarray(model.classes_).tolist()))
    return kept


def usually(metric: Any) -> dict[str, Any]:
    """Return what a fitted estimator has, of a model that was not chosen from several.

    Examples
    --------
    >>> usually("f1")["weights_"]
    {}
    """
    return {
        "metric_": metric,
        "n_metric_calls_": 0,
        "weights_": {},
        "row_shares_": {},
        "surrogates_": [],
        "summary_": Summary(),
        "history_": History((), ()),
        "status_": Status.COMPLETED,
        "validation_": "No validation rows: all rows trained the model.",
    }
