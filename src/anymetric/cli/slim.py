"""Slim: of a fitted estimator, what predicting and explaining need, without the metric itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from anymetric.estimators import MetricClassifier, MetricRegressor
from anymetric.estimators._shell import MetricEstimator
from anymetric.metrics import Classes
from anymetric.models.ensemble import Ensemble
from anymetric.models.trees import Trees

# What predicting, evaluating and explaining read of a fitted estimator.
KEPT = (
    "coef_",
    "intercept_",
    "link_",
    "model_",
    "decision_rule_",
    "calibrator_",
    "n_features_in_",
    "_classes",
    "weights_",
    "validation_",
    "validation_score_",
    "n_metric_calls_",
    "classes_",
)


def slim(estimator: Any, metric: str) -> Any:
    """Return a copy of a fitted estimator with what predicting and explaining need.

    Neither the run nor the metric itself is in it: a user's function does not belong in a file
    that others open. Baselines become plain estimators of the same scores, and LightGBM's own
    estimators trees as text; estimators of scikit-learn stay what they are.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(random_state=0)
    >>> small = slim(MetricClassifier("f1", random_state=0).fit(X, y), "f1")
    >>> small.predict(X).shape, hasattr(small, "history_")
    ((100,), False)
    """
    if not isinstance(estimator, MetricEstimator) and not hasattr(estimator, "booster_"):
        return estimator
    regresses = not hasattr(estimator, "classes_") and not isinstance(estimator, MetricClassifier)
    kind = MetricRegressor if regresses else MetricClassifier
    kept: Any = kind(
        metric,
        model=getattr(estimator, "model", "linear"),
        random_state=estimator.random_state,
    )
    for name in KEPT:
        if hasattr(estimator, name):
            setattr(kept, name, getattr(estimator, name))
    if hasattr(estimator, "booster_"):
        _keep_trees(kept, estimator)
    return kept


def _keep_trees(kept: Any, estimator: Any) -> None:
    """Keep a booster of LightGBM's as text."""
    booster, offset = estimator.booster_, getattr(estimator, "shift_", 0.0)
    trees = Trees(booster.model_to_string(num_iteration=booster.best_iteration))
    kept.model, kept.model_ = "boosted", Ensemble((trees,), (1.0,), offset)
    kept.n_metric_calls_ = getattr(estimator, "n_metric_calls_", 0)
    kept.link_ = "identity"
    labels = tuple(getattr(estimator, "classes_", ()))
    kept._classes = Classes(labels) if len(labels) > 2 else None


def with_short_vocabularies(steps: Any) -> Any:
    """Return the steps with one array for the terms of a text, instead of a node for each."""
    for words in vocabularies(steps):
        words.vocabulary_ = np.array(sorted(words.vocabulary_, key=words.vocabulary_.get))
    return steps


def with_vocabularies(steps: Any) -> Any:
    """Return the steps with what `with_short_vocabularies` shortened."""
    for words in vocabularies(steps):
        if not isinstance(words.vocabulary_, dict):
            terms = words.vocabulary_.tolist()
            words.vocabulary_ = {term: k for k, term in enumerate(terms)}
    return steps


def vocabularies(steps: Any) -> Iterator[Any]:
    """Yield what counts the terms of each text column."""
    for _, encoder, _ in steps["table"].transformers_:
        words = getattr(encoder, "vectorizer_", None)
        if hasattr(words, "vocabulary_"):
            yield words
