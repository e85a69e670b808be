"""Target: what y means to a fitted estimator, so that other models' rows can be read alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anymetric.data import Data
from anymetric.exports.loss import TargetUnit
from anymetric.metrics import Classes, Metric

Floats64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Target:
    """A metric and the labels that it reads.

    Parameters
    ----------
    metric : Metric
    labels : (negative, positive), Classes or None
        None for numbers.
    known : tuple
        The classes as another model knows them, sorted: its scores are of the second.
    unit : TargetUnit, optional
        Of numbers.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> target = Target(as_metric("f1"), ("no", "yes"), ("no", "yes"))
    >>> target.coded(["yes", "no"]).tolist()
    [1.0, -1.0]
    """

    metric: Metric
    labels: Sequence[Any] | None
    known: tuple[Any, ...] = ()
    unit: TargetUnit | None = None

    @property
    def many(self) -> Classes | None:
        """The classes, where there are more than two, or labels."""
        return self.labels if isinstance(self.labels, Classes) else None

    @property
    def direction(self) -> float:
        """Return -1 where the positive label is the first of the classes, else 1."""
        first = self.many is None and self.labels is not None and self.known[0] == self.labels[1]
        return -1.0 if first else 1.0

    def coded(self, y: ArrayLike) -> Floats64:
        """Return labels as metrics read them; numbers as they are."""
        y = np.asarray(y)
        if self.labels is None:
            return y.astype(np.float64)
        new = sorted(set(np.unique(y).tolist()) - set(self.known), key=str)
        if new:
            raise ValueError(
                f"The labels {new} were never seen in training, which had {list(self.known)}."
            )
        if self.many is not None:
            return np.searchsorted(np.asarray(self.known), y).astype(np.float64)
        return np.where(y == self.labels[1], 1.0, -1.0)

    def numbered(self, codes: ArrayLike) -> Floats64:
        """Return what boosters call the classes, 0, 1, ..., as metrics read it."""
        codes = np.asarray(codes, dtype=np.float64)
        if self.labels is None or self.many is not None:
            return codes
        return self.direction * np.where(codes > 0.0, 1.0, -1.0)

    def read(self, scores: ArrayLike) -> Floats64:
        """Return another model's scores, positive for the positive label, ``(n,)`` or ``(n, C)``.

        Numbers are standardised.
        """
        found = np.asarray(scores, dtype=np.float64)
        if self.many is not None:
            return found
        found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
        if found.ndim != 1:
            raise ValueError(
                f"Scores must have one number a row; got shape {found.shape}. Of probabilities "
                "give those of the second class, or their log-odds."
            )
        if self.unit is not None:
            return (found - self.unit.center) / self.unit.spread
        return self.direction * found

    def rows(
        self, y: Floats64, weight: ArrayLike | None, columns: Mapping[str, NDArray[Any]]
    ) -> Data:
        """Return rows without features."""
        weights = None if weight is None or not np.size(weight) else np.asarray(weight, float)
        data = Data(np.zeros((len(y), 1)), y, weights, dict(columns))  # type: ignore[arg-type]
        return data if self.unit is None else self.unit.small(data)


def columns_of(
    n: int, groups: ArrayLike | None, side: Mapping[str, ArrayLike] | None
) -> dict[str, NDArray[Any]]:
    """Return metadata by name, one value a row.

    Examples
    --------
    >>> {name: len(column) for name, column in columns_of(2, ["a", "b"], None).items()}
    {'groups': 2}
    """
    given = {} if side is None else {str(name): np.asarray(side[name]) for name in side}
    if groups is not None:
        given["groups"] = np.asarray(groups)
    for name, column in given.items():
        if len(column) != n:
            raise ValueError(
                f"The column {name!r} has {len(column)} rows, and scores of {n} rows were given: "
                "give the column of the same rows, in their order."
            )
    return given
