"""Auto by query: each surrogate alone, then mixtures of the best, judged by whole queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged, agreeing, average, spread, votes
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import affordable, ballot, flat, measured
from anymetric.auto.jury import Judgement, Jury, replicate_weights
from anymetric.auto.kitchens import Blend, QueryKitchen, Served
from anymetric.blocks import Queries
from anymetric.data import Data
from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.metrics import BoundMetric, BoundQueries, Metric, MetricError
from anymetric.metrics.ranked import QUERY
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn
from anymetric.starts import plain

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]
# Ridge, in units of one row; of a large sample the middle one will do.
STRENGTHS = (30.0, 300.0, 3.0)
LARGE = 20_000
# So many of the others are mixed with the best.
MIXED = 2


def ranks_by_query(problem: Problem) -> bool:
    """Return whether whole queries must train and judge.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]), side={"query": np.zeros(2)})
    >>> ndcg, auc = (
    ...     Problem(data, "hinge", as_metric(m), labels=(0, 1)) for m in ("ndcg", "roc_auc")
    ... )
    >>> ranks_by_query(ndcg), ranks_by_query(auc)
    (True, False)
    """
    there = QUERY in problem.train.side and QUERY in problem.valid.side
    needs = [problem.metric.needs, *(s.needs for s in problem.profiler.surrogates)]
    asked = any(QUERY in names for names in needs)
    return there and asked and problem.labels is not None and not problem.metric.decides


@dataclass(frozen=True, eq=False)
class QueryJury:
    """A jury for metrics by query: one look gives every query's value, hence all replicates.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> side = {"query": np.array([0, 0, 1, 1])}
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]), side=side)
    >>> ledger = Ledger(Problem(data, "hinge", as_metric("mrr")))
    >>> jury = QueryJury(ledger, ledger.problem.judge, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> jury.judge(np.array([2.0, 1.0, 1.0, 2.0])).replicates.tolist()
    [0.0, 0.5]
    """

    ledger: Ledger
    bound: BoundQueries
    shares: Floats64  # (Q, B): of each query in each replicate
    price: int = 1

    @classmethod
    def build(
        cls, ledger: Ledger, bound: BoundQueries, count: int, rng: np.random.Generator
    ) -> QueryJury:
        """Draw a weight for each query in each replicate."""
        shares = bound.weights[:, np.newaxis] * replicate_weights(len(bound.queries), count, rng)
        return cls(ledger, bound, shares / shares.sum(axis=0))

    def tune(self, scores: Floats64) -> Judgement:
        """Judge: there is no threshold."""
        return self.judge(scores)

    def judge(self, scores: Floats64) -> Judgement:
        """Count one look, and judge."""
        cost = float(self.ledger.ask(self.bound, scores))
        replicates = self.bound.per_query(scores) @ self.shares
        return Judgement(0.0, cost, np.asarray(self.bound.metric.cost(replicates)))


def calling_jury(ledger: Ledger, rng: np.random.Generator) -> CallingJury:
    """Return a jury for any other metric: its replicates are whole queries drawn anew."""
    _, count = affordable(ledger.max_calls)
    problem = ledger.problem
    drawn = [redrawn(problem.metric, problem.valid, problem.labels, rng) for _ in range(count)]
    return CallingJury(ledger, [pair for pair in drawn if pair is not None])


def redrawn(
    metric: Metric, data: Data, labels: tuple[object, object] | None, rng: np.random.Generator
) -> tuple[NDArray[np.intp], BoundMetric] | None:
    """Bind a metric to as many queries, drawn with replacement; None if it cannot be bound."""
    queries = list(Queries.of(data.column(QUERY)))
    chosen = [queries[q] for q in rng.integers(len(queries), size=len(queries))]
    rows = np.concatenate(chosen)
    side = {name: column[rows] for name, column in data.side.items()}
    side[QUERY] = np.repeat(np.arange(len(chosen)), [len(part) for part in chosen])
    weights = data.weights[rows]
    try:
        return rows, metric.bind(data.y[rows], weights=weights, side=side, labels=labels)
    except ValueError:
        return None


@dataclass(frozen=True)
class AutoByQuery:
    """What `Auto` does where queries train and judge.

    Each surrogate alone gives candidates, with more and with less ridge; so do all together, and
    the best mixed with the next (Example 4 of the paper). Each is judged on replicates of whole
    queries; in each the best gets a vote, and the answer is the average of their scores by votes.

    Parameters
    ----------
    replicates : int
    averaged : bool
        Otherwise the best candidate on average wins.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import Pairwise, Softmax
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = np.where(X[:, 0] + rng.normal(size=300) > 0.5, 1.0, -1.0)
    >>> data = Data(X, y, side={"query": np.repeat(np.arange(30), 10)})
    >>> problem = Problem(data, [Pairwise(), Softmax()], as_metric("map"), labels=(0, 1))
    >>> AutoByQuery().run(Ledger(problem), rng).cost < 0.4
    True
    """

    replicates: int = 100
    averaged: bool = True

    def run(
        self, ledger: Ledger, rng: np.random.Generator, watch: Watcher | None = None
    ) -> Solution:
        """Train, judge and average."""
        problem = ledger.problem
        kitchen, jury = QueryKitchen.build(problem, rng), self._jury(ledger, rng)
        turns: list[Turn] = []
        judged: list[Judged] = []
        status = Status.JUDGED
        try:
            for blend in self._blends(kitchen, judged):
                began = time.perf_counter()
                served = kitchen.cook(blend, start(judged, blend, problem))
                judged.append(Judged(served, jury.tune(served.valid)))
                turns.append(judged[-1].turn(problem, len(turns), ledger.calls, began))
                if watch is not None and watch(turns[-1]):
                    status = Status.STOPPED
                    break
        except BudgetSpent:
            status = Status.BUDGET
        except MetricError as error:
            error.best = self._concluded(ledger, judged, turns, Status.FAILED) if judged else None
            raise
        if not judged:
            raise ValueError(f"max_metric_calls must allow one candidate; got {ledger.max_calls}.")
        if flat(judged):
            status = Status.FLAT
        alone = ledger.left < jury.price or status is Status.FLAT
        return self._concluded(ledger, judged, turns, status, None if alone else jury)

    def _jury(self, ledger: Ledger, rng: np.random.Generator) -> Jury:
        bound = ledger.problem.judge
        if isinstance(bound, BoundQueries):
            return QueryJury.build(ledger, bound, self.replicates, rng)
        return calling_jury(ledger, rng)

    def _blends(self, kitchen: QueryKitchen, judged: list[Judged]) -> Iterator[Blend]:
        """Yield every surrogate alone and all in equal parts, then mixtures of the best."""
        names = kitchen.problem.names
        K = len(names)
        rows = [*zip(names, np.eye(K), strict=True)]
        rows += [("all", np.full(K, 1.0 / K))] if K > 1 else []
        strengths = STRENGTHS[:1] if len(kitchen.problem.train) > LARGE else STRENGTHS
        for strength in strengths[:1] if kitchen.few else strengths:
            for name, weights in rows:
                yield Blend(f"{name}, {strength:g}", weights, strength)
        if K > 2 and not kitchen.few:
            best, *others = distinct(ranked(judged))
            for other in others[:MIXED]:
                yield best.mixed(other)

    def _concluded(
        self,
        ledger: Ledger,
        judged: list[Judged],
        turns: list[Turn],
        status: Status,
        jury: Jury | None = None,
    ) -> Solution:
        """Average by votes, and say what each surrogate was worth; without a jury, the best."""
        problem = ledger.problem
        replicates = np.stack([j.tuned.replicates for j in judged], axis=1)
        best = int(np.argmin([j.tuned.cost for j in judged]))
        share = np.eye(len(judged))[best]
        if jury is not None and self.averaged and replicates.size:
            share = agreeing(votes(replicates), [centred(j, problem.valid) for j in judged])
        worth = shared_worth(problem, judged, share)
        settings: dict[str, object] = {"candidates": ballot(judged, share), "trust": 0.0}
        if jury is None:
            return Solution(turns[best], status, tuple(turns), ledger.calls, settings, worth)
        sizes = [spread(centred(j, problem.valid), problem.valid.weights) for j in judged]
        mean = average(judged, share, sizes)
        verdict = jury.judge(mean.valid)
        here = Probe(mean.theta, problem.profile(mean.theta), verdict.cost)
        last = Turn(len(turns), 0, here, here.profile, calls=ledger.calls)
        settings["error"] = float(verdict.replicates.std())
        settings.update(measured(judged, verdict))
        return Solution(last, status, (*turns, last), ledger.calls, settings, worth)


def blend_of(judged: Judged) -> Blend:
    """Return the blend that a judged candidate was trained on."""
    assert isinstance(judged.candidate, Served)
    return judged.candidate.blend


def ranked(judged: Sequence[Judged]) -> list[Blend]:
    """Return the blends, the best on average over the replicates first."""
    costs = [float(np.mean(np.append(j.tuned.replicates, j.tuned.cost))) for j in judged]
    return [blend_of(judged[k]) for k in np.argsort(costs, kind="stable")]


def distinct(blends: Sequence[Blend]) -> list[Blend]:
    """Keep the first of those with equal weights.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = (Blend("", np.ones(1), strength) for strength in (3.0, 30.0))
    >>> [blend.strength for blend in distinct([one, two])]
    [3.0]
    """
    kept: list[Blend] = []
    for blend in blends:
        if not any(np.array_equal(blend.weights, other.weights) for other in kept):
            kept.append(blend)
    return kept


def start(judged: Sequence[Judged], blend: Blend, problem: Problem) -> Floats64:
    """Return the parameters of the candidate with the most alike weights; at first, plain ones.

    Where all scores are equal every order is as good, and a loss with kinks leads nowhere.
    """
    if not judged:
        return plain(problem)
    alike = [-float(np.abs(blend_of(j).weights - blend.weights).sum()) for j in judged]
    return judged[int(np.argmax(alike))].candidate.theta


def centred(judged: Judged, data: Data) -> Floats64:
    """Return the judging rows' scores less the mean of their query: all that a ranking reads."""
    queries = Queries.of(data.column(QUERY))
    scores = judged.candidate.valid
    return np.asarray(scores - queries.mean(scores)[queries.member])


def shared_worth(problem: Problem, judged: Sequence[Judged], share: Floats64) -> dict[str, float]:
    """Return what each surrogate was worth: the mean of the blends' weights by votes."""
    worth = sum(w * blend_of(j).weights for j, w in zip(judged, share, strict=True))
    return dict(zip(problem.names, np.asarray(worth).tolist(), strict=True))
