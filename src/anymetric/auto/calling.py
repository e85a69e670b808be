"""Calling: a jury for metrics that must be called for every threshold and every replicate."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged
from anymetric.auto.jury import (
    WORTH,
    Drawn,
    Judgement,
    bind_replicate,
    leaps,
    telling_draws,
)
from anymetric.data import quantiles
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.metrics import BoundMetric, MetricError

Floats64 = NDArray[np.float64]
# With so many thresholds or more, some are kept for a closer look around the best.
REFINED = 12
# Where calls are few: thresholds relative to the best share flagged so far, how many candidates
# come before the replicates, and the part of all calls that is kept for them.
BESIDE, HEARD, KEPT = (0.8, 1.0, 1.25), 4, 0.45
# Flagging nobody or everybody is asked about where so many calls are left.
ENDS = 50
# Around a share of flagged rows, multiples of it that are asked about.
ABOUT = (0.5, 0.65, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
# Quantiles of the residuals by which predictions are moved, to see whether a metric leans to one
# side; if it does, all of them and some beside the best. It leans if that gains so many errors, or
# where there are none so much of the cost.
SIDES, LEVELS, BETWEEN = (0.1, 0.3, 0.7, 0.9), (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5), 4
LEANS, PLAINLY = 2.0, 0.1


@dataclass(eq=False)
class CallingJury:
    """A jury for any metric: one call for every score vector, threshold and replicate.

    Parameters
    ----------
    ledger : Ledger
    replicates : list of (rows, bound metric)
    thresholds : int
    brief : bool
        Calls are few: candidates are looked at near the share of flagged rows that was best so
        far, without replicates, until the best of them are heard.
    moves : bool
        Whether thresholds may be moved.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> data = Data(np.array([[1.0], [2.0], [0.0]]), np.array([1.0, 1.0, -1.0]))
    >>> ledger = Ledger(Problem(data, "logistic", as_metric("roc_auc")))
    >>> CallingJury.build(ledger, np.ones((3, 2))).judge(np.array([1.0, 2.0, 0.0])).cost
    0.0
    """

    ledger: Ledger
    replicates: list[Drawn]
    thresholds: int = 24
    brief: bool = False
    moves: bool = True
    shares: list[tuple[float, float]] = field(default_factory=list)
    varied: bool = False  # whether thresholds of one candidate have had different costs
    ends: list[tuple[float, bool]] | None = None  # costs of flagging nobody, and everybody
    leans: bool = False  # whether predictions of numbers should lie to one side
    upright: bool = False  # whether the metric had no answer there

    @property
    def left(self) -> float:
        """How many more calls there are."""
        return self.ledger.left

    @property
    def price(self) -> int:
        """One call for the rows, one for each replicate."""
        return 1 + len(self.replicates)

    @classmethod
    def build(
        cls, ledger: Ledger, weights: Floats64, thresholds: int = 24, brief: bool = False
    ) -> CallingJury:
        """Bind the metric to each replicate: by weights, or by rows where it takes none."""
        problem = ledger.problem
        metric, valid, labels = problem.metric, problem.valid, problem.labels
        pairs = [bind_replicate(metric, valid, w, labels) for w in weights.T]
        return cls(ledger, telling_draws(pairs, valid, labels), thresholds, brief)

    def varies(self, scores: Floats64) -> bool:
        """Return whether some threshold of any scores so far changed the cost."""
        return self.varied

    def tune(self, scores: Floats64) -> Judgement:
        """Look at evenly spaced thresholds, then closer around the best."""
        self._keep_some()
        if not self.movable:
            told = self._told(0.0, scores, None)
            if not self.leans and all(told.cost < cost for cost, _ in self.shares):
                self.leans = self._leaning(scores, told)
            if self.leans:
                told = self._leant(scores, told)
            self.shares.append((told.cost, 1.0))
            return told
        shifts = self._near(scores) if self.shares and self.brief else self._shifts(scores)
        costs = self._costs(scores, shifts)
        best = self._lowest(scores, shifts, costs)
        shift, cost = float(shifts[best]), float(costs[best])
        if self.thresholds >= REFINED:
            beside = shifts[max(best - 1, 0)], shifts[min(best + 1, len(shifts) - 1)]
            closer = np.append(np.linspace(*beside, 10)[1:-1], shift)
            shift = float(closer[self._lowest(scores, closer, self._costs(scores, closer))])
        self.shares.append((cost, float(np.mean(scores + shift > 0.0))))
        told = self._told(shift, scores, cost)
        return self._end(scores, told) or told

    def _leaning(self, scores: Floats64, told: Judgement) -> bool:
        """Return whether predictions should lie above or below the targets, beyond all noise."""
        problem = self.ledger.problem
        free = problem.labels is None and getattr(problem.model, "intercept", True)
        if not free or self.upright or self.ledger.left < len(SIDES) + self.price:
            return False
        try:
            moved = self._moved(scores, self._residuals(scores, np.array(SIDES)), told)
        except MetricError:  # off to one side it has no answer
            self.upright = True
            return False
        if moved is None or not moved.cost < told.cost:
            return False
        if not told.replicates.size:
            return told.cost - moved.cost > PLAINLY * abs(told.cost)
        gain = told.replicates - moved.replicates
        return float(gain.mean()) > LEANS * float(gain.std())

    def _leant(self, scores: Floats64, told: Judgement) -> Judgement:
        """Return the verdict at the best move of the predictions, where a metric leans."""
        levels = np.array([*LEVELS, *(1.0 - np.array(LEVELS[-2::-1]))])
        levels = thinned(levels, max(self.ledger.left / 4, 2.0))
        shifts = self._residuals(scores, levels)
        best = self._moved(scores, shifts, told)
        if best is None or best.shift == 0.0:
            return told
        near = np.sort(np.append(shifts, 0.0))
        place = int(np.searchsorted(near, best.shift))
        beside = near[max(place - 1, 0)], near[min(place + 1, len(near) - 1)]
        between = np.linspace(*beside, BETWEEN + 2)[1:-1]
        return self._moved(scores, between, best) or best

    def _moved(self, scores: Floats64, shifts: Floats64, told: Judgement) -> Judgement | None:
        """Return the verdict at the best of the shifts; what was told if none is better.

        None where there are no calls for it.
        """
        if self.ledger.left < len(shifts) + self.price:
            return None
        costs = self.ledger.ask(self.ledger.problem.judge, scores[:, np.newaxis] + shifts)
        best = int(np.argmin(costs))
        if not costs[best] < told.cost:
            return told
        return self._told(float(shifts[best]), scores, float(costs[best]))

    def _residuals(self, scores: Floats64, levels: Floats64) -> Floats64:
        """Return quantiles of how far the targets lie above the scores."""
        valid = self.ledger.problem.valid
        return np.asarray(quantiles(valid.y - scores, levels, valid.weights), dtype=np.float64)

    def _end(self, scores: Floats64, told: Judgement) -> Judgement | None:
        """Return the verdict on flagging nobody, or everybody, if one is lower than what was told.

        Many a metric fails there: then it is not asked again.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if self.ends is None:
                    self.ends = self._asked_of_ends(len(scores))
                for cost, everybody in sorted(self.ends):
                    if cost < told.cost:
                        beyond = 0.5 - scores.min() if everybody else -0.5 - scores.max()
                        return self._told(float(beyond), scores, cost)
        except MetricError:
            self.ends = []
        return None

    def _asked_of_ends(self, n: int) -> list[tuple[float, bool]]:
        """Ask about flagging nobody and everybody, if there are calls to spare."""
        if self.ledger.left < ENDS:
            return []
        costs = self.ledger.ask(self.ledger.problem.judge, np.tile([-1.0, 1.0], (n, 1)))
        return list(zip(costs.tolist(), (False, True), strict=True))

    def _keep_some(self) -> None:
        """End the looks at candidates where calls are few and the best are still to be heard."""
        most = self.ledger.max_calls
        if self.brief and self.shares and most is not None and self.ledger.left < KEPT * most:
            raise BudgetSpent(f"{self.ledger.left:g} of {most} calls are kept for replicates.")

    @property
    def movable(self) -> bool:
        """Whether there is a threshold."""
        problem = self.ledger.problem
        return self.moves and problem.decides and getattr(problem.model, "intercept", True)

    def _told(self, shift: float, scores: Floats64, cost: float | None) -> Judgement:
        """Return the verdict at a shift, with replicates unless calls are few."""
        if not self.brief:
            judged = self.judge(scores + shift)
            return Judgement(shift, judged.cost, judged.replicates)
        if cost is None:
            cost = float(self.ledger.ask(self.ledger.problem.judge, scores))
        return Judgement(shift, cost, np.zeros(0))

    def noted(self) -> dict[str, float]:
        """Return what is to be noted of the verdicts beside themselves."""
        return {}

    def mistaken(self, scores: Floats64) -> bool:
        """Return whether the verdict on the scores may be wrong: never, it was asked for."""
        return False

    def heard(self, judged: Sequence[Judged]) -> list[Judged]:
        """Return the best candidates with replicates, the first of all among them.

        Where they have them already, all are returned; as many are heard as there are calls for.
        """
        if not self.replicates:
            return []
        if not self.brief:
            return list(judged)
        order = sorted(range(1, len(judged)), key=lambda k: judged[k].tuned.cost)
        each = len(self.replicates)
        count = int(min(HEARD, max((self.ledger.left - 2 * self.price) // each, 0)))
        chosen = [judged[k] for k in sorted([0, *order][:count])]
        return [self._with_replicates(one) for one in chosen]

    def _with_replicates(self, one: Judged) -> Judged:
        return replace(one, tuned=replace(one.tuned, replicates=self._replicated(one.scores)))

    def probe(self, scores: Floats64) -> float:
        """Return the cost of the scores as they are: one call; NaN where all or none is flagged."""
        problem = self.ledger.problem
        if problem.decides and not 0 < np.count_nonzero(scores > 0.0) < len(scores):
            return float("nan")
        return float(self.ledger.ask(problem.judge, scores))

    def _shifts(self, scores: Floats64) -> Floats64:
        """Return shifts that flag evenly spread shares of the rows, and about the base rate."""
        rate = float(np.mean(self.ledger.problem.valid.y > 0.0))
        spread = max(self.thresholds - 3, 1)
        shares = [*np.linspace(0.0, 1.0, spread + 2)[1:-1], *(rate * np.array([0.5, 1.0, 2.0]))]
        return thinned(flagging(scores, shares, also=0.0), self.ledger.left)

    def _near(self, scores: Floats64) -> Floats64:
        """Return shifts that flag about as many rows as was best so far."""
        return flagging(scores, [min(self.shares)[1] * factor for factor in BESIDE])

    def _costs(self, scores: Floats64, shifts: Floats64) -> Floats64:
        costs = self.ledger.ask(self.ledger.problem.judge, scores[:, np.newaxis] + shifts)
        self.varied = self.varied or bool(np.ptp(costs) > 0.0)
        return costs

    def _lowest(self, scores: Floats64, shifts: Floats64, costs: Floats64) -> int:
        """Return the best shift among those that every replicate can be asked about."""
        order = np.argsort(costs, kind="stable")
        sound = (int(k) for k in order if self.sound(scores + shifts[k]))
        return next(sound, int(order[0]))

    def sound(self, scores: Floats64) -> bool:
        """Return whether no replicate flags nobody or everybody: many a metric fails there."""
        flagged = scores > 0.0
        parts = [flagged if rows is None else flagged[rows] for rows, _ in self.replicates]
        return all(0 < np.count_nonzero(part) < len(part) for part in parts)

    def judge(self, scores: Floats64) -> Judgement:
        """Ask the metric for the rows and for each replicate."""
        costs = self.ledger.ask_each([(self.ledger.problem.judge, scores), *self._asked(scores)])
        return Judgement(0.0, float(costs[0]), np.asarray(costs[1:]))

    def steadied(self, scores: Floats64) -> float:
        """Return a shift that is best on average over the replicates, if the cost leaps near here.

        Zero if it does not, or there are no calls to find out.
        """
        if self.brief or not self.movable or self.ledger.left < (len(ABOUT) + 4) * self.price:
            return 0.0
        share = float(np.mean(scores > 0.0))
        shifts = flagging(scores, [share * factor for factor in ABOUT], also=0.0)
        shifts = np.array([shift for shift in shifts if self.sound(scores + shift)] or [0.0])
        edge = scores + shifts[int(np.argmin(self._costs(scores, shifts)))]
        if not leaps(self.judge(edge)):
            return 0.0
        means = [self._replicated(scores + shift).mean() for shift in shifts]
        return float(shifts[int(np.argmin(means))])

    def apart(self, scores: Floats64, member: NDArray[np.intp], count: int) -> Floats64:
        """Return what each group adds to its rows' scores: some thresholds a group are asked about.

        The scores have their own threshold already. A group is moved only if that pays beyond what
        the replicates can tell, and only while there are calls for it.
        """
        shifts = np.zeros(count)
        told = None
        for group in range(count):
            own = member == group
            share = float(np.mean(scores[own] > 0.0)) if np.any(own) else 0.0
            if share == 0.0 or not self._spared(len(ABOUT)):
                continue
            asked = flagging(scores[own], [share * factor for factor in ABOUT])
            here = scores + shifts[member]
            costs = self.ledger.ask(
                self.ledger.problem.judge, here[:, np.newaxis] + np.outer(own, asked)
            )
            best = float(asked[int(np.argmin(costs))])
            there = here + np.where(own, best, 0.0)
            if best == 0.0 or not self.sound(there):
                continue
            told = self.judge(here).replicates if told is None else told
            new = self.judge(there).replicates
            gain = told - new
            if gain.mean() > WORTH * gain.std():
                shifts[group], told = best, new
        return shifts

    def _spared(self, thresholds: int) -> bool:
        """Return whether calls are left for a group's thresholds, and for the answer after it."""
        return self.movable and self.ledger.left >= thresholds + 4 * self.price

    def _replicated(self, scores: Floats64) -> Floats64:
        return np.asarray(self.ledger.ask_each(self._asked(scores)))

    def _asked(self, scores: Floats64) -> list[tuple[BoundMetric, Floats64]]:
        return [
            (bound, scores if rows is None else scores[rows]) for rows, bound in self.replicates
        ]


def thinned(shifts: Floats64, most: float) -> Floats64:
    """Return no more than so many of the shifts, evenly spread; one is the middle one.

    Examples
    --------
    >>> import numpy as np
    >>> thinned(np.arange(5.0), 3).tolist(), thinned(np.arange(5.0), 1).tolist()
    ([0.0, 2.0, 4.0], [2.0])
    """
    if len(shifts) <= most:
        return shifts
    count = max(int(most), 1)
    places = (np.arange(count) + 0.5) * (len(shifts) / count)
    return shifts[places.astype(np.intp)]


def flagging(scores: Floats64, shares: Sequence[float], also: float | None = None) -> Floats64:
    """Return shifts that flag such shares of the rows; none flags nobody or everybody.

    Many a metric is undefined there.

    Examples
    --------
    >>> import numpy as np
    >>> flagging(np.array([1.0, 2.0, 3.0, 4.0]), [0.5, 0.0]).tolist()
    [-2.5]
    """
    shifts = -np.quantile(scores, 1.0 - np.clip(shares, 0.0, 1.0))
    if also is not None:
        shifts = np.append(shifts, also)
    return np.array(
        [s for s in np.unique(shifts) if 0 < np.sum(scores + s > 0) < len(scores)] or [0.0]
    )
