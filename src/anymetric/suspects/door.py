"""The front door: arrays in, suspects out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from anymetric.data import Data
from anymetric.metrics import Classes, as_metric, meant
from anymetric.suspects.finding import Search
from anymetric.suspects.table import Suspects


def find(
    X: Any,
    y: Any,
    *,
    X_val: Any = None,
    y_val: Any = None,
    groups: Any = None,
    groups_val: Any = None,
    source: Any = None,
    side_val: Any = None,
    metric: Any = "accuracy",
    classes: Any = None,
    random_state: Any = 0,
) -> Suspects:
    """Find the training rows whose label or features the clean rows contradict.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
        Two classes or more.
    X_val, y_val : optional
        Clean rows: some hundred will do. Without them a label is a suspect where out-of-fold
        predictions contradict it, as in confident learning.
    groups, groups_val, source : array-like, optional
        Noise is estimated for each group and source.
    side_val : dict of columns, optional
        Metadata of the clean rows that the metric reads.
    metric : as in `MetricClassifier`, or None
        What gains are measured in; None where it must not be called.
    classes : sequence, optional
        The classes in order; of two, the last is the positive one. Sorted by default.
    random_state : int, RandomState or None

    Returns
    -------
    Suspects

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1200, class_sep=1.5, flip_y=0.0, random_state=0)
    >>> noisy = y[:1000].copy()
    >>> noisy[:50] = 1 - noisy[:50]
    >>> found = find(X[:1000], noisy, X_val=X[1000:], y_val=y[1000:])
    >>> bool(np.mean(found.top(50) < 50) > 0.6)
    True
    """
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val go together: one was given without the other.")
    names = np.unique(column_or_1d(y)) if classes is None else np.asarray(classes)
    if len(names) < 2:
        raise ValueError(f"y must have two classes or more; got {names.tolist()}.")
    codes = np.array([-1.0, 1.0]) if len(names) == 2 else np.arange(float(len(names)))
    labels = tuple(names.tolist()) if len(names) == 2 else Classes(tuple(names.tolist()))
    own = None if metric is None else as_metric(metric)
    own = meant(own, labels) if isinstance(labels, Classes) and own is not None else own
    side = {"groups": groups, "source": source}
    train = rows_of(X, codes[coded(y, names)], side)
    valid = None
    if X_val is not None:
        columns = {**(side_val or {}), "groups": groups_val}
        valid = rows_of(X_val, codes[coded(y_val, names, "_val")], columns)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    return Search(train, valid, codes, names, own, labels, rng)()


def coded(y: Any, names: Any, suffix: str = "") -> Any:
    """Return the place of each label among the classes.

    Examples
    --------
    >>> coded(["b", "a"], np.array(["b", "a"])).tolist()
    [0, 1]
    >>> coded([2], np.array([0, 1]), "_val")
    Traceback (most recent call last):
    ValueError: y_val has the labels [2], which are none of the classes [0, 1].
    """
    place = {name: k for k, name in enumerate(names.tolist())}
    values = column_or_1d(y)
    new = sorted(set(values.tolist()) - set(place))
    if new:
        raise ValueError(
            f"y{suffix} has the labels {new}, which are none of the classes {names.tolist()}."
        )
    return np.array([place[value] for value in values.tolist()], dtype=np.intp)


def rows_of(X: Any, y: Any, side: dict[str, Any]) -> Data:
    """Return checked rows."""
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
    columns = {name: np.asarray(column) for name, column in side.items() if column is not None}
    check_consistent_length(X, y, *columns.values())
    return Data(X, y, side=columns)
