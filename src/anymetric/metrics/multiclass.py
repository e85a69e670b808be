"""Multiclass: user's functions and scikit-learn's scorers for many classes or labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from anymetric.data import Columns, Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.classes import BoundClasses, Classes
from anymetric.metrics.exchange import predictions_table
from anymetric.metrics.functions import FunctionMetric
from anymetric.metrics.rows import Rows
from anymetric.metrics.scorers import ScorerMetric, takes_weights


@dataclass(frozen=True)
class MulticlassMetric(Metric):
    """A user's function or a scorer for many classes.

    A function of decisions gets the user's own labels; one of scores gets them as ``(n, C)``, one
    of probabilities their softmax, or for sets of labels their logistic transform. There the
    targets and decisions are tables of zeros and ones.

    Parameters
    ----------
    inner : FunctionMetric or ScorerMetric

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> def hits(y_true, y_pred):
    ...     return sum(y_true == y_pred)
    >>> metric = MulticlassMetric(as_metric(hits, greater_is_better=True))
    >>> bound = metric.bind(np.array([0.0, 2.0]), labels=Classes(("a", "b", "c")))
    >>> float(bound.values(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 2.0]])))
    2.0
    """

    inner: FunctionMetric | ScorerMetric

    black_box = True

    @property
    def name(self) -> str:
        """The inner metric's name."""
        return self.inner.name

    @property
    def greater_is_better(self) -> bool:
        """The inner metric's."""
        return self.inner.greater_is_better

    @property
    def ceiling(self) -> float:
        """The inner metric's."""
        return self.inner.ceiling

    @property
    def needs(self) -> tuple[str, ...]:
        """The metadata columns that must be there."""
        return self.inner.needs

    @property
    def decides(self) -> bool:
        """Whether decisions are read."""
        return self.inner.decides

    @property
    def reads_features(self) -> bool:
        """The inner metric's."""
        return self.inner.reads_features

    def _check_columns(self, side: Columns) -> None:
        """Leave this to the inner metric."""

    def _bind(self, rows: Rows) -> BoundMetric:
        if not isinstance(rows.labels, Classes):
            raise ValueError(f"Metric {self.name!r} was made for many classes; got two.")
        if isinstance(self.inner, ScorerMetric):
            return BoundMulticlass(self, rows, classes=rows.labels)
        if self.inner.on is None:
            raise ValueError(self.inner.unclear)
        return BoundMulticlass(self, rows, self.inner.columns(rows), classes=rows.labels)


@dataclass(frozen=True, eq=False)
class BoundMulticlass(BoundClasses, BoundCalls):
    """A black box on rows of many classes: one call a probe, always with fresh arrays."""

    metric: MulticlassMetric
    columns: dict[str, Any] = field(default_factory=dict)

    def one(self, probe: int, scores: Floats) -> float:
        """Ask about scores ``(n, C)``."""
        return self.answer(probe, scores)

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        return BoundCalls._values(self, scores)

    @property
    def slots(self) -> int:
        """The inner metric's."""
        return int(getattr(self.metric.inner, "slots", 1))

    def stop(self) -> None:
        """The inner metric's."""
        getattr(self.metric.inner, "stop", lambda: None)()

    def reads(self, scores: Floats) -> NDArray[Any]:
        """Return what of scores ``(n, C)`` is seen: the decisions, or the numbers."""
        table = np.asarray(scores, dtype=np.float64).reshape(len(self.rows), len(self.classes))
        return self.classes.decided(table) if self.metric.decides else table

    def call(self, scores: NDArray[np.float64]) -> Any:
        """Ask about scores ``(n, C)``, or ``(n C,)``."""
        scores = scores.reshape(len(self.rows), len(self.classes))
        inner, true = self.metric.inner, self.classes.shown(self.rows.y)
        if isinstance(inner, ScorerMetric):
            extra = {"sample_weight": self.rows.weights.copy()} if self.weighted else {}
            stand_in = ScoredClasses(scores, self.classes)
            return inner.scorer(stand_in, self._features(inner), true, **extra)
        copied = {k: v.copy() if hasattr(v, "copy") else v for k, v in self.columns.items()}
        return inner.function(true, read(inner.on, scores, self.classes), **copied)

    def table(self, scores: Floats) -> dict[str, NDArray[Any]]:
        """Return scores ``(n, C)`` as a table for a program or a person."""
        given = np.asarray(scores, dtype=np.float64).reshape(len(self.rows), len(self.classes))
        on = getattr(self.metric.inner, "on", "decisions" if self.metric.decides else "scores")
        seen = read(on, given, self.classes)
        return predictions_table(self.classes.shown(self.rows.y), seen, self.rows.side, on)

    @cached_property
    def weighted(self) -> bool:
        """Whether there are weights, and the scorer takes them."""
        inner = self.metric.inner
        assert isinstance(inner, ScorerMetric)
        return takes_weights(inner.scorer) and not self.rows.unweighted

    def _features(self, inner: ScorerMetric) -> Any:
        if self.rows.X is None or not inner.reads_features:
            return np.zeros((len(self.rows), 1))
        return self.rows.X.copy()

    def _called_on(self) -> str:
        kind = "classes" if self.classes.exclusive else "labels"
        return f"{len(self.rows)} rows of {len(self.classes)} {kind}"


def read(on: str | None, scores: NDArray[np.float64], classes: Classes) -> NDArray[Any]:
    """Return what a function of decisions, scores or probabilities receives.

    Examples
    --------
    >>> import numpy as np
    >>> read("decisions", np.array([[0.0, 1.0, 0.5]]), Classes((3, 5, 7))).tolist()
    [5]
    """
    if on == "scores":
        return scores
    if on == "probabilities":
        return np.asarray(softmax(scores, axis=1) if classes.exclusive else expit(scores))
    return classes.labels_of(scores)


class ScoredClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of many classes whose scores are given.

    Parameters
    ----------
    scores : array of shape (n, C)
    classes : Classes

    Examples
    --------
    >>> import numpy as np
    >>> stand_in = ScoredClasses(np.array([[0.0, 2.0, 1.0]]), Classes(("a", "b", "c")))
    >>> stand_in.predict(np.zeros((1, 1))).tolist()
    ['b']
    """

    def __init__(self, scores: NDArray[np.float64], classes: Classes) -> None:
        self.scores = scores
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[Any]:
        """The names, or the numbers of the labels."""
        return np.asarray(self.classes.names)

    def _seen(self, X: Any) -> NDArray[np.float64]:
        if np.shape(X)[0] != len(self.scores):
            raise ValueError(
                f"the scorer needs the scores of {np.shape(X)[0]} rows, and only those of all "
                f"{len(self.scores)} together are known"
            )
        return self.scores.copy()

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the decisions."""
        return self.classes.labels_of(self._seen(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores."""
        return self._seen(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the scores' softmax, or for labels their logistic transform."""
        return read("probabilities", self._seen(X), self.classes)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        scores = self._seen(X)
        if self.classes.exclusive:
            return np.asarray(log_softmax(scores, axis=1))
        return np.asarray(log_expit(scores))
