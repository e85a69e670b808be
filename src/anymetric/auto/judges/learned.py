"""Learned: a judge that learns a function's formula and asks only what it cannot predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anymetric.auto.judges.base import Bools, Floats64, Ints, Judge
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.judges.formula import Formula, LearnedMetric
from anymetric.auto.judges.study import Study, partition_of, scarce_answers
from anymetric.auto.records import Assessment
from anymetric.ledger import Ledger

# An answer is predicted well enough within this part of the resamples' spread or, where answers
# vary, of how much one does; a candidate is asked about so often at most, as long as there are so
# many times more calls.
ENOUGH, VARIED, ASKED, SPARED = 0.1, 0.33, 6, 12
# Where answers vary, candidates are not asked about after so many calls: others would vary as much.
MOST_VARIED = 180


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
        if self.asking and self.ledger.left >= 1 and self.formula.noise == 0.0:
            self._ask(scores)
        costs = self.inner.evaluate(scores)
        known = self._known(scores)
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
        known = self._known(moved)
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
        doubt = max(ENOUGH * costs[1:].std(), 2.0 * self.formula.noise)
        return not abs(self._ask(scores) - costs[0]) > doubt

    def varies(self, scores: Floats64) -> bool:
        """Return whether any two answers so far differ."""
        return bool(np.ptp(list(self.formula.answers.values())) > 0.0)

    def of_counts(self) -> CountsJudge:
        """Return the judge of the learned formula."""
        return self.inner

    @property
    def metric_error(self) -> float:
        """How far off the formula typically is."""
        return self.formula.error()

    def _ask_about(self, scores: Floats64) -> None:
        if self.formula.noise > 0.0 and self.ledger.calls >= MOST_VARIED:
            return
        _, costs = self.inner.sweep(scores)
        noise = float(costs[np.argmin(costs[:, 1:].mean(axis=1)), 1:].std())
        shifts, sums = self.alone.flagged(scores)
        counts = np.rint(sums[:, 0, :-1] / self.alone.weights[0, 0]).astype(np.intp)
        for _ in range(int(min(ASKED, (self.ledger.left + SPARED - 2) // SPARED))):
            place = self._doubtful(counts, noise)
            if place is None:
                break
            self._ask(scores + shifts[place])

    def _doubtful(self, counts: Ints, noise: float) -> int | None:
        """Return which numbers of flagged rows are most worth a call; None if none are."""
        formula, metric = self.formula, self.inner.metric
        costs, errors = formula.predicted(counts)
        if isinstance(metric, LearnedMetric) and not metric.ends:
            costs[[0, -1]] = np.inf
        best, hope = int(np.argmin(costs)), int(np.argmin(costs - errors))
        enough = max(ENOUGH * noise, VARIED * formula.noise)
        if costs[hope] - errors[hope] < costs[best] - enough and formula.hopeful:
            return hope
        close = costs[best] - formula.lowest <= noise and formula.noise == 0.0
        return best if errors[best] > (0.0 if close else enough) else None

    def _ask(self, scores: Floats64) -> float:
        """Ask the function, unless it has answered for good, and learn from the answer."""
        known = self._known(scores)
        if known is None:
            key = self._key(scores)
            again = self.formula.times.get(key, 0)
            known = float(self.ledger.ask(self.ledger.problem.judge, scores[:, 0], again))
            self.formula.tell(np.array([key]), np.array([known]))
        return known  # NaN where the evaluation was skipped

    def _known(self, scores: Floats64) -> float | None:
        """Return the answer about these counts, if there is one and answers do not vary."""
        return None if self.formula.noise > 0.0 else self.formula.answers.get(self._key(scores))

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
    if partition is None or ledger.evaluations < scarce_answers():
        return None
    cell = partition.of(problem.valid.y, problem.valid.side)
    sizes = np.bincount(cell).astype(np.float64)
    study = Study(ledger, cell, Formula(sizes, partition.shapes(sizes)), rng)
    ends = study.begin(scores[:, 0])
    if ends is None:
        return None
    metric = LearnedMetric(problem.metric.name, partition, study.formula, ends)
    return LearnedJudge(CountsJudge.of(metric, problem.valid, resamples), ledger)
