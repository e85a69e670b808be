"""Frames: rows as callers have them, as a data frame; and their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.cli.faults import UserError, need


def as_frame(rows: Any) -> Any:
    """Return rows as a pandas data frame: of pandas, polars or Arrow, or a list of dictionaries.

    Examples
    --------
    >>> as_frame([{"age": 31, "city": "Bern"}]).shape
    (1, 2)
    >>> as_frame([[31, "Bern"]])
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: Rows with named columns are needed: a data frame, or a list ...
    """
    pd = need("pandas")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
        rows = pd.DataFrame(rows)
    elif not isinstance(rows, pd.DataFrame) and hasattr(rows, "to_pandas"):
        rows = rows.to_pandas()
    if not isinstance(rows, pd.DataFrame):
        raise UserError(
            "Rows with named columns are needed: a data frame, or a list of dictionaries; got "
            f"{type(rows).__name__}."
        )
    return rows.rename(columns=str)


def ranks_of(scores: NDArray[np.float64], queries: NDArray[Any] | None = None) -> NDArray[np.intp]:
    """Return ranks from 1, the highest score first, within queries; equal scores stay in order.

    Examples
    --------
    >>> ranks_of(np.array([0.1, 0.9, 0.9])).tolist()
    [3, 1, 2]
    >>> ranks_of(np.array([0.1, 0.9, 0.9]), np.array(["a", "b", "a"])).tolist()
    [2, 1, 1]
    """
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores), dtype=np.intp)
    if queries is None:
        ranks[order] = np.arange(1, len(scores) + 1)
        return ranks
    member = np.unique(queries.astype(str), return_inverse=True)[1]
    order = order[np.argsort(member[order], kind="stable")]
    sizes = np.bincount(member)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    ranks[order] = np.arange(len(scores)) - starts + 1
    return ranks
