"""Confusion: metrics of how many rows of each class were taken for each class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric
from anymetric.metrics.cells import Cells
from anymetric.metrics.classes import BoundClasses, Classes
from anymetric.metrics.counts import ROUNDING, numbered, ratio
from anymetric.metrics.decisions import DecisionMetric
from anymetric.metrics.rows import Rows

Floats64 = NDArray[np.float64]


class ConfusionMetric(DecisionMetric):
    """A metric of the confusion matrix ``[true, decided]``; subclasses give `of_confusion`.

    It serves two classes as well, where a score above zero decides for the second.

    Examples
    --------
    >>> import numpy as np
    >>> class Diagonal(ConfusionMetric):
    ...     name, greater_is_better = "diagonal", True
    ...
    ...     def of_confusion(self, confusion):
    ...         return np.trace(confusion, axis1=-2, axis2=-1)
    >>> bound = Diagonal().bind(np.array([0.0, 1.0, 2.0]), labels=Classes(("a", "b", "c")))
    >>> float(bound.values(np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]])))
    2.0
    """

    groups: str | None = None

    @abstractmethod
    def of_confusion(self, confusion: Floats64) -> Floats64:
        """Return values ``(...)`` of confusion matrices ``(..., C, C)``."""

    def of_groups(self, confusion: Floats64) -> Floats64:
        """Return values ``(...)`` of the matrices of every group, ``(..., G, C, C)``."""
        return self.of_confusion(confusion.sum(axis=-3))

    def check(self, classes: int) -> None:
        """Raise if the metric does not fit so many classes."""

    def grouped(self, rows: Rows) -> tuple[NDArray[np.intp], int]:
        """Return each row's group as a number, and how many groups there are."""
        if self.groups is None:
            return np.zeros(len(rows), dtype=np.intp), 1
        names, group = numbered(rows.side[self.groups], rows.weights > 0.0)
        return group, len(names)

    def _bind(self, rows: Rows) -> BoundMetric:
        if not isinstance(rows.labels, Classes):
            self.check(2)
            return super()._bind(rows)
        if not rows.labels.exclusive:
            raise ValueError(
                f"Metric {self.name!r} needs one class a row; these rows have sets of labels."
            )
        self.check(len(rows.labels))
        group, count = self.grouped(rows)
        return BoundConfusion(self, rows, group, count, classes=rows.labels)

    def cells(self, rows: Rows) -> tuple[Cells, Floats64]:
        """Return one cell for each group and class, for two classes."""
        group, count = self.grouped(rows)
        cells = Cells(2 * group + rows.positive, rows.weights, 2 * count)
        return cells, cells.totals

    def from_sums(self, sums: Floats64, kept: Floats64) -> Floats64:
        """Return values of the weights flagged in each cell, for two classes."""
        missed = np.where(kept - sums > ROUNDING * kept, kept - sums, 0.0)
        pairs = np.stack([missed, sums], axis=-1)  # (..., 2 G, 2)
        return self.of_groups(pairs.reshape(*pairs.shape[:-2], -1, 2, 2))


class MarginMetric(ConfusionMetric):
    """A metric of each class's right, true and decided rows; subclasses give `of_margins`.

    These are the diagonal of the confusion matrix and the sums of its rows and its columns: with
    many classes they are far fewer than its entries.

    Examples
    --------
    >>> import numpy as np
    >>> class Gap(MarginMetric):
    ...     name, greater_is_better = "gap", False
    ...
    ...     def of_margins(self, right, true, decided):
    ...         return np.abs(true - decided).max(axis=-1)
    >>> float(Gap().of_confusion(np.array([[2.0, 0.0], [3.0, 1.0]])))
    3.0
    """

    @abstractmethod
    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return values ``(...)`` of the weights in each class, each ``(..., C)``."""

    def of_group_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return values ``(...)`` of the weights in each group and class, ``(..., G, C)``."""
        return self.of_margins(*(x.sum(axis=-2) for x in (right, true, decided)))

    def of_confusion(self, confusion: Floats64) -> Floats64:
        """Return values ``(...)`` of confusion matrices ``(..., C, C)``."""
        return self.of_margins(hits(confusion), confusion.sum(axis=-1), confusion.sum(axis=-2))


@dataclass(frozen=True, eq=False)
class BoundConfusion(BoundClasses):
    """A confusion metric on rows of many classes."""

    metric: ConfusionMetric
    group: NDArray[np.intp]
    count: int

    def one(self, probe: int, scores: Floats) -> float:
        """Count the decisions, and apply the formula."""
        C = len(self.classes)
        true = self.rows.y.astype(np.intp)
        cell = (self.group * C + true) * C + np.argmax(scores, axis=1)
        sums = np.bincount(cell, self.rows.weights, minlength=self.count * C * C)
        tables = sums.astype(np.float64).reshape(self.count, C, C)
        return float(self.metric.of_groups(tables))


@dataclass(frozen=True)
class ByGroup(ConfusionMetric):
    """A confusion metric in every group: its mean, or where it is worst.

    Parameters
    ----------
    of : ConfusionMetric
    worst : bool
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import ClassAccuracy
    >>> metric = ByGroup(ClassAccuracy(), worst=True)
    >>> groups = np.array(["a", "a", "b"])
    >>> three = Classes(("x", "y", "z"))
    >>> bound = metric.bind(np.array([0.0, 1.0, 2.0]), side={"groups": groups}, labels=three)
    >>> metric.name, float(bound.values(np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]])))
    ('worst_group_accuracy', 0.5)
    """

    of: ConfusionMetric
    worst: bool = True
    groups: str = "groups"

    @property
    def name(self) -> str:
        """``worst_group_`` or ``group_mean_``, and the metric's name."""
        return f"{'worst_group' if self.worst else 'group_mean'}_{self.of.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The column of groups."""
        return (self.groups,)

    @property
    def greater_is_better(self) -> bool:
        """As for the metric itself."""
        return self.of.greater_is_better

    @property
    def ceiling(self) -> float:
        """As for the metric itself."""
        return self.of.ceiling

    def check(self, classes: int) -> None:
        """Ask the metric itself."""
        self.of.check(classes)

    def of_confusion(self, confusion: Floats64) -> Floats64:
        """Return the metric of a single group."""
        return self.of.of_confusion(confusion)

    def of_groups(self, confusion: Floats64) -> Floats64:
        """Return the mean or the worst over groups."""
        return self._over(self.of.of_confusion(confusion))

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the metric of a single group, where it reads no more than these."""
        assert isinstance(self.of, MarginMetric | ByGroup)
        return self.of.of_margins(right, true, decided)

    def of_group_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the mean or the worst over groups, where the metric reads no more than these."""
        return self._over(self.of_margins(right, true, decided))

    def _over(self, each: Floats64) -> Floats64:
        if not self.worst:
            return np.asarray(each.mean(axis=-1))
        return np.asarray((np.min if self.greater_is_better else np.max)(each, axis=-1))


def hits(confusion: Floats64) -> Floats64:
    """Return the diagonals ``(..., C)``: rows of each class that were taken for it."""
    return np.asarray(np.diagonal(confusion, axis1=-2, axis2=-1))


def reads_margins(metric: ConfusionMetric) -> TypeGuard[MarginMetric | ByGroup]:
    """Return whether a metric reads no more than each class's right, true and decided rows.

    One that has a formula of its own for whole matrices is believed.

    Examples
    --------
    >>> from anymetric.metrics import ClassF, CostMatrix
    >>> reads_margins(ByGroup(ClassF())), reads_margins(CostMatrix([[0, 1], [5, 0]]))
    (True, False)
    """
    formulas = (type(metric).of_confusion, type(metric).of_groups)
    if isinstance(metric, ByGroup):
        return formulas == (ByGroup.of_confusion, ByGroup.of_groups) and reads_margins(metric.of)
    return formulas == (MarginMetric.of_confusion, ConfusionMetric.of_groups)


def mean_where(values: Floats64, there: NDArray[np.bool_]) -> Floats64:
    """Return the means over the last axis of the values that are there.

    Examples
    --------
    >>> import numpy as np
    >>> float(mean_where(np.array([1.0, 0.5, 9.0]), np.array([True, True, False])))
    0.75
    """
    return ratio(np.sum(values * there, axis=-1), np.sum(there, axis=-1).astype(np.float64))
