"""Foretold: a jury that learns a function's formula and asks only what it cannot foretell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from anymetric.auto.average import Judged
from anymetric.auto.calling import CallingJury, flagging
from anymetric.auto.choice import CALLS
from anymetric.auto.formula import Divided, Formula, Guess
from anymetric.auto.jury import CountedJury, DecisionJury, Judgement
from anymetric.ledger import Ledger
from anymetric.metrics import MetricError
from anymetric.problem import Problem, blocks

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
TINY = np.finfo(float).tiny
# More cells than this would ask for too many answers; fewer rows in one say nothing of its share.
MOST_CELLS, FEWEST_ROWS = 8, 5
# Shares of the rows that are flagged first, and multiples of the base rate.
SHARES, RATES = (0.05, 0.2, 0.4, 0.6, 0.8), (0.5, 1.0, 2.0)
# Answers for each cell around the best of these and around the base rate, so far away in log-odds:
# in rounds of as many, or if there are few calls of fewer. Of the calls that there are, they may
# take this part, or if there is no limit so many.
DENSE, SPARSE, WIDTH, PART, MOST = 10, 5, 1.0, 0.4, 250
# Two answers about as many rows of each cell are the same if they differ by no more than this.
SAME = 1e-9
# A formula is known well if its answers stray by no more than such a part of how they spread, and
# believed up to another.
WELL, STRAYS = 0.05, 0.25
# An answer is foretold well enough within this part of the replicates' spread; one that is behind
# by so many times that spread matters less. A candidate is asked about so often at most, as long
# as there are so many times more calls.
ENOUGH, BEHIND, LOOKS, SPARED = 0.1, 1.0, 6, 12


@dataclass(frozen=True, eq=False)
class ForetellingJury(CountedJury):
    """A jury for functions of counts: all thresholds and replicates by a formula that it learns.

    Of each candidate the function is asked about thresholds that are the best by the formula, or
    might be, and only where the answer is in doubt.
    """

    price: int = 0

    @cached_property
    def alone(self) -> DecisionJury:
        """The jury without replicates."""
        valid = self.ledger.problem.valid
        return DecisionJury.build(self.guess, valid, np.ones((len(valid), 0)))

    @property
    def left(self) -> float:
        """A verdict can always be had, if need be by the formula alone."""
        return np.inf

    @property
    def guess(self) -> Guess:
        """The metric by the formula."""
        assert isinstance(self.inner.metric, Guess)
        return self.inner.metric

    def varies(self, scores: Floats64) -> bool:
        """Return whether any two answers so far differ."""
        return bool(np.ptp(list(self.guess.formula.answers.values())) > 0.0)

    def tune(self, scores: Floats64) -> Judgement:
        """Ask about shifts that are best, or might be, by the formula; take the best by then."""
        noise = float(self.inner.tune(scores).replicates.std())
        shifts, sums = self.alone.swept(scores)
        counts = np.rint(sums[:, 0, :-1] / self.alone.weights[0, 0]).astype(np.intp)
        for _ in range(int(min(LOOKS, self.ledger.left // SPARED))):
            place = self._doubtful(counts, noise)
            if place is None:
                break
            try:
                self._asked(scores + shifts[place])
            except MetricError:
                if self.guess.formula.wary:
                    raise
                self.guess.formula.wary = True
        return self._told(scores)

    def judge(self, scores: Floats64) -> Judgement:
        """Ask about the scores as they are, if there is a call left; replicates by the formula."""
        if self.ledger.left >= 1:
            self._asked(scores)
        return self._exact(scores, self.inner.judge(scores))

    def probe(self, scores: Floats64) -> float:
        """Return the mean cost over the replicates at the best threshold, by the formula."""
        return float(self.inner.tune(scores).replicates.mean())

    def noted(self) -> dict[str, float]:
        """Return how far off the formula typically is."""
        formula = self.guess.formula
        return {"foretold": formula.strays(len(formula.answers))}

    def mistaken(self, scores: Floats64) -> bool:
        """Ask about the scores as they are; return whether the answer is not as foretold."""
        if self.ledger.left < 1:
            return False
        told = self.inner.judge(scores)
        off = abs(self._asked(scores) - told.cost)
        return off > ENOUGH * float(told.replicates.std())

    def steadied(self, scores: Floats64) -> float:
        """Return by how much a shift must stay clear of a leap, by the function itself.

        A formula that is not known well may smooth a leap away.
        """
        if self.guess.formula.smooth:
            return 0.0
        weights = self.inner.weights[:, 1 : 1 + CALLS[1]]
        return CallingJury.build(self.ledger, weights).steadied(scores)

    def heard(self, judged: list[Judged]) -> list[Judged]:
        """Return all candidates, judged by all that is known by now."""
        return [replace(one, tuned=self._told(one.candidate.valid)) for one in judged]

    def _told(self, scores: Floats64) -> Judgement:
        return self._exact(scores, self.inner.tune(scores))

    def _exact(self, scores: Floats64, told: Judgement) -> Judgement:
        """Return a verdict with the function's own answer, if it has given one."""
        cost = self.guess.formula.answers.get(tuple(self._counts(scores + told.shift).tolist()))
        if cost is None:
            return told
        return Judgement(told.shift, cost, told.replicates + (cost - told.cost))

    def _doubtful(self, counts: Ints, noise: float) -> int | None:
        """Return which numbers of flagged rows are most worth a call; None if none are."""
        formula = self.guess.formula
        costs, errors = formula.foretold(counts)
        if not self.guess.ends:
            costs[[0, -1]] = np.inf
        best, hope = int(np.argmin(costs)), int(np.argmin(costs - errors))
        if costs[hope] - errors[hope] < costs[best] - ENOUGH * noise and not formula.wary:
            return hope
        behind = costs[best] - min(formula.answers.values())
        unsure = errors[best] > (0.0 if behind <= BEHIND * noise else ENOUGH * noise)
        return best if unsure else None

    def _asked(self, scores: Floats64) -> float:
        """Ask the function, unless it has answered already, and learn from the answer."""
        counts, formula = self._counts(scores), self.guess.formula
        known = formula.answers.get(tuple(counts.tolist()))
        if known is None:
            known = float(self.ledger.ask(self.ledger.problem.judge, scores))
            formula.tell(counts[np.newaxis], np.array([known]))
        return known

    def _counts(self, scores: Floats64) -> Ints:
        """Return how many rows are flagged in each cell."""
        return np.bincount(self.inner.cell[scores > 0.0], minlength=self.inner.size)[:-1]


def foretelling(
    ledger: Ledger, scores: Floats64, replicates: Floats64, rng: np.random.Generator
) -> ForetellingJury | None:
    """Return a jury that has learned the metric's formula; None if it has none that can be learned.

    Parameters
    ----------
    ledger : Ledger
    scores : array of shape (n,)
        Of some sensible model, on the rows that judge: its thresholds are asked about first.
    replicates : array of shape (n, B)
        Weights of the rows.
    rng : numpy Generator
    """
    problem = ledger.problem
    divided = divides(problem)
    if divided is None or PART * ledger.left < cost_of(len(divided)):
        return None
    cell = divided.of(problem.valid.y, problem.valid.side)
    study = Study(ledger, cell, Formula(np.bincount(cell).astype(np.float64)), rng)
    try:
        ends = study.begin(scores)
        if ends is None:
            return None
    except MetricError:
        return None
    guess = Guess(problem.metric.name, divided, study.formula, ends)
    return ForetellingJury(DecisionJury.build(guess, problem.valid, replicates), ledger)


@dataclass(frozen=True, eq=False)
class Study:
    """The first answers: do they depend on counts alone, and can they be foretold?

    Attributes
    ----------
    ledger : Ledger
    cell : array of shape (n,)
        Of each row that judges.
    formula : Formula
    rng : numpy Generator
    """

    ledger: Ledger
    cell: Ints
    formula: Formula
    rng: np.random.Generator

    def begin(self, scores: Floats64) -> bool | None:
        """Ask about thresholds and around the best; None if no formula is found.

        Otherwise, whether flagging nobody and everybody has an answer.
        """
        rate = float(np.mean(self.ledger.problem.valid.y > 0.0))
        shifts = flagging(scores, [*SHARES, *(rate * factor for factor in RATES)])
        flagged = scores[:, np.newaxis] + shifts > 0.0
        costs = self._answers(flagged)
        counts = self._counts(flagged)
        best = int(np.argmin(costs))
        if not self._counts_alone(counts[best], costs[best]):
            return None
        self.formula.tell(counts, costs)
        ends = self._ends()
        level = int(np.argmin(np.abs(flagged.mean(axis=0) - rate)))
        return ends if self._learned(counts[[best, level]]) else None

    def _learned(self, centres: Ints) -> bool:
        """Ask around some counts until the answers can be foretold; return whether they can."""
        cells, calls = len(self.formula.sizes), self.ledger.left + self.ledger.calls
        most = PART * calls if np.isfinite(calls) else MOST
        each = DENSE if self.ledger.calls + DENSE * cells <= most else SPARSE
        costs, strays = np.zeros(0), np.inf
        while strays > WELL and (len(costs) == 0 or self.ledger.calls + each * cells <= most):
            cube = qmc.LatinHypercube(cells, rng=self.rng).random(each * cells)
            around = np.resize(centres, cube.shape)
            near = np.unique(self.formula.around(around, cube, WIDTH), axis=0)
            answers = self._answers(self._drawn(near))
            self.formula.tell(near, answers)
            costs = np.append(costs, answers)
            strays = self.formula.strays(len(costs)) / max(float(costs.std()), TINY)
        self.formula.smooth = strays <= WELL
        return strays <= STRAYS and bool(np.ptp(costs) > 0.0)

    def _counts_alone(self, counts: Ints, cost: float) -> bool:
        """Return whether other rows, as many of each cell, cost the same."""
        others = self._answers(self._drawn(np.stack([counts, counts])))
        return bool(np.all(np.abs(others - cost) <= SAME * max(abs(cost), 1.0)))

    def _ends(self) -> bool:
        """Ask about flagging nobody and everybody; return whether there are answers."""
        ends = np.stack([np.zeros(len(self.formula.sizes)), self.formula.sizes]).astype(np.intp)
        try:
            self.formula.tell(ends, self._answers(self._drawn(ends)))
        except MetricError:
            return False
        return True

    def _drawn(self, counts: Ints) -> NDArray[np.bool_]:
        """Flag so many rows of each cell ``(m, K)``, any: decisions ``(n, m)``."""
        flagged = np.zeros((len(self.cell), len(counts)), dtype=bool)
        for k in range(counts.shape[1]):
            members = np.flatnonzero(self.cell == k)
            for column, count in enumerate(counts[:, k]):
                flagged[self.rng.permutation(members)[:count], column] = True
        return flagged

    def _counts(self, flagged: NDArray[np.bool_]) -> Ints:
        """Return how many rows of each cell are flagged, ``(m, K)``."""
        size = len(self.formula.sizes)
        return np.stack([np.bincount(self.cell[one], minlength=size) for one in flagged.T])

    def _answers(self, flagged: NDArray[np.bool_]) -> Floats64:
        """Ask the function about decisions ``(n, m)``."""
        judge = self.ledger.problem.judge
        parts = blocks(flagged.T, len(self.cell))
        return np.concatenate([self.ledger.ask(judge, 2.0 * part.T - 1.0) for part in parts])


def divides(problem: Problem) -> Divided | None:
    """Return the cells whose counts a function may read; None if it reads more or they are many."""
    metric, valid = problem.metric, problem.valid
    able = metric.black_box and problem.decides and not metric.reads_features
    if not able or problem.labels is None or not getattr(problem.model, "intercept", True):
        return None
    if np.ptp(valid.weights) > 0.0:
        return None
    asked = (*getattr(metric, "asks", metric.needs), *getattr(metric, "takes", ()))
    columns = [name for name in asked if name in valid.side]
    if any(len(np.unique(valid.side[name])) > MOST_CELLS // 2 for name in columns):
        return None
    divided = Divided.by(valid.y, valid.side, columns)
    rows = np.bincount(divided.of(valid.y, valid.side))
    return divided if len(divided) <= MOST_CELLS and rows.min() >= FEWEST_ROWS else None


def cost_of(cells: int) -> int:
    """Return how many answers a formula of so many cells asks for at first."""
    return len(SHARES) + len(RATES) + 4 + SPARSE * cells
