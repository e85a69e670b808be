"""Regression metrics: how far the predictions are from real targets."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
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
class RootMeanSquaredError(MeanSquaredError):
    """Root of the mean of the squared errors, in the unit of the target.

    Examples
    --------
    >>> import numpy as np
    >>> bound = RootMeanSquaredError().bind(np.array([1.0, 2.0]))
    >>> float(bound.values(np.array([1.0, 4.0])).round(3))
    1.414
    """

    name = "root_mean_squared_error"

    def finish(self, mean: NDArray[np.float64], rows: Rows) -> NDArray[np.float64]:
        """Return the root of the mean."""
        return np.sqrt(mean)


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
class MeanAbsolutePercentageError(LossMetric):
    """Mean of the absolute errors, each as a share of the target's absolute value.

    Examples
    --------
    >>> import numpy as np
    >>> bound = MeanAbsolutePercentageError().bind(np.array([1.0, 2.0]))
    >>> float(bound.values(np.array([1.0, 4.0])))
    0.5
    """

    name = "mean_absolute_percentage_error"

    def loss(self, errors: Floats, y: Floats) -> NDArray[np.float64]:
        """Return the relative errors; a target of zero counts as the smallest number."""
        return np.abs(errors) / np.maximum(np.abs(y), np.finfo(np.float64).eps)


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


def _variance(rows: Rows) -> float:
    mean = np.average(rows.y, weights=rows.weights)
    return float(np.average(np.square(rows.y - mean), weights=rows.weights))
