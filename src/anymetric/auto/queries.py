"""Auto by query: each surrogate alone, then mixtures of the best, judged by whole queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged, agreeing, average, spread
from anymetric.auto.blends import Blend, Served
from anymetric.auto.choice import ballot, flat, measured
from anymetric.auto.jury import Jury
from anymetric.auto.kitchens import QueryKitchen
from anymetric.auto.query_jury import QueryJury, calling_jury
from anymetric.blocks import Queries
from anymetric.data import Data
from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.metrics import BoundQueries, MetricError
from anymetric.metrics.ranked import QUERY
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]
# Ridge, in units of one row; of a large sample the first will do.
STRENGTHS = (30.0, 300.0, 3000.0)
# More rows than this are enough to train on without those that judge.
LARGE = 20_000
# So many of the others are mixed with the best, and so many then train on the judging queries too.
MIXED, JOINED = 2, 12


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


@dataclass(frozen=True)
class AutoByQuery:
    """What `Auto` does where queries train and judge.

    Each surrogate alone gives candidates, with more and with less ridge; so do all together, and
    the best mixed with the next (Example 4 of the paper). The best of them are trained once more
    on the judging queries too, by turns. Each is judged on replicates of whole queries, and the
    answer is the average of their scores: the less a candidate counts, the more standard errors
    it is behind the best.

    Parameters
    ----------
    replicates : int
    averaged : bool
        Otherwise the best candidate on average wins.
    use_validation : "auto" or bool
        Whether candidates may train on the judging queries too; a query never judges a model that
        it trained. True: no other candidates. ``auto``: not of a large sample.

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
    use_validation: Literal["auto"] | bool = "auto"

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
                served = kitchen.cook(blend, nearest(judged, blend))
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
        """Yield the plain ones, mixtures of the best, and the best with the judging queries."""
        always = self.use_validation is True and kitchen.joins
        for blend in plain_blends(kitchen):
            yield blend.with_judges if always else blend
        if len(kitchen.problem.names) > 2 and not kitchen.few:
            best, *others = distinct(ranked(judged))
            for other in others[:MIXED]:
                yield best.mixed(other)
        rows = len(kitchen.problem.train) + len(kitchen.problem.valid)
        if self.use_validation == "auto" and rows <= LARGE and kitchen.joins:
            for blend in ranked(judged)[:JOINED]:
                yield blend.with_judges

    def _concluded(
        self,
        ledger: Ledger,
        judged: list[Judged],
        turns: list[Turn],
        status: Status,
        jury: Jury | None = None,
    ) -> Solution:
        """Average, and say what each surrogate was worth; without a jury, the best."""
        problem = ledger.problem
        replicates = np.stack([j.tuned.replicates for j in judged], axis=1)
        best = int(np.argmin([j.tuned.cost for j in judged]))
        share = np.eye(len(judged))[best]
        if jury is not None and self.averaged and replicates.size:
            share = agreeing(shares(replicates), [centred(j, problem.valid) for j in judged])
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


def plain_blends(kitchen: QueryKitchen) -> Iterator[Blend]:
    """Yield every surrogate alone and all in equal parts, with each ridge."""
    names = kitchen.problem.names
    K = len(names)
    rows = [*zip(names, np.eye(K), strict=True)]
    rows += [("all", np.full(K, 1.0 / K))] if K > 1 else []
    large = len(kitchen.problem.train) > LARGE
    for strength in STRENGTHS[:1] if large or kitchen.few else STRENGTHS:
        for name, weights in rows:
            yield Blend(f"{name}, {strength:g}", weights, strength)


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


def nearest(judged: Sequence[Judged], blend: Blend) -> Served | None:
    """Return the candidate of the most alike blend; None if there is none."""
    served = [j.candidate for j in judged if isinstance(j.candidate, Served)]
    return min(served, key=lambda one: blend.distance(one.blend), default=None)


def shares(replicates: Floats64) -> Floats64:
    """Return ``exp(-z^2 / 2)`` of each candidate, z standard errors behind the best; they sum to 1.

    Few queries cannot say which is the best: candidates that they cannot tell from it count as
    much as it does.

    Parameters
    ----------
    replicates : array of shape (B, C)
        Costs.

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.array([[0.1, 0.3, 0.9], [0.3, 0.1, 1.1]])).tolist()
    [0.5, 0.5, 0.0]
    """
    costs = replicates.mean(axis=0)
    behind = replicates - replicates[:, [int(np.argmin(costs))]]
    z = behind.mean(axis=0) / np.maximum(behind.std(axis=0), np.finfo(np.float32).tiny)
    odds = np.exp(-0.5 * np.minimum(z, 40.0) ** 2)
    return np.asarray(odds / odds.sum())


def centred(judged: Judged, data: Data) -> Floats64:
    """Return the judging rows' scores less the mean of their query: all that a ranking reads."""
    queries = Queries.of(data.column(QUERY))
    scores = judged.candidate.valid
    return np.asarray(scores - queries.mean(scores)[queries.member])


def shared_worth(problem: Problem, judged: Sequence[Judged], share: Floats64) -> dict[str, float]:
    """Return what each surrogate was worth: the mean of the blends' weights by shares."""
    worth = sum(w * blend_of(j).weights for j, w in zip(judged, share, strict=True))
    return dict(zip(problem.names, np.asarray(worth).tolist(), strict=True))
