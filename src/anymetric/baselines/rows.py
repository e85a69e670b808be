"""Row rules: a plain model, every row decided by its own costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines.boosted import LightGBMThreshold
from anymetric.baselines.logistic import TunedThreshold
from anymetric.metrics import GainMetric, Limited, Metric
from anymetric.problem import Problem
from anymetric.rules import RowRule
from anymetric.solution import Solution

Floats = NDArray[np.float64]


class ByRow:
    """What flags a row where that is expected to pay, with one tuned factor of the break-even."""

    coef_: Any
    intercept_: Any
    shift_: float
    decision_rule_: Any

    def _moved(self, problem: Problem, scores: Floats) -> Floats:
        return RowRule(gains_of(problem.metric)).moved(scores, problem.valid.side)

    def _unpack(self, problem: Problem, solution: Solution) -> None:
        super()._unpack(problem, solution)  # type: ignore[misc]
        shift = float(solution.summary.chosen.get("shift", 0.0))
        if hasattr(self, "coef_"):
            self.intercept_ = self.intercept_ - shift
        else:
            self.shift_ = 0.0
        self.decision_rule_ = RowRule(gains_of(problem.metric), float(np.exp(-shift)))


class RowRuleLogistic(ByRow, TunedThreshold):
    """Logistic regression; a row is flagged where its probability beats its own break-even.

    For metrics of gains by row, such as `Profit`: ``p * gain > cost``, with one factor of the
    break-even odds tuned on the validation rows.

    Parameters
    ----------
    metric : GainMetric
    C, n_splits, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `TunedThreshold`.

    Attributes
    ----------
    decision_rule_ : RowRule

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from anymetric.metrics import Profit
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> side = {"amount": np.random.default_rng(0).exponential(20.0, 500)}
    >>> clf = RowRuleLogistic(Profit(tp="amount", flag_cost=3.0), n_splits=5, random_state=0)
    >>> clf.fit(X, y, side=side).score(X, y, side=side) > 0.0
    True
    """


class RowRuleLightGBM(ByRow, LightGBMThreshold):
    """LightGBM; a row is flagged where its probability beats its own break-even.

    Parameters
    ----------
    metric : GainMetric
    trees, learning_rate, leaves, patience, n_splits, n_jobs, greater_is_better, \
validation_fraction, max_metric_calls, random_state
        As in `LightGBMThreshold`.

    Examples
    --------
    >>> from anymetric.metrics import Profit
    >>> RowRuleLightGBM(Profit(tp="amount"), n_splits=5).trees
    1000
    """


def gains_of(metric: Metric) -> GainMetric:
    """Return the gains by row that a metric is made of.

    Examples
    --------
    >>> from anymetric.metrics import Accuracy
    >>> gains_of(Accuracy())
    Traceback (most recent call last):
    ...
    TypeError: A rule by row needs a metric of gains by row, such as Profit; got Accuracy().
    """
    found: Any = metric.of if isinstance(metric, Limited) else metric
    if not isinstance(found, GainMetric):
        raise TypeError(
            f"A rule by row needs a metric of gains by row, such as Profit; got {metric!r}."
        )
    return found
