"""Choice: what the candidates' verdicts come to, and what is noted of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged, loss_worth, row_weights, slice_worth
from anymetric.auto.jury import CountedJury, DecisionJury, Judgement, Jury
from anymetric.auto.pool import Candidate, Recipe
from anymetric.auto.trust import Bench
from anymetric.ledger import Ledger
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn
from anymetric.surrogates import Sliced

Floats64 = NDArray[np.float64]
# Thresholds and replicates of a metric that must be called for each of them.
CALLS = 24, 40
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

    def placed(self, bench: Bench, jury: DecisionJury) -> Choice:
        """Place the threshold with the help of training rows."""
        shift, trust = bench.place(self.mean.train, self.mean.valid, jury)
        return replace(self, shift=shift, trust=trust)

    def verdict(self, jury: DecisionJury) -> Judgement:
        """Judge the mean at its threshold."""
        return jury.judge(self.mean.valid + self.shift)


def rejudged(judged: Judged, jury: DecisionJury) -> Judged:
    """Let a jury of both samples tune and judge a candidate anew."""
    candidate = judged.candidate
    return Judged(candidate, jury.tune(np.concatenate([candidate.valid, candidate.train])))


def helpful(problem: Problem, jury: Jury) -> bool:
    """Return whether training rows can be judged at all: by counts, with every column there."""
    columns = all(name in problem.train.side for name in problem.metric.needs)
    return isinstance(jury, CountedJury) and columns


def on_both(slice_: Sliced, problem: Problem) -> bool:
    """Return whether a slice reads nothing but columns that the judging rows have too."""
    return slice_.rows is None and all(name in problem.valid.side for name in slice_.needs)


def affordable(max_calls: int | None) -> tuple[int, int]:
    """Return thresholds and replicates for a candidate, so that a budget allows a dozen.

    Examples
    --------
    >>> affordable(None), affordable(200), affordable(20)
    ((24, 40), (8, 7), (4, 2))
    """
    if max_calls is None:
        return CALLS
    each = max_calls // 12
    thresholds = min(max(each // 2, 4), CALLS[0])
    return thresholds, min(max(each - thresholds - 1, 2), CALLS[1])


def flat(judged: list[Judged]) -> bool:
    """Return whether no candidate, threshold or replicate changes the cost."""
    costs = np.concatenate([np.append(j.tuned.replicates, j.tuned.cost) for j in judged])
    return bool(np.all(costs == costs[0]))


def few(problem: Problem) -> bool:
    """Return whether there is one sample, and too small a one to judge by turns."""
    return problem.valid is problem.train and len(problem.valid) < FEWEST


def single_best(
    problem: Problem, judged: list[Judged], turns: list[Turn], ledger: Ledger, status: Status
) -> Solution | None:
    """Return the candidate of the lowest cost, without another look at the metric."""
    if not judged:
        return None
    k = int(np.argmin([j.tuned.cost for j in judged]))
    share = np.eye(len(judged))[k]
    settings = {"candidates": ballot(judged, share), "trust": 0.0}
    worth = worth_of(problem, judged, share, judged[k].candidate.recipe)
    rows = row_weights(problem, judged[k].candidate.recipe)
    return Solution(turns[k], status, tuple(turns), ledger.calls, settings, worth, rows)


def measured(judged: list[Judged], verdict: Judgement) -> dict[str, float]:
    """Return the gain over the plain candidate, its error, and the optimism of choosing.

    The optimism is how much lower a replicate's winner looks in that replicate than over all.
    """
    replicates = np.stack([j.tuned.replicates for j in judged], axis=1)  # (B, C)
    costs = np.array([j.tuned.cost for j in judged])
    gain = replicates[:, 0] - verdict.replicates
    winner = np.argmin(replicates, axis=1)
    return {
        "gain": float(gain.mean()),
        "gain_error": float(gain.std()),
        "optimism": float(np.mean(costs[winner] - replicates.min(axis=1))),
    }


def worth_of(
    problem: Problem, judged: list[Judged], share: Floats64, recipe: Recipe
) -> dict[str, float]:
    """Return what each loss was worth in a regression, else what each slice was."""
    return loss_worth(judged, share) if problem.labels is None else slice_worth(problem, recipe)


def ballot(judged: list[Judged], share: Floats64) -> list[dict[str, object]]:
    """Return every candidate with its cost and its share of the votes."""
    return [
        {"name": j.candidate.recipe.name, "cost": j.tuned.cost, "votes": float(v)}
        for j, v in zip(judged, share, strict=True)
    ]
