"""Gains: what fixing or dropping suspect rows is worth, in the user's metric on the clean rows.

A line is trained on the noisy rows as they are, with the labels of some rows replaced by what they
probably were, and with these rows weighted by the probability that they are right. The metric of
each on the clean rows, which trained none of them, at its best threshold, gives the gain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.metrics import Metric
from anymetric.problem import Problem
from anymetric.suspects.models import SoftLinear

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
# Thresholds that are tried, of a ready-made metric and of a function that is called for each.
THRESHOLDS, CALLED = 33, 9
# Bootstrap resamples of the clean rows behind a standard error.
RESAMPLES = 40


@dataclass(frozen=True)
class Gain:
    """By how much the metric would improve, and the standard error of that.

    Examples
    --------
    >>> Gain(0.02, 0.005)
    Gain(fix=0.02, drop=0.005, fix_error=nan, drop_error=nan)
    """

    fix: float
    drop: float
    fix_error: float = float("nan")
    drop_error: float = float("nan")


NO_GAIN = Gain(0.0, 0.0, 0.0, 0.0)
UNKNOWN = Gain(float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class Trial:
    """Trains lines with some rows fixed or dropped, and evaluates them on the clean rows.

    Attributes
    ----------
    model : SoftLinear
        Of all rows, noisy ones first.
    label : array of shape (n,)
    true : array of shape (n, C)
        Probabilities of the true class.
    keep : array of shape (n,)
        Probability that a row is right, in label and features.
    weights : array of shape (n,)
    cost : callable
        ``scores (m, C), rows -> cost`` of the metric on some of the clean rows.
    resamples : list of index arrays
        The first has all clean rows.
    """

    model: SoftLinear
    label: Ints
    true: Floats64
    keep: Floats64
    weights: Floats64
    cost: Callable[[Floats64, Ints], float]
    resamples: list[Ints]

    @cached_property
    def plain(self) -> Floats64:
        """Costs with all rows as they are, on each resample."""
        return self._costs(np.eye(self.true.shape[1])[self.label], self.weights)

    def gain(self, some: Bools) -> Gain:
        """Return what fixing and dropping some of the rows gains."""
        sharp = np.eye(self.true.shape[1])[self.label]
        before = self.plain
        fixed = self._costs(np.where(some[:, np.newaxis], self.true, sharp), self.weights)
        dropped = self._costs(sharp, self.weights * np.where(some, self.keep, 1.0))
        found = [before - after for after in (fixed, dropped)]
        errors = [float(one[1:].std()) if len(one) > 2 else float("nan") for one in found]
        return Gain(float(found[0][0]), float(found[1][0]), *errors)

    def _costs(self, targets: Floats64, weights: Floats64) -> Floats64:
        n, m = len(targets), self.model.X.shape[0] - len(targets)
        padded = np.vstack([targets, np.zeros((m, targets.shape[1]))])
        scores = self.model.fit(padded, np.append(weights, np.zeros(m)))[n:]
        return np.array([self.cost(scores, rows) for rows in self.resamples])


def cost_of(metric: Metric, problem: Problem) -> Callable[[Floats64, Ints], float]:
    """Return the cost of scores on some of the validation rows, at the best threshold.

    Parameters
    ----------
    metric : Metric
    problem : Problem
        Its validation rows are the clean rows.
    """
    valid: Data = problem.valid
    tried = CALLED if metric.black_box else THRESHOLDS

    def cost(scores: Floats64, rows: Ints) -> float:
        some = valid.take(rows)
        bound = metric.bind(
            some.y, weights=some.weights, side=some.side, labels=problem.labels, X=some.X
        )
        if scores.shape[1] > 2:
            return float(np.ravel(bound.costs(scores[rows]))[0])
        one = scores[rows, 1]
        if not metric.decides:
            return float(np.ravel(bound.costs(one))[0])
        cuts = np.quantile(one, np.linspace(0.02, 0.98, tried))
        return float(np.nanmin(bound.costs(one[:, np.newaxis] - cuts)))

    return cost


def resampled(m: int, rng: np.random.Generator, called: bool) -> list[Ints]:
    """Return all rows, then bootstrap resamples of them; none for a metric that is called.

    Examples
    --------
    >>> [len(rows) for rows in resampled(5, np.random.default_rng(0), called=True)]
    [5]
    """
    drawn = 0 if called else RESAMPLES
    return [np.arange(m), *(rng.integers(0, m, size=m) for _ in range(drawn))]
