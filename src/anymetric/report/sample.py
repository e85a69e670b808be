"""Sample: the rows that a report is made on, with every method's scores on them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from anymetric.auto.judges.bootstrap import Resample, bind_resample, bootstrap_weights
from anymetric.blocks import Queries
from anymetric.data import Data
from anymetric.estimators._columns import metadata_columns
from anymetric.estimators._queries import TakesQueries
from anymetric.estimators._rows import as_matrix
from anymetric.estimators._scorer import direction, scores_of
from anymetric.metrics import (
    BoundMetric,
    BoundQueries,
    Classes,
    Metric,
    MetricError,
)
from anymetric.metrics.allowance import left
from anymetric.metrics.evaluations import decided
from anymetric.metrics.ranked import QUERY

Floats = NDArray[np.float64]
OURS = "anymetric"
# A metric that is expensive to call gets as many bootstrap resamples as fit in this time; fewer
# than FEWEST make no error.
SECONDS = 15.0
FEWEST = 20


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, the metric, and what each method scores them: ours is the first.

    Parameters
    ----------
    metric : Metric
    data : Data
    labels : (negative, positive), Classes or None
        None for regression.
    scores : dict from method to array of shape (n,), or (n, C) for many classes
    ranks : bool
        Whether the labels only tell the lowest relevance from any higher one.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> scores = {"anymetric": np.array([2.0, 1.0, -1.0, -1.0]), "none": -np.ones(4)}
    >>> sample = Sample(as_metric("accuracy"), data, ("no", "yes"), scores)
    >>> sample.values().tolist(), sample.resamples(50, np.random.default_rng(0)).shape
    ([1.0, 0.5], (50, 2))
    """

    metric: Metric
    data: Data
    labels: Sequence[Any] | None
    scores: Mapping[str, Floats] = field(repr=False)
    ranks: bool = False

    @classmethod
    def of(
        cls, models: Mapping[str, Any], X: Any, y: Any, groups: Any = None, side: Any = None
    ) -> Sample:
        """Check the rows as the first model does, and let every model score them."""
        ours, features = unpacked(next(iter(models.values())), X)
        features = ours._checked(features)
        if isinstance(ours, TakesQueries):
            side = ours._with_relevance(side, y)  # type: ignore[no-untyped-call]
        columns = metadata_columns(features, side, groups=groups)  # type: ignore[no-untyped-call]
        data = Data(as_matrix(features), ours._encode_valid(np.asarray(y)), side=columns)  # type: ignore[no-untyped-call]
        labels = ours._labels()
        if isinstance(labels, Classes):
            check_exclusive(labels)
            scores = {name: scored_classes(model, X, labels) for name, model in models.items()}
        else:
            scores = {
                name: directed(model, labels, scored(model, X, groups, side))
                for name, model in models.items()
            }
        ranks = labels is not None and not hasattr(ours, "classes_")
        return cls(ours.metric_, data, labels, scores, ranks)

    @property
    def names(self) -> list[str]:
        """The methods."""
        return list(self.scores)

    @cached_property
    def matrix(self) -> Floats:
        """All scores, ``(n, m)``; of many classes, ``(n C, m)``."""
        return np.stack([scores.reshape(-1) for scores in self.scores.values()], axis=1)

    @property
    def many(self) -> bool:
        """Whether there are more than two classes."""
        return isinstance(self.labels, Classes)

    @property
    def called(self) -> bool:
        """Whether the metric is a function of the user's, asked one score vector at a time."""
        return self.metric.black_box

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Each row's place among the labels."""
        return (self.data.y if self.many else self.data.y > 0.0).astype(np.intp)

    def decisions(self, scores: Floats) -> NDArray[np.intp]:
        """Return which label, by its place, scores decide for."""
        return np.argmax(scores, axis=1) if self.many else (scores > 0.0).astype(np.intp)

    @cached_property
    def bound(self) -> BoundMetric:
        """The metric on all rows."""
        return bound_to(self.metric, self.data, self.labels)

    def values(self) -> Floats:
        """Return each method's value ``(m,)``; NaN where the metric has no answer."""
        return answers(self.bound, self.matrix)

    def grows(self) -> bool:
        """Return whether the metric grows with the number of rows, as a sum over them does.

        Where nobody may be asked any more, it might.
        """
        if self.called and left() < 1:
            return True
        twice = self._twice()
        once, both = self.values()[:1], answers(twice.bound, twice.matrix[:, :1])
        return not np.allclose(once, both, rtol=1e-3, equal_nan=True)

    def _twice(self) -> Sample:
        """Return the rows twice; their queries too, under new names."""
        both = self.take(np.tile(np.arange(len(self.data)), 2))
        if self.queries is None:
            return both
        member = self.queries.member
        return both._renamed(np.append(member, member + len(self.queries)))

    @cached_property
    def queries(self) -> Queries | None:
        """The queries of the rows, if they have any: those are drawn whole."""
        return Queries.of(self.data.side[QUERY]) if QUERY in self.data.side else None

    def price(self) -> float:
        """Return the seconds that the metric takes for one score vector that is new to it."""

        def timed() -> float:
            began = time.perf_counter()
            answers(self.bound, -self.matrix[:, :1])
            return time.perf_counter() - began

        return float(decided(f"seconds of an evaluation of {len(self.data)} rows", timed))

    def affords(self, count: int) -> bool:
        """Whether the metric may be asked so many times more; one of our own always may."""
        return not self.called or left() >= count

    def resamples(self, count: int, rng: np.random.Generator) -> Floats:
        """Return values ``(B, m)`` on bootstrap resamples of the rows, the same for every method.

        Rows of a query hang together, so that whole queries are drawn; one alone says nothing of
        others.
        """
        if self.queries is not None and len(self.queries) < 2:
            return np.empty((0, len(self.scores)))
        if isinstance(self.bound, BoundQueries):
            return by_query(self.bound, self.matrix, count, rng)
        count, least = self._affordable(count), min(FEWEST, count)
        kept = []
        for pair in self._drawn(count, rng) if count >= least else ():
            if pair is not None:
                rows, bound = pair
                scores = self.matrix if rows is None else self.take(rows).matrix
                kept.append(answers(bound, scores))
        values = np.array(kept).reshape(-1, len(self.scores))
        return values if len(values) >= least else values[:0]

    def _affordable(self, count: int) -> int:
        """Return how many resamples the calls that are left and the time allow."""
        if not self.called:
            return count
        most = min(count, left() // len(self.scores))
        if most < min(FEWEST, count):
            return 0
        return int(min(most, SECONDS / max(len(self.scores) * self.price(), 1e-9)))

    def _drawn(self, count: int, rng: np.random.Generator) -> Iterator[Resample | None]:
        """Yield the metric on bootstrap resamples of the rows, or of their queries."""
        data, queries = self._numbered(), self.queries
        for weights in bootstrap_weights(len(queries or data), count, rng).T:
            if queries is not None and self.called:
                yield self._redrawn(queries, weights)
                continue
            each = weights if queries is None else weights[queries.member]
            each = each / each.mean()  # a sum over the rows must not grow with them
            yield bind_resample(self.metric, data, each, self.labels)

    def _redrawn(self, queries: Queries, weights: Floats) -> Resample | None:
        """Draw whole queries in proportion to the weights, each under a name of its own."""
        edges = np.cumsum(weights) / weights.sum()
        places = np.searchsorted(edges, (np.arange(len(queries)) + 0.5) / len(queries))
        each = list(queries)
        chosen = [each[place] for place in places]
        rows = np.concatenate(chosen)
        names = np.repeat(np.arange(len(chosen)), [len(part) for part in chosen])
        try:
            return rows, self.take(rows)._renamed(names).bound
        except ValueError:  # nobody drawn is what the metric needs
            return None

    def _renamed(self, names: NDArray[np.intp]) -> Sample:
        """Return the same rows with other names for their queries."""
        side = {**self.data.side, QUERY: names}
        return replace(self, data=replace(self.data, side=side))

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return the sample of these rows only."""
        scores = {name: column[rows] for name, column in self.scores.items()}
        return replace(self, data=self.data.take(rows), scores=scores)

    def _numbered(self) -> Data:
        """Return the rows with text columns as numbers, which compare faster, if unread."""
        if self.called:
            return self.data
        side = {
            name: np.unique(column, return_inverse=True)[1] if column.dtype.kind in "OU" else column
            for name, column in self.data.side.items()
        }
        return Data(self.data.X, self.data.y, self.data.weights, side)


def bound_to(metric: Metric, data: Data, labels: Sequence[Any] | None) -> BoundMetric:
    """Bind the metric to rows; X goes along only where it is read."""
    X = data.X if metric.reads_features else None
    return metric.bind(data.y, weights=data.weights, side=data.side, labels=labels, X=X)


def by_query(bound: BoundQueries, scores: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return values ``(B, m)`` on bootstrap resamples of the queries; none if fewer than two count.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> query = np.array([0, 0, 1, 1])
    >>> bound = as_metric("mrr").bind(np.array([1.0, -1.0, -1.0, 1.0]), side={"query": query})
    >>> by_query(bound, np.ones((4, 3)), 50, np.random.default_rng(0)).shape
    (50, 3)
    """
    if np.count_nonzero(bound.weights) < 2:
        return np.empty((0, scores.shape[1]))
    shares = bound.weights[:, np.newaxis] * bootstrap_weights(len(bound.queries), count, rng)
    return np.asarray((shares / shares.sum(axis=0)).T @ bound.per_query(scores))


def answers(bound: BoundMetric, scores: Floats) -> Floats:
    """Return values ``(m,)`` of scores ``(n, m)``; NaN where the metric fails."""
    try:
        return np.asarray(bound.values(scores))
    except MetricError:
        if scores.shape[1] == 1:
            return np.array([np.nan])
    return np.concatenate([answers(bound, column[:, np.newaxis]) for column in scores.T])


def last_step(model: Any) -> Any:
    """Return the last step of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def unpacked(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a pipeline and what the steps before make of X."""
    if not isinstance(model, Pipeline):
        return model, X
    return model[-1], model[:-1].transform(X) if len(model) > 1 else X


def directed(model: Any, labels: Any, scores: Floats) -> Floats:
    """Return a model's scores turned so that the positive label has those above zero."""
    return np.asarray(direction(model, labels) * scores)  # type: ignore[no-untyped-call]


def scored(model: Any, X: Any, groups: Any = None, side: Any = None) -> Floats:
    """Return a fitted model's scores: positive for the second class, or predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> scored(LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0]), [[0.5]]).round(6).tolist()
    [1.0]
    """
    scores = scores_of(model, X, groups=groups, side=side)  # type: ignore[no-untyped-call]
    return np.asarray(scores, dtype=np.float64).ravel()


def scored_classes(model: Any, X: Any, classes: Classes) -> Floats:
    """Return a fitted model's scores ``(n, C)``; the highest of a row decides.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> three = Classes(("a", "b", "c"))
    >>> model = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0], [9.0], [9.5]], list("aabbcc"))
    >>> np.argmax(scored_classes(model, [[5.5], [0.1]], three), axis=1).tolist()
    [1, 0]
    """
    known = getattr(model, "classes_", ())
    if list(known) != list(classes.names):
        raise ValueError(
            f"{type(last_step(model)).__name__} knows the classes {list(known)}; the model of the "
            f"report knows {list(classes.names)}: train both on rows of the same classes."
        )
    return np.asarray(scores_of(model, X, classes))  # type: ignore[no-untyped-call]


def check_exclusive(classes: Classes) -> None:
    """Refuse sets of labels: a report shows one class a row.

    Examples
    --------
    >>> check_exclusive(Classes(("a", "b", "c")))
    """
    if not classes.exclusive:
        raise ValueError(
            f"A report shows rows of one class each; these have sets of {len(classes)} labels. "
            "Use `score`, `diagnose` and the displays."
        )
