"""Learned: a judge that learns a function's formula and asks only what it cannot predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from anymetric.auto.judges.base import Bools, Floats64, Ints, Judge, shifts_flagging
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.judges.formula import Formula, LearnedMetric, Partition
from anymetric.auto.records import Assessment
from anymetric.ledger import Ledger
from anymetric.metrics import MetricError
from anymetric.problem import Problem, blocks

# More cells than this would ask for too many answers; fewer rows in one say nothing of its share.
MOST_CELLS, FEWEST_IN_CELL = 8, 5
# Shares of the rows that are flagged first, and multiples of the base rate.
SHARES, RATES = (0.05, 0.2, 0.4, 0.6, 0.8), (0.5, 1.0, 2.0)
# Answers for each cell in one round, or where calls are few; how far around in log-odds; the part
# of the calls that they may take, or if there is no limit so many.
DENSE, SPARSE, WIDTH, PART, MOST = 10, 5, 1.0, 0.4, 250
# Two answers about as many rows of each cell are the same if they differ by no more than this.
SAME = 1e-6
# A formula is known well if its leave-one-out error is no more than such a part of how answers
# spread, and is believed up to another.
WELL, BELIEVED = 0.05, 0.25
# An answer is predicted well enough within this part of the resamples' spread; a candidate is asked
# about so often at most, as long as there are so many times more calls.
ENOUGH, ASKED, SPARED = 0.1, 6, 12


@dataclass(frozen=True, eq=False)
class LearnedJudge(Judge):
    """A judge for functions of counts: all thresholds and resamples by a formula that it learns.

    Of each candidate the function is asked about thresholds that are the best by the formula, or
    might be, and only where the answer is in doubt.

    Attributes
    ----------
    inner : CountsJudge
        Of the learned formula.
    ledger : Ledger
    asking : bool
        Whether the function is still asked.
    """

    inner: CountsJudge
    ledger: Ledger
    asking: bool = True

    price = 0

    @property
    def formula(self) -> Formula:
        """What the function was found to be."""
        assert isinstance(self.inner.metric, LearnedMetric)
        return self.inner.metric.formula

    @cached_property
    def alone(self) -> CountsJudge:
        """The same judge without resamples."""
        valid = self.ledger.problem.valid
        return CountsJudge.of(self.inner.metric, valid, np.ones((len(valid), 0)))

    @property
    def spent(self) -> bool:
        """Return False: the formula alone can compare candidates."""
        return False

    def evaluate(self, scores: Floats64) -> Floats64:
        """Ask about the scores as they are, if there is a call left; resamples by the formula."""
        if self.asking and self.ledger.left >= 1:
            self._ask(scores)
        costs = self.inner.evaluate(scores)
        known = self.formula.answers.get(self._key(scores))
        return costs if known is None else costs + (known - costs[0])

    def sweep(
        self, scores: Floats64, output: int = 0, moving: Bools | None = None
    ) -> tuple[Floats64, Floats64]:
        """Ask about shifts that are best, or might be; return what the formula says by then."""
        if moving is None and self.asking:
            self._ask_about(scores)
        shifts, costs = self.inner.sweep(scores, output, moving)
        best = int(np.argmin(costs[:, 0] if costs.shape[1] == 1 else costs[:, 1:].mean(axis=1)))
        moved = scores + (shifts[best] if moving is None else shifts[best] * moving[:, np.newaxis])
        known = self.formula.answers.get(self._key(moved))
        if known is not None and np.isfinite(costs[best, 0]):
            costs[best] += known - costs[best, 0]
        return shifts, costs

    def finalists(
        self, found: Sequence[Assessment], again: Callable[[int, Judge], Assessment]
    ) -> list[Assessment | None]:
        """Assess all candidates anew, by all that is known by now."""
        quiet = replace(self, asking=False)
        return [again(k, quiet) for k in range(len(found))]

    def confirmed(self, scores: Floats64) -> bool:
        """Ask about an answer; return whether its cost is as predicted."""
        if self.ledger.left < 1:
            return True
        costs = self.inner.evaluate(scores)
        return bool(abs(self._ask(scores) - costs[0]) <= ENOUGH * costs[1:].std())

    def varies(self, scores: Floats64) -> bool:
        """Return whether any two answers so far differ."""
        return bool(np.ptp(list(self.formula.answers.values())) > 0.0)

    def summary(self) -> dict[str, Any]:
        """Return how far off the formula typically is."""
        return {"metric_error": self.formula.error()}

    def _ask_about(self, scores: Floats64) -> None:
        _, costs = self.inner.sweep(scores)
        noise = float(costs[np.argmin(costs[:, 1:].mean(axis=1)), 1:].std())
        shifts, sums = self.alone.flagged(scores)
        counts = np.rint(sums[:, 0, :-1] / self.alone.weights[0, 0]).astype(np.intp)
        for _ in range(int(min(ASKED, self.ledger.left // SPARED))):
            place = self._doubtful(counts, noise)
            if place is None:
                break
            try:
                self._ask(scores + shifts[place])
            except MetricError:
                if self.formula.failed:
                    raise
                self.formula.failed = True

    def _doubtful(self, counts: Ints, noise: float) -> int | None:
        """Return which numbers of flagged rows are most worth a call; None if none are."""
        formula, metric = self.formula, self.inner.metric
        costs, errors = formula.predicted(counts)
        if isinstance(metric, LearnedMetric) and not metric.ends:
            costs[[0, -1]] = np.inf
        best, hope = int(np.argmin(costs)), int(np.argmin(costs - errors))
        if costs[hope] - errors[hope] < costs[best] - ENOUGH * noise and not formula.failed:
            return hope
        behind = costs[best] - min(formula.answers.values())
        unsure = errors[best] > (0.0 if behind <= noise else ENOUGH * noise)
        return best if unsure else None

    def _ask(self, scores: Floats64) -> float:
        """Ask the function, unless it has answered already, and learn from the answer."""
        key = self._key(scores)
        known = self.formula.answers.get(key)
        if known is None:
            known = float(self.ledger.ask(self.ledger.problem.judge, scores[:, 0]))
            self.formula.tell(np.array([key]), np.array([known]))
        return known

    def _key(self, scores: Floats64) -> tuple[int, ...]:
        """Return how many rows are flagged in each cell."""
        flagged = self.inner.cell[scores[:, 0] > 0.0]
        return tuple(np.bincount(flagged, minlength=self.inner.size)[:-1].tolist())


def learn_formula(
    ledger: Ledger, scores: Floats64, resamples: Floats64, rng: np.random.Generator
) -> LearnedJudge | None:
    """Return a judge that has learned the metric's formula; None if none can be learned.

    Parameters
    ----------
    ledger : Ledger
    scores : array of shape (n, 1)
        Of some sensible model on the validation rows: its thresholds are asked about first.
    resamples : array of shape (n, B)
        Weights of the rows.
    rng : numpy Generator
    """
    problem = ledger.problem
    partition = partition_of(problem)
    if partition is None or PART * ledger.left < first_answers(len(partition)):
        return None
    cell = partition.of(problem.valid.y, problem.valid.side)
    study = Study(ledger, cell, Formula(np.bincount(cell).astype(np.float64)), rng)
    try:
        ends = study.begin(scores[:, 0])
    except MetricError:
        return None
    if ends is None:
        return None
    metric = LearnedMetric(problem.metric.name, partition, study.formula, ends)
    return LearnedJudge(CountsJudge.of(metric, problem.valid, resamples), ledger)


@dataclass(frozen=True, eq=False)
class Study:
    """The first answers: do they depend on counts alone, and can they be predicted?

    Attributes
    ----------
    ledger : Ledger
    cell : array of shape (n,)
        Of each validation row.
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
        shifts = shifts_flagging(scores, [*SHARES, *(rate * factor for factor in RATES)])
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
        """Ask around some counts until answers can be predicted; return whether they can."""
        cells, calls = len(self.formula.sizes), self.ledger.left + self.ledger.calls
        most = PART * calls if np.isfinite(calls) else MOST
        each = DENSE if self.ledger.calls + DENSE * cells <= most else SPARSE
        asked, error, spread = np.zeros((0, cells), dtype=np.intp), np.inf, 0.0
        while error > WELL and (len(asked) == 0 or self.ledger.calls + each * cells <= most):
            cube = qmc.LatinHypercube(cells, rng=self.rng).random(each * cells)
            around = self.formula.around(np.resize(centres, cube.shape), cube, WIDTH)
            rows = np.unique(around, axis=0).tolist()
            new = [row for row in rows if tuple(row) not in self.formula.answers]
            if not new:
                break
            near = np.array(new, dtype=np.intp)
            self.formula.tell(near, self._answers(self._drawn(near)))
            asked = np.concatenate([asked, near])
            spread = float(np.std([self.formula.answers[tuple(row)] for row in asked.tolist()]))
            error = self.formula.error(asked) / max(spread, np.finfo(float).tiny)
        self.formula.smooth = error <= WELL
        return error <= BELIEVED and spread > 0.0

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


def partition_of(problem: Problem) -> Partition | None:
    """Return the cells whose counts a function may read; None if it reads more or they are many."""
    metric, valid = problem.metric, problem.valid
    able = metric.black_box and problem.decides and not metric.reads_features
    if not able or problem.labels is None or np.ptp(valid.weights) > 0.0:
        return None
    asked = (*getattr(metric, "asks", metric.needs), *getattr(metric, "takes", ()))
    columns = [name for name in asked if name in valid.side]
    if any(len(np.unique(valid.side[name])) > MOST_CELLS // 2 for name in columns):
        return None
    partition = Partition.by(valid.y, valid.side, columns)
    rows = np.bincount(partition.of(valid.y, valid.side))
    enough = len(partition) <= MOST_CELLS and rows.min() >= FEWEST_IN_CELL
    return partition if enough else None


def first_answers(cells: int) -> int:
    """Return how many answers a formula of so many cells asks for at first."""
    return len(SHARES) + len(RATES) + 4 + SPARSE * cells
