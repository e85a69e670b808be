"""Choice: what the candidates' verdicts come to, and what is noted of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.apart import Apart, added
from anymetric.auto.average import (
    Judged,
    agreeing,
    average,
    judge_weights,
    loss_worth,
    row_weights,
    slice_worth,
    spread,
    summed,
    votes,
)
from anymetric.auto.jury import CountedJury, DecisionJury, Judgement, Jury
from anymetric.auto.pool import Candidate, Recipe
from anymetric.auto.told import families_of, gains, plain_among, votes_of
from anymetric.auto.trust import Bench
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn

Floats64 = NDArray[np.float64]
# Thresholds and replicates of a metric that must be called for each of them.
CALLS = 24, 40
# With so many calls all candidates can have all of these.
PLENTY = 4000
# What a change of the cost must be above, in units of the cost, to be more than rounding.
ROUNDING = 1e-14
# Fewer judging rows than this cannot choose at all.
FEWEST = 50


@dataclass(frozen=True, eq=False)
class Choice:
    """Candidates, their shares, their mean, and where its threshold lies."""

    judged: list[Judged]
    share: Floats64
    mean: Candidate
    shift: float = 0.0
    trust: float = 0.0
    told: Judgement | None = None

    def placed(self, bench: Bench, jury: DecisionJury) -> Choice:
        """Place the threshold with the help of training rows."""
        shift, trust = bench.place(self.mean.train, self.mean.valid, jury)
        return replace(self, shift=shift, trust=trust)

    def verdict(self, jury: DecisionJury) -> Judgement:
        """Judge the mean at its threshold."""
        return jury.judge(self.mean.valid + self.shift)


def choose(judged: list[Judged], problem: Problem, averaged: bool = True) -> Choice:
    """Return the candidates' shares, and the mean of those that agree.

    Parameters
    ----------
    judged : list of Judged
    problem : Problem
    averaged : bool
        Share by votes; otherwise the best candidate on average has it all.
    """
    replicates = np.stack([j.tuned.replicates for j in judged], axis=1)  # (B, C)
    share = votes(replicates)
    if not averaged:
        share = np.eye(len(judged))[int(np.argmin(replicates.mean(axis=0)))]
    return shared(judged, agreeing(share, [j.candidate.valid for j in judged]), problem)


def shared(judged: list[Judged], share: Floats64, problem: Problem) -> Choice:
    """Return the mean of candidates by shares, which sum to one."""
    sizes = [1.0 for _ in judged]
    if problem.labels is not None:
        for k in np.flatnonzero(share):
            sizes[k] = spread(judged[k].candidate.valid, problem.valid.weights)
    return Choice(judged, share, average(judged, share, sizes))


def voters(choice: Choice) -> list[Judged]:
    """Return the candidates that have a share."""
    return [j for j, share in zip(choice.judged, choice.share, strict=True) if share > 0.0]


def rejudged(
    judged: Judged, bench: Bench, jury: DecisionJury, apart: Apart | None = None
) -> Judged:
    """Let a jury of both samples tune and judge a candidate anew."""
    candidate = judged.candidate
    if apart is not None:
        member = np.concatenate([apart.valid, apart.train[:: bench.step]])
        scores = bench.scores(candidate.train, candidate.valid)
        candidate = apart.moved(candidate, jury.apart(scores, member, len(apart.names)))
    return Judged(candidate, jury.tune(bench.scores(candidate.train, candidate.valid)))


def still_flagging(problem: Problem, mean: Candidate, shift: float) -> float:
    """Return a shift at which the model flags judging rows, if it did by turns and no longer does.

    Rows score differently in a model that they trained. A threshold that flags a handful of them by
    turns may then flag none, and many a metric is at its worst there.
    """
    count = int(np.count_nonzero(mean.valid + shift > 0.0))
    if not problem.decides or problem.labels is None or not 0 < count < len(mean.valid):
        return shift
    X = problem.valid.X
    own = problem.model.scores(X, mean.theta) if mean.scorer is None else mean.scorer.scores(X)
    own = np.asarray(own, dtype=np.float64) + added(mean.apart, problem.valid)
    if np.any(own + shift > 0.0):
        return shift
    ranked = np.sort(own)[::-1]
    return -0.5 * float(ranked[count - 1] + ranked[count])


def helpful(problem: Problem, jury: Jury) -> bool:
    """Return whether training rows can be judged at all: with every column there."""
    metric = jury.inner.metric if isinstance(jury, CountedJury) else problem.metric
    columns = all(name in problem.train.side for name in metric.needs)
    return columns and (isinstance(jury, CountedJury) or not metric.reads_features)


def affordable(max_calls: int | None) -> tuple[int, int]:
    """Return thresholds for the first candidate and replicates that a budget allows.

    Examples
    --------
    >>> affordable(None), affordable(200), affordable(20)
    ((24, 40), (10, 10), (6, 2))
    """
    if max_calls is None or max_calls >= PLENTY:
        return CALLS
    return min(max(max_calls // 3, 4), 10), min(max(max_calls // 20, 2), CALLS[1])


def lying_below(data: Data, judged: Judged) -> float:
    """Return the part of the targets that is below a candidate's predictions."""
    return float(np.average(data.y < judged.scores, weights=data.weights))


def flat(judged: list[Judged]) -> bool:
    """Return whether no candidate, threshold or replicate changes the cost.

    Candidates that say the same prove nothing.
    """
    costs = np.concatenate([np.append(j.tuned.replicates, j.tuned.cost) for j in judged])
    first = judged[0].candidate.valid
    differ = any(not np.array_equal(first, j.candidate.valid) for j in judged[1:])
    # A metric that is as good as it can be costs the rounding of its best value, which is one.
    unit = max(float(np.abs(costs).max()), 1.0 if costs.min() <= 0.0 else 0.0)
    return differ and bool(np.ptp(costs) <= ROUNDING * unit)


def few(problem: Problem) -> bool:
    """Return whether there is one sample, and too small a one to judge by turns."""
    return problem.valid is problem.train and len(problem.valid) < FEWEST


def single_best(
    problem: Problem,
    judged: list[Judged],
    turns: list[Turn],
    ledger: Ledger,
    status: Status,
    best: Candidate | None = None,
) -> Solution:
    """Return a candidate, that of the lowest cost if none is named; the metric is not asked."""
    k = int(np.argmin([j.tuned.cost if best is None else j.candidate is not best for j in judged]))
    share = np.eye(len(judged))[k]
    chosen = judged[k].candidate
    settings = {"candidates": ballot(judged, share), "trust": 0.0, **told_apart(chosen)}
    worth = worth_of(problem, judged, share, chosen.recipe)
    rows = row_weights(problem, chosen.recipe)
    scorer = summed([(judged[k], 1.0)])
    judges = judge_weights(problem, chosen.recipe)
    noted = settings, worth, rows, scorer, judges
    return Solution(turns[k], status, tuple(turns), ledger.calls, *noted)


def told_apart(candidate: Candidate) -> dict[str, Any]:
    """Return what each group adds to its rows' scores, where groups have their own thresholds."""
    return {} if candidate.apart is None else {"shifts": dict(candidate.apart)}


def measured(problem: Problem, judged: list[Judged], verdict: Judgement) -> dict[str, float]:
    """Return the gain over the best plain candidate, its error, and the optimism of choosing."""
    plain = plain_among(problem, [j.candidate.recipe for j in judged])
    return gains([j.tuned for j in judged], verdict, plain)


def by_family(judged: list[Judged], share: Floats64) -> dict[str, dict[str, dict[str, float]]]:
    """Return each family's share of the votes, and how far its best is behind the best of all.

    Nothing where there is but one family.
    """
    names = [j.candidate.recipe.family for j in judged]
    if len(set(names)) < 2:
        return {}
    return {"families": families_of(names, [j.tuned for j in judged], share)}


def worth_of(
    problem: Problem, judged: list[Judged], share: Floats64, recipe: Recipe
) -> dict[str, float]:
    """Return what each loss was worth in a regression, else what each slice was."""
    return loss_worth(judged, share) if problem.labels is None else slice_worth(problem, recipe)


def ballot(judged: list[Judged], share: Floats64) -> list[dict[str, object]]:
    """Return every candidate with its cost and its share of the votes."""
    names = [j.candidate.recipe.name for j in judged]
    return votes_of(names, [j.tuned for j in judged], share)


def among(judged: list[Judged], choice: Choice) -> Floats64:
    """Return the shares of a choice among all candidates; those not in it have none."""
    pairs = zip(choice.judged, choice.share, strict=True)
    share = {id(j.candidate.recipe): v for j, v in pairs}
    return np.array([share.get(id(j.candidate.recipe), 0.0) for j in judged])
