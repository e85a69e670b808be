"""Scored: a metric on scored rows, at every threshold, over all rows and group by group."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.estimators._columns import metadata_columns
from anymetric.estimators._scorer import direction
from anymetric.metrics import BoundMetric, Metric
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.groups import EachGroup, GapPenalty

# Thresholds of a metric that is called for each of them.
CALLS = 200


@dataclass(frozen=True, eq=False)
class Curve:
    """A metric at every threshold: rows with a score above it are flagged.

    Attributes
    ----------
    thresholds, values : arrays of shape (t,)
    chosen : float
        The value at threshold zero, which is the model's own.
    best : int
        The place of the best value.
    jumps : array of shape (t - 1,), optional
        The score at which each value gives way to the next; halfway between the thresholds if
        they are not given.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("accuracy").bind(np.array([-1.0, 1.0]))
    >>> curve = Curve.of(bound, np.array([1.0, 3.0]))
    >>> curve.thresholds.tolist(), curve.values.tolist(), curve.chosen, curve.best
    ([0.0, 2.0, 4.0], [0.5, 1.0, 0.5], 0.5, 1)
    >>> curve.jumps.tolist()
    [1.0, 3.0]
    """

    thresholds: NDArray[np.float64]
    values: NDArray[np.float64]
    chosen: float
    best: int
    jumps: NDArray[np.float64] | None = None

    @property
    def steps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where each value begins, with the last threshold, and the values to draw there."""
        ends = self.thresholds[[0, -1]]
        between = 0.5 * (self.thresholds[1:] + self.thresholds[:-1])
        jumps = between if self.jumps is None else self.jumps
        return np.concatenate([ends[:1], jumps, ends[1:]]), np.append(self.values, self.values[-1])

    @classmethod
    def of(cls, bound: BoundMetric, scores: NDArray[np.float64], limit: int | None = None) -> Curve:
        """Sweep the thresholds; a metric that must be called for each sees at most `limit`."""
        called = isinstance(bound, BoundCalls)
        sweep = bound.sweep(scores, (limit or CALLS) if called else limit)
        last = len(sweep.shifts) - 1
        chosen = float(bound.values(scores))
        thresholds = 0.0 - sweep.shifts[::-1]
        jumps = scores_between(thresholds, scores)
        return cls(thresholds, sweep.values[::-1], chosen, last - sweep.best, jumps)


def scores_between(
    thresholds: NDArray[np.float64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a score from each threshold to the next: of several the middle one.

    Where there is none the next threshold stands for it: nothing changes up to there.

    Examples
    --------
    >>> scores_between(np.array([0.0, 2.0, 9.0, 9.5]), np.array([1.0, 4.0, 3.0, 8.0])).tolist()
    [1.0, 4.0, 9.5]
    """
    ranked = np.unique(scores)
    # A row is flagged above a threshold: a score that equals one belongs before it.
    edges = np.searchsorted(ranked, thresholds, side="right")
    middle = np.clip((edges[:-1] + edges[1:] - 1) // 2, 0, len(ranked) - 1)
    return np.where(edges[:-1] < edges[1:], ranked[middle], thresholds[1:])


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores with all that a metric may read of their rows.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> rows = Scored(
    ...     as_metric("group_mean_f1"),
    ...     np.array([1.0, -1.0, 1.0, -1.0]),
    ...     np.array([1.0, -1.0, -1.0, 1.0]),
    ...     {"groups": groups},
    ... )
    >>> {name: curve.chosen for name, curve in rows.curves(per_group=True)}
    {'all rows': 0.5, 'a': 1.0, 'b': 0.0}
    """

    metric: Metric
    scores: NDArray[np.float64]
    y: NDArray[np.float64]
    columns: Mapping[str, NDArray[Any]]
    weights: NDArray[np.float64] | None = None
    labels: Sequence[Any] | None = None
    X: Any = None

    def curves(self, per_group: bool = False, limit: int | None = None) -> Iterator[Any]:
        """Yield names and curves: all rows first, then group by group if set."""
        if per_group and "groups" not in self.columns:
            raise ValueError("per_group=True draws a curve for each group: give groups= too.")
        yield "all rows", Curve.of(self._bound(), self.scores, limit)
        if per_group:
            single = one_group(self.metric)
            for value in np.unique(self.columns["groups"]):
                part = replace(self.take(self.columns["groups"] == value), metric=single)
                yield str(value), Curve.of(part._bound(), part.scores, limit)

    def take(self, chosen: NDArray[np.bool_]) -> Scored:
        """Return the same with these rows only."""
        return replace(
            self,
            scores=self.scores[chosen],
            y=self.y[chosen],
            columns={name: column[chosen] for name, column in self.columns.items()},
            weights=None if self.weights is None else self.weights[chosen],
            X=None if self.X is None else self.X[chosen],
        )

    def _bound(self) -> BoundMetric:
        return self.metric.bind(
            self.y, weights=self.weights, side=self.columns, labels=self.labels, X=self.X
        )


def one_group(metric: Metric) -> Metric:
    """Return what a metric over groups takes in each of them; any other metric is itself.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> one_group(as_metric("group_mean_f1")).name, one_group(as_metric("gmean")).name
    ('f1', 'gmean')
    """
    if isinstance(metric, EachGroup):
        return metric.of
    return metric.base if isinstance(metric, GapPenalty) else metric


def transformed(estimator: Any, X: Any) -> Any:
    """Return X as the last step of a pipeline, or of the best one of a search, sees it."""
    if hasattr(estimator, "best_estimator_"):
        return transformed(estimator.best_estimator_, X)
    if not hasattr(estimator, "steps"):
        return X
    return transformed(estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X)


def own_scores(ours: Any, X: Any, groups: Any, side: Any = None) -> NDArray[np.float64]:
    """Return the scores; some classifiers decide by groups or other metadata."""
    score = getattr(ours, "decision_function", ours.predict)
    takes = inspect.signature(score).parameters
    given = {name: one for name, one in (("groups", groups), ("side", side)) if name in takes}
    scores = np.asarray(score(X, **given), dtype=np.float64)
    labels = ours._labels()
    # The score of the positive label, whichever of the two classes that is.
    return scores if scores.ndim > 1 else direction(ours, labels) * scores  # type: ignore[no-untyped-call]


def as_columns(X: Any, side: Any, groups: Any) -> dict[str, NDArray[Any]]:
    """Return the metadata columns by name, checked."""
    columns = metadata_columns(X, side, groups=groups)  # type: ignore[no-untyped-call]
    return dict(columns)
