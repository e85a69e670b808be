"""Learned: a judge that learns a function's formula and asks only what it cannot predict."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from anymetric.auto.judges.base import Bools, Floats64, Ints, Judge
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.judges.formula import Formula
from anymetric.auto.judges.learned_metric import LearnedMetric
from anymetric.auto.judges.study import Study, partition_of, scarce_answers
from anymetric.auto.records import Assessment
from anymetric.ledger import Ledger
from anymetric.metrics.subjects import about as describing
from anymetric.metrics.subjects import subject

# An answer is predicted well enough within this part of the resamples' spread or, where answers
# vary, of how much one does; a candidate is asked about so often at most, as long as there are so
# many times more calls.
ENOUGH, VARIED, ASKED, SPARED = 0.1, 0.33, 6, 12
# Questions about different candidates that are posed together.
TOGETHER = 8
# Where answers vary, candidates are not asked about after so many calls: others would vary as much.
MOST_VARIED = 180


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The thresholds of one candidate.

    Attributes
    ----------
    name : object
        By which questions about the candidate are counted.
    scores : array of shape (n, 1)
    shifts : array of shape (t,)
    counts : array of shape (t, K)
        Flagged rows of each cell.
    spread : float
        Of the costs on resamples at the best threshold.
    about : mapping
        What the candidate is.
    """

    name: object
    scores: Floats64
    shifts: Floats64
    counts: Ints
    spread: float
    about: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LearnedJudge(Judge):
    """A judge for functions of counts: all thresholds and resamples by a formula that it learns.

    Candidates are compared by the formula alone while they are trained. Then the function is asked
    about thresholds that are the best by the formula, or might be, of all candidates together, and
    only where the answer is in doubt.

    Attributes
    ----------
    inner : CountsJudge
        Of the learned formula.
    ledger : Ledger
    asking : bool
        Whether the function is asked, or the formula alone.
    asked : dict
        How often the function was asked about each candidate.
    """

    inner: CountsJudge
    ledger: Ledger
    asking: bool = False
    asked: dict[object, int] = field(default_factory=dict)

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
            self._ask([scores])
        costs = self.inner.evaluate(scores)
        known = self._known(scores)
        return costs if known is None else costs + (known - costs[0])

    def sweep(
        self, scores: Floats64, output: int = 0, moving: Bools | None = None
    ) -> tuple[Floats64, Floats64]:
        """Ask about shifts that are best, or might be; return what the formula says by then."""
        if moving is None and self.asking:
            _, costs = self.inner.sweep(scores)
            spread = costs[np.argmin(costs[:, 1:].mean(axis=1)), 1:].std()
            self._settle([self._thresholds(object(), scores, float(spread), subject())])
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
        """Ask what is in doubt, the best candidates first; assess all by what is known then."""
        if self.asking:
            order = sorted(range(len(found)), key=lambda k: found[k].cost)
            given = {k: (f.scores, float(f.resampled.std()), f.about) for k, f in enumerate(found)}
            self._settle([self._thresholds(k, *given[k]) for k in order])
        quiet = replace(self, asking=False)
        return [again(k, quiet) for k in range(len(found))]

    def confirmed(self, scores: Floats64) -> bool:
        """Ask about an answer; return whether its cost is as predicted."""
        if self.ledger.left < 1:
            return True
        costs = self.inner.evaluate(scores)
        doubt = max(ENOUGH * costs[1:].std(), 2.0 * self.formula.noise)
        return not abs(self._ask([scores])[0] - costs[0]) > doubt

    def closing(self) -> LearnedJudge:
        """Return the judge that asks the function."""
        return replace(self, asking=True, asked={})

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

    def _settle(self, candidates: Sequence[Thresholds]) -> None:
        """Ask about thresholds of candidates that are best, or might be, until none is in doubt.

        A batch has at most one question about each candidate; those before it are taken to be
        answered as predicted.
        """
        waiting = deque(candidates)
        while waiting and not (self.formula.noise > 0.0 and self.ledger.calls >= MOST_VARIED):
            batch = self._batch(waiting)
            if not batch:
                break
            tables = [one.scores + one.shifts[place] for one, place in batch]
            self._ask(tables, [one.about for one, _ in batch])
            waiting += [one for one, _ in batch]

    def _batch(self, waiting: deque[Thresholds]) -> list[tuple[Thresholds, int]]:
        """Take candidates from the queue until there are questions enough, one about each."""
        formula, batch = self.formula, list[tuple[Thresholds, int]]()
        often = min(ASKED, (self.ledger.left + SPARED - 2) // SPARED)
        while waiting and len(batch) < min(TOGETHER, self.ledger.left - 1):
            one = waiting.popleft()
            times = self.asked.get(one.name, 0)
            place = self._doubtful(formula, one) if times < often else None
            if place is not None:
                self.asked[one.name] = times + 1
                batch.append((one, place))
                formula = formula.believing(one.counts[[place]])
        return batch

    def _thresholds(
        self, name: object, scores: Floats64, spread: float, about: Mapping[str, Any]
    ) -> Thresholds:
        shifts, sums = self.alone.flagged(scores)
        counts = np.rint(sums[:, 0, :-1] / self.alone.weights[0, 0]).astype(np.intp)
        return Thresholds(name, scores, shifts, counts, spread, about)

    def _doubtful(self, formula: Formula, one: Thresholds) -> int | None:
        """Return which threshold is most worth a call; None if none is."""
        metric = self.inner.metric
        costs, errors = formula.predicted(one.counts)
        if isinstance(metric, LearnedMetric) and not metric.ends:
            costs[[0, -1]] = np.inf
        best, hope = int(np.argmin(costs)), int(np.argmin(costs - errors))
        enough = max(ENOUGH * one.spread, VARIED * formula.noise)
        if costs[hope] - errors[hope] < costs[best] - enough and formula.hopeful:
            return hope
        close = costs[best] - formula.lowest <= one.spread and formula.noise == 0.0
        return best if errors[best] > (0.0 if close else enough) else None

    def _ask(self, tables: Sequence[Floats64], about: Sequence[Mapping[str, Any]] = ()) -> Floats64:
        """Ask what has no final answer yet, in one batch, and learn from it; NaN if skipped."""
        keys, judge = [self._key(scores) for scores in tables], self.ledger.problem.judge
        new = [k for k, scores in enumerate(tables) if self._known(scores) is None]
        again = [self.formula.times.get(keys[k], 0) + keys[:k].count(keys[k]) for k in new]
        told = [about[k] for k in new] if about else ()
        costs = self.ledger.ask_each([(judge, tables[k][:, 0]) for k in new], again, told)
        if new:
            self.formula.tell(np.array([keys[k] for k in new]), costs)
        fresh = dict(zip(new, costs.tolist(), strict=True))
        return np.array([fresh.get(k, self._known(scores)) for k, scores in enumerate(tables)])

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
    with describing(stage="formula"):
        ends = study.begin(scores[:, 0])
    if ends is None:
        return None
    metric = LearnedMetric(problem.metric.name, partition, study.formula, ends)
    return LearnedJudge(CountsJudge.of(metric, problem.valid, resamples), ledger)
