"""Columns: what the user gives beside X and y, turned into checked arrays by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

RESERVED = ("class", "groups", "source")


def side_columns(X, side, suffix="", **named):
    """Return all side columns by name, each with one value a row and none missing.

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
    >>> side_columns([[0.0], [1.0]], {"amount": [3, 4]}, groups=["a", "b"])["amount"].tolist()
    [3, 4]
    """
    columns = {name: column for name, column in named.items() if column is not None}
    for name, column in items(side, f"side{suffix}"):
        if name in RESERVED:
            raise ValueError(
                f"side{suffix} has a column {name!r}: that name is taken. Give groups and source "
                "by the arguments of those names, and call other columns differently."
            )
        columns[name] = column
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    return {name: checked(column, f"{name}{suffix}", n) for name, column in columns.items()}


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
    """Return one column as an array; refuse a wrong length or missing values."""
    values = column_or_1d(np.asarray(column))
    if len(values) != n:
        raise ValueError(f"{name} must have one value for each of the {n} rows; got {len(values)}.")
    check_consistent_length(values)
    missing = missing_values(values)
    if missing.any():
        raise ValueError(
            f"{name} has {int(missing.sum())} missing value(s), the first in row "
            f"{int(np.argmax(missing))}. Fill them, or drop those rows."
        )
    return values.astype(str) if values.dtype.kind == "O" and all_text(values) else values


def missing_values(values):
    """Return which values are NaN or None."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def all_text(values):
    """Return whether every value is a string."""
    return all(isinstance(value, str) for value in values)


def check_known(train, valid):
    """Refuse a group or source in the validation columns that training never saw."""
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
