"""Shapes: what functions of decisions usually are, to compare a function's answers with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.counts import ratio

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]


def f_beta(beta: float) -> Callable[..., Floats64]:
    """Return an F-measure of true positives, false positives, positives and negatives."""
    square = beta * beta
    return lambda tp, fp, p, n: ratio((1.0 + square) * tp, square * p + tp + fp)


def _mcc(tp: Floats64, fp: Floats64, p: Floats64, n: Floats64) -> Floats64:
    flagged = tp + fp
    return ratio(tp * n - fp * p, np.sqrt(p * n * flagged * (p + n - flagged)))


def _kappa(tp: Floats64, fp: Floats64, p: Floats64, n: Floats64) -> Floats64:
    flagged, rows = tp + fp, p + n
    return ratio(2.0 * (tp * n - fp * p), flagged * n + (rows - flagged) * p)


# Of true positives, false positives, positives and negatives.
RATES: dict[str, Callable[..., Floats64]] = {
    "F1": f_beta(1.0),
    "F2": f_beta(2.0),
    "F0.5": f_beta(0.5),
    "precision": lambda tp, fp, p, n: ratio(tp, tp + fp),
    "recall": lambda tp, fp, p, n: ratio(tp, p),
    "specificity": lambda tp, fp, p, n: ratio(n - fp, n),
    "accuracy": lambda tp, fp, p, n: ratio(tp + n - fp, p + n),
    "balanced accuracy": lambda tp, fp, p, n: 0.5 * (ratio(tp, p) + ratio(n - fp, n)),
    "G-mean": lambda tp, fp, p, n: np.sqrt(ratio(tp, p) * ratio(n - fp, n)),
    "Jaccard": lambda tp, fp, p, n: ratio(tp, p + fp),
    "MCC": _mcc,
    "kappa": _kappa,
    "flagged": lambda tp, fp, p, n: ratio(tp + fp, p + n),
}
# Of the values of all groups, ``(m, G)``.
OVER_GROUPS: dict[str, Callable[[Floats64], Floats64]] = {
    "mean": lambda values: np.asarray(values.mean(axis=1)),
    "worst": lambda values: np.asarray(values.min(axis=1)),
    "highest": lambda values: np.asarray(values.max(axis=1)),
    "gap": lambda values: np.asarray(np.ptp(values, axis=1)),
}


@dataclass(frozen=True, eq=False)
class Shapes:
    """The usual formulas in the counts of some cells.

    Attributes
    ----------
    positive : boolean array of shape (K,)
        Which cells are of the positive class.
    group : array of shape (K,)
        Of each cell.
    sizes : array of shape (K,)
        Rows in each cell.

    Examples
    --------
    >>> shapes = Shapes(np.array([False, True]), np.zeros(2, dtype=int), np.array([60.0, 40.0]))
    >>> shapes.names[0], shapes.value(np.array([[0.25, 0.75]]), 0)[0].round(3).item()
    ('F1', 0.706)
    """

    positive: NDArray[np.bool_]
    group: Ints
    sizes: Floats64

    @cached_property
    def names(self) -> list[str]:
        """What each formula is called."""
        grouped = [(over, name) for over in OVER_GROUPS for name in RATES]
        return [*RATES, *(f"{over} {name}" for over, name in grouped if self.group.max() > 0)]

    def value(self, shares: Floats64, place: int) -> Floats64:
        """Return one of the formulas, by its place, of shares flagged ``(m, K)``."""
        over, name = divmod(place, len(RATES))
        rate, flagged = RATES[list(RATES)[name]], shares * self.sizes
        if over == 0:
            return rate(*self._counts(flagged, None))
        groups = range(int(self.group.max()) + 1)
        by_group = np.stack([rate(*self._counts(flagged, g)) for g in groups], axis=1)
        return OVER_GROUPS[list(OVER_GROUPS)[over - 1]](by_group)

    def _counts(self, flagged: Floats64, group: int | None) -> tuple[Floats64, ...]:
        own = np.ones(len(self.group), dtype=bool) if group is None else self.group == group
        cells = own & self.positive, own & ~self.positive
        sums = [flagged[:, one].sum(axis=1) for one in cells]
        totals = [np.full(len(flagged), self.sizes[one].sum()) for one in cells]
        return (*sums, *totals)


def leave_one_out(design: Floats64, values: Floats64) -> float:
    """Return the leave-one-out error of a linear fit; infinite where it has no freedom.

    Examples
    --------
    >>> leave_one_out(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 1.0]))
    0.0
    """
    if len(design) < design.shape[1] + 2:
        return np.inf
    left, singular, _ = np.linalg.svd(design, full_matrices=False)
    left = left[:, singular > 1e-10 * singular[0]]
    missed = values - left @ (left.T @ values)
    freedom = 1.0 - np.sum(left**2, axis=1)
    return float(np.sqrt(np.mean((missed / np.maximum(freedom, 1e-6)) ** 2)))
