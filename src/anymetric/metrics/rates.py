"""Rates: the ready-made metrics of true and false positives and negatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.counts import CountMetric, Counts, ratio

BOTH = ("negatives", "positives")


@dataclass(frozen=True)
class ErrorRate(CountMetric):
    """Share of rows on the wrong side: ``(FP + FN) / total``.

    Examples
    --------
    >>> import numpy as np
    >>> float(ErrorRate().bind(np.array([1.0, 1.0, -1.0, -1.0])).values(np.ones(4)))
    0.5
    """

    name = "error"
    greater_is_better = False

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``(FP + FN) / total``."""
        return ratio(counts.fp + counts.fn, counts.total)


@dataclass(frozen=True)
class Accuracy(CountMetric):
    """Share of rows on the right side: ``(TP + TN) / total``.

    Examples
    --------
    >>> import numpy as np
    >>> float(Accuracy().bind(np.array([1.0, -1.0, -1.0, -1.0])).values(-np.ones(4)))
    0.75
    """

    name = "accuracy"
    greater_is_better = True

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``(TP + TN) / total``."""
        return ratio(counts.tp + counts.tn, counts.total)


@dataclass(frozen=True)
class BalancedError(CountMetric):
    """Mean error of the two classes: ``(FNR + FPR) / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> float(BalancedError().bind(np.array([1.0, -1.0, -1.0, -1.0])).values(-np.ones(4)))
    0.5
    """

    name = "balanced_error"
    greater_is_better = False
    requires = BOTH

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``(1 - TPR + FPR) / 2``."""
        return 0.5 * (1.0 - counts.recall + counts.fallout)


@dataclass(frozen=True)
class BalancedAccuracy(CountMetric):
    """Mean recall of the two classes: ``(TPR + TNR) / 2``.

    Examples
    --------
    >>> import numpy as np
    >>> float(BalancedAccuracy().bind(np.array([1.0, -1.0, -1.0])).values(np.array([1, 1, -1])))
    0.75
    """

    name = "balanced_accuracy"
    greater_is_better = True
    requires = BOTH

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``(TPR + TNR) / 2``."""
        return 0.5 * (1.0 + counts.recall - counts.fallout)


@dataclass(frozen=True)
class GMean(CountMetric):
    """Geometric mean of the two recalls: ``sqrt(TPR TNR)``.

    Its cost, ``1 - sqrt(TPR TNR)``, is what section 6.1 of the paper calls G-mean.

    Examples
    --------
    >>> import numpy as np
    >>> bound = GMean().bind(np.array([1.0, 1.0, -1.0, -1.0]))
    >>> float(bound.values(np.array([1, -1, 1, -1])))
    0.5
    """

    name = "gmean"
    greater_is_better = True
    requires = BOTH

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``sqrt(TPR TNR)``."""
        return np.sqrt(counts.recall * (1.0 - counts.fallout))


@dataclass(frozen=True)
class Matthews(CountMetric):
    """Matthews' correlation of labels and decisions; 0 where either has one class only.

    Formula: ``(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN))``.

    Examples
    --------
    >>> import numpy as np
    >>> bound = Matthews().bind(np.array([1.0, 1.0, -1.0, -1.0]))
    >>> float(bound.values(np.array([1, -1, -1, -1])).round(4))
    0.5774
    """

    name = "mcc"
    greater_is_better = True

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return the correlation."""
        tp, fp, fn, tn = counts.tp, counts.fp, counts.fn, counts.tn
        decided = np.sqrt(tp + fp) * np.sqrt(tn + fn)
        true = np.sqrt(tp + fn) * np.sqrt(tn + fp)
        return ratio(tp * tn - fp * fn, decided * true)


@dataclass(frozen=True)
class Precision(CountMetric):
    """Share of positives among the rows flagged: ``TP / (TP + FP)``; 0 if none is flagged.

    Examples
    --------
    >>> import numpy as np
    >>> float(Precision().bind(np.array([1.0, 1.0, -1.0])).values(np.array([1, -1, 1])))
    0.5
    """

    name = "precision"
    greater_is_better = True

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``TP / (TP + FP)``."""
        return ratio(counts.tp, counts.tp + counts.fp)


@dataclass(frozen=True)
class Recall(CountMetric):
    """Share of the positives that are flagged: ``TP / (TP + FN)``.

    Examples
    --------
    >>> import numpy as np
    >>> float(Recall().bind(np.array([1.0, 1.0, -1.0])).values(np.array([1, -1, 1])))
    0.5
    """

    name = "recall"
    greater_is_better = True
    requires = ("positives",)

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``TP / (TP + FN)``."""
        return counts.recall


@dataclass(frozen=True)
class FBeta(CountMetric):
    """F-measure, recall counting `beta` times as much as precision; 0 where it is 0/0.

    ``(1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP)``.

    Parameters
    ----------
    beta : float
        From zero up; at zero it is the precision.

    Examples
    --------
    >>> import numpy as np
    >>> FBeta(2.0).name
    'f2'
    >>> float(FBeta().bind(np.array([1.0, 1.0, -1.0])).values(np.array([1, -1, 1])))
    0.5
    """

    beta: float = 1.0

    greater_is_better = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.beta < np.inf:
            raise ValueError(f"beta must be a number from zero up; got {self.beta}.")

    @property
    def name(self) -> str:
        """``f1``, ``f2``, ``f0.5``..."""
        return f"f{self.beta:g}"

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return the F-measure."""
        square = self.beta**2
        hits = (1.0 + square) * counts.tp
        return ratio(hits, hits + square * counts.fn + counts.fp)
