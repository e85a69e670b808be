"""Units: a regression trains in standard deviations of y and is judged in the user's unit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from anymetric.data import Data
from anymetric.metrics import BoundMetric, Metric

# The side column that keeps the targets exactly as they were given.
EXACT = "y"


@dataclass(frozen=True)
class Unit:
    """Where the targets lie and how far they spread.

    Examples
    --------
    >>> import numpy as np
    >>> unit = Unit.of(Data(np.zeros((2, 1)), np.array([100.0, 300.0])))
    >>> unit
    Unit(center=200.0, spread=100.0)
    >>> unit.small(Data(np.zeros((2, 1)), np.array([100.0, 300.0]))).y.tolist()
    [-1.0, 1.0]
    """

    center: float = 0.0
    spread: float = 1.0

    @classmethod
    def of(cls, data, *, intercept=True):
        """Return the mean and standard deviation; about zero if no intercept can move there."""
        center = float(np.average(data.y, weights=data.weights)) if intercept else 0.0
        spread = float(np.sqrt(np.average((data.y - center) ** 2, weights=data.weights)))
        # Rounding alone must not pass for a spread.
        return cls(center, spread if spread > 1e-12 * abs(center) else 1.0)

    def small(self, data):
        """Return the rows with standardised targets, and the exact ones beside them."""
        y = (data.y - self.center) / self.spread
        return Data(data.X, y, data.weights, {**data.side, EXACT: data.y})

    def large(self, scores):
        """Return scores in the user's unit."""
        return self.spread * np.asarray(scores, dtype=np.float64) + self.center

    def large_model(self, weights, offset):
        """Return weights and intercept that predict in the user's unit."""
        return self.spread * weights, self.spread * offset + self.center

    def small_model(self, weights, offset):
        """Undo `large_model`."""
        return weights / self.spread, (offset - self.center) / self.spread


@dataclass(frozen=True)
class InUnit(Metric):
    """A metric that meets standardised scores and sees them, and the targets, as the user does.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([100.0, 300.0]))
    >>> unit = Unit.of(data)
    >>> small = unit.small(data)
    >>> bound = InUnit(as_metric("mean_absolute_error"), unit).bind(small.y, side=small.side)
    >>> float(bound.values(np.zeros(2)))
    100.0
    """

    inner: Metric
    unit: Unit

    @property
    def name(self):
        """The inner metric's."""
        return self.inner.name

    @property
    def greater_is_better(self):
        """The inner metric's."""
        return self.inner.greater_is_better

    @property
    def needs(self):
        """The inner metric's."""
        return self.inner.needs

    @property
    def ceiling(self):
        """The inner metric's."""
        return self.inner.ceiling

    def _check_columns(self, side):
        """Leave this to the inner metric."""

    def _bind(self, rows):
        side = {name: column for name, column in rows.side.items() if name != EXACT}
        inner = self.inner.bind(
            rows.side[EXACT], weights=rows.weights, side=side, labels=rows.labels, X=rows.X
        )
        return BoundInUnit(self, replace(rows, side=side), inner)


@dataclass(frozen=True, eq=False)
class BoundInUnit(BoundMetric):
    """The inner metric on fixed rows, asked in the user's unit."""

    metric: InUnit
    inner: BoundMetric

    def _values(self, scores):
        return self.inner.values(self.metric.unit.large(scores))


def unit_of(metric):
    """Return the unit that a metric is asked in: that of the numbers themselves for most.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> unit_of(as_metric("r2"))
    Unit(center=0.0, spread=1.0)
    """
    return metric.unit if isinstance(metric, InUnit) else Unit()
