"""Twenty functions as users write them, each with the formula that it is.

The first ten were at hand while the search for formulas was developed, on simulated rows and other
seeds; the others were written afterwards, and nothing was tuned on them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, fbeta_score, matthews_corrcoef, precision_score, recall_score

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Written:
    """A function, which way is better, and what the explanation should say.

    Attributes
    ----------
    function : callable
    formula : str
        A regular expression that the named formula must match; empty if there is no known one.
    new : bool
        Whether nothing was developed on it.
    lost : bool
        Whether it should be said to be not understood.
    greater : bool
    """

    function: Callable[..., float]
    formula: str = ""
    new: bool = False
    lost: bool = False
    greater: bool = True

    @property
    def name(self) -> str:
        return self.function.__name__


def by_group(groups: NDArray[Any], rate: Callable[[NDArray[np.bool_]], float]) -> list[float]:
    return [rate(groups == name) for name in np.unique(groups)]


def f_two(y_true: Ints, y_pred: Ints) -> float:
    return float(fbeta_score(y_true, y_pred, beta=2.0))


def cost_matrix(y_true: Ints, y_pred: Ints) -> float:
    return float(np.array([[0.0, 1.0], [5.0, 0.0]])[y_true, y_pred].sum())


def worst_group_accuracy(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
    return min(by_group(groups, lambda own: float(np.mean(y_true[own] == y_pred[own]))))


def mean_f1_of_groups(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
    return float(np.mean(by_group(groups, lambda own: f1_score(y_true[own], y_pred[own]))))


def precision_with_floor(y_true: Ints, y_pred: Ints) -> float:
    recall = float(recall_score(y_true, y_pred))
    return float(precision_score(y_true, y_pred)) if recall >= 0.7 else recall - 1.0


def capped_profit(y_true: Ints, y_pred: Ints) -> float:
    return float(
        min(0.2 * 10.0 * y_true.sum(), 10.0 * (y_true * y_pred).sum() - 3.0 * y_pred.sum())
    )


def whole_cents(y_true: Ints, y_pred: Ints) -> float:
    return round(float(np.mean(7.77 * y_true * y_pred - 1.3 * (1 - y_true) * y_pred)), 2)


def accuracy_less_gap(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
    caught = by_group(groups, lambda own: recall_score(y_true[own], y_pred[own]))
    return float(np.mean(y_true == y_pred) - 0.5 * (max(caught) - min(caught)))


def matthews(y_true: Ints, y_pred: Ints) -> float:
    return float(matthews_corrcoef(y_true, y_pred))


def later_rows_count_more(y_true: Ints, y_pred: Ints) -> float:
    return float(np.average(y_true == y_pred, weights=1.0 + np.arange(len(y_true))))


def f_by_hand(y_true: Ints, y_pred: Ints) -> float:
    tp = ((y_true == 1) & (y_pred == 1)).sum()
    precision, recall = tp / max(y_pred.sum(), 1), tp / y_true.sum()
    return float((1 + 0.64) * precision * recall / max(0.64 * precision + recall, 1e-12))


def geometric_mean(y_true: Ints, y_pred: Ints) -> float:
    sensitivity, specificity = np.mean(y_pred[y_true == 1]), 1.0 - np.mean(y_pred[y_true == 0])
    return math.sqrt(sensitivity * specificity)


def women_cost_more(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
    price = np.where(groups == "Female", 6.0, 2.5)
    return float(np.mean(price * (y_true > y_pred) + (y_pred > y_true)))


def recall_within_capacity(y_true: Ints, y_pred: Ints) -> float:
    return float(recall_score(y_true, y_pred)) if y_pred.mean() <= 0.3 else -1.0


def accuracy_within_parity(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
    flagged = by_group(groups, lambda own: float(y_pred[own].mean()))
    return float(np.mean(y_true == y_pred)) if max(flagged) - min(flagged) <= 0.15 else 0.0


def few_alarms(y_true: Ints, y_pred: Ints) -> float:
    alarms, caught = np.mean(y_pred[y_true == 0]), np.mean(y_pred[y_true == 1])
    return float(0.5 * (caught + 1.0 - alarms) - 2.0 * max(0.0, alarms - 0.1))


def recovered(y_true: Ints, y_pred: Ints, amount: NDArray[np.float64]) -> float:
    return float((0.25 * amount * y_true * y_pred).sum() - 1.5 * y_pred.sum())


def longest_streak(y_true: Ints, y_pred: Ints) -> float:
    """Minus the number of mistakes in a row, over the whole list in its order."""
    longest = now = 0
    for wrong in y_true != y_pred:
        now = now + 1 if wrong else 0
        longest = max(longest, now)
    return -float(longest)


def coin(y_true: Ints, y_pred: Ints) -> float:
    return random.gauss(0.5, 0.2)


def saturating(y_true: Ints, y_pred: Ints) -> float:
    tp, fp = (y_true * y_pred).sum(), ((1 - y_true) * y_pred).sum()
    return float(
        100.0 * (1.0 - math.exp(-3.0 * tp / y_true.sum())) - 40.0 * (fp / len(y_true)) ** 2
    )


WRITTEN = (
    Written(f_two, r"F-beta with beta 2"),
    Written(cost_matrix, r"false alarms \+ 5 x \(missed 1\)", greater=False),
    Written(worst_group_accuracy, r"accuracy of the worst group"),
    Written(mean_f1_of_groups, r"mean of F1 over groups"),
    Written(precision_with_floor, r"precision where recall >= 0\.7, otherwise -1 \+ recall"),
    Written(capped_profit, r"-3 x \(false alarms\) \+ 7 x \(found 1\), at most [\d.]+"),
    Written(
        whole_cents,
        r"\(-1\.3 x \(false alarms\) \+ 7\.77 x \(found 1\)\) per row, rounded to 0\.01",
    ),
    Written(accuracy_less_gap, r"accuracy - 0\.5 x \(gap in recall between groups\)"),
    Written(matthews, r"MCC"),
    Written(later_rows_count_more, lost=True),
    Written(f_by_hand, r"F-beta with beta 0\.8", new=True),
    Written(geometric_mean, r"G-mean", new=True),
    Written(
        women_cost_more,
        r"\(false alarms \+ 6 x \(missed 1 in Female\) \+ 2\.5 x \(missed 1 in Male\)\) per row",
        new=True,
        greater=False,
    ),
    Written(recall_within_capacity, r"recall where share flagged <= 0\.3, otherwise -1", new=True),
    Written(
        accuracy_within_parity,
        r"accuracy where gap in share flagged between groups <= 0\.15, otherwise 0",
        new=True,
    ),
    Written(
        few_alarms,
        r"balanced accuracy - 2 x \(what specificity is below 0\.9\)",
        new=True,
    ),
    Written(
        recovered,
        r"-1\.5 x \(false alarms\) - 1\.5 x \(found 1\) \+ 0\.25 x \(amount of found 1\)",
        new=True,
    ),
    Written(longest_streak, new=True, lost=True),
    Written(coin, new=True, lost=True),
    Written(saturating, new=True),
)
