"""Median absolute error: a selection in every column of predictions, or with weights a sort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric
from anymetric.metrics.curves import column_blocks
from anymetric.metrics.regression import RegressionMetric
from anymetric.metrics.rows import Rows


@dataclass(frozen=True)
class MedianAbsoluteError(RegressionMetric):
    """Median of the absolute errors; with weights, the middle of their cumulative weight.

    Examples
    --------
    >>> import numpy as np
    >>> bound = MedianAbsoluteError().bind(np.array([1.0, 2.0, 3.0]))
    >>> float(bound.values(np.array([1.0, 4.0, 90.0])))
    2.0
    """

    name = "median_absolute_error"

    def _bound(self, rows: Rows) -> BoundMetric:
        return BoundMedian(self, rows)


@dataclass(frozen=True, eq=False)
class BoundMedian(BoundMetric):
    """The median absolute error on fixed rows: a selection, or with weights a sort."""

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self._block(part) for part in column_blocks(scores)]
        return np.concatenate([np.zeros(0), *parts])

    def _block(self, scores: Floats) -> NDArray[np.float64]:
        errors = np.abs(np.subtract(scores.T, self.rows.y, order="C"))
        if self.rows.unweighted:
            return _median(errors)
        heavy = self.rows.weights > 0.0
        return _weighted_median(errors[:, heavy], self.rows.weights[heavy])


def _median(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    broken = np.isnan(errors.max(axis=1))
    middle = errors.shape[1] // 2
    errors.partition(middle, axis=1)
    upper = errors[:, middle]
    lower = upper if errors.shape[1] % 2 else errors[:, :middle].max(axis=1)
    return np.where(broken, np.nan, 0.5 * (lower + upper))


def _weighted_median(errors: Floats, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(errors, axis=1)
    weight = np.cumsum(weights[order], axis=1)
    excess = weight - 0.5 * weight[:, -1:]
    place = np.argmax(excess >= 0.0, axis=1)[:, None]
    follow = np.minimum(place + 1, errors.shape[1] - 1)
    # On the very middle of the weight, the median is halfway to the next error.
    split = np.take_along_axis(excess, place, axis=1) <= np.finfo(np.float64).eps
    pair = np.take_along_axis(order, np.hstack((place, np.where(split, follow, place))), axis=1)
    middle = np.take_along_axis(errors, pair, axis=1).mean(axis=1)
    return np.where(np.isnan(errors).any(axis=1), np.nan, middle)
