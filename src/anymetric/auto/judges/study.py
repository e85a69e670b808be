"""Study: the first answers of a function, which tell whether its formula can be learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from anymetric.auto.judges.base import Floats64, Ints, shifts_flagging
from anymetric.auto.judges.formula import Formula, Partition
from anymetric.ledger import Ledger
from anymetric.metrics import Limited, MetricError
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
    able = able and not isinstance(metric, Limited)  # a limit is a leap that no formula follows
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
