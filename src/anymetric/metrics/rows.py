"""Rows: what a metric is bound to, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Columns
from anymetric.metrics.digests import digest


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that a metric is bound to: targets, weights, metadata columns, the user's labels.

    Attributes
    ----------
    y, weights, side, labels, X
        As `Metric.bind` takes them; there, weights are ones if none are given.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.array([1.0, -1.0, 1.0]), np.ones(3))
    >>> len(rows), rows.positive.tolist()
    (3, [True, False, True])
    """

    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    side: Columns = field(default_factory=dict)
    labels: Sequence[Any] | None = None
    X: Any = None

    @classmethod
    def of(
        cls,
        caller: str,
        y: NDArray[Any],
        weights: NDArray[Any] | None,
        side: Columns,
        labels: Sequence[Any] | None,
        X: Any,
    ) -> Rows:
        """Check the columns of the rows for a metric of this name."""
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
        columns = {name: np.asarray(column) for name, column in side.items()}
        for what, column in {"y": y, "weights": weights, **columns}.items():
            if column.shape != (len(y),):
                raise ValueError(
                    f"Metric {caller!r}: {what} must have shape ({len(y)},), one value for "
                    f"each row; got {column.shape}."
                )
        if not (np.all(weights >= 0.0) and 0.0 < weights.sum() < np.inf):
            raise ValueError(
                f"Metric {caller!r} needs weights that are finite, not negative and not all "
                f"zero; got a sum of {weights.sum():g} over {len(y)} rows."
            )
        return cls(y, weights, columns, labels, X)

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def digest(self) -> str:
        """A hash of the rows: targets, weights, columns, labels; of X where it is given."""
        named = None if self.labels is None else list(self.labels)
        sets = getattr(self.labels, "sets", None)
        return digest(self.y, self.weights, dict(self.side), named, sets, self.X)

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive."""
        return self.y > 0.0

    @cached_property
    def positives(self) -> float:
        """The weight of the positive rows."""
        return float(self.weights @ self.positive)

    @cached_property
    def negatives(self) -> float:
        """The weight of the negative rows."""
        return float(self.weights @ ~self.positive)

    @cached_property
    def unweighted(self) -> bool:
        """Whether every row counts as one."""
        return bool(np.all(self.weights == 1.0))
