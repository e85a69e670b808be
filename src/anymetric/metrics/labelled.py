"""Labelled: metrics of sets of labels, of which a row has any number."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.classes import BoundClasses, Classes
from anymetric.metrics.confusion import mean_where
from anymetric.metrics.counts import ratio
from anymetric.metrics.macro import AVERAGES, averaged_f
from anymetric.metrics.rows import Rows

Floats64 = NDArray[np.float64]


class LabelMetric(Metric):
    """A metric of labels given to rows; it is of counts by label, or a mean over rows.

    Examples
    --------
    >>> import numpy as np
    >>> two = Classes(("red", "round"), sets=np.array([[True, False], [True, True]]))
    >>> bound = Hamming().bind(np.array([0.0, 1.0]), labels=two)
    >>> float(bound.values(np.array([[1.0, -1.0], [1.0, -1.0]])))
    0.25
    """

    decides = True

    def _bind(self, rows: Rows) -> BoundMetric:
        if not isinstance(rows.labels, Classes) or rows.labels.exclusive:
            raise ValueError(
                f"Metric {self.name!r} is of sets of labels, and these rows have one class each: "
                "give y as a table with a column of zeros and ones for each label, or another "
                "metric."
            )
        return BoundLabels(self, rows, classes=rows.labels)

    @abstractmethod
    def of_labels(self, given: NDArray[np.bool_], true: NDArray[np.bool_], w: Floats64) -> float:
        """Return the value of labels given and true, both ``(n, L)``, rows weighted by w."""


class LabelCountMetric(LabelMetric):
    """A metric of weights by label: of the rows that have it, that got it, and both.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([1.0, 2.0]), np.array([2.0, 2.0]), np.array([1.0, 2.0])
    >>> Hamming().along(
    ...     *counts, np.array([4.0]), 0, np.array([1.0, 2.0]), np.array([1.0, 2.0])
    ... ).tolist()
    [0.125, 0.0]
    """

    @property
    def pooled(self) -> Literal["sum", "mean", "neither"]:
        """Whether the value is of sums over labels, or a plain mean over them."""
        return "neither"

    @abstractmethod
    def of_counts(
        self, right: Floats64, true: Floats64, given: Floats64, total: Floats64
    ) -> Floats64:
        """Return values ``(...)`` of weights by label ``(..., L)``; of all rows, ``(..., 1)``."""

    def along(
        self,
        right: Floats64,
        true: Floats64,
        given: Floats64,
        total: Floats64,
        label: int,
        own_right: Floats64,
        own_given: Floats64,
    ) -> Floats64:
        """Return values ``(t,)`` as the counts of one label change; ``(L,)`` are those before."""
        t, L = len(own_right), len(true)
        if self.pooled == "neither":
            rights, trues, givens = (np.tile(x, (t, 1)) for x in (right, true, given))
            rights[:, label], givens[:, label] = own_right, own_given
            return self.of_counts(rights, trues, givens, total)
        rest = [np.delete(x, label) for x in (right, true, given)]
        own = [own_right, np.repeat(true[label], t), own_given]
        if self.pooled == "sum":
            own = [mine + others.sum() for mine, others in zip(own, rest, strict=True)]
        mine_right, mine_true, mine_given = (x[:, np.newaxis] for x in own)
        one = self.of_counts(mine_right, mine_true, mine_given, total)
        if self.pooled == "sum" or L == 1:
            return one
        others = self.of_counts(rest[0], rest[1], rest[2], total)
        return np.asarray((one + (L - 1) * others) / L)

    def of_labels(self, given: NDArray[np.bool_], true: NDArray[np.bool_], w: Floats64) -> float:
        """Count, and apply the formula."""
        both = w @ (given & true)
        return float(self.of_counts(both, w @ true, w @ given, w.sum(keepdims=True)))


class LabelRowMetric(LabelMetric):
    """The mean over rows of a number that depends on how many labels each has and got."""

    @abstractmethod
    def of_rows(self, right: Floats64, true: Floats64, given: Floats64) -> Floats64:
        """Return each row's number from its counts of labels, elementwise."""

    def of_labels(self, given: NDArray[np.bool_], true: NDArray[np.bool_], w: Floats64) -> float:
        """Count in each row, and average."""
        right, had, got = (x.sum(axis=1).astype(np.float64) for x in (given & true, true, given))
        return float(np.average(self.of_rows(right, had, got), weights=w))


@dataclass(frozen=True, eq=False)
class BoundLabels(BoundClasses):
    """A metric of labels on fixed rows."""

    metric: LabelMetric

    def one(self, probe: int, scores: Floats) -> float:
        """Give every label whose score is above zero."""
        true = self.classes.members(self.rows.y)
        return self.metric.of_labels(self.classes.decided(scores), true, self.rows.weights)


@dataclass(frozen=True)
class LabelF(LabelCountMetric):
    """F-measure of labels: the mean over labels, by their rows, or of all together.

    A label that no row has and none got counts 0, as in scikit-learn.

    Parameters
    ----------
    average : {"macro", "weighted", "micro"}
        The plain mean over labels, the mean by their rows, or of all labels together.
    beta : float
        Recall counts this many times as much as precision.

    Examples
    --------
    >>> import numpy as np
    >>> LabelF("micro").name
    'micro_f1'
    >>> float(
    ...     LabelF("micro")
    ...     .of_counts(np.ones(2), np.ones(2), np.array([1.0, 3.0]), np.ones(1))
    ...     .round(3)
    ... )
    0.667
    """

    average: str = "macro"
    beta: float = 1.0

    greater_is_better = True

    def __post_init__(self) -> None:
        if self.average not in AVERAGES:
            raise ValueError(f"average must be one of {AVERAGES}; got {self.average!r}.")

    @property
    def name(self) -> str:
        """The average and ``_f`` with its beta."""
        return f"{self.average}_f{self.beta:g}"

    @property
    def pooled(self) -> Literal["sum", "mean", "neither"]:
        """By the average; a weighted one is neither."""
        if self.average == "weighted":
            return "neither"
        return "sum" if self.average == "micro" else "mean"

    def of_counts(
        self, right: Floats64, true: Floats64, given: Floats64, total: Floats64
    ) -> Floats64:
        """Return the averaged F-measure."""
        if self.average == "macro":
            b = self.beta**2
            return np.asarray(ratio((1.0 + b) * right, b * true + given).mean(axis=-1))
        return averaged_f(right, true, given, self.average, self.beta)


@dataclass(frozen=True)
class Hamming(LabelCountMetric):
    """The share of wrong entries in the table of labels.

    Examples
    --------
    >>> import numpy as np
    >>> float(Hamming().of_counts(np.ones(2), np.ones(2), np.array([1.0, 3.0]), np.array([4.0])))
    0.25
    """

    name = "hamming_loss"
    greater_is_better = False
    pooled = "mean"

    def of_counts(
        self, right: Floats64, true: Floats64, given: Floats64, total: Floats64
    ) -> Floats64:
        """Return ``(true + given - 2 right) / (n L)``."""
        wrong = np.sum(true + given - 2.0 * right, axis=-1)
        return np.asarray(wrong / (total[..., 0] * true.shape[-1]))


@dataclass(frozen=True)
class WorstLabelRecall(LabelCountMetric):
    """The recall of the label where it is lowest, among those that have rows.

    Examples
    --------
    >>> import numpy as np
    >>> float(
    ...     WorstLabelRecall().of_counts(np.ones(2), np.array([1.0, 2.0]), np.ones(2), np.ones(1))
    ... )
    0.5
    """

    name = "worst_class_recall"
    greater_is_better = True

    def of_counts(
        self, right: Floats64, true: Floats64, given: Floats64, total: Floats64
    ) -> Floats64:
        """Return the lowest recall."""
        return np.asarray(np.min(np.where(true > 0.0, ratio(right, true), 1.0), axis=-1))


@dataclass(frozen=True)
class LabelBalancedAccuracy(LabelCountMetric):
    """The mean over labels of the mean of recall and specificity.

    Labels that all rows have, or none, are left out.

    Examples
    --------
    >>> import numpy as np
    >>> metric = LabelBalancedAccuracy()
    >>> float(metric.of_counts(np.ones(1), np.array([2.0]), np.ones(1), np.array([4.0])))
    0.75
    """

    name = "balanced_accuracy"
    greater_is_better = True

    def of_counts(
        self, right: Floats64, true: Floats64, given: Floats64, total: Floats64
    ) -> Floats64:
        """Return the mean."""
        recall = ratio(right, true)
        others = np.where(total - true > 1e-12 * total, total - true, 0.0)
        specificity = 1.0 - ratio(given - right, others)
        return mean_where(0.5 * (recall + specificity), (true > 0.0) & (others > 0.0))


@dataclass(frozen=True)
class InstanceF(LabelRowMetric):
    """The mean over rows of the F-measure of the labels given to each.

    A row without labels that got none counts 0, as in scikit-learn.

    Parameters
    ----------
    beta : float
        Recall counts this many times as much as precision.

    Examples
    --------
    >>> import numpy as np
    >>> InstanceF().of_rows(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.ones(2)).tolist()
    [1.0, 0.0]
    """

    beta: float = 1.0

    greater_is_better = True

    @property
    def name(self) -> str:
        """``instance_f`` with its beta."""
        return f"instance_f{self.beta:g}"

    def of_rows(self, right: Floats64, true: Floats64, given: Floats64) -> Floats64:
        """Return each row's F-measure."""
        return ratio((1.0 + self.beta**2) * right, self.beta**2 * true + given)


@dataclass(frozen=True)
class SubsetAccuracy(LabelRowMetric):
    """The share of rows that got all their labels and no other.

    Examples
    --------
    >>> import numpy as np
    >>> SubsetAccuracy().of_rows(np.ones(2), np.ones(2), np.array([1.0, 2.0])).tolist()
    [1.0, 0.0]
    """

    name = "subset_accuracy"
    greater_is_better = True

    def of_rows(self, right: Floats64, true: Floats64, given: Floats64) -> Floats64:
        """Return 1 where the sets are the same."""
        return np.asarray((right == true) & (right == given), dtype=np.float64)


@dataclass(frozen=True)
class SubsetError(LabelRowMetric):
    """The share of rows that got another set of labels than theirs.

    Examples
    --------
    >>> import numpy as np
    >>> SubsetError().of_rows(np.ones(2), np.ones(2), np.array([1.0, 2.0])).tolist()
    [0.0, 1.0]
    """

    name = "error"
    greater_is_better = False

    def of_rows(self, right: Floats64, true: Floats64, given: Floats64) -> Floats64:
        """Return 1 where the sets differ."""
        return np.asarray((right != true) | (right != given), dtype=np.float64)
