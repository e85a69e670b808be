"""Gaps: the largest difference of a metric between groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.classes import Classes
from anymetric.metrics.confusion import ConfusionMetric
from anymetric.metrics.counts import CountMetric, Counts, require
from anymetric.metrics.groups import GroupMetric
from anymetric.metrics.rates import BOTH
from anymetric.metrics.rows import Rows

Floats64 = NDArray[np.float64]


@dataclass(frozen=True)
class SelectionRate(CountMetric):
    """Share of the rows that are flagged: ``(TP + FP) / total``.

    A number to be limited, or compared between groups, rather than to be raised.

    Examples
    --------
    >>> import numpy as np
    >>> float(SelectionRate().bind(np.array([1.0, -1.0])).values(np.array([1.0, -1.0])))
    0.5
    """

    name = "selection_rate"
    greater_is_better = True

    def rate(self, counts: Counts) -> Floats64:
        """Return ``(TP + FP) / total``."""
        return counts.selection


@dataclass(frozen=True)
class RateGap(GroupMetric):
    """The largest difference of a rate between groups.

    Parameters
    ----------
    of : CountMetric
        The rate.
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import Accuracy
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> bound = RateGap(Accuracy()).bind(np.array([1.0, -1.0, 1.0, -1.0]), side={"groups": groups})
    >>> RateGap(Accuracy()).name, float(bound.values(np.array([1, -1, 1, 1])))
    ('gap(accuracy)', 0.5)
    """

    of: CountMetric
    groups: str = "groups"

    greater_is_better = False

    @property
    def name(self) -> str:
        """``gap()`` around the rate's name."""
        return f"gap({self.of.name})"

    def from_counts(self, counts: Counts) -> Floats64:
        """Return the spread over groups."""
        return np.asarray(np.ptp(self.of.rate(counts), axis=-1))

    def check(self, totals: Floats64, names: NDArray[np.generic]) -> None:
        """Raise if a group lacks a class that the rate needs."""
        require(self, self.of.requires, totals, [f"group {name!r}" for name in names.tolist()])


@dataclass(frozen=True)
class OddsGap(GroupMetric):
    """Equalised odds: the larger of the gaps in true-positive and in false-positive rate.

    Parameters
    ----------
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> bound = OddsGap().bind(np.array([1.0, -1.0, 1.0, -1.0]), side={"groups": groups})
    >>> bound.values(np.array([[1, 1], [-1, -1], [1, -1], [-1, -1]])).tolist()
    [0.0, 1.0]
    """

    groups: str = "groups"

    name = "gap(equalized_odds)"
    greater_is_better = False

    def from_counts(self, counts: Counts) -> Floats64:
        """Return the wider of the two spreads."""
        spreads = [np.ptp(rates, axis=-1) for rates in (counts.recall, counts.fallout)]
        return np.asarray(np.maximum(*spreads))

    def check(self, totals: Floats64, names: NDArray[np.generic]) -> None:
        """Raise if a group lacks one of the classes."""
        require(self, BOTH, totals, [f"group {name!r}" for name in names.tolist()])


@dataclass(frozen=True)
class ConfusionGap(ConfusionMetric):
    """The largest difference of a metric of many classes between groups.

    Parameters
    ----------
    of : ConfusionMetric
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import ClassAccuracy
    >>> groups, three = np.array(["a", "a", "b"]), Classes(("x", "y", "z"))
    >>> rows = {"side": {"groups": groups}, "labels": three}
    >>> bound = ConfusionGap(ClassAccuracy()).bind(np.array([0.0, 1.0, 2.0]), **rows)
    >>> float(bound.values(np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]])))
    0.5
    """

    of: ConfusionMetric
    groups: str = "groups"

    greater_is_better = False

    @property
    def name(self) -> str:
        """``gap()`` around the metric's name."""
        return f"gap({self.of.name})"

    @property
    def needs(self) -> tuple[str, ...]:
        """The column of groups."""
        return (self.groups,)

    def check(self, classes: int) -> None:
        """Ask the metric itself."""
        self.of.check(classes)

    def of_confusion(self, confusion: Floats64) -> Floats64:
        """Return zero: one group is as far from itself as that."""
        return np.zeros(confusion.shape[:-2])

    def of_groups(self, confusion: Floats64) -> Floats64:
        """Return the spread over groups."""
        return np.asarray(np.ptp(self.of.of_confusion(confusion), axis=-1))


@dataclass(frozen=True)
class GroupGap(Metric):
    """The largest difference of any metric between groups: evaluated for each group alone.

    Parameters
    ----------
    of : Metric
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> metric = GroupGap(as_metric("mean_absolute_error"))
    >>> bound = metric.bind(np.zeros(4), side={"groups": np.array(["a", "a", "b", "b"])})
    >>> metric.name, float(bound.values(np.array([1.0, 1.0, 3.0, 3.0])))
    ('gap(mean_absolute_error)', 2.0)
    """

    of: Metric
    groups: str = "groups"

    greater_is_better = False

    @property
    def name(self) -> str:
        """``gap()`` around the metric's name."""
        return f"gap({self.of.name})"

    @property
    def needs(self) -> tuple[str, ...]:
        """The column of groups, and what the metric needs itself."""
        return (self.groups, *self.of.needs)

    @property
    def decides(self) -> bool:
        """As for the metric itself."""
        return self.of.decides

    @property
    def probabilistic(self) -> bool:
        """As for the metric itself."""
        return self.of.probabilistic

    @property
    def black_box(self) -> bool:
        """As for the metric itself."""
        return self.of.black_box

    @property
    def reads_features(self) -> bool:
        """As for the metric itself."""
        return self.of.reads_features

    def _bind(self, rows: Rows) -> BoundMetric:
        column = rows.side[self.groups]
        parts = [np.flatnonzero(column == name) for name in np.unique(column[rows.weights > 0.0])]
        return BoundGap(self, rows, tuple(parts), tuple(self._alone(rows, part) for part in parts))

    def _alone(self, rows: Rows, part: NDArray[np.intp]) -> BoundMetric:
        side = {name: column[part] for name, column in rows.side.items()}
        X = rows.X[part] if self.reads_features else None
        weights, labels = rows.weights[part], rows.labels
        return self.of.bind(rows.y[part], weights=weights, side=side, labels=labels, X=X)


@dataclass(frozen=True, eq=False)
class BoundGap(BoundMetric):
    """A metric bound to every group; with many classes a score vector is ``n C`` long."""

    parts: tuple[NDArray[np.intp], ...]
    each: tuple[BoundMetric, ...]

    @property
    def outputs(self) -> int:
        """Scores of a row."""
        return len(self.rows.labels) if isinstance(self.rows.labels, Classes) else 1

    def _checked(self, scores: Floats, dimensions: tuple[int, ...]) -> Floats:
        scores = np.asarray(scores)
        if self.outputs == 1:
            return super()._checked(scores, dimensions)
        if scores.shape == (len(self.rows), self.outputs):
            return scores.reshape(-1)
        if len(scores) != len(self.rows) * self.outputs:
            raise ValueError(
                f"Metric {self.metric.name!r} is bound to {len(self.rows)} rows of {self.outputs} "
                f"classes; got scores of shape {scores.shape}."
            )
        return scores

    def _values(self, scores: Floats) -> Floats64:
        table = scores.reshape(len(self.rows), self.outputs, -1)
        values = [
            np.atleast_1d(bound.values(table[part].reshape(-1, table.shape[-1])))
            for part, bound in zip(self.parts, self.each, strict=True)
        ]
        return np.asarray(np.ptp(np.stack(values), axis=0))


ODDS = ("equalized_odds", "equalised_odds")


def gap_of(metric: Metric, groups: str = "groups") -> Metric:
    """Return the gap of a metric in the form that is cheapest to evaluate.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> gap_of(as_metric("recall"))
    RateGap(of=Recall(), groups='groups')
    """
    if isinstance(metric, CountMetric) and metric.groups is None:
        return RateGap(metric, groups)
    if isinstance(metric, ConfusionMetric) and metric.groups is None:
        return ConfusionGap(metric, groups)
    if groups in metric.needs:
        raise ValueError(
            f"gap() compares groups in a metric, and {metric.name!r} reads groups itself: give "
            "the metric of one group, such as 'recall', 'accuracy' or 'selection_rate'."
        )
    return GroupGap(metric, groups)
