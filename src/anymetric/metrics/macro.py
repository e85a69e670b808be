"""Macro: the ready-made metrics of many classes, from their confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.confusion import ConfusionMetric, MarginMetric, mean_where
from anymetric.metrics.counts import ratio

Floats64 = NDArray[np.float64]
AVERAGES = ("macro", "micro", "weighted")


@dataclass(frozen=True)
class ClassAccuracy(MarginMetric):
    """Share of rows taken for their class.

    Examples
    --------
    >>> import numpy as np
    >>> float(ClassAccuracy().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])))
    0.75
    """

    name = "accuracy"
    greater_is_better = True

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the share of right rows."""
        return ratio(right.sum(axis=-1), true.sum(axis=-1))


@dataclass(frozen=True)
class ClassError(MarginMetric):
    """Share of rows taken for another class than theirs.

    Examples
    --------
    >>> import numpy as np
    >>> float(ClassError().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])))
    0.25
    """

    name = "error"
    greater_is_better = False

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the share of wrong rows."""
        total = true.sum(axis=-1)
        return ratio(total - right.sum(axis=-1), total)


@dataclass(frozen=True)
class MeanRecall(MarginMetric):
    """Balanced accuracy: the mean of the recalls of the classes that have rows.

    Examples
    --------
    >>> import numpy as np
    >>> float(MeanRecall().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])))
    0.75
    """

    name = "balanced_accuracy"
    greater_is_better = True

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the mean recall."""
        return mean_where(ratio(right, true), true > 0.0)


@dataclass(frozen=True)
class BalancedClassError(MarginMetric):
    """One minus the balanced accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> float(BalancedClassError().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])))
    0.25
    """

    name = "balanced_error"
    greater_is_better = False

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return one minus the mean recall."""
        return np.asarray(1.0 - mean_where(ratio(right, true), true > 0.0))


@dataclass(frozen=True)
class WorstClassRecall(MarginMetric):
    """The recall of the class where it is lowest, among those that have rows.

    Examples
    --------
    >>> import numpy as np
    >>> float(WorstClassRecall().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])))
    0.5
    """

    name = "worst_class_recall"
    greater_is_better = True

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the lowest recall."""
        return np.asarray(np.min(np.where(true > 0.0, ratio(right, true), 1.0), axis=-1))


@dataclass(frozen=True)
class RecallGMean(MarginMetric):
    """The geometric mean of the recalls of the classes that have rows.

    Examples
    --------
    >>> import numpy as np
    >>> float(RecallGMean().of_confusion(np.array([[1.0, 0.0], [3.0, 1.0]])))
    0.5
    """

    name = "gmean"
    greater_is_better = True

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the geometric mean."""
        values, there = ratio(right, true), true > 0.0
        some = np.all((values > 0.0) | ~there, axis=-1)
        logs = np.log(np.where(values > 0.0, values, 1.0))
        return np.asarray(np.where(some, np.exp(mean_where(logs, there)), 0.0))


@dataclass(frozen=True)
class ClassF(MarginMetric):
    """F-measure over classes: the mean of each class's own, or that of all decisions together.

    ``macro``: the plain mean over the classes that are there or decided for; ``weighted``: by
    their rows; ``micro``: of all together, which is the accuracy. As scikit-learn's `fbeta_score`.

    Parameters
    ----------
    average : {"macro", "micro", "weighted"}
    beta : float
        Recall counts this many times as much as precision.

    Examples
    --------
    >>> import numpy as np
    >>> ClassF("weighted").name
    'weighted_f1'
    >>> round(float(ClassF().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]]))), 3)
    0.733
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

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return ``(1 + b^2) TP / (b^2 true + decided)`` of each class, averaged."""
        return averaged_f(right, true, decided, self.average, self.beta)


@dataclass(frozen=True)
class ClassPrecision(MarginMetric):
    """The mean over classes of the share of right decisions for each.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(ClassPrecision().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]]))), 3)
    0.833
    """

    name = "macro_precision"
    greater_is_better = True

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the mean precision of the classes that are there or decided for."""
        return mean_where(ratio(right, decided), true + decided > 0.0)


@dataclass(frozen=True)
class CohenKappa(MarginMetric):
    """Agreement beyond chance: ``(accuracy - chance) / (1 - chance)``.

    Chance is the accuracy that the shares of classes and of decisions would have by themselves;
    where it is one, so that nothing is left to get right, kappa is 0.

    Examples
    --------
    >>> import numpy as np
    >>> float(CohenKappa().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])))
    0.5
    """

    name = "cohen_kappa"
    greater_is_better = True

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return kappa."""
        total = true.sum(axis=-1)
        chance = ratio(np.sum(true * decided, axis=-1), total**2)
        agreed = ratio(right.sum(axis=-1), total)
        return ratio(agreed - chance, np.where(chance < 1.0 - 1e-12, 1.0 - chance, 0.0))


@dataclass(frozen=True)
class ClassMatthews(MarginMetric):
    """Matthews' correlation of classes and decisions; 0 where either has one class only.

    Examples
    --------
    >>> import numpy as np
    >>> float(ClassMatthews().of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])).round(4))
    0.5774
    """

    name = "mcc"
    greater_is_better = True

    def of_margins(self, right: Floats64, true: Floats64, decided: Floats64) -> Floats64:
        """Return the correlation."""
        total, hits = true.sum(axis=-1), right.sum(axis=-1)
        top = hits * total - np.sum(true * decided, axis=-1)
        spread = [total**2 - np.sum(side**2, axis=-1) for side in (true, decided)]
        return ratio(top, np.sqrt(np.maximum(spread[0], 0.0)) * np.sqrt(np.maximum(spread[1], 0.0)))


@dataclass(frozen=True)
class CostMatrix(ConfusionMetric):
    """The mean cost of decisions: ``costs[i][j]`` for deciding j where i is true.

    Parameters
    ----------
    costs : sequence of C sequences of C numbers
        In the order of `classes_`: sorted, as scikit-learn has them.
    profit : bool
        The numbers are gains: greater is better.

    Examples
    --------
    >>> import numpy as np
    >>> metric = CostMatrix([[0, 1], [5, 0]])
    >>> float(metric.of_confusion(np.array([[2.0, 0.0], [1.0, 1.0]])))
    1.25
    """

    costs: Any
    profit: bool = False

    ceiling = 0.0

    def __post_init__(self) -> None:
        table = np.asarray(self.costs, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.all(np.isfinite(table)):
            raise ValueError(
                f"CostMatrix needs C rows of C finite numbers; got an array of shape {table.shape}."
            )
        object.__setattr__(self, "costs", tuple(map(tuple, table.tolist())))

    @property
    def name(self) -> str:
        """``cost_matrix`` or ``profit_matrix``."""
        return "profit_matrix" if self.profit else "cost_matrix"

    @property
    def greater_is_better(self) -> bool:
        """Whether the numbers are gains."""
        return self.profit

    def check(self, classes: int) -> None:
        """Raise if the matrix is of another size."""
        if len(self.costs) != classes:
            raise ValueError(
                f"The {self.name} has {len(self.costs)} rows, and y has {classes} classes: give "
                "one row and one column for each class, in sorted order."
            )

    def of_confusion(self, confusion: Floats64) -> Floats64:
        """Return the mean."""
        total = confusion.sum(axis=(-2, -1))
        return ratio(np.sum(confusion * np.asarray(self.costs), axis=(-2, -1)), total)


def averaged_f(
    right: Floats64, true: Floats64, decided: Floats64, average: str, beta: float
) -> Floats64:
    """Return the F-measure of classes or labels ``(..., C)``, averaged.

    Examples
    --------
    >>> import numpy as np
    >>> float(averaged_f(np.ones(2), np.ones(2), np.array([1.0, 3.0]), "macro", 1.0))
    0.75
    """
    if average == "micro":
        right, true, decided = (x.sum(axis=-1, keepdims=True) for x in (right, true, decided))
    each = ratio((1.0 + beta**2) * right, beta**2 * true + decided)
    if average == "weighted":
        return ratio(np.sum(each * true, axis=-1), true.sum(axis=-1))
    return mean_where(each, true + decided > 0.0) if average == "macro" else each[..., 0]
