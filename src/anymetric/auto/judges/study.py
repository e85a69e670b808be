"""Study: the first answers of a function, which tell whether its formula can be learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from anymetric.auto.judges.base import Floats64, Ints, shifts_flagging
from anymetric.auto.judges.formula import Formula
from anymetric.auto.judges.partition import Partition
from anymetric.ledger import Ledger
from anymetric.metrics import Limited, MetricError
from anymetric.metrics.evaluations import current
from anymetric.problem import Problem, blocks

# More cells than this would ask for too many answers; fewer rows in one say nothing of its share.
MOST_CELLS, FEWEST_IN_CELL = 8, 5
# Shares of the rows that are flagged first, and multiples of the base rate.
SHARES, RATES = (0.05, 0.2, 0.4, 0.6, 0.8), (0.5, 1.0, 2.0)
# Answers for each cell in one round, or where calls are few; how far around in log-odds; the part
# of the calls that they may take, or if there is no limit so many.
DENSE, SPARSE, WIDTH, PART, MOST, MOST_VARIED = 10, 5, 1.0, 0.4, 250, 100
# Where even these are too many, a formula is taken as it is after this part of the calls.
SCARCE_PART, SCARCE_SHARES = 0.55, (0.1, 0.3, 0.6)
# Two answers about as many rows of each cell are the same if they differ by no more than this or,
# where answers vary from call to call, by so many times as much as those to the same question.
SAME, ALIKE = 1e-6, 10.0
# A formula is known well if its leave-one-out error is no more than such a part of how answers
# spread, and is believed up to another; the same in units of how much one answer varies.
WELL, BELIEVED, WELL_VARIED = 0.05, 0.25, 0.5


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

    @property
    def scarce(self) -> bool:
        """Whether there are too few evaluations to ask much before candidates are compared."""
        return PART * self.ledger.evaluations < first_answers(len(self.formula.sizes))

    def begin(self, scores: Floats64) -> bool | None:
        """Ask about thresholds and around the best; None if no formula is found.

        Otherwise, whether flagging nobody and everybody has an answer. The first batch has all
        that depends on no answer: thresholds, other rows with the same counts, and both ends.
        """
        flagged = self._first(scores)
        m, counts = flagged.shape[1], self._counts(flagged)
        same = self._drawn(np.stack([counts[0]] * (1 if self.scarce else 2)))
        # A failure that ends the run may be one of the ends only if they are asked apart.
        together = not self.scarce and current().conduct.policy.skip
        ends = self._drawn(self._end_counts()) if together else same[:, :0]
        columns = 2.0 * np.column_stack([flagged, same, ends]).T - 1.0
        what = [{"stage": "candidate", "iteration": 0}] * m + [{}] * (len(columns) - m)
        judge = self.ledger.problem.judge
        answers = self.ledger.ask_each([(judge, column) for column in columns], about=what)
        costs, others, at_ends = np.split(answers, [m, m + same.shape[1]])
        if not np.any(np.isfinite(costs)):
            return None
        noise = self._noise(flagged, costs, others)
        if noise is None:
            return None
        self.formula.noise = current().conduct.noise = noise
        self.formula.tell(counts, costs)
        there = self._ends(at_ends)
        best = int(np.nanargmin(costs))
        return there if self._learned(counts[[best, 0]]) else None

    def _first(self, scores: Floats64) -> NDArray[np.bool_]:
        """Return the decisions ``(n, m)`` of some thresholds, the most probable first."""
        rate = float(np.mean(self.ledger.problem.valid.y > 0.0))
        even = SCARCE_SHARES if self.scarce else SHARES
        shifts = shifts_flagging(scores, [*even, *(rate * factor for factor in RATES)])
        flagged = scores[:, np.newaxis] + shifts > 0.0
        order = np.argsort(np.abs(flagged.mean(axis=0) - rate), kind="stable")
        return np.asarray(flagged[:, order])  # if the first fail, so does the function

    def _learned(self, centres: Ints) -> bool:
        """Ask around some counts until answers can be predicted; return whether they can."""
        noise, total = self.formula.noise, self.ledger.evaluations
        part = SCARCE_PART if self.scarce else PART
        most = min(part * total, MOST if noise == 0.0 else MOST_VARIED)
        asked: list[list[int]] = [list(row) for row in self.formula.answers] if self.scarce else []
        error, spread = self._known(asked)
        while error > max(WELL * spread, WELL_VARIED * noise) or (self.scarce and noise > 0.0):
            count = self._count(most, bool(asked))
            new = self._around(centres, count) if count > 0 else []
            if not new:
                break
            near = np.array(new, dtype=np.intp)
            self.formula.tell(near, self._answers(self._drawn(near)))
            asked += [row for row in new if tuple(row) in self.formula.answers]
            error, spread = self._known(asked)
        if self.scarce or noise > 0.0:  # single answers would tell even less
            return spread > 0.0 or noise > 0.0
        return error <= BELIEVED * spread and spread > 0.0

    def _count(self, most: float, begun: bool) -> int:
        """Return how many answers to ask for in the next round; none where there are no calls."""
        cells, used = len(self.formula.sizes), self.ledger.calls // self.ledger.repeats
        if self.scarce:
            return int(min(most - used, SPARSE * cells))
        each = DENSE if used + DENSE * cells <= most else SPARSE
        return each * cells if not begun or used + each * cells <= most else 0

    def _around(self, centres: Ints, count: int) -> list[list[int]]:
        cube = qmc.LatinHypercube(len(self.formula.sizes), rng=self.rng).random(count)
        around = self.formula.around(np.resize(centres, cube.shape), cube, WIDTH)
        rows = np.unique(around, axis=0).tolist()
        return [row for row in rows if tuple(row) not in self.formula.answers]

    def _known(self, asked: list[list[int]]) -> tuple[float, float]:
        """Return the error of what was asked, and how far answers spread, beyond how they vary."""
        if not asked:
            return np.inf, 0.0
        costs = [self.formula.answers[tuple(row)] for row in asked]
        spread = max(float(np.var(costs)) - self.formula.noise**2, 0.0) ** 0.5
        return self.formula.error(np.array(asked, dtype=np.intp)), spread

    def _noise(self, flagged: NDArray[np.bool_], costs: Floats64, others: Floats64) -> float | None:
        """Return the standard deviation of one answer; None if it is not of counts alone.

        `others` are answers about other rows, as many of each cell as in the first decisions.
        Only where they differ, the same question is asked again.
        """
        place = 0
        if np.isnan(costs[0]):
            place = int(np.nanargmin(costs))
            counts = self._counts(flagged[:, [place]])
            others = self._answers(self._drawn(np.repeat(counts, len(others), axis=0)))
        cost, others = costs[place], others[np.isfinite(others)]
        if np.all(np.abs(others - cost) <= SAME * max(abs(cost), 1.0)):
            return 0.0
        if current().conduct.repeats == 1:
            return None
        again = range(1, 2 if self.scarce else 4)
        column = 2.0 * flagged[:, place] - 1.0
        judge = self.ledger.problem.judge
        same = self.ledger.ask_each([(judge, column)] * len(again), again)
        same = np.append(cost, same[np.isfinite(same)])
        varied = float(np.std(same, ddof=min(1, len(same) - 1)))
        if np.abs(others - same.mean()).max() > ALIKE * varied:
            current().conduct.noise = varied
            return None
        return float(np.std(np.append(same, others), ddof=1))

    def _end_counts(self) -> Ints:
        """Return the counts of flagging nobody and everybody."""
        return np.stack([np.zeros(len(self.formula.sizes)), self.formula.sizes]).astype(np.intp)

    def _ends(self, costs: Floats64) -> bool:
        """Learn what flagging nobody and everybody costs; return whether both have answers.

        Where they were not in the first batch they are asked about now, unless calls are few.
        """
        if self.scarce:
            return False
        ends = self._end_counts()
        if not len(costs):
            try:
                costs = self._answers(self._drawn(ends))
            except MetricError:
                return False
        there = np.isfinite(costs)
        self.formula.tell(ends[there], costs[there])
        return bool(np.all(there))

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
    columns, valid = columns_read(problem), problem.valid
    if columns is None or any(
        len(np.unique(valid.side[name])) > MOST_CELLS // 2 for name in columns
    ):
        return None
    partition = Partition.by(valid.y, valid.side, columns)
    rows = np.bincount(partition.of(valid.y, valid.side))
    enough = len(partition) <= MOST_CELLS and rows.min() >= FEWEST_IN_CELL
    return partition if enough else None


def columns_read(problem: Problem) -> list[str] | None:
    """Return the columns that a function of decisions asks for; None where it is not learned."""
    metric, valid = problem.metric, problem.valid
    able = metric.black_box and problem.decides and not metric.reads_features
    able = able and not isinstance(metric, Limited)  # a limit is a leap that no formula follows
    if not able or problem.labels is None or np.ptp(valid.weights) > 0.0:
        return None
    asked = (*getattr(metric, "asks", metric.needs), *getattr(metric, "takes", ()))
    return [name for name in asked if name in valid.side]


def first_answers(cells: int) -> int:
    """Return how many answers a formula of so many cells asks for at first."""
    return len(SHARES) + len(RATES) + 4 + SPARSE * cells


def scarce_answers() -> int:
    """Return with how many evaluations in all a formula can be tried at least."""
    return int((len(SCARCE_SHARES) + len(RATES) + 3) / SCARCE_PART)
