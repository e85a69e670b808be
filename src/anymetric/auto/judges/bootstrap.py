"""Bootstrap: resamples of the validation rows, by weights or by rows that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import FEWEST_RESAMPLES, RESAMPLED_ENTRIES
from anymetric.data import Data
from anymetric.metrics import BoundMetric, Metric

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# A resample: which rows were drawn, or None if they are all there and weighted; and the metric.
Resample = tuple[Ints | None, BoundMetric]


def bootstrap_weights(n: int, count: int, rng: np.random.Generator) -> Floats64:
    """Return ``(n, count)`` exponential weights of mean one: the Bayesian bootstrap.

    No row ever weighs nothing, so that no resample loses a rare class or group. Of a very large
    sample there are fewer than asked: their weights must fit in memory, and it needs fewer.

    Examples
    --------
    >>> bool((bootstrap_weights(5, 2, np.random.default_rng(0)) > 0).all())
    True
    """
    return rng.standard_exponential((n, affordable_resamples(n, count)))


def affordable_resamples(n: int, count: int) -> int:
    """Return how many resamples of so many rows fit in memory, of those that are wanted.

    Examples
    --------
    >>> [affordable_resamples(n, 100) for n in (1000, 100_000, 10_000_000)]
    [100, 41, 20]
    """
    return min(count, max(FEWEST_RESAMPLES, RESAMPLED_ENTRIES // max(n, 1)))


def bind_resample(
    metric: Metric, data: Data, weights: Floats64, labels: Sequence[object] | None
) -> Resample | None:
    """Bind a metric to a resample: by weights or, for user code, by drawn rows.

    None if the resample lacks what the metric needs.
    """
    if metric.black_box:
        return bind_drawn(metric, data, weights, labels)
    w = data.weights * weights
    return None, metric.bind(data.y, weights=w, side=data.side, labels=labels, X=data.X)


def bind_drawn(
    metric: Metric, data: Data, weights: Floats64, labels: Sequence[object] | None
) -> Resample | None:
    """Draw rows in proportion to weights, and bind the metric to them; None if it refuses.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> rows, bound = bind_drawn(as_metric("error"), data, np.array([1.0, 1.0, 2.0, 4.0]), None)
    >>> rows.tolist(), bound.rows.y.tolist()
    ([0, 2, 3, 3], [1.0, 1.0, -1.0, -1.0])
    """
    edges = np.cumsum(weights) / weights.sum()
    rows = np.searchsorted(edges, (np.arange(len(data)) + 0.5) / len(data)).astype(np.intp)
    return bind_rows(metric, data, rows, labels)


def bind_rows(
    metric: Metric, data: Data, rows: Ints, labels: Sequence[object] | None
) -> tuple[Ints, BoundMetric] | None:
    """Bind a metric to some of the rows; None if it refuses.

    Features are copied only for a metric that reads them.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, 1.0]))
    >>> bind_rows(as_metric("error"), data, np.array([0, 1]), None)[1].rows.y.tolist()
    [1.0, -1.0]
    """
    side = {name: column[rows] for name, column in data.side.items()}
    X = data.X[rows] if metric.reads_features else None
    try:
        bound = metric.bind(data.y[rows], weights=data.weights[rows], side=side, labels=labels, X=X)
    except ValueError:
        return None
    return rows, bound


def bind_resamples(metric: Metric, data: Data, weights: Floats64, labels: Any) -> list[Resample]:
    """Bind a metric to every resample that it takes; those that lack a class of a group left out.

    There many a metric of the user's fails. Where most of them lack one, as with classes of a
    row or two, they are kept all the same.
    """
    pairs = [bind_resample(metric, data, w, labels) for w in weights.T]
    bound = [pair for pair in pairs if pair is not None]
    if labels is None:
        return bound
    cell = cells(data)
    count = len(np.unique(cell))
    complete = [
        (rows, one) for rows, one in bound if rows is None or len(np.unique(cell[rows])) == count
    ]
    return complete if 2 * len(complete) >= len(bound) else bound


def cells(data: Data) -> Ints:
    """Return the number of each row's class or, where there are groups, of both.

    Examples
    --------
    >>> side = {"groups": np.array(["n", "s", "s"])}
    >>> cells(Data(np.zeros((3, 1)), np.array([-1.0, -1.0, 1.0]), side=side)).tolist()
    [0, 1, 3]
    """
    cell = np.unique(data.y, return_inverse=True)[1]
    if "groups" in data.side:
        group = np.unique(data.side["groups"].astype(str), return_inverse=True)[1]
        cell = cell * (int(group.max()) + 1) + group
    return np.asarray(cell, dtype=np.intp)
