"""Auto by query: each surrogate alone, then mixtures of the best, judged by whole queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged, agreeing, average, probe, spread, summed
from anymetric.auto.blends import Blend
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import ballot, by_family, flat
from anymetric.auto.jury import Jury
from anymetric.auto.kitchens import QueryKitchen
from anymetric.auto.pool import LINEAR, Candidate
from anymetric.auto.query_jury import QueryJury, calling_jury
from anymetric.auto.query_menu import LARGE, blend_of, distinct, nearest, plain_blends, ranked
from anymetric.auto.query_trees import Boosting, TreeKitchen
from anymetric.auto.room import heard
from anymetric.auto.told import gains
from anymetric.blocks import Queries
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import BoundQueries
from anymetric.metrics.ranked import QUERY
from anymetric.models import Learner
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn, keeping

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]
# So many of the others are mixed with the best, and so many then train on the judging queries too;
# of trees fewer, for nothing that is near helps them.
MIXED, JOINED, JOINED_TREES = 2, 12, 4


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
    it is behind the best. Boosted trees follow the same blends round by round.

    Parameters
    ----------
    replicates : int
    averaged : bool
        Otherwise the best candidate on average wins.
    use_validation : "auto" or bool
        Whether candidates may train on the judging queries too; a query never judges a model that
        it trained. True: no other candidates. ``auto``: not of a large sample.
    learners : tuple of Learner
        Families that boost.
    linear : bool
        Let linear candidates compete.
    categorical : tuple of int
        Columns of codes, which a linear model must have spread out.

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
    learners: tuple[Learner, ...] = ()
    linear: bool = True
    categorical: tuple[int, ...] = ()

    def run(
        self, ledger: Ledger, rng: np.random.Generator, watch: Watcher | None = None
    ) -> Solution:
        """Train, judge and average."""
        rows, jury = QueryKitchen.build(ledger.problem, rng), self._jury(ledger, rng)
        kitchens = self._kitchens(rows, rng)
        turns: list[Turn] = []
        judged: list[Judged] = []

        def best(status: Status) -> Solution:
            return self._single(ledger, judged, turns, status)

        def hear(blend: Blend) -> Turn:
            began = time.perf_counter()
            served = kitchens[blend.family].cook(blend, nearest(judged, blend))
            one = Judged(served, jury.tune(served.valid))
            turn = one.turn(ledger.problem, len(turns), ledger.calls, began)
            judged.append(one)
            turns.append(turn)
            return turn

        with keeping(lambda cut: best(cut) if turns else None):
            status = heard(hear, self._blends(rows, kitchens, judged), watch)
            if not judged:
                most = ledger.max_calls
                raise ValueError(f"max_metric_calls must allow one candidate; got {most}.")
            if status is not Status.BUDGET and flat(judged):
                return best(Status.FLAT)
            running = jury.heard(judged) if isinstance(jury, CallingJury) else judged
            if ledger.left < jury.price or not running or not running[0].tuned.replicates.size:
                return best(status)
            return self._averaged(ledger, judged, running, turns, status, jury)

    def _jury(self, ledger: Ledger, rng: np.random.Generator) -> Jury:
        bound = ledger.problem.judge
        if isinstance(bound, BoundQueries):
            return QueryJury.build(ledger, bound, self.replicates, rng)
        return calling_jury(ledger, rng)

    def _kitchens(
        self, rows: QueryKitchen, rng: np.random.Generator
    ) -> dict[str, QueryKitchen | TreeKitchen]:
        """Return what trains the candidates of each family, which compete in this order."""
        if not self.learners:
            return {LINEAR: rows}
        found: dict[str, QueryKitchen | TreeKitchen] = {}
        if self.linear:
            found[LINEAR] = rows.standardised(self.categorical)
        for learner in self.learners:
            if not isinstance(learner, Boosting):
                raise TypeError(
                    "By query, linear models and boosted trees can be trained: model must be "
                    f"'linear', 'boosted', 'auto' or Boosted(...); got {learner!r}."
                )
            found[learner.family] = TreeKitchen(learner, rows, rng)
        return found

    def _blends(
        self, rows: QueryKitchen, families: Iterable[str], judged: list[Judged]
    ) -> Iterator[Blend]:
        """Yield the plain ones of each family, mixtures of its best, and the best with the judges.

        What has been judged meanwhile says which are best.
        """
        size = len(rows.problem.train) + len(rows.problem.valid)
        joins = self.use_validation == "auto" and size <= LARGE and rows.joins
        always = self.use_validation is True and rows.joins
        for family in families:
            for blend in plain_blends(rows, family):
                yield blend.with_judges if always else blend
            if len(rows.problem.names) > 2 and not rows.few:
                best, *others = distinct(ranked(judged, family))
                for other in others[:MIXED]:
                    yield best.mixed(other)
            if joins:
                for blend in ranked(judged, family)[: JOINED if family == LINEAR else JOINED_TREES]:
                    yield blend.with_judges

    def _single(
        self, ledger: Ledger, judged: list[Judged], turns: list[Turn], status: Status
    ) -> Solution:
        """Return the candidate of the lowest cost; the metric is not asked."""
        best = int(np.argmin([j.tuned.cost for j in judged]))
        share = np.eye(len(judged))[best]
        settings: dict[str, object] = {"candidates": ballot(judged, share), "trust": 0.0}
        worth = shared_worth(ledger.problem, judged, share)
        only, calls = summed([(judged[best], 1.0)]), ledger.calls
        return Solution(turns[best], status, tuple(turns), calls, settings, worth, scorer=only)

    def _averaged(
        self,
        ledger: Ledger,
        judged: list[Judged],
        running: list[Judged],
        turns: list[Turn],
        status: Status,
        jury: Jury,
    ) -> Solution:
        """Average those that run, and say what each surrogate was worth."""
        problem = ledger.problem
        share = self._shares(ledger, running, jury)
        mean = mean_of(running, share, problem.valid)
        verdict = jury.judge(mean.valid)
        here = probe(problem, mean, 0.0, verdict.cost)
        last = Turn(len(turns), 0, here, here.profile, calls=ledger.calls)
        counts = {id(one.candidate): w for one, w in zip(running, share, strict=True)}
        everyone = np.array([counts.get(id(one.candidate), 0.0) for one in judged])
        settings: dict[str, object] = {
            "candidates": ballot(judged, everyone),
            "trust": 0.0,
            "error": float(verdict.replicates.std()),
            **gains([j.tuned for j in running], verdict),
            **by_family(running, share),
        }
        worth = shared_worth(problem, running, share)
        every = (*turns, last)
        return Solution(last, status, every, ledger.calls, settings, worth, scorer=mean.scorer)

    def _shares(self, ledger: Ledger, judged: list[Judged], jury: Jury) -> Floats64:
        """Return what each candidate counts: in its family, times what the family's mean counts.

        The best of forty looks better than it is; the means of two families hardly do.
        """
        valid = ledger.problem.valid
        of = [blend_of(one).family for one in judged]
        names = list(dict.fromkeys(of))
        if not self.averaged:
            best = int(np.argmin([j.tuned.cost for j in judged]))
            return np.asarray(np.eye(len(judged))[best])
        if len(names) < 2 or ledger.left < (len(names) + 1) * jury.price:
            return agreeing_shares(judged, valid)
        places = [np.flatnonzero([own == name for own in of]) for name in names]
        share, means = np.zeros(len(judged)), []
        for own in places:
            some = [judged[k] for k in own]
            share[own] = agreeing_shares(some, valid)
            mean = mean_of(some, share[own], valid)
            means.append(Judged(mean, jury.judge(mean.valid)))
        for own, part in zip(places, agreeing_shares(means, valid), strict=True):
            share[own] *= part
        return share


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


def agreeing_shares(judged: Sequence[Judged], valid: Data) -> Floats64:
    """Return the shares of candidates, of those whose scores agree with the leader's."""
    replicates = np.stack([j.tuned.replicates for j in judged], axis=1)
    return agreeing(shares(replicates), [centred(j, valid) for j in judged])


def mean_of(judged: Sequence[Judged], share: Floats64, valid: Data) -> Candidate:
    """Return the mean of candidates by shares, each as widely spread within its queries."""
    sizes = [spread(centred(j, valid), valid.weights) for j in judged]
    return average(judged, share, sizes)


def centred(judged: Judged, data: Data) -> Floats64:
    """Return the judging rows' scores less the mean of their query: all that a ranking reads."""
    queries = Queries.of(data.column(QUERY))
    scores = judged.candidate.valid
    return np.asarray(scores - queries.mean(scores)[queries.member])


def shared_worth(problem: Problem, judged: Sequence[Judged], share: Floats64) -> dict[str, float]:
    """Return what each surrogate was worth: the mean of the blends' weights by shares."""
    worth = sum(w * blend_of(j).weights for j, w in zip(judged, share, strict=True))
    return dict(zip(problem.names, np.asarray(worth).tolist(), strict=True))
