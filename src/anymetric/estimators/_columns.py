"""Columns: metadata given beside X and y, as checked arrays by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anymetric.metrics import Metric, as_metric
from anymetric.metrics.scorers import is_scorer
from anymetric.rules import GroupRule

RESERVED = ("class", "groups", "source", "y")


def metadata_columns(X, side, suffix="", **named):
    """Return all metadata columns by name, each with one value per row and none missing.

    Parameters
    ----------
    X : array of shape (n, d)
    side : mapping, DataFrame or None
    suffix : str
        ``_val`` for the validation columns: errors name the argument as the user wrote it.
    named : arrays or None
        ``groups`` and ``source``, given by arguments of their own.

    Examples
    --------
    >>> metadata_columns([[0.0], [1.0]], {"amount": [3, 4]}, groups=["a", "b"])["amount"].tolist()
    [3, 4]
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    columns = {
        name: checked(column, f"{name}{suffix}", n)
        for name, column in named.items()
        if column is not None
    }
    for name, column in items(side, f"side{suffix}"):
        if name in RESERVED:
            raise ValueError(
                f"side{suffix} has a column {name!r}: that name is taken. Give groups and source "
                "by the arguments of those names, and call other columns differently."
            )
        columns[name] = checked(column, f"side{suffix}[{name!r}]", n)
    return columns


def items(side, what):
    """Return pairs of name and column from a mapping or a data frame."""
    if side is None:
        return []
    if isinstance(side, Mapping):
        return list(side.items())
    if hasattr(side, "columns") and hasattr(side, "__getitem__"):
        return [(str(name), side[name]) for name in side.columns]
    raise TypeError(f"{what} must be a dict of columns or a data frame; got {type(side).__name__}.")


def checked(column, name, n):
    """Return one column as an array; refuse a wrong length, missing values and mixed types."""
    values = np.asarray(column)
    if values.shape not in ((n,), (n, 1)):
        got = len(values) if values.ndim == 1 else f"an array of shape {values.shape}"
        raise ValueError(f"{name} must have one value for each of the {n} rows; got {got}.")
    values = values.ravel()
    missing = missing_values(values)
    if missing.any():
        raise ValueError(
            f"{name} has {int(missing.sum())} missing value(s), the first in row "
            f"{int(np.argmax(missing))}. Fill them, or drop those rows."
        )
    if values.dtype.kind != "O":
        return values
    text = [isinstance(value, str) for value in values]
    if any(text) and not all(text):
        raise ValueError(f"{name} mixes text with other values. Turn them all into text.")
    return values.astype(str) if all(text) else values


def missing_values(values):
    """Return which values are NaN, NaT, NA or None.

    Examples
    --------
    >>> missing_values(np.array(["a", None, float("nan")], dtype=object)).tolist()
    [False, True, True]
    """
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([value is None or differs_from_itself(value) for value in values])
    return np.zeros(len(values), dtype=bool)


def differs_from_itself(value):
    """Return whether a value is a NaN or an NA, which is not equal to anything."""
    try:
        return bool(value != value)
    except TypeError:  # bool() of pandas' NA raises
        return True


def members(groups, known, n, caller):
    """Return the place of each row's group among the known ones.

    Examples
    --------
    >>> members(["b", "a"], ["a", "b"], 2, "GroupThresholds").tolist()
    [1, 0]
    >>> members(None, ["a", "b"], 2, "GroupThresholds")
    Traceback (most recent call last):
    ...
    ValueError: GroupThresholds was fitted with groups and needs them here too: give groups=, each
    one of ['a', 'b'].
    """
    if groups is None:
        raise ValueError(
            f"{caller} was fitted with groups and needs them here too: give groups=, each one "
            f"of {list(known)}."
        )
    column = checked(groups, "groups", n)
    new = sorted(set(np.unique(column).tolist()) - set(known))
    if new:
        raise ValueError(
            f"{caller} knows the groups {list(known)}; got {new}: it has no way to score them."
        )
    places = {name: place for place, name in enumerate(known)}
    return np.array([places[name] for name in column.tolist()], dtype=np.intp)


def rule_columns(rule, scores, groups, side, caller):
    """Return the columns that a decision rule reads, checked.

    Examples
    --------
    >>> from anymetric.metrics import Profit
    >>> from anymetric.rules import RowRule
    >>> rule_columns(RowRule(Profit(tp="saved")), np.zeros(2), None, None, "MetricClassifier")
    Traceback (most recent call last):
    ...
    ValueError: MetricClassifier decides by RowRule(Profit(tp='saved'), scale=1), which reads the
    column(s) saved of every row; columns given: none. Give side= with columns of these names.
    """
    if isinstance(rule, GroupRule) and groups is None:
        members(None, list(rule.shifts), len(scores), caller)
    columns = metadata_columns(scores, side, groups=groups)
    missing = [name for name in rule.needs if name not in columns]
    if missing:
        raise ValueError(
            f"{caller} decides by {rule!r}, which reads the column(s) {', '.join(missing)} of "
            f"every row; columns given: {', '.join(sorted(columns)) or 'none'}. Give side= with "
            "columns of these names."
        )
    return columns


def reads(metric):
    """Return the names of the columns that a metric reads; none if it is no valid metric.

    Examples
    --------
    >>> def gain(y_true, y_pred, amount):
    ...     return 0.0
    >>> reads(gain), reads("f1")
    (['amount'], [])
    """
    try:
        needs = as_metric(metric, greater_is_better=known_direction(metric)).needs
    except (TypeError, ValueError):  # fit raises the error
        return []
    return [name for name in needs if name not in (*RESERVED, "query", "relevance")]


def known_direction(metric):
    """Return a direction for functions, which is not needed here."""
    called = callable(metric) and not isinstance(metric, Metric) and not is_scorer(metric)
    return True if called else None


def check_known(train, valid):
    """Refuse groups or sources of validation rows that are not in the training rows."""
    for name in ("groups", "source"):
        if name in train and name in valid:
            new = sorted(
                set(np.unique(valid[name]).tolist()) - set(np.unique(train[name]).tolist())
            )
            if new:
                raise ValueError(
                    f"{name}_val has value(s) {new} that {name} never has; it has "
                    f"{np.unique(train[name]).tolist()}."
                )
