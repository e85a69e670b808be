"""Asking: a jury for metrics that must be called for every table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.calling import HEARD, KEPT
from anymetric.auto.choice import PLENTY
from anymetric.auto.jury import Drawn, bind_drawn, bind_rows, cells, telling_draws
from anymetric.auto.pool import FOLDS
from anymetric.data import Data
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.many.jury import PARTS, Told
from anymetric.many.offsets import prior_corrections
from anymetric.metrics import BoundMetric, Classes

Floats64 = NDArray[np.float64]
# Some rows, and the metric bound to them.
Asked = tuple[NDArray[np.intp], BoundMetric]
# Replicates of a metric that must be called for each, and how many more or fewer decisions for a
# class are tried.
REPLICATES, BESIDE = 20, (0.5, 0.8, 1.25, 2.0)
# With more judging rows than this, offsets fit too little of their noise to be tuned by turns.
ENOUGH = 1000


@dataclass(eq=False)
class AskingJury:
    """One call for every table of scores, every change of an offset and every replicate.

    Few offsets are tried. Where rows are few they are tuned without each fold in turn, and judged
    on that fold; else they are kept if the replicates see a gain beyond its noise.

    Parameters
    ----------
    ledger : Ledger
    classes : Classes
    replicates : list of (rows, bound metric)
    moves : bool
        Whether offsets may be moved.
    brief : bool
        Calls are few: replicates are asked for the best candidates only, at the end.
    fold : array of shape (n,), optional
    others : list of (rows, bound metric)
        The rows without each fold, if offsets are tuned by turns.
    """

    ledger: Ledger
    classes: Classes
    replicates: list[Drawn]
    moves: bool = True
    brief: bool = False
    fold: NDArray[np.intp] | None = None
    others: list[Asked] = field(default_factory=list)
    seen: list[tuple[float, Floats64]] = field(default_factory=list)

    @classmethod
    def build(
        cls,
        ledger: Ledger,
        classes: Classes,
        weights: Floats64,
        moves: bool,
        fold: NDArray[np.intp],
    ) -> AskingJury:
        """Draw rows in proportion to their weights for each replicate, and bind the metric."""
        most = ledger.max_calls
        brief = most is not None and most < PLENTY
        count = min(REPLICATES, max(most // 20, 2)) if brief and most is not None else REPLICATES
        metric, valid = ledger.problem.metric, ledger.problem.valid
        pairs = [bind_drawn(metric, valid, w, classes) for w in weights.T[:count]]
        found = telling_draws(pairs, valid, classes)
        moves = moves and metric.decides
        others: list[Asked | None] = []
        if moves and len(valid) <= ENOUGH and (most is None or most >= FOLDS * PLENTY):
            kept = (elsewhere(valid, fold == k, classes) for k in range(FOLDS))
            others = [bind_rows(metric, valid, rows, classes) for rows in kept]
        bound = [one for one in others if one is not None]
        bound = bound if len(bound) == FOLDS else []
        return cls(ledger, classes, found, moves, brief, fold, bound)

    @property
    def price(self) -> int:
        """One call for the rows, one for each replicate."""
        return 1 + len(self.replicates)

    def tune(self, scores: Floats64) -> Told:
        """Try prior corrections, then each class by itself; keep what pays."""
        self._keep_some()
        zeros = np.zeros(scores.shape[1])
        if not self.moves:
            told = self._told(scores, zeros, None)
            self.seen.append((told.cost, zeros))
            return told
        if self.others:
            return self._by_turns(scores)
        whole = np.arange(len(scores)), self.ledger.problem.judge
        offsets, cost = self._begun(scores, whole)
        if not self.brief:
            offsets, cost = self._swept(scores, offsets, cost, whole)
        told = self._told(scores, offsets, cost)
        self.seen.append((told.cost, offsets))
        if self.brief or not np.any(offsets):
            return told
        plain = self._told(scores, zeros, None)
        gain = plain.replicates - told.replicates
        return told if gain.mean() > gain.std() else plain

    def _by_turns(self, scores: Floats64) -> Told:
        """Tune offsets without each fold, and keep the part of them that is best on the folds."""
        own, found = np.zeros_like(scores), []
        for k, on in enumerate(self.others):
            offsets, _ = self._swept(scores, *self._begun(scores, on), on)
            if self.classes.exclusive:
                offsets = offsets - offsets.mean()
            own[self.fold == k] = offsets
            found.append(offsets)
        mean = np.mean(found, axis=0)
        told = [replace(self.judge(scores + part * own), offsets=part * mean) for part in PARTS]
        best = min(told, key=lambda one: one.mean)
        self.seen.append((best.cost, best.offsets))
        return best

    def judge(self, scores: Floats64) -> Told:
        """Ask about the rows and every replicate."""
        costs = self.ledger.ask_each(
            [(self.ledger.problem.judge, scores.reshape(-1)), *self._asked(scores)]
        )
        return Told(np.zeros(scores.shape[1]), float(costs[0]), np.asarray(costs[1:]), scores)

    def probe(self, scores: Floats64) -> float:
        """Return the cost of the scores as they are: one call."""
        return float(self.ledger.ask(self.ledger.problem.judge, scores.reshape(-1)))

    def heard(self, told: Sequence[Told]) -> list[Told | None]:
        """Return the verdicts with replicates; None where there are no calls for them."""
        if not self.replicates:
            return [None] * len(told)
        if not self.brief:
            return list(told)
        order = sorted(range(1, len(told)), key=lambda k: told[k].cost)
        each = len(self.replicates)
        count = int(min(HEARD, max((self.ledger.left - 2 * self.price) // each, 0)))
        chosen = set([0, *order][:count])
        return [self._with(one) if k in chosen else None for k, one in enumerate(told)]

    def _with(self, one: Told) -> Told:
        return replace(one, replicates=np.asarray(self.ledger.ask_each(self._asked(one.scores))))

    def _keep_some(self) -> None:
        most = self.ledger.max_calls
        if self.brief and self.seen and most is not None and self.ledger.left < KEPT * most:
            raise BudgetSpent(f"{self.ledger.left:g} of {most} calls are kept for replicates.")

    def _begun(self, scores: Floats64, on: Asked) -> tuple[Floats64, float]:
        """Return the best offsets to begin from on some rows, and their cost."""
        tries = [np.zeros(scores.shape[1])]
        if self.brief and self.seen:
            tries.append(min(self.seen, key=lambda pair: pair[0])[1])
        elif self.classes.exclusive:
            valid, rows = self.ledger.problem.valid, on[0]
            y, weights = valid.y[rows].astype(np.intp), valid.weights[rows]
            tries += prior_corrections(y, weights, len(self.classes))[1:]
        tries = tries[: max(int(min(self.ledger.left, len(tries))), 1)]
        costs = self._costs([scores + one for one in tries], on)
        k = int(np.argmin(costs))
        return tries[k], float(costs[k])

    def _swept(
        self, scores: Floats64, offsets: Floats64, cost: float, on: Asked
    ) -> tuple[Floats64, float]:
        """Look at a few more and a few fewer decisions for each class in turn, on some rows."""
        offsets = offsets.copy()
        for c in range(scores.shape[1]):
            shifts = self._shifts((scores + offsets)[on[0]], c)
            moved = [scores + offsets + shift * np.eye(scores.shape[1])[c] for shift in shifts]
            costs = self._costs(moved, on)
            if len(costs) and costs.min() < cost:
                offsets[c] += shifts[int(np.argmin(costs))]
                cost = float(costs.min())
        return offsets, cost

    def _shifts(self, scores: Floats64, c: int) -> list[float]:
        """Return shifts of a class that change the number of decisions for it by a factor."""
        rest = np.zeros(len(scores))
        if self.classes.exclusive:
            rest = np.delete(scores, c, axis=1).max(axis=1)
        gap = np.sort(rest - scores[:, c])
        now = int(np.searchsorted(gap, 0.0))
        counts = {round(max(now, 1) * factor) for factor in BESIDE} - {now}
        ends = np.concatenate([[gap[0] - 1.0], gap, [gap[-1] + 1.0]])
        return [float(0.5 * (ends[k] + ends[k + 1])) for k in sorted(counts) if k <= len(gap)]

    def _costs(self, tables: Sequence[Floats64], on: Asked) -> Floats64:
        if not tables:
            return np.zeros(0)
        rows, judge = on
        columns = np.column_stack([one[rows].reshape(-1) for one in tables])
        return self.ledger.ask(judge, columns)

    def _told(self, scores: Floats64, offsets: Floats64, cost: float | None) -> Told:
        moved = scores + offsets
        if not self.brief:
            return replace(self.judge(moved), offsets=offsets)
        return Told(offsets, self.probe(moved) if cost is None else cost, np.zeros(0), moved)

    def _asked(self, scores: Floats64) -> list[tuple[BoundMetric, Floats64]]:
        return [(bound, scores[rows].reshape(-1)) for rows, bound in self.replicates]


def elsewhere(data: Data, out: NDArray[np.bool_], classes: Classes) -> NDArray[np.intp]:
    """Return the rows outside, and those inside whose class, or class of a group, is not outside.

    Many a metric of the user's fails where a class is missing; labels may be missing.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((4, 1)), np.array([0.0, 0.0, 1.0, 2.0]))
    >>> elsewhere(data, np.array([True, False, False, True]), Classes(("a", "b", "c"))).tolist()
    [1, 2, 3]
    """
    kept = ~out
    if classes.exclusive:
        cell = cells(data)
        kept |= ~np.isin(cell, cell[kept])
    return np.flatnonzero(kept)
