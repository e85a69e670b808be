"""Sequence: thresholds in the order in which they are tested, from training rows alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from anymetric.metrics import Rows

Floats64 = NDArray[np.float64]
# Ends of the scores where a calibrated probability shows how often labels are wrong.
ENDS = 0.05


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows, and the scores that a model which did not see them gives them.

    Examples
    --------
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2))
    >>> Scored(rows, np.array([0.3, 0.1])).above(0.2).tolist()
    [True, False]
    """

    rows: Rows
    scores: Floats64

    def above(self, threshold: float) -> NDArray[np.bool_]:
        """Return which rows are flagged."""
        return np.asarray(self.scores > threshold)


def thresholds(scores: Floats64, most: int = 100) -> Floats64:
    """Return thresholds that flag ever more rows, in even steps of the share flagged.

    Examples
    --------
    >>> thresholds(np.arange(10.0), 4).tolist()
    [6.75, 4.5, 2.25, -1.0]
    """
    shares = np.arange(1, most + 1) / most
    levels = np.quantile(scores, 1.0 - shares)
    levels[-1] = scores.min() - 1.0
    return np.unique(levels)[::-1]


def walk(safety: Floats64, use: Floats64) -> list[int]:
    """Return the places from the safest to the most useful, one after the other.

    Examples
    --------
    >>> walk(np.array([0.1, 0.9, 0.2, 0.0]), np.array([0.0, 0.1, 0.2, 0.3]))
    [1, 2, 3]
    """
    start, end = int(np.argmax(safety)), int(np.argmax(use))
    step = 1 if end >= start else -1
    return list(range(start, end + step, step))


def fixed_sequence(order: Sequence[int], passes: Callable[[int], bool]) -> list[int]:
    """Return the hypotheses rejected: one after the other, until the first that is not.

    Each is tested at the whole risk, and yet the chance of any false rejection is at most that:
    the first true one of the order must be rejected for there to be one.

    Examples
    --------
    >>> fixed_sequence([3, 1, 2], lambda k: k != 2)
    [3, 1]
    """
    passed: list[int] = []
    for k in order:
        if not passes(k):
            break
        passed.append(k)
    return passed


def denoised(sample: Scored) -> Scored:
    """Return the rows with labels as they would be, if those at either end of the scores were pure.

    Label noise biases every rate, and a bound that holds on clean rows may seem out of
    reach everywhere. The share of wrong labels shows at the ends of the scores, where calibrated
    probabilities level off short of zero and one; labels are redrawn from probabilities that
    are stretched to reach them. This is used to order thresholds, never to certify.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=4000) * 3.0
    >>> noisy = np.where(rng.random(4000) < 0.3, -np.sign(scores), np.sign(scores))
    >>> clean = denoised(Scored(Rows(noisy, np.ones(4000)), scores)).rows.y
    >>> bool(np.mean(clean == np.sign(scores)) > 0.93)
    True
    """
    order = np.argsort(sample.scores)
    chance = np.empty(len(order))
    chance[order] = isotonic_regression(sample.rows.positive[order].astype(np.float64))
    few = max(1, int(ENDS * len(order)))
    positive = sample.rows.positive[order]
    low, high = positive[:few].mean(), positive[-few:].mean()
    pure = np.clip((chance - low) / max(high - low, 1e-9), 0.0, 1.0)
    drawn = np.random.default_rng(0).random(len(order)) < pure
    return replace(sample, rows=replace(sample.rows, y=np.where(drawn, 1.0, -1.0)))
