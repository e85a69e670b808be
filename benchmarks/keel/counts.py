"""Counts: metrics as functions of true and false alarms, and the threshold that is best for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[Any]


def f1(hits: Floats, false: Floats, positives: float, negatives: float) -> Floats:
    """``2 TP / (2 TP + FP + FN)``."""
    return 2.0 * hits / (hits + false + positives)


def gmean(hits: Floats, false: Floats, positives: float, negatives: float) -> Floats:
    """``sqrt(TPR TNR)``."""
    return np.sqrt(hits / positives * (1.0 - false / negatives))


def mcc(hits: Floats, false: Floats, positives: float, negatives: float) -> Floats:
    """``(TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN))``; 0 for one class."""
    flagged = hits + false
    rest = positives + negatives - flagged
    above = hits * (negatives - false) - false * (positives - hits)
    below = np.sqrt(flagged * rest * positives * negatives)
    return above / np.where(below == 0.0, 1.0, below)


METRICS: dict[str, Callable[..., Floats]] = {"f1": f1, "gmean": gmean, "mcc": mcc}


def value(metric: str, y: Labels, flagged: Labels) -> float:
    """Return the metric of labels or marks that say which rows are flagged.

    >>> value("f1", np.array([1, 1, 0, 0]), np.array([True, False, True, False]))
    0.5
    """
    hits, false = (np.sum((flagged == 1) & (y == label)) for label in (1, 0))
    return float(METRICS[metric](hits, false, np.sum(y == 1), np.sum(y == 0)))


def threshold(metric: str, y: Labels, scores: Floats) -> float:
    """Return the score from which rows are flagged: the best, halfway to the next score below.

    >>> threshold("f1", np.array([1, 0, 1, 0]), np.array([0.9, 0.2, 0.6, 0.1]))
    0.4
    """
    order = np.argsort(-scores, kind="stable")
    ranked, labels = scores[order], y[order]
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(y) - 1)
    hits, false = np.cumsum(labels)[ends], np.cumsum(1 - labels)[ends]
    values = METRICS[metric](hits, false, hits[-1], false[-1])
    best = ends[int(np.argmax(values))]
    below = ranked[min(best + 1, len(y) - 1)]
    return float((ranked[best] + below) / 2.0)
