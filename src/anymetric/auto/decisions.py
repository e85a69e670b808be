"""Decisions: rules that turn scores into decisions, their few parameters tuned by a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.judges.base import Judge
from anymetric.auto.records import Assessment
from anymetric.data import Data, quantiles
from anymetric.losses import as_loss
from anymetric.metrics import MetricError
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, minimise

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Costs closer than this part of the largest are the same.
EQUAL = 1e-12
# Rounds over the groups, and by how many standard errors a threshold of its own must pay.
ROUNDS, PAYS = 3, 0.5
# Parts of tuned class offsets that are tried, and rows that they are tuned on at most.
PARTS, TUNED = (0.0, 0.5, 1.0), 8000
# Quantiles of the residuals by which predictions are moved; the gain that the first move must have,
# in standard errors or, where there are none, as a part of the cost.
QUANTILES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
LEANS, PLAINLY = 2.0, 0.1


class DecisionRule(Protocol):
    """Turns scores into decisions.

    A rule of your own has this one method: it tries what it wants by `judge.evaluate`, and returns
    the scores moved so that those above zero, or the highest of a row, are decided for.
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
        for best in np.argsort(costs[:, 0], kind="stable"):
            at = np.array([shifts[best]])
            if judge.thrifty:
                return Assessment(at, float(costs[best, 0]), np.zeros(0), scores + at)
            try:
                return replace(NoRule().assess(scores + at, judge), offsets=at)
            except MetricError:  # where nobody, or everybody, is flagged many a metric fails
                if 0 < np.count_nonzero(scores + at > 0.0) < len(scores):
                    raise
        raise MetricError("The metric failed at every threshold.")


@dataclass(frozen=True, eq=False)
class GroupThresholds:
    """A threshold for each group, where that pays beyond noise.

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
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> judge = CountsJudge.of(as_metric("error"), data, np.ones((4, 2)))
    >>> rule = GroupThresholds(["a", "b"], np.array([0, 0, 1, 1]))
    >>> rule.assess(np.array([[2.0], [1.0], [5.0], [4.0]]), judge).groups
    {'a': 0.0, 'b': -3.0}
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
        named = dict(zip(self.names, shifts.tolist(), strict=True))
        return replace(found, groups=named)

    def _moved(
        self, scores: Floats64, found: Assessment, shifts: Floats64, group: int, judge: Judge
    ) -> tuple[Assessment, float] | None:
        """Return the assessment and shift of a group that is better off; None if none pays."""
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
            try:
                new = judge.evaluate(here + levels[best] * own[:, np.newaxis])
            except MetricError:
                return None
        gain = found.resampled - new[1:]
        if not gain.mean() > PAYS * gain.std():
            return None
        there = here + levels[best] * own[:, np.newaxis]
        moved = replace(found, cost=float(new[0]), resampled=new[1:], scores=there)
        return moved, float(levels[best])


@dataclass(frozen=True, eq=False)
class ClassOffsets:
    """An offset for each class, or a threshold for each label.

    So many parameters fit noise: they are tuned without each fold of the rows in turn and judged
    on that fold. What is kept is their mean over the folds, or half of it, or nothing.

    Attributes
    ----------
    fold : array of shape (n,)
    y : array of shape (n,)
    exclusive : bool
        Whether the highest score decides.
    """

    fold: Ints
    y: Floats64
    exclusive: bool

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Tune on other folds, and take the part of the offsets that is best on average."""
        plain = NoRule().assess(scores, judge)
        if judge.thrifty or judge.left < 2 * judge.price:
            return plain
        tuned = self._out_of_fold(scores, judge)
        if tuned is None:
            return plain
        own, mean = tuned
        found = [plain]
        for part in PARTS[1:]:
            if np.any(own) and judge.left >= judge.price:
                one = NoRule().assess(scores + part * own, judge)
                found.append(replace(one, offsets=part * mean))
        return min(found, key=lambda one: one.mean)

    def _out_of_fold(self, scores: Floats64, judge: Judge) -> tuple[Floats64, Floats64] | None:
        """Return offsets for each row by the other folds, ``(n, C)``, and their mean ``(C,)``."""
        own, found = np.zeros_like(scores), []
        for k in range(int(self.fold.max()) + 1):
            others = evenly(self._others(k), self.y)
            part = judge.take(others)
            if part is None:
                return None
            offsets = tuned_offsets(part, scores[others])
            if self.exclusive:
                offsets = offsets - offsets.mean()
            own[self.fold == k] = offsets
            found.append(offsets)
        return own, np.mean(found, axis=0)

    def _others(self, k: int) -> Ints:
        """Return the rows outside a fold, and those inside whose class is not outside."""
        kept = self.fold != k
        if self.exclusive:
            kept |= ~np.isin(self.y, self.y[kept])
        return np.flatnonzero(kept)


@dataclass(frozen=True, eq=False)
class SigmoidCalibration:
    """Slope and offset that make scores log-odds, for metrics that read probabilities.

    A ridge makes scores small, and class weights move them. A function may have a cut of its own:
    where scores as they are cost less, they stay.

    Attributes
    ----------
    data : Data
        The validation rows.
    intercept : bool
    """

    data: Data
    intercept: bool = True

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Fit the line by a logistic regression on the scores."""
        plain = NoRule().assess(scores, judge)
        slope, offset = fitted_line(scores[:, 0], self.data.y, self.data.weights, "logistic")
        if not slope > 0.0 or judge.left < judge.price:
            return plain
        offset = offset if self.intercept else 0.0
        sized = NoRule().assess(slope * scores + offset, judge)
        sized = replace(sized, scale=slope, offsets=np.array([offset]))
        return sized if sized.mean <= plain.mean else plain


@dataclass(frozen=True, eq=False)
class Bias:
    """A constant added to predictions of numbers, where the metric leans to one side beyond noise.

    Attributes
    ----------
    data : Data
        The validation rows.
    """

    data: Data

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Try quantiles of the residuals."""
        plain = NoRule().assess(scores, judge)
        residuals = self.data.y - scores[:, 0]
        shifts = np.asarray(quantiles(residuals, QUANTILES, self.data.weights), dtype=np.float64)
        best = plain
        for shift in shifts[[1, -2]] if plain.cost > 0.0 else ():
            best = self._better(scores, float(shift), best, judge)
        if best is plain:
            return plain
        side = shifts[shifts * best.offsets[0] > 0.0]
        for shift in side:
            best = self._better(scores, float(shift), best, judge)
        return best

    def _better(self, scores: Floats64, shift: float, best: Assessment, judge: Judge) -> Assessment:
        if judge.left < judge.price:
            return best
        try:
            moved = replace(NoRule().assess(scores + shift, judge), offsets=np.array([shift]))
        except MetricError:  # off to one side it may have no answer
            return best
        first = best.offsets[0] == 0.0
        if len(moved.resampled) == 0:
            return moved if moved.cost < best.cost - first * PLAINLY * abs(best.cost) else best
        gain, error = moved.gain(best)
        return moved if gain > (LEANS * error if first else 0.0) else best


def tuned_offsets(judge: Judge, scores: Floats64, rounds: int = ROUNDS) -> Floats64:
    """Return the offsets ``(C,)`` that lower the cost on the rows, one class after another.

    Among equals the smallest change is made, and the search begins at the first of the starts.

    Examples
    --------
    >>> from anymetric.auto.judges.classes import ClassesJudge
    >>> from anymetric.metrics import ClassAccuracy, Classes
    >>> data = Data(np.zeros((3, 1)), np.array([0.0, 1.0, 2.0]))
    >>> judge = ClassesJudge.of(ClassAccuracy(), data, Classes("abc"), np.ones((3, 0)))
    >>> scores = np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> float(judge.evaluate(scores + tuned_offsets(judge, scores))[0])
    0.0
    """
    starts = judge.starts(scores.shape[1])
    costs = np.array([judge.evaluate(scores + one)[0] for one in starts])
    first = int(equals(costs)[0])
    offsets, cost = np.array(starts[first], dtype=np.float64), float(costs[first])
    for _ in range(rounds):
        before = cost
        for c in range(scores.shape[1]):
            shifts, there = judge.sweep(scores + offsets, c)
            if len(shifts) == 0:
                continue
            least = equals(there[:, 0])
            k = least[np.argmin(np.abs(shifts[least]))]
            if there[k, 0] < cost - EQUAL * abs(cost):
                offsets[c] += shifts[k]
                cost = float(there[k, 0])
        if before - cost <= 1e-3 * abs(before):
            break
    return offsets


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


def equals(costs: Floats64) -> Ints:
    """Return the places of the lowest cost, of all that rounding alone tells apart.

    Examples
    --------
    >>> equals(np.array([0.3, 0.1 + 0.2, 0.4])).tolist()
    [0, 1]
    """
    finite = costs[np.isfinite(costs)]
    rounding = EQUAL * float(np.abs(finite).max()) if len(finite) else 0.0
    return np.flatnonzero(costs <= costs.min() + rounding)


def evenly(rows: Ints, y: Floats64, most: int = TUNED) -> Ints:
    """Return no more than so many of the rows, the classes in the same shares.

    Examples
    --------
    >>> len(evenly(np.arange(20_000), np.zeros(20_000)))
    6667
    """
    step = -(-len(rows) // most)
    return rows if step == 1 else np.sort(rows[np.argsort(y[rows], kind="stable")][::step])


def fitted_line(scores: Floats64, y: Floats64, rows: Floats64, loss: str) -> tuple[float, float]:
    """Return slope and offset that bring scores to the scale of these rows' targets.

    Examples
    --------
    >>> x = np.arange(9.0)
    >>> slope, offset = fitted_line(x, 3.0 * x + 1.0, np.ones(9), "squared")
    >>> round(slope, 2), round(offset, 2)
    (3.0, 1.0)
    """
    data = Data(scores[:, np.newaxis], y)
    model = Linear.standardised(data.X, rows)
    weights, offset = model.raw(minimise(WeightedLoss(model, data, as_loss(loss), rows, 1e-4)))
    return float(weights[0]), float(offset)
