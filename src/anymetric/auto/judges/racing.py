"""Racing: where answers vary from call to call, repeats go to those that may still be the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anymetric.auto.judges.base import Floats64, Ints
from anymetric.ledger import Ledger
from anymetric.metrics import BoundMetric
from anymetric.metrics.digests import digest
from anymetric.metrics.evaluations import current

# Two answers to the same question are the same within this part of their size.
SAME = 1e-9
# Further answers to a question of which two differ; with fewer evaluations none is asked twice.
FURTHER, FEWEST = 2, 30
# Those whose cost is within so many standard errors of the lowest are asked about again, until they
# have so many answers.
WITHIN, ANSWERS = 1.0, 8


@dataclass(eq=False)
class Repeats:
    """Notices whether answers vary, and asks the same questions again where they do.

    Attributes
    ----------
    noise : float or None
        The standard deviation of one answer; None until a question was asked twice.
    times : dict
        How often each question was repeated.
    """

    noise: float | None = None
    times: dict[str, int] = field(default_factory=dict)

    def notice(self, ledger: Ledger, judge: BoundMetric, scores: Floats64, cost: float) -> None:
        """See once whether the answer to a question, a finite cost, is the same another time.

        It is taken to be where the user has set how often each question is asked, and where calls
        are too few.
        """
        if self.noise is not None:
            return
        conduct = current().conduct
        asks = conduct.repeats == "auto" and ledger.problem.metric.black_box
        enough = ledger.evaluations >= FEWEST and ledger.left >= 3 + FURTHER
        self.noise = conduct.noise
        if self.noise == 0.0 and asks and enough:
            answers = np.append(cost, self.ask(ledger, judge, [scores]))
            if abs(answers[1] - cost) > SAME * max(abs(cost), 1.0):
                answers = np.append(answers, self.ask(ledger, judge, [scores] * FURTHER))
                self.noise = conduct.noise = float(np.nanstd(answers, ddof=1))

    def ask(
        self,
        ledger: Ledger,
        judge: BoundMetric,
        tables: Sequence[Floats64],
        about: Sequence[Mapping[str, Any]] = (),
    ) -> Floats64:
        """Return new answers to questions that have been asked before."""
        again = []
        for scores in tables:
            box = judge.box(scores.reshape(-1))
            key = digest(scores if box is None else box[0].reads(box[1]))
            self.times[key] = self.times.get(key, 0) + 1
            again.append(self.times[key])
        return ledger.ask_each([(judge, scores.reshape(-1)) for scores in tables], again, about)

    def race(
        self,
        ledger: Ledger,
        judge: BoundMetric,
        tables: Sequence[Floats64],
        costs: Floats64,
        most: float,
        about: Sequence[Mapping[str, Any]] = (),
    ) -> Floats64:
        """Return the mean costs after repeats of the best; as they are where answers do not vary.

        Parameters
        ----------
        ledger : Ledger
        judge : BoundMetric
        tables : sequence of arrays of shape (n, C)
        costs : array of shape (m,)
        most : float
            Repeats in all.
        about : sequence of mappings
            What each table is.
        """
        if not self.noise:
            return costs

        def ask(places: Ints) -> Floats64:
            what = [about[k] for k in places] if about else ()
            return self.ask(ledger, judge, [tables[k] for k in places], what)

        return raced(costs, self.noise, ask, most)


def raced(costs: Floats64, noise: float, ask: Callable[[Ints], Floats64], most: float) -> Floats64:
    """Return mean costs: those that may be the best are asked about until one is, or calls end.

    Parameters
    ----------
    costs : array of shape (m,)
        One answer each; infinite where there is none.
    noise : float
        The standard deviation of one answer.
    ask : callable
        Takes places ``(k,)`` and returns new answers ``(k,)``, NaN where there is none.
    most : float
        Repeats in all.

    Examples
    --------
    >>> rng, true = np.random.default_rng(0), np.array([0.3, 0.32, 0.6])
    >>> calls = []
    >>> def ask(places):
    ...     calls.extend(places.tolist())
    ...     return true[places] + 0.05 * rng.normal(size=len(places))
    >>> found = raced(np.array([0.36, 0.31, 0.62]), 0.05, ask, 30)
    >>> int(np.argmin(found)), 2 in calls, len(calls) <= 30
    (0, False, True)
    """
    costs, times = costs.copy(), np.ones(len(costs), dtype=np.intp)
    while most >= 2 and np.any(np.isfinite(costs)):
        leader = int(np.argmin(costs))
        error = noise * np.sqrt(1.0 / times + 1.0 / times[leader])
        close = costs - costs[leader] <= WITHIN * error
        places = np.flatnonzero(close & (times < ANSWERS))
        if np.count_nonzero(close) < 2 or not len(places):
            break
        places = places[np.argsort(costs[places], kind="stable")[: int(min(most, len(places)))]]
        answers = ask(places)
        there = np.isfinite(answers)
        own = places[there]
        costs[own] = (times[own] * costs[own] + answers[there]) / (times[own] + 1)
        times[places] += 1
        most -= len(places)
    return costs
