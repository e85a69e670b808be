"""Limited: an objective under limits on other metrics, as one cost.

Models that satisfy the limits cost less than those that do not, whatever the objective; among the
others, the least violation costs least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.cells import Cells
from anymetric.metrics.confusion import ConfusionMetric
from anymetric.metrics.constraints import Constraint
from anymetric.metrics.counts import CountMetric
from anymetric.metrics.decisions import DecisionMetric
from anymetric.metrics.joint import JUMP, joined, settled
from anymetric.metrics.rows import Rows

Floats64 = NDArray[np.float64]
# The jump where an objective is not a rate: amounts may be large.
UNBOUNDED = 1e6


@dataclass(frozen=True)
class Limited(Metric):
    """The cost of an objective under limits; `limited` makes it.

    Parameters
    ----------
    of : Metric
        The objective.
    limits : tuple of Constraint
    jump : float
        The cost of violating a limit: more than the objective can be.

    Examples
    --------
    >>> from anymetric.metrics import as_metric, at_least
    >>> metric = limited(as_metric("precision"), (at_least("recall", 0.8),))
    >>> y, scores = np.array([1.0, 1.0, -1.0]), np.array([[1, 1], [-1, 1], [-1, 1]])
    >>> print(metric.name), metric.bind(y).values(scores).round(3).tolist()
    precision subject to recall >= 0.8
    (None, [1300.0, 0.333])
    """

    of: Metric
    limits: tuple[Constraint, ...]
    jump: float = JUMP

    greater_is_better = False

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The objective, then what is limited."""
        return (self.of, *(one.metric for one in self.limits))

    @property
    def name(self) -> str:
        """The objective's name and the limits."""
        return f"{self.of.name} subject to {', '.join(map(str, self.limits))}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of all parts."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.needs))

    @property
    def decides(self) -> bool:
        """Whether a part reads decisions: a threshold may keep its limit."""
        return any(part.decides for part in self.parts)

    @property
    def probabilistic(self) -> bool:
        """As for the objective."""
        return self.of.probabilistic

    @property
    def black_box(self) -> bool:
        """Whether a part is user code."""
        return any(part.black_box for part in self.parts)

    @property
    def reads_features(self) -> bool:
        """Whether a part must be given X."""
        return any(part.reads_features for part in self.parts)

    def excess(self, limit: Constraint, values: Floats64) -> Floats64:
        """Return by how much values pass a limit; of large ones, as a part of the bound."""
        return np.asarray(limit.excess(values) / max(1.0, abs(limit.bound)))

    def joint_costs(self, values: Callable[[Metric], Floats64]) -> Floats64:
        """Return costs on rows and resamples, of each part's values on them."""
        beyond = [self.excess(one, values(one.metric)) for one in self.limits]
        return settled(self.of.cost(values(self.of)), beyond, self.jump)

    def from_values(self, values: Callable[[Metric], Floats64]) -> Floats64:
        """Return costs, each entry by itself, of each part's values."""
        beyond = [self.excess(one, values(one.metric)) for one in self.limits]
        return joined(self.of.cost(values(self.of)), beyond, self.jump)

    def _bind(self, rows: Rows) -> BoundMetric:
        given = {"weights": rows.weights, "side": rows.side, "labels": rows.labels, "X": rows.X}
        return BoundLimited(self, rows, tuple(part.bind(rows.y, **given) for part in self.parts))


@dataclass(frozen=True, eq=False)
class BoundLimited(BoundMetric):
    """An objective and its limits on fixed rows; every part reads the same scores."""

    metric: Limited
    each: tuple[BoundMetric, ...]

    def _checked(self, scores: Floats, dimensions: tuple[int, ...]) -> Floats:
        return np.asarray(scores)  # each part checks its scores

    def _values(self, scores: Floats) -> Floats64:
        values = [np.atleast_1d(one.values(scores)) for one in self.each]
        found = {id(part): one for part, one in zip(self.metric.parts, values, strict=True)}
        return self.metric.from_values(lambda part: found[id(part)])


@dataclass(frozen=True)
class LimitedCounts(Limited, DecisionMetric):
    """The same where every part reads counts of two classes: one sort serves all thresholds.

    Examples
    --------
    >>> from anymetric.metrics import as_metric, at_least
    >>> type(limited(as_metric("precision"), (at_least("recall", 0.8),))).__name__
    'LimitedCounts'
    """

    @property
    def additive(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(isinstance(one, DecisionMetric) and one.additive for one in self.parts)

    decides = True

    def cells(self, rows: Rows) -> tuple[Cells, Floats64]:
        """Return one cell for each group and class; a part without groups adds them up."""
        found = [part.cells(rows) for part in self.parts]  # type: ignore[attr-defined]
        cells, totals = max(found, key=lambda one: one[0].size)
        return cells, totals

    def from_sums(self, sums: Floats64, kept: Floats64) -> Floats64:
        """Return costs of the weights flagged in each cell."""
        return self.from_values(lambda part: part.from_sums(sums, kept))  # type: ignore[attr-defined]

    def _bind(self, rows: Rows) -> BoundMetric:
        return DecisionMetric._bind(self, rows)


@dataclass(frozen=True)
class LimitedConfusion(Limited, ConfusionMetric):
    """The same where every part reads confusion matrices of many classes.

    Examples
    --------
    >>> from anymetric.metrics import ClassAccuracy, WorstClassRecall, at_least
    >>> type(limited(ClassAccuracy(), (at_least(WorstClassRecall(), 0.5),))).__name__
    'LimitedConfusion'
    """

    decides = True

    @property
    def groups(self) -> str | None:  # type: ignore[override]
        """The column that a part reads."""
        return next((g for g in grouping(self.parts) if g is not None), None)

    def check(self, classes: int) -> None:
        """Ask every part."""
        for part in self.parts:
            part.check(classes)  # type: ignore[attr-defined]

    def of_confusion(self, confusion: Floats64) -> Floats64:
        """Return costs of matrices of all rows."""
        return self.of_groups(confusion[..., np.newaxis, :, :])

    def of_groups(self, confusion: Floats64) -> Floats64:
        """Return costs of the matrices of every group."""
        return self.from_values(lambda part: part.of_groups(confusion))  # type: ignore[attr-defined]

    def _bind(self, rows: Rows) -> BoundMetric:
        return ConfusionMetric._bind(self, rows)


def limited(of: Metric, limits: tuple[Constraint, ...]) -> Metric:
    """Return the metric under limits, in the form that is cheapest to evaluate.

    Examples
    --------
    >>> from anymetric.metrics import Accuracy
    >>> limited(Accuracy(), ())
    Accuracy()
    """
    if not limits:
        return of
    parts = (of, *(one.metric for one in limits))
    alike = len({g for g in grouping(parts) if g is not None}) <= 1
    if alike and all(isinstance(one, CountMetric) for one in parts):
        return LimitedCounts(of, limits)
    if alike and all(isinstance(one, ConfusionMetric) for one in parts):
        return LimitedConfusion(of, limits)
    return Limited(of, limits, UNBOUNDED)


def grouping(parts: Sequence[Metric]) -> list[str | None]:
    """Return the column of groups that each part reads."""
    return [getattr(part, "groups", None) for part in parts]


def each_part(metric: Metric, change: Callable[[Metric], Metric]) -> Metric:
    """Return the metric with the objective and what is limited changed; any other changed itself.

    Examples
    --------
    >>> from anymetric.metrics import Accuracy, ErrorRate
    >>> each_part(Accuracy(), lambda one: ErrorRate())
    ErrorRate()
    """
    if not isinstance(metric, Limited):
        return change(metric)
    limits = tuple(replace(one, metric=change(one.metric)) for one in metric.limits)
    return limited(change(metric.of), limits)
