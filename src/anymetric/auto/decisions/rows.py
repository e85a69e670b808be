"""Rows: a break-even threshold for every row, from its gains and calibrated log-odds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.decisions.scores import fitted_line
from anymetric.auto.decisions.thresholds import DecisionRule, Threshold, lowest, sweep_optimism
from anymetric.auto.judges.base import Judge
from anymetric.auto.records import Assessment
from anymetric.data import Data
from anymetric.metrics import GainMetric
from anymetric.rules import RowRule

Floats64 = NDArray[np.float64]
# By how many standard errors another scale of the break-even must pay, optimism left aside.
PAYS = 1.0
# Shifts in log-odds over which the cost of a candidate is averaged where it is compared.
NEARBY = tuple(np.linspace(-0.5, 0.5, 5))


@dataclass(frozen=True, eq=False)
class RowThresholds:
    """Flag a row where its expected gain is above zero, by calibrated probabilities.

    The scale of all break-evens is moved from one only where that pays beyond noise.

    Attributes
    ----------
    data : Data
        The validation rows.
    gains : GainMetric
    optional : bool
        Whether one threshold decides where the columns of gains are not given to `predict`.

    Examples
    --------
    >>> from anymetric.auto.judges.counts import CountsJudge
    >>> from anymetric.metrics import Profit
    >>> rng = np.random.default_rng(0)
    >>> score, amount = rng.normal(size=400), np.where(np.arange(400) % 2, 9.0, 1.0)
    >>> y = np.where(rng.logistic(size=400) < score, 1.0, -1.0)
    >>> rows = Data(score[:, np.newaxis], y, side={"amount": amount})
    >>> metric = Profit(tp="amount", flag_cost=0.9)
    >>> judge = CountsJudge.of(metric, rows, rng.poisson(1.0, (400, 20)).astype(float))
    >>> found = RowThresholds(rows, metric).assess(score[:, np.newaxis], judge)
    >>> found.rule
    RowRule(Profit(tp='amount', flag_cost=0.9), scale=1)
    """

    data: Data
    gains: GainMetric
    optional: bool = False

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Calibrate, and sweep the scale."""
        y, weights = self.data.y, self.data.weights
        slope, offset = fitted_line(scores[:, 0], y, weights, "logistic")
        slope = max(slope, np.finfo(np.float64).eps)
        odds = slope * scores[:, :1] + offset
        otherwise = None
        if self.optional:
            otherwise = -float(Threshold().assess(odds, judge).offsets[0])
        rule = RowRule(self.gains, otherwise=otherwise)
        moved = rule.moved(odds[:, 0], self.data.side)[:, np.newaxis]
        plain = judge.evaluate(moved)
        shifts, costs = judge.sweep(moved)
        best = lowest(costs[:, 1:].mean(axis=1))
        gain = plain[1:] - costs[best, 1:]
        if gain.mean() > sweep_optimism(costs) + PAYS * gain.std():
            rule = replace(rule, scale=float(np.exp(-shifts[best])))
            plain, moved = costs[best], moved + shifts[best]
        nearby = np.mean([judge.evaluate(moved + shift)[1:] for shift in NEARBY], axis=0)
        found = float(plain[0]), plain[1:], moved
        return Assessment(np.array([offset]), *found, scale=slope, rule=rule, nearby=nearby)


@dataclass(frozen=True)
class Competing:
    """Several rules: every candidate is assessed by each, and the answer has one of them.

    Examples
    --------
    >>> from anymetric.auto.decisions.thresholds import NoRule, Threshold
    >>> from anymetric.auto.judges.counts import CountsJudge
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> judge = CountsJudge.of(as_metric("error"), data, np.ones((2, 1)))
    >>> Competing((NoRule(), Threshold())).assess(np.array([[2.0], [1.0]]), judge).cost
    0.0
    """

    rules: tuple[DecisionRule, ...]

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Return the assessment of the lowest mean cost, the first of equals."""
        return min((rule.assess(scores, judge) for rule in self.rules), key=lambda one: one.mean)
