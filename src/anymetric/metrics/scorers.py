"""Scorers: scikit-learn's scorer objects, called with a stand-in estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.rows import Rows
from anymetric.metrics.signatures import function_name, parameters

# First parameters that give a scorer ``scorer(estimator, X, y)`` away.
ESTIMATOR = ("estimator", "est", "clf", "classifier", "regressor", "model")


def is_scorer(spec: Any) -> bool:
    """Whether this is called as ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> from sklearn.metrics import f1_score, make_scorer
    >>> is_scorer(make_scorer(f1_score)), is_scorer(f1_score)
    (True, False)
    """
    first = parameters(spec)[:1] if callable(spec) else []
    return any(p.name in ESTIMATOR for p in first)


def scorer_name(scorer: Any) -> str:
    """Return a scorer's name: that of its function, with ``neg_`` where it turns the sign.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> scorer_name(get_scorer("neg_log_loss"))
    'neg_log_loss'
    """
    sign = "neg_" if getattr(scorer, "_sign", 1) < 0 else ""
    return sign + function_name(getattr(scorer, "_score_func", scorer))


def takes_weights(scorer: Any) -> bool:
    """Whether a scorer takes `sample_weight`.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> takes_weights(get_scorer("f1"))
    True
    """
    function = getattr(scorer, "_score_func", scorer)
    return any(p.name == "sample_weight" for p in parameters(function))


def requested(scorer: Any) -> list[str]:
    """Return the columns that a scorer requests by `set_score_request`."""
    routing = getattr(scorer, "_metadata_request", None)
    asked = {} if routing is None else routing.score.requests
    return [name for name, how in asked.items() if how is True and name != "sample_weight"]


def required(scorer: Any) -> list[str]:
    """Return further arguments without which a scorer's function cannot be called.

    Examples
    --------
    >>> from sklearn.metrics import make_scorer
    >>> required(make_scorer(lambda y_true, y_pred, amount: 0.0))
    ['amount']
    """
    function = getattr(scorer, "_score_func", None)
    if function is None:
        return []
    plain = [p for p in parameters(function)[2:] if p.default is p.empty]
    kinds = [p for p in plain if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return [p.name for p in kinds if p.name not in getattr(scorer, "_kwargs", {})]


def with_pos_label(scorer: Any, labels: Sequence[Any]) -> Any:
    """Return a scorer that knows the positive label, where it would take one that is not there.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> with_pos_label(get_scorer("jaccard"), ("no", "yes"))._kwargs["pos_label"]
    'yes'
    """
    function: Any = getattr(scorer, "_score_func", None)
    assumed = [p.default for p in parameters(function) if p.name == "pos_label"]
    if not assumed or "pos_label" in scorer._kwargs:
        return scorer
    # Labels out of order are so because the user named the positive one.
    if assumed[0] in list(labels) and labels[0] < labels[1]:
        return scorer
    found = copy(scorer)
    found._kwargs = {**scorer._kwargs, "pos_label": labels[1]}
    return found


@dataclass(frozen=True)
class ScorerMetric(Metric):
    """A scikit-learn scorer: ``scorer(estimator, X, y)``, greater is better.

    The scorer meets a stand-in estimator whose `decision_function` is the score, `predict` its
    sign in the user's labels and `predict_proba` its logistic transform; for regression
    `predict` is the score. Row weights are passed where the scorer takes `sample_weight`, and the
    positive label where its `pos_label` is none of the labels.

    Parameters
    ----------
    scorer : function of (estimator, X, y)
    name : str
        Made from that of the scorer's function by default.
    ceiling : float
        The scorer's best value, if it is known: ``cost = ceiling - value``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import make_scorer, matthews_corrcoef
    >>> bound = ScorerMetric(make_scorer(matthews_corrcoef)).bind(
    ...     np.array([1.0, -1.0, 1.0]), labels=("no", "yes")
    ... )
    >>> float(bound.values(np.array([2.0, -1.0, 0.5])))
    1.0
    """

    scorer: Callable[..., Any]
    name: str = ""
    ceiling: float = 0.0

    greater_is_better = True
    black_box = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or scorer_name(self.scorer))

    @property
    def decides(self) -> bool:
        """Whether the scorer calls `predict` alone."""
        return bool(getattr(self.scorer, "_response_method", None) == "predict")

    @property
    def probabilistic(self) -> bool:
        """Whether the scorer needs `predict_proba`."""
        return bool(getattr(self.scorer, "_response_method", None) == "predict_proba")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that the scorer requests by metadata routing, or requires."""
        return tuple(dict.fromkeys([*requested(self.scorer), *required(self.scorer)]))

    @property
    def reads_features(self) -> bool:
        """Whether it may read X: scikit-learn's scorers only pass it to the estimator."""
        return not hasattr(self.scorer, "_score_func")

    @property
    def takes_weights(self) -> bool:
        """Whether the scorer takes `sample_weight`."""
        return takes_weights(self.scorer)

    def _bind(self, rows: Rows) -> BoundMetric:
        if rows.labels is not None:
            self._check_classes(rows.y)
        return BoundScorer(self, rows)


@dataclass(frozen=True, eq=False)
class BoundScorer(BoundCalls):
    """A scorer on fixed rows."""

    metric: ScorerMetric

    def call(self, scores: NDArray[np.float64]) -> Any:
        """Ask the scorer about a stand-in with these scores."""
        extra = {"sample_weight": self.rows.weights.copy()} if self.weighted else {}
        extra |= {name: np.asarray(self.rows.side[name]) for name in self.metric.needs}
        kind = ScoredRegressor if self.names is None else ScoredClassifier
        stand_in = kind(scores, self.names)
        # Columns reach a scorer by metadata routing alone.
        with config_context(enable_metadata_routing=True) if self.metric.needs else nullcontext():
            return self.scorer(stand_in, self._features(), self.truth(), **extra)

    @cached_property
    def scorer(self) -> Any:
        """The scorer, with the positive label set."""
        labels = self.rows.labels
        return self.metric.scorer if labels is None else with_pos_label(self.metric.scorer, labels)

    @cached_property
    def weighted(self) -> bool:
        """Whether there are weights, and the scorer takes them."""
        return takes_weights(self.metric.scorer) and not self.rows.unweighted

    def _features(self) -> Any:
        if self.rows.X is None or not self.metric.reads_features:
            return np.zeros((len(self.rows), 1))
        return self.rows.X.copy()


class _StandIn(BaseEstimator):  # type: ignore[misc]
    def __init__(self, scores: NDArray[np.float64], labels: NDArray[Any] | None = None) -> None:
        self.scores = scores
        self.labels = labels

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _seen(self, X: Any) -> NDArray[np.float64]:
        if np.shape(X)[0] != len(self.scores):
            raise ValueError(
                f"the scorer needs the scores of {np.shape(X)[0]} rows, and only those of all "
                f"{len(self.scores)} together are known"
            )
        return self.scores.copy()


class ScoredRegressor(RegressorMixin, _StandIn):  # type: ignore[misc]
    """A regressor whose predictions are given.

    Examples
    --------
    >>> import numpy as np
    >>> ScoredRegressor(np.array([1.0, 2.0])).predict(np.zeros((2, 1))).tolist()
    [1.0, 2.0]
    """

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the scores."""
        return self._seen(X)


class ScoredClassifier(ClassifierMixin, _StandIn):  # type: ignore[misc]
    """A classifier whose scores are given, its classes in order as scikit-learn has them.

    Parameters
    ----------
    scores : array of shape (n,)
    labels : array of (negative, positive)

    Examples
    --------
    >>> import numpy as np
    >>> stand_in = ScoredClassifier(np.array([-1.0, 0.0, 3.0]), np.array(["no", "yes"]))
    >>> stand_in.predict(np.zeros((3, 1))).tolist()
    ['no', 'no', 'yes']
    """

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        return np.sort(np.asarray(self.labels))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each score's sign."""
        return np.asarray(self.labels)[(self._seen(X) > 0.0).astype(np.intp)]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores, turned towards the second class."""
        scores = self._seen(X)
        return scores if self.classes_[1] == np.asarray(self.labels)[1] else -scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the scores' logistic transform, for both classes."""
        scores = self.decision_function(X)
        return np.column_stack((expit(-scores), expit(scores)))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        scores = self.decision_function(X)
        return np.column_stack((log_expit(-scores), log_expit(scores)))
