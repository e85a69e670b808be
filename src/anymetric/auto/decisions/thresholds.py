"""Thresholds: one for all rows, or one for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.judges.base import Judge
from anymetric.auto.records import Assessment
from anymetric.rules import GroupRule

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Costs closer than this part of the largest are the same.
EQUAL = 1e-12
# Rounds over the groups, and by how many standard errors a threshold of its own must pay.
ROUNDS, PAYS = 3, 0.5
# Thresholds that are tried where the best ones have no answer.
TRIED = 3


class DecisionRule(Protocol):
    """A decision rule.

    A rule of your own has this one method: it tries settings with `judge.evaluate`, and returns
    the scores moved so that those above zero, or the highest of a row, are decided for.

    Examples
    --------
    >>> rule: DecisionRule = NoRule()
    """

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Return what scores ``(n, C)`` cost at the best setting of the rule."""
        ...


@dataclass(frozen=True)
class NoRule:
    """Scores as they are: of orders, probabilities and numbers.

    Examples
    --------
    >>> from anymetric.auto.judges.counts import CountsJudge
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> judge = CountsJudge.of(as_metric("error"), data, np.ones((2, 1)))
    >>> NoRule().assess(np.array([[1.0], [1.0]]), judge).cost
    0.5
    """

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Evaluate."""
        costs = judge.evaluate(scores)
        return Assessment(np.zeros(scores.shape[1]), float(costs[0]), costs[1:], scores)


@dataclass(frozen=True)
class Threshold:
    """One threshold: the shift that is best on average over the resamples.

    Examples
    --------
    >>> from anymetric.auto.judges.counts import CountsJudge
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> judge = CountsJudge.of(as_metric("error"), data, np.ones((4, 2)))
    >>> found = Threshold().assess(np.array([[2.0], [1.0], [4.0], [0.0]]), judge)
    >>> found.offsets.tolist(), found.cost
    ([-1.5], 0.0)
    """

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Sweep all thresholds."""
        shifts, costs = judge.sweep(scores)
        if costs.shape[1] > 1:
            best = lowest(costs[:, 1:].mean(axis=1))
            at = np.array([shifts[best]])
            return Assessment(at, float(costs[best, 0]), costs[best, 1:], scores + at)
        order = np.argsort(costs[:, 0], kind="stable")
        at = shifts[order[:1]]
        found = Assessment(at, float(costs[order[0], 0]), np.zeros(0), scores + at)
        if judge.thrifty:
            return found
        for best in order[:TRIED]:  # many metrics fail where no row, or every row, is flagged
            at = shifts[[best]]
            found = replace(NoRule().assess(scores + at, judge), offsets=at)
            if np.isfinite(found.cost):
                break
        return found


@dataclass(frozen=True, eq=False)
class GroupThresholds:
    """A threshold for each group, where that improves beyond noise.

    Group after group is swept while the others stay.

    Attributes
    ----------
    names : sequence
        The groups.
    member : array of shape (n,)
        Each validation row's place among them.

    Examples
    --------
    >>> from anymetric.auto.judges.counts import CountsJudge
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> judge = CountsJudge.of(as_metric("error"), data, np.ones((4, 2)))
    >>> rule = GroupThresholds(["a", "b"], np.array([0, 0, 1, 1]))
    >>> rule.assess(np.array([[2.0], [1.0], [5.0], [4.0]]), judge).rule
    GroupRule(shifts={'a': 0.0, 'b': -3.0})
    """

    names: Sequence[Any]
    member: Ints

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Begin with the best common threshold."""
        found = Threshold().assess(scores, judge)
        shifts = np.zeros(len(self.names))
        for _ in range(ROUNDS if len(self.names) > 1 else 0):
            before = shifts.copy()
            for group in range(len(self.names)):
                moved = self._moved(scores, found, shifts, group, judge)
                if moved is not None:
                    found, shifts[group] = moved
            if np.array_equal(before, shifts):
                break
        found, shifts = self._together(scores, found, shifts, judge)
        named = dict(zip(self.names, shifts.tolist(), strict=True))
        return replace(found, rule=GroupRule(named))

    def _together(
        self, scores: Floats64, found: Assessment, shifts: Floats64, judge: Judge
    ) -> tuple[Assessment, Floats64]:
        """Return thresholds of all groups tuned at once, where one by one none improves."""
        here = scores + found.offsets
        swept = judge.sweep_groups(here, self.member, len(self.names))
        if swept is None or len(found.resampled) == 0:
            return found, shifts
        best = lowest(swept[1][:, 1:].mean(axis=1))
        new = swept[1][best]
        gain = found.resampled - new[1:]
        if not gain.mean() > PAYS * gain.std():
            return found, shifts
        there = here + swept[0][best][self.member][:, np.newaxis]
        moved = replace(found, cost=float(new[0]), resampled=new[1:], scores=there)
        return moved, swept[0][best]

    def _moved(
        self, scores: Floats64, found: Assessment, shifts: Floats64, group: int, judge: Judge
    ) -> tuple[Assessment, float] | None:
        """Return the assessment and shift of a group that improves; None if there is none."""
        own = self.member == group
        if not np.any(own) or judge.left < 2 * judge.price or len(found.resampled) == 0:
            return None
        here = scores + found.offsets + np.where(own, 0.0, shifts[self.member])[:, np.newaxis]
        levels, costs = judge.sweep(here, moving=own)
        if len(levels) == 0:
            return None
        if costs.shape[1] > 1:
            best = lowest(costs[:, 1:].mean(axis=1))
            new = costs[best]
        else:
            best = lowest(costs[:, 0])
            new = judge.evaluate(here + levels[best] * own[:, np.newaxis])
        if not np.isfinite(new[0]):
            return None
        gain = found.resampled - new[1:]
        if not gain.mean() > PAYS * gain.std():
            return None
        there = here + levels[best] * own[:, np.newaxis]
        moved = replace(found, cost=float(new[0]), resampled=new[1:], scores=there)
        return moved, float(levels[best])


def lowest(costs: Floats64) -> int:
    """Return where costs are lowest; of several neighbours that are, the middle one.

    A threshold in the midst of others as good is safer than one at their end.

    Examples
    --------
    >>> lowest(np.array([1.0, 0.0, 0.0, 0.0, 1.0])), lowest(np.array([2.0, 1.0]))
    (2, 1)
    """
    places = equals(costs)
    return int(places[len(places) // 2])


def sweep_optimism(costs: Floats64) -> float:
    """Return the optimism of the cost on the rows that the threshold was tuned on.

    By the bootstrap: thresholds are tuned on each resample, and evaluated on all rows.

    Parameters
    ----------
    costs : array of shape (t, 1 + B)
        At every threshold, on the rows and on each resample.

    Examples
    --------
    >>> sweep_optimism(np.array([[0.5, 0.0, 1.0], [0.5, 1.0, 0.0]]))
    0.5
    """
    best, resample = np.argmin(costs[:, 1:], axis=0), np.arange(costs.shape[1] - 1)
    return float(np.mean(costs[best, 0] - costs[best, 1 + resample]))


def equals(costs: Floats64) -> Ints:
    """Return the indices of the lowest cost, up to rounding.

    Examples
    --------
    >>> equals(np.array([0.3, 0.1 + 0.2, 0.4])).tolist()
    [0, 1]
    """
    finite = costs[np.isfinite(costs)]
    rounding = EQUAL * float(np.abs(finite).max()) if len(finite) else 0.0
    return np.flatnonzero(costs <= costs.min() + rounding)
