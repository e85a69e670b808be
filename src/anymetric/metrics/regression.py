"""Regression metrics: how far the predictions are from real targets."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.curves import column_blocks
from anymetric.metrics.rows import Rows

# Rows processed together, so that errors of a block stay in the cache.
ROWS = 64


class RegressionMetric(Metric):
    """A metric of real targets."""

    greater_is_better = False
    ceiling = 0.0

    def _bind(self, rows: Rows) -> BoundMetric:
        if rows.labels is not None:
            raise ValueError(
                f"Metric {self.name!r} is of numbers, and the target has classes: take "
                "MetricRegressor, or a metric of decisions or scores."
            )
        if not np.all(np.isfinite(rows.y)):
            raise ValueError(f"Metric {self.name!r} needs finite targets; got nan or infinity.")
        return self._bound(rows)

    @abstractmethod
    def _bound(self, rows: Rows) -> BoundMetric: ...


class LossMetric(RegressionMetric):
    """The weighted mean of a loss of each row."""

    @abstractmethod
    def loss(self, errors: Floats, y: Floats) -> NDArray[np.float64]:
        """Return the loss of each row: errors ``prediction - y`` ``(b, m)``, y ``(b, 1)``."""

    def finish(self, mean: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """Return the value of a mean loss: itself."""
        return mean

    def _bound(self, rows: Rows) -> BoundMetric:
        return BoundLoss(self, rows)


@dataclass(frozen=True, eq=False)
class BoundLoss(BoundMetric):
    """A mean loss on fixed rows, summed a few rows at a time."""

    metric: LossMetric

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        y, weights = self.rows.y[:, None], self.rows.weights
        step = ROWS if scores.shape[1] > 1 else len(y)
        total = np.zeros(scores.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(y), step):
                part = slice(start, start + step)
                total += weights[part] @ self.metric.loss(scores[part] - y[part], y[part])
            return self.metric.finish(total / weights.sum(), self.rows)


@dataclass(frozen=True)
class MeanSquaredError(LossMetric):
    """Mean of the squared errors.

    Examples
    --------
    >>> import numpy as np
    >>> float(MeanSquaredError().bind(np.array([1.0, 2.0])).values(np.array([1.0, 4.0])))
    2.0
    """

    name = "mean_squared_error"

    def loss(self, errors: Floats, y: Floats) -> NDArray[np.float64]:
        """Return the squares."""
        return np.square(errors)


@dataclass(frozen=True)
class R2(LossMetric):
    """Share of the targets' variance explained: ``1 - MSE / variance``.

    Examples
    --------
    >>> import numpy as np
    >>> float(R2().bind(np.array([0.0, 2.0])).values(np.array([0.0, 1.0])))
    0.5
    """

    name = "r2"
    greater_is_better = True
    ceiling = 1.0

    def loss(self, errors: Floats, y: Floats) -> NDArray[np.float64]:
        """Return the squares."""
        return np.square(errors)

    def finish(self, mean: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """Return one minus the share of variance that is left."""
        return 1.0 - mean / _variance(rows)

    def _bound(self, rows: Rows) -> BoundMetric:
        if not _variance(rows) > 0.0:
            raise ValueError(f"Metric {self.name!r} needs targets that differ from each other.")
        return super()._bound(rows)


@dataclass(frozen=True)
class MeanAbsoluteError(LossMetric):
    """Mean of the absolute errors.

    Examples
    --------
    >>> import numpy as np
    >>> float(MeanAbsoluteError().bind(np.array([1.0, 2.0])).values(np.array([1.0, 4.0])))
    1.0
    """

    name = "mean_absolute_error"

    def loss(self, errors: Floats, y: Floats) -> NDArray[np.float64]:
        """Return the absolute errors."""
        return np.abs(errors)


@dataclass(frozen=True)
class Pinball(LossMetric):
    """Quantile loss: ``q (y - f)_+ + (1 - q) (f - y)_+``, least at the q-quantile.

    Parameters
    ----------
    quantile : float
        q, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> metric = Pinball(0.75)
    >>> metric.name, float(metric.bind(np.array([1.0, 2.0])).values(np.array([2.0, 1.0])))
    ('pinball_0.75', 0.5)
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.quantile < 1.0:
            raise ValueError(f"quantile must be in (0, 1); got {self.quantile}.")

    @property
    def name(self) -> str:
        """``pinball_0.5``..."""
        return f"pinball_{self.quantile:g}"

    def loss(self, errors: Floats, y: Floats) -> NDArray[np.float64]:
        """Return the tilted absolute errors."""
        tilted = np.maximum(-self.quantile * errors, (1.0 - self.quantile) * errors)
        return np.asarray(tilted)


@dataclass(frozen=True)
class Within(LossMetric):
    """Share of rows whose error is at most `tolerance`, or that fraction of the target.

    Parameters
    ----------
    tolerance : float
    relative : bool
        Take the tolerance as a fraction of the target's absolute value, not in its unit.

    Examples
    --------
    >>> import numpy as np
    >>> metric = Within(0.1, relative=True)
    >>> metric.name, float(metric.bind(np.array([10.0, 20.0])).values(np.array([12.0, 21.0])))
    ('within_10%', 0.5)
    """

    tolerance: float = 0.1
    relative: bool = False

    greater_is_better = True
    ceiling = 1.0

    def __post_init__(self) -> None:
        if not self.tolerance >= 0.0:
            raise ValueError(f"tolerance must not be negative; got {self.tolerance}.")

    @property
    def name(self) -> str:
        """``within_0.1``, or ``within_10%`` of the target."""
        if self.relative:
            return f"within_{100.0 * self.tolerance:g}%"
        return f"within_{self.tolerance:g}"

    def loss(self, errors: Floats, y: Floats) -> NDArray[np.float64]:
        """Return one where the error is small enough, nan where it is not a number."""
        allowed = self.tolerance * np.abs(y) if self.relative else self.tolerance
        return np.where(np.isnan(errors), np.nan, np.abs(errors) <= allowed)


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


def _variance(rows: Rows) -> float:
    mean = np.average(rows.y, weights=rows.weights)
    return float(np.average(np.square(rows.y - mean), weights=rows.weights))
