"""Scorer: any metric in the form that scikit-learn's searches take."""

from __future__ import annotations

import inspect
import sys

import numpy as np
from scipy.special import logit
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from anymetric.errors import warn
from anymetric.estimators._columns import items, metadata_columns
from anymetric.estimators._queries import with_query, with_relevance
from anymetric.estimators._rows import as_target
from anymetric.estimators._two import positive_last
from anymetric.metrics import Classes, as_metric, meant
from anymetric.metrics.functions import graded
from anymetric.models.reweighted import last_step


def scorer(metric, *, greater_is_better=None) -> MetricScorer:
    """Return a scikit-learn scorer for the metric: greater is better, whatever its direction.

    It takes `sample_weight`, `groups`, `query` and `side`, which metadata routing can bring: ask
    with ``set_score_request``. In a search `side` must be a data frame, which can be split.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric
    greater_is_better : bool, optional
        For a function whose name does not show it.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(random_state=0)
    >>> bool(cross_val_score(LogisticRegression(), X, y, scoring=scorer("error")).mean() > -0.3)
    True
    """
    return MetricScorer(as_metric(metric, greater_is_better=greater_is_better))


class MetricScorer(_BaseScorer):
    """A metric as a scorer: of an estimator's scores, negated if lower is better."""

    def __init__(self, metric):
        self.metric = metric
        sign = 1 if metric.greater_is_better else -1
        ways = ("decision_function", "predict_proba", "predict")
        super().__init__(self.of_decisions, sign, {}, ways)

    def __repr__(self):
        return f"scorer({self.metric!r})"

    def value(
        self,
        y_true,
        y_score,
        sample_weight=None,
        groups=None,
        side=None,
        query=None,
        *,
        labels=None,
        grades=None,
        ranker=False,
        X=None,
    ):
        """Return the metric of scores and coded targets; with queries, of their grades too."""
        metric = meant(self.metric, labels) if isinstance(labels, Classes) else self.metric
        if ranker and "relevance" not in dict(items(side, "side")):
            metric = graded(metric, grades.dtype)
        if query is not None or ranker:
            side = with_query(side, query, y_true)
            side = with_relevance(side, grades, always="relevance" in metric.needs)
        columns = metadata_columns(y_true[:, np.newaxis], side, groups=groups)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, y_true, ensure_non_negative=True)
        y_true, y_score, sample_weight, columns, X = weighed(
            metric, y_true, y_score, sample_weight, columns, X
        )
        bound = metric.bind(y_true, weights=sample_weight, side=columns, labels=labels, X=X)
        return float(bound.values(y_score))

    def of_decisions(self, y_true, y_pred, sample_weight=None, groups=None, side=None, query=None):
        """Return the metric of decisions in the user's labels.

        `TunedThresholdClassifierCV` calls this. Of two labels the second in sorted order is
        positive.
        """
        if not self.metric.decides:
            raise ValueError(
                f"Metric {self.metric.name!r} reads scores, and decisions were given: a threshold "
                "cannot be tuned for it."
            )
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        known = np.unique(np.concatenate([y_true, y_pred]))
        given = {"sample_weight": sample_weight, "groups": groups, "side": side, "query": query}
        if len(known) > 2:
            labels = Classes(tuple(known.tolist()))
            codes = np.searchsorted(known, y_true).astype(np.float64)
            decided = np.where(y_pred[:, np.newaxis] == known, 1.0, -1.0)
            return self.value(codes, decided, **given, labels=labels)
        codes, decided = (np.where(one == known[-1], 1.0, -1.0) for one in (y_true, y_pred))
        return self.value(codes, decided, **given, labels=tuple(known.tolist()))

    def _score(self, method_caller, estimator, X, y_true, **kwargs):
        check_consistent_length(X, y_true)
        y_true = as_target(y_true)
        y, labels = coded(estimator, y_true)
        given = {name: column for name, column in kwargs.items() if column is not None}
        many = labels if isinstance(labels, Classes) else None
        metric = self.metric if many is None else meant(self.metric, many)
        scores = scores_of(estimator, X, many, metric.decides, **metadata(given))
        scores = scores if many is not None else direction(estimator, labels) * scores
        rows = X if self.metric.reads_features else None
        given |= {"ranker": not (is_classifier(estimator) or is_regressor(estimator))}
        return self._sign * self.value(y, scores, **given, labels=labels, grades=y_true, X=rows)


def coded(estimator, y):
    """Return the targets as metrics take them, and the names of the classes."""
    if is_regressor(estimator):
        return y.astype(np.float64), None
    if is_classifier(estimator):
        if y.ndim == 2:
            sets, codes = np.unique(y.astype(bool), axis=0, return_inverse=True)
            return codes.ravel().astype(np.float64), Classes(tuple(range(y.shape[1])), sets)
        new = sorted(set(np.unique(y).tolist()) - set(estimator.classes_.tolist()))
        if new:
            raise ValueError(
                f"The labels {new} were never seen in training, which had "
                f"{estimator.classes_.tolist()}."
            )
        if len(estimator.classes_) > 2:
            codes = np.searchsorted(estimator.classes_, y).astype(np.float64)
            return codes, Classes(tuple(estimator.classes_.tolist()))
        pair = positive_last(estimator.classes_, getattr(last_step(estimator), "pos_label", None))
        return np.where(y == pair[1], 1.0, -1.0), tuple(pair.tolist())
    # A ranker: rows above the smallest value are relevant.
    least = getattr(estimator, "least_", y.min())
    return np.where(y > least, 1.0, -1.0), (0, 1)


def direction(estimator, labels):
    """Return -1 where the positive label is the first of the estimator's two classes, else 1."""
    known = list(getattr(estimator, "classes_", ()))
    return -1.0 if labels is not None and len(known) == 2 and known[0] == labels[1] else 1.0


def metadata(given):
    """Return the metadata that decisions may read."""
    return {name: given.get(name) for name in ("groups", "side")}


def scores_of(estimator, X, many=None, decides=False, **given):
    """Return scores that are positive where the estimator's second class is more probable.

    With many classes, one for each. A metric of probabilities reads those of `predict_proba`.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like
    many : Classes, optional
    decides : bool
        Whether only decisions will be read: those of a classifier are its own, whatever threshold
        it has them from.
    given : groups, side
        For an estimator that takes them.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> always = DummyClassifier().fit([[0.0], [0.0], [0.0], [0.0]], [0, 1, 1, 1])
    >>> scores_of(always, [[0.0]]).round(3).tolist()
    [1.099]
    """
    if is_regressor(estimator):
        return np.asarray(estimator.predict(X), dtype=np.float64)
    by_decisions = decides and is_classifier(estimator)
    if hasattr(estimator, "steps") and hasattr(estimator[-1], "decision_rule_"):
        # A pipeline takes no metadata for its last step.
        estimator, X = estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X
    if hasattr(estimator, "decision_function") and not by_decisions:
        return np.asarray(
            call_with_metadata(estimator.decision_function, X, given), dtype=np.float64
        )
    if hasattr(estimator, "predict_proba") and not by_decisions:
        return scores_from(estimator.predict_proba(X), many)
    answers = np.asarray(call_with_metadata(estimator.predict, X, given))
    if many is not None:
        sure = answers if answers.ndim == 2 else answers[:, np.newaxis] == estimator.classes_
        return np.where(sure, 1.0, -1.0)
    if is_classifier(estimator):
        return np.where(answers == estimator.classes_[1], 1.0, -1.0)
    return answers.astype(np.float64)


def call_with_metadata(method, X, given):
    """Call an estimator's method on rows, with the metadata that it takes."""
    takes = inspect.signature(method).parameters
    return method(X, **{name: column for name, column in given.items() if name in takes})


def scores_from(probabilities, many=None):
    """Return the scores whose logistic transform, or softmax, gives the probabilities back.

    Examples
    --------
    >>> import numpy as np
    >>> three = Classes(("a", "b", "c"))
    >>> np.exp(scores_from(np.array([[0.5, 0.2, 0.3]]), three)).round(6).tolist()
    [[0.5, 0.2, 0.3]]
    """
    if isinstance(probabilities, list):  # one table a label
        probabilities = np.column_stack([table[:, 1] for table in probabilities])
    tiny = np.finfo(np.float64).eps
    share = np.clip(np.asarray(probabilities, dtype=np.float64), tiny, 1.0 - tiny)
    if many is None:
        return logit(share[:, 1])
    return np.log(share) if many.exclusive else logit(share)


def weighed(metric, y, scores, weights, columns, X):
    """Return the rows without those of weight zero, where a user's metric takes no weights.

    All other rows then count alike, with a warning if their weights differ.

    Examples
    --------
    >>> def hits(y_true, y_pred):
    ...     return (y_true == y_pred).mean()
    >>> rows = np.array([1.0, -1.0]), np.array([1.0, 1.0]), np.array([0.0, 2.0]), {}, None
    >>> weighed(as_metric(hits, greater_is_better=True), *rows)[:3]
    (array([-1.]), array([1.]), None)
    """
    if weights is None or not np.any(weights) or takes_weights(metric):
        return y, scores, weights, columns, X
    warn_if_unweighed(metric, weights)
    kept = np.flatnonzero(weights)
    columns = {name: column[kept] for name, column in columns.items()}
    X = None if X is None else _safe_indexing(X, kept)
    return y[kept], scores[kept], None, columns, X


def takes_weights(metric):
    """Return whether a metric takes weights: all do, except functions and scorers without them.

    Examples
    --------
    >>> def hits_score(y_true, y_pred):
    ...     return (y_true == y_pred).mean()
    >>> takes_weights(as_metric("f1")), takes_weights(as_metric(hits_score))
    (True, False)
    """
    return getattr(getattr(metric, "inner", metric), "takes_weights", True)


def warn_if_unweighed(metric, weights):
    """Warn where validation rows have different weights, and the metric takes none."""
    if takes_weights(metric) or np.ptp(weights[weights > 0.0]) == 0.0:
        return
    warn(
        f"sample_weight was given, but the metric {metric.name!r} takes no sample_weight: all "
        "rows of positive weight count alike. Give it a parameter of that name."
    )


def warn_if_maximised(metric):
    """Warn when scikit-learn's search would maximise a metric that is better when lower."""
    if metric.greater_is_better or not called_by_search():
        return
    warn(
        f"A search maximises `score`, but {metric.name!r} is better when lower. Pass "
        "scoring=anymetric.scorer(metric) to the search."
    )


def called_by_search():
    """Return whether scikit-learn's own scoring called `score`, through a pipeline or not."""
    frame = sys._getframe(3)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == "sklearn.metrics._scorer":
            return True
        if not module.startswith("sklearn."):
            return False
        frame = frame.f_back
    return False
