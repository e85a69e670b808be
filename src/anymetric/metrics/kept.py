"""Limit values: what validation rows say of an objective and of every limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric, MetricError
from anymetric.metrics.constraints import Constraint
from anymetric.metrics.under_limits import Limited


@dataclass(frozen=True)
class LimitValue:
    """A limit, and what the validation rows say of it; print it.

    Attributes
    ----------
    limit : Constraint
    value : float
        Of the metric that is limited, on validation rows that the model did not see.
    kept : bool

    Examples
    --------
    >>> from anymetric.metrics import at_least
    >>> print(LimitValue(at_least("recall", 0.8), 0.8125))
    recall >= 0.8: 0.8125, kept
    """

    limit: Constraint
    value: float

    @property
    def kept(self) -> bool:
        """Whether the value is within the limit."""
        return self.limit.satisfied(self.value)

    def __str__(self) -> str:
        end = "kept" if self.kept else f"missed by {self.limit.violation(self.value):.4g}"
        return f"{self.limit}: {self.value:.4f}, {end}"


def limit_values(
    metric: Metric, bind: Callable[[Metric], BoundMetric], scores: Floats
) -> tuple[float, tuple[LimitValue, ...]] | None:
    """Return the objective and every limit's value of scores; None of a metric without limits.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import Precision, at_least, limited
    >>> metric = limited(Precision(), (at_least("recall", 0.8),))
    >>> y = np.array([1.0, 1.0, -1.0])
    >>> value, (limit,) = limit_values(metric, lambda part: part.bind(y), np.array([1.0, -1, -1]))
    >>> value, limit.value
    (1.0, 0.5)
    """
    if not isinstance(metric, Limited):
        return None
    try:
        values = [float(bind(part).values(scores)) for part in metric.parts]
    except MetricError:
        return None
    pairs = zip(metric.limits, values[1:], strict=True)
    return values[0], tuple(LimitValue(limit, value) for limit, value in pairs)
