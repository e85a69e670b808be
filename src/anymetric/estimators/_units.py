"""Units: a regression trains on scaled targets and is evaluated in the user's unit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from anymetric.data import TARGET, Data, drawn_in, quantiles
from anymetric.losses import as_loss
from anymetric.metrics import BoundMetric, Metric
from anymetric.solvers import WeightedLoss, minimise

# Relative to the spread: smaller residuals count as an exact fit.
LEAST_LEFT = 1e-3

# Largest logarithm whose exponential can be squared.
LARGEST = 300.0

# Maximum refits after outlying targets are clipped.
ROUNDS = 10


@dataclass(frozen=True)
class Unit:
    """Centre of the targets, and the residual spread of least squares.

    In this unit the errors of a good model are about one, whatever the user's unit and the share
    of explained variance, so that step sizes mean the same.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear
    >>> data = Data(np.zeros((2, 1)), np.array([100.0, 300.0]))
    >>> Unit.of(data, Linear())
    Unit(center=200.0, spread=100.0)
    >>> Unit.of(data, Linear()).small(data).y.tolist()
    [-1.0, 1.0]
    """

    center: float = 0.0
    spread: float = 1.0

    @classmethod
    def of(cls, data, model):
        """Return the unit of these rows; without an intercept it is centred at zero.

        Outlying targets are clipped first, since they would dominate the unit.
        """
        y = drawn_in(data.y, np.zeros(len(data)), data.weights)
        for _ in range(ROUNDS):
            center = float(np.average(y, weights=data.weights)) if model.intercept else 0.0
            spread = root_mean_square(y - center, data.weights)
            # A spread of rounding errors counts as none.
            whole = cls(center, spread if spread > 1e-12 * abs(center) else 1.0)
            small = whole.small(replace(data, y=y))
            fitted = minimise(WeightedLoss(model, small, as_loss("squared"), data.weights, 1e-4))
            around = whole.large(model.scores(data.X, fitted))
            last, y = y, drawn_in(data.y, around, data.weights)
            if np.array_equal(last, y):
                break
        sound = y == data.y
        left = root_mean_square((y - around)[sound], data.weights[sound]) / whole.spread
        return cls(center, whole.spread * max(left, LEAST_LEFT))

    def small(self, data):
        """Return the rows with standardised targets, and the exact ones beside them."""
        side = {**data.side, TARGET: data.y}
        return Data(data.X, self.small_scores(data.y), data.weights, side)

    def large(self, scores):
        """Return scores in the user's unit."""
        return self.spread * np.asarray(scores, dtype=np.float64) + self.center

    def small_scores(self, scores):
        """Undo `large`."""
        return (np.asarray(scores, dtype=np.float64) - self.center) / self.spread

    def large_model(self, weights, offset):
        """Return weights and intercept that predict in the user's unit."""
        return self.spread * weights, self.spread * offset + self.center

    def small_model(self, weights, offset):
        """Undo `large_model`."""
        return weights / self.spread, (offset - self.center) / self.spread


@dataclass(frozen=True)
class LogUnit(Unit):
    """The same of the targets' logarithms: the model is ``exp`` of a line, or of trees.

    Targets below `least` count as that: zero has no logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, 100.0]))
    >>> unit = LogUnit.of(data, Linear())
    >>> unit.small(data).y.round(6).tolist(), unit.large([-1.0, 0.0]).round(6).tolist()
    ([-1.0, 1.0], [1.0, 10.0])
    """

    least: float = np.finfo(float).tiny

    @classmethod
    def of(cls, data, model):
        """Return the unit of the logarithms of these rows' targets."""
        least = least_of(data)
        unit = Unit.of(replace(data, y=np.log(np.maximum(data.y, least))), model)
        return cls(unit.center, unit.spread, least)

    def large(self, scores):
        """Return predictions, all above zero."""
        return np.exp(np.minimum(super().large(scores), LARGEST))

    def small_scores(self, scores):
        """Undo `large`."""
        return super().small_scores(np.log(np.maximum(scores, self.least)))


def least_of(data):
    """Return half of what nearly all targets above zero are above.

    Examples
    --------
    >>> float(least_of(Data(np.zeros((3, 1)), np.array([0.0, 1.0, 9.0]))))
    0.5
    """
    above = data.y > 0.0
    return 0.5 * quantiles(data.y[above], 0.01, data.weights[above])


@dataclass(frozen=True)
class InUnit(Metric):
    """A metric of standardised scores, evaluated in the user's unit.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.models import Linear
    >>> data = Data(np.zeros((2, 1)), np.array([100.0, 300.0]))
    >>> unit = Unit.of(data, Linear())
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
    def black_box(self):
        """The inner metric's."""
        return self.inner.black_box

    @property
    def reads_features(self):
        """The inner metric's."""
        return self.inner.reads_features

    @property
    def ceiling(self):
        """The inner metric's."""
        return self.inner.ceiling

    def _check_columns(self, side):
        """Leave this to the inner metric."""

    def _bind(self, rows):
        side = {name: column for name, column in rows.side.items() if name != TARGET}
        inner = self.inner.bind(
            rows.side[TARGET], weights=rows.weights, side=side, labels=rows.labels, X=rows.X
        )
        return BoundInUnit(self, replace(rows, side=side), inner)


@dataclass(frozen=True, eq=False)
class BoundInUnit(BoundMetric):
    """The inner metric on fixed rows, in the user's unit."""

    metric: InUnit
    inner: BoundMetric

    def _values(self, scores):
        return self.inner.values(self.metric.unit.large(scores))

    def box(self, scores):
        """Return the inner black box, in the user's unit."""
        return self.inner.box(self.metric.unit.large(self._checked(scores, (1, 2))))


def given(data):
    """Return the rows with the targets that `Unit.small` was given.

    Examples
    --------
    >>> rows = Data(np.zeros((2, 1)), np.array([1.0, 100.0]))
    >>> given(LogUnit().small(rows)).y.tolist()
    [1.0, 100.0]
    """
    side = {name: column for name, column in data.side.items() if name != TARGET}
    return Data(data.X, data.side.get(TARGET, data.y), data.weights, side)


def root_mean_square(errors, weights):
    """Return the weighted root of the mean square.

    Examples
    --------
    >>> import numpy as np
    >>> root_mean_square(np.array([3.0, 4.0, 9.0]), np.array([1.0, 1.0, 0.0])) ** 2 < 12.6
    True
    """
    return float(np.sqrt(np.average(np.square(errors), weights=weights)))


def unit_of(metric):
    """Return the unit of a metric; the identity for most.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> unit_of(as_metric("r2"))
    Unit(center=0.0, spread=1.0)
    """
    return metric.unit if isinstance(metric, InUnit) else Unit()
