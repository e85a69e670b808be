"""Slim: of a fitted estimator, what predicting and explaining need, without the metric itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.linear_model._base import LinearClassifierMixin, LinearModel

from anymetric.estimators import MetricClassifier, MetricRegressor
from anymetric.estimators._scorer import scores_of
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


@dataclass(frozen=True, eq=False)
class Scored:
    """An estimator of scikit-learn's as a model: what turns rows into scores.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> Scored(DummyRegressor().fit([[0.0], [0.0]], [1.0, 3.0])).scores(np.zeros((1, 1))).tolist()
    [2.0]
    """

    estimator: Any
    many: Classes | None = None

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return the estimator's scores, above zero for the second of two classes."""
        found = scores_of(self.estimator, X, self.many)  # type: ignore[no-untyped-call]
        return np.asarray(found, dtype=np.float64)


def slim(estimator: Any, metric: str) -> Any:
    """Return a fitted estimator as one of ours, with what predicting and explaining need.

    Neither the run nor the metric itself is in it: a user's function does not belong in a file
    that others open. Baselines, and estimators of scikit-learn or LightGBM, become estimators of
    the same scores.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(random_state=0)
    >>> small = slim(MetricClassifier("f1", random_state=0).fit(X, y), "f1")
    >>> small.predict(X).shape, hasattr(small, "history_")
    ((100,), False)
    >>> from sklearn.linear_model import LogisticRegression
    >>> plain = LogisticRegression().fit(X, y)
    >>> bool((slim(plain, "f1").predict(X) == plain.predict(X)).all())
    True
    """
    regresses = isinstance(estimator, MetricRegressor) or is_regressor(estimator)
    kind = MetricRegressor if regresses else MetricClassifier
    seed = getattr(estimator, "random_state", None)
    kept: Any = kind(metric, model=getattr(estimator, "model", "linear"), random_state=seed)
    for name in KEPT:
        if hasattr(estimator, name):
            setattr(kept, name, getattr(estimator, name))
    if not isinstance(estimator, MetricEstimator):
        _adopt(kept, estimator)
    elif hasattr(estimator, "booster_"):
        kept.model_ = _trees(estimator)
    return kept


def _adopt(kept: Any, estimator: Any) -> None:
    """Make an estimator of ours score rows as another one does."""
    labels = tuple(getattr(estimator, "classes_", ()))
    kept._classes = Classes(labels) if len(labels) > 2 else None
    kept.link_, kept.n_metric_calls_ = "identity", 0
    kept.n_features_in_ = estimator.n_features_in_
    linear = isinstance(estimator, LinearModel | LinearClassifierMixin)
    if hasattr(estimator, "booster_"):
        kept.model_ = _trees(estimator)
    elif not linear:
        for name in ("coef_", "intercept_"):  # of a generalised model they give no scores
            kept.__dict__.pop(name, None)
        kept.model_ = Scored(estimator, kept._classes)


def _trees(estimator: Any) -> Ensemble:
    """Return a booster of LightGBM's as text, with the offset of its scores."""
    booster = estimator.booster_
    trees = Trees(booster.model_to_string(num_iteration=booster.best_iteration))
    return Ensemble((trees,), (1.0,), getattr(estimator, "shift_", 0.0))


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
