"""Calls: a judge for metrics that must be called for every threshold and every resample."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from anymetric.auto.constants import CALLED_RESAMPLES, CALLED_THRESHOLDS
from anymetric.auto.judges.base import (
    Bools,
    Floats64,
    Ints,
    Judge,
    margins,
    shifts_flagging,
    without_missing,
)
from anymetric.auto.judges.bootstrap import Resample, bind_resamples, bind_rows
from anymetric.auto.judges.classes import prior_corrections
from anymetric.auto.judges.racing import Repeats
from anymetric.auto.records import Assessment
from anymetric.auto.task import Task
from anymetric.ledger import Ledger
from anymetric.metrics import BoundMetric, MetricError
from anymetric.metrics.digests import digest

# With fewer calls in all than this, candidates are compared without resamples, which are kept for
# so many of the best, with this part of all calls.
PLENTY, FINALISTS, KEPT = 4000, 4, 0.45
# Multiples of the share of rows flagged that are asked about: of two classes around the best, where
# calls are few, and of one class among many.
AROUND = (0.5, 0.65, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
NEAR, OF_CLASS = (0.8, 1.0, 1.25), (0.5, 0.8, 1.25, 2.0)
# Flagging nobody or everybody is asked about where so many calls are left.
ENDS = 50
# Where answers vary: repeats of the best thresholds of one candidate, at most; and where calls are
# few, the part of them that repeats of the best candidates may take.
REPEATS, RACED = 24, 0.2


@dataclass(eq=False)
class CallsJudge(Judge):
    """A judge for any metric: one call for every table of scores, every threshold and resample.

    Parameters
    ----------
    ledger : Ledger
    task : Task
    resamples : list of (rows, bound metric)
    thresholds : int
        That are looked at for one candidate.
    rows : array of int, optional
        The validation rows that are judged; all by default.
    bound : BoundMetric, optional
        The metric on these.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> data = Data(np.array([[1.0], [2.0], [0.0]]), np.array([1.0, 1.0, -1.0]))
    >>> ledger = Ledger(Problem(data, "logistic", as_metric("roc_auc")))
    >>> judge = CallsJudge.of(ledger, Task((0, 1)), np.ones((3, 2)))
    >>> judge.evaluate(np.array([[1.0], [2.0], [0.0]])).tolist()
    [0.0, 0.0, 0.0]
    """

    ledger: Ledger
    task: Task
    resamples: list[Resample]
    thresholds: int = CALLED_THRESHOLDS
    rows: Ints | None = None
    bound: BoundMetric | None = None
    seen: list[tuple[float, float]] = field(default_factory=list)  # cost, share of rows flagged
    swept: dict[str, float] = field(default_factory=dict)  # costs of the last sweep, by the scores
    repeats: Repeats = field(default_factory=Repeats)
    ends: list[tuple[float, bool]] | None = None  # costs of flagging nobody, and everybody
    varied: bool = False  # whether thresholds of one candidate had different costs

    @classmethod
    def of(cls, ledger: Ledger, task: Task, weights: Floats64) -> CallsJudge:
        """Bind the metric to as many resamples as the calls allow."""
        problem = ledger.problem
        thresholds, count = affordable(ledger.evaluations)
        given = problem.metric, problem.valid, weights[:, :count], problem.labels
        return cls(ledger, task, bind_resamples(*given), thresholds)

    @property
    def left(self) -> float:
        """How many more calls there are."""
        return self.ledger.left

    @property
    def thrifty(self) -> bool:
        """Whether calls are few."""
        return self.ledger.evaluations < PLENTY

    @property
    def price(self) -> int:  # type: ignore[override]
        """One call for the rows, one for each resample."""
        return 1 + len(self.resamples)

    @property
    def spent(self) -> bool:
        """Whether what is left is kept for the finalists."""
        return self.thrifty and self.left < KEPT * self.ledger.evaluations

    def evaluate(self, scores: Floats64) -> Floats64:
        """Ask about the rows and, unless calls are few, about each resample."""
        if self.thrifty:
            return without_missing(self._noticed(scores, self._asked([scores])))
        known = self.swept.get(digest(scores), np.nan)
        asked = [(self._judge, scores.reshape(-1)), *self._resampled(scores)]
        first = np.array([known]) if np.isfinite(known) else self.ledger.ask_each(asked[:1])
        # Where neither the rows nor a first resample have an answer, the others will not.
        if np.isnan(first[0]):
            first = np.append(first, self.ledger.ask_each(asked[1:2]))
        if np.all(np.isnan(first)):
            return np.full(len(asked), np.inf)
        first = self._noticed(scores, first)
        what = [{"resample": b} for b in range(len(first) - 1, len(self.resamples))]
        rest = self.ledger.ask_each(asked[len(first) :], about=what)
        return without_missing(np.append(first, rest))

    def resample(self, scores: Floats64) -> Floats64:
        """Ask about each resample, however few calls there are."""
        what = [{"resample": b} for b in range(len(self.resamples))]
        return without_missing(self.ledger.ask_each(self._resampled(scores), about=what))

    def sweep(
        self, scores: Floats64, output: int = 0, moving: Bools | None = None
    ) -> tuple[Floats64, Floats64]:
        """Ask about some shifts of one output on the rows: costs ``(t, 1)``."""
        own = np.ones(len(scores), dtype=bool) if moving is None else moving
        column = np.eye(scores.shape[1])[output] * own[:, np.newaxis]
        margin = margins(scores, output)
        if self.task.many or moving is not None:
            share = float(np.mean(margin[own] > 0.0))
            factors = OF_CLASS if self.task.many else AROUND
            shifts = shifts_flagging(margin[own], [share * f for f in factors])
            shifts = shifts[: int(max(min(self.left - 1, len(shifts)), 0))]
            tables = [scores + s * column for s in shifts]
            return shifts, self._best_repeated(tables, self._tried(tables))[:, np.newaxis]
        first = not self.seen
        shifts = self._sound(scores, self._thresholds(scores))
        costs = self._tried([scores + s * column for s in shifts])
        if self.thresholds >= CALLED_THRESHOLDS and len(shifts) > 2:
            best = int(np.argmin(costs))
            beside = shifts[max(best - 1, 0)], shifts[min(best + 1, len(shifts) - 1)]
            closer = self._sound(scores, np.linspace(*beside, 10)[1:-1])
            costs = np.append(costs, self._tried([scores + s * column for s in closer]))
            shifts = np.append(shifts, closer)
        if first or not self.thrifty:
            costs = self._best_repeated([scores + s * column for s in shifts], costs)
        best = int(np.argmin(costs))
        self.varied = self.varied or len(np.unique(costs[np.isfinite(costs)])) > 1
        self.seen.append((float(costs[best]), float(np.mean(scores + shifts[best] > 0.0))))
        for cost, everybody in self._at_ends(len(scores)):
            beyond = 0.5 - scores.min() if everybody else -0.5 - scores.max()
            shifts, costs = np.append(shifts, beyond), np.append(costs, cost)
        return shifts, costs[:, np.newaxis]

    def take(self, rows: Ints) -> CallsJudge | None:
        """Return a judge of some rows only; None if the metric refuses them."""
        problem = self.ledger.problem
        found = bind_rows(problem.metric, problem.valid, rows, problem.labels)
        if found is None:
            return None
        given = self.ledger, self.task, list[Resample](), self.thresholds
        return CallsJudge(*given, *found, repeats=self.repeats)

    def starts(self, outputs: int) -> list[Floats64]:
        """Return prior corrections of several strengths; only the zeros where calls are few."""
        if not self.task.exclusive or self.thrifty:
            return [np.zeros(outputs)]
        valid = self.ledger.problem.valid
        rows = np.arange(len(valid)) if self.rows is None else self.rows
        return prior_corrections(valid.y[rows].astype(np.intp), valid.weights[rows], outputs)

    def finalists(
        self, found: Sequence[Assessment], again: Callable[[int, Judge], Assessment]
    ) -> list[Assessment | None]:
        """Ask about resamples of the best and of the first, as many as there are calls for.

        Where answers vary, the best are asked about again before that.
        """
        if not self.thrifty:
            return list(found)
        most = min(RACED * self.ledger.evaluations, self.left - len(self.resamples) - 3)
        costs = np.array([one.cost for one in found])
        given = self.ledger, self._judge, [one.scores for one in found], costs, most
        costs = self.repeats.race(*given, about=[one.about for one in found])
        order = sorted(range(1, len(found)), key=lambda k: costs[k])
        each = len(self.resamples)
        count = int(min(FINALISTS, max((self.left - 2) // max(each, 1), 0))) if each else 0
        chosen = sorted([0, *order][:count])
        asked = [question for k in chosen for question in self._resampled(found[k].scores)]
        what = [{**found[k].about, "resample": b} for k in chosen for b in range(each)]
        answers = self.ledger.ask_each(asked, about=what).reshape(len(chosen), each)
        last: list[Assessment | None] = [None] * len(found)
        for k, own in zip(chosen, answers, strict=True):
            last[k] = replace(found[k], cost=float(costs[k]), resampled=without_missing(own))
        return last

    def varies(self, scores: Floats64) -> bool:
        """Return whether thresholds of a candidate so far had different costs."""
        return self.varied

    @property
    def _judge(self) -> BoundMetric:
        return self.ledger.problem.judge if self.bound is None else self.bound

    def _noticed(self, scores: Floats64, costs: Floats64) -> Floats64:
        """See whether the first of some costs is the same another time; return the costs."""
        if np.isfinite(costs[0]):
            self.repeats.notice(self.ledger, self._judge, scores, float(costs[0]))
        return costs

    def _best_repeated(self, tables: Sequence[Floats64], costs: Floats64) -> Floats64:
        """Return costs of a candidate's thresholds, the best asked again where answers vary."""
        if len(costs) and np.any(np.isfinite(costs)):
            best = int(np.argmin(costs))
            self._noticed(tables[best], costs[[best]])
            costs = self._raced(tables, costs, min(REPEATS, len(costs), self.left - 1))
        self.swept = {digest(one): cost for one, cost in zip(tables, costs.tolist(), strict=True)}
        return costs

    def _raced(self, tables: Sequence[Floats64], costs: Floats64, most: float) -> Floats64:
        return self.repeats.race(self.ledger, self._judge, tables, costs, most)

    def _asked(self, tables: Sequence[Floats64]) -> Floats64:
        """Ask about each table of scores on the rows."""
        if not tables:
            return np.zeros(0)
        table = np.column_stack([one.reshape(-1) for one in tables])
        return np.asarray(self.ledger.ask(self._judge, table))

    def _tried(self, tables: Sequence[Floats64]) -> Floats64:
        """Ask about each table; one without an answer costs infinitely much."""
        costs = self._asked(tables)
        return np.where(np.isnan(costs), np.inf, costs)

    def _resampled(self, scores: Floats64) -> list[tuple[BoundMetric, Floats64]]:
        parts = [(b, scores if rows is None else scores[rows]) for rows, b in self.resamples]
        return [(bound, part.reshape(-1)) for bound, part in parts]

    def _thresholds(self, scores: Floats64) -> Floats64:
        """Return shifts that flag even shares of the rows, or about what was best so far."""
        score = scores[:, 0]
        if self.thrifty and self.seen:
            return shifts_flagging(score, [min(self.seen)[1] * factor for factor in NEAR])
        rate = float(np.mean(self.ledger.problem.valid.y > 0.0))
        even = np.linspace(0.0, 1.0, max(self.thresholds - 3, 1) + 2)[1:-1]
        shifts = shifts_flagging(score, [*even, 0.5 * rate, rate, 2.0 * rate], also=0.0)
        most = int(max(min(self.left - 1, len(shifts)), 1))
        if most >= len(shifts):
            return shifts
        spread = np.linspace(0, len(shifts) - 1, max(most - 1, 0)).round().astype(np.intp)
        return shifts[np.unique(np.append(spread, np.argmin(np.abs(shifts))))]

    def _sound(self, scores: Floats64, shifts: Floats64) -> Floats64:
        """Return the shifts under which no resample flags nobody or everybody: there many fail."""
        drawn = [scores[:, 0] if rows is None else scores[rows, 0] for rows, _ in self.resamples]
        low = max((float(part.min()) for part in drawn), default=-np.inf)
        high = min((float(part.max()) for part in drawn), default=np.inf)
        kept = shifts[(high + shifts > 0.0) & (low + shifts <= 0.0)]
        return kept if len(kept) else shifts

    def _at_ends(self, n: int) -> list[tuple[float, bool]]:
        """Return the costs of flagging nobody and everybody; none where the metric fails."""
        if self.ends is None:
            self.ends = []
            if self.left >= ENDS and self.rows is None:
                with warnings.catch_warnings(), suppress(MetricError):
                    warnings.simplefilter("ignore")
                    costs = self._asked([np.full((n, 1), -1.0), np.full((n, 1), 1.0)])
                    ends = zip(costs.tolist(), (False, True), strict=True)
                    self.ends = [end for end in ends if np.isfinite(end[0])]
        return self.ends


def affordable(calls: float) -> tuple[int, int]:
    """Return thresholds of the first candidate and resamples that a budget allows.

    Examples
    --------
    >>> affordable(np.inf), affordable(200), affordable(20)
    ((24, 40), (10, 10), (6, 2))
    """
    if calls >= PLENTY:
        return CALLED_THRESHOLDS, CALLED_RESAMPLES
    few = int(calls)
    return min(max(few // 3, 4), 10), min(max(few // 20, 2), CALLED_RESAMPLES)
