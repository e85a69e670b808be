"""Answer: candidates are selected and averaged, and the average gets its decision rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import CLEARLY_WORSE
from anymetric.auto.decisions import Threshold
from anymetric.auto.judges.base import Judge
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.judges.learned import LearnedJudge
from anymetric.auto.records import LINEAR, Assessment, Candidate, Predictions, Proposal, Weighting
from anymetric.auto.search import Search
from anymetric.auto.selection import Average, BootstrapSelection, Selection, agreeing
from anymetric.auto.threshold_transfer import PooledRows, chosen_again, worse
from anymetric.metrics import DecisionMetric

Floats64 = NDArray[np.float64]
# Selections after a cost that was predicted wrongly, at most.
SELECTIONS = 4
# Candidates with a smaller share are not worth scoring the training rows out of fold.
HEARD = 0.03
# A line is preferred to other families that are ahead by no more than so many standard errors.
EQUALLY_GOOD = 0.1


@dataclass(frozen=True, eq=False)
class Answer:
    """What a run comes to.

    Attributes
    ----------
    table : Predictions
        The candidates that could be selected.
    shares : array of shape (candidates,)
    average : Average
    found : Assessment
        Of the average at its decision rule.
    trust : float
        The weight of training rows beside validation rows where the threshold was placed.
    """

    table: Predictions
    shares: Floats64
    average: Average
    found: Assessment
    trust: float = 0.0


def answer_of(
    search: Search, selection: Selection, transfer: bool, resamples: int
) -> Answer | None:
    """Return the answer; None if no candidate has costs on resamples."""
    found = None
    for _ in range(SELECTIONS):
        table = search.finalists()
        if not len(table):
            return None
        found = selected(search, table, selection, transfer, resamples)
        if search.judge.confirmed(found.found.scores):
            break
    return found


def selected(
    search: Search, table: Predictions, selection: Selection, transfer: bool, resamples: int
) -> Answer:
    """Let each family select, then the resamples between the families' averages.

    The best of eighty candidates looks better than it is; the averages of two families hardly do.
    """
    names = list(dict.fromkeys(one.proposal.family for one in table.candidates))
    parts = [
        of_family(search, table.take(table.of(name)), selection, transfer, resamples)
        for name in names
    ]
    if len(parts) == 1:
        return parts[0]
    lines = [
        Candidate(Proposal(Weighting(), family=name), one.average.scorer, one.average.valid)
        for name, one in zip(names, parts, strict=True)
    ]
    averages = Predictions(lines, [one.found for one in parts])
    between = shares_of(averages, BootstrapSelection(), search.judge)
    between = prefer_line(between, averages)
    shares = np.zeros(len(table))
    for name, one, share in zip(names, parts, between, strict=True):
        shares[table.of(name)] = share * one.shares
    average = averaged(search, averages, between)
    trust = float(between @ np.array([one.trust for one in parts]))
    alone = np.flatnonzero(between == 1.0)
    if len(alone):
        found = replace(parts[int(alone[0])].found, offsets=np.zeros_like(parts[0].found.offsets))
        found = replace(found, scale=1.0)
    else:
        found = search.rule.assess(average.valid, search.judge)
    return Answer(table, shares, average, found, trust)


def prefer_line(shares: Floats64, averages: Predictions) -> Floats64:
    """Give all to the line where the best family is not ahead of it beyond noise."""
    names = [one.proposal.family for one in averages.candidates]
    if LINEAR not in names:
        return shares
    line = names.index(LINEAR)
    gain, error = averages.assessments[averages.best].gain(averages.assessments[line])
    if averages.best == line or gain <= EQUALLY_GOOD * error:
        own = shares[line] >= 0.5 or gain <= 0.0
        return np.asarray(np.eye(len(shares))[line]) if own and gain <= 0.0 else shares
    return shares


def shares_of(table: Predictions, selection: Selection, judge: Judge) -> Floats64:
    """Return the shares of candidates whose scores agree with the leader's."""
    resampled = np.stack([one.resampled for one in table.assessments], axis=1)  # (B, C)
    scores = np.stack([one.scores for one in table.assessments])
    flat = table.scores.reshape(len(table), -1)
    return agreeing(selection.shares(resampled, scores, judge.evaluate), flat)


def averaged(search: Search, table: Predictions, shares: Floats64) -> Average:
    """Average candidates by their shares."""
    return Average.of(table, shares, search.sample.task, search.sample.valid.weights)


def of_family(
    search: Search, table: Predictions, selection: Selection, transfer: bool, resamples: int
) -> Answer:
    """Select among the candidates of one family, and place the threshold of their average."""
    shares = shares_of(table, selection, search.judge)
    average = averaged(search, table, shares)
    found = search.rule.assess(average.valid, search.judge)
    if len(found.resampled) == 0:
        found = replace(found, resampled=search.judge.evaluate(found.scores)[1:])
    answer = Answer(table, shares, average, found)
    if transfer and transferable(search):
        answer = transferred(search, answer, selection, resamples)
    best = table.assessments[table.best]
    if worse(answer.found.resampled, best.resampled, CLEARLY_WORSE):
        # What each does well, the average may do badly: flag nobody, for instance.
        shares = np.eye(len(table))[table.best]
        average = averaged(search, table, shares)
        plain = replace(best, offsets=np.zeros_like(best.offsets), scale=1.0)
        return Answer(table, shares, average, plain)
    return answer


def transferable(search: Search) -> bool:
    """Return whether training rows can help: another sample, one threshold, every column there."""
    judge = search.judge
    if search.sample.single or not isinstance(search.rule, Threshold):
        return False
    if not isinstance(judge, CountsJudge | LearnedJudge):
        return False
    return all(name in search.sample.train.side for name in metric_of(judge).needs)


def metric_of(judge: CountsJudge | LearnedJudge) -> DecisionMetric:
    """Return the metric, or what was learned of it."""
    return judge.metric if isinstance(judge, CountsJudge) else judge.inner.metric


def transferred(search: Search, answer: Answer, selection: Selection, resamples: int) -> Answer:
    """Let training rows help to place the threshold and, if trusted, to select anew."""
    judge = search.judge
    assert isinstance(judge, CountsJudge | LearnedJudge)
    exact = judge if isinstance(judge, CountsJudge) else judge.inner
    exact = replace(exact, ledger=None)
    table, family = answer.table, search.families[answer.table.candidates[0].proposal.family]
    known: dict[int, Floats64] = {}

    def train_scores(k: int) -> Floats64:
        if k not in known:
            known[k] = family.train_scores(table.candidates[k], search.rng.spawn(1)[0])[:, 0]
        return known[k]

    def of_average(one: Average) -> tuple[Floats64, Floats64]:
        loud = np.flatnonzero(one.shares > min(HEARD, one.shares.max() / 2.0))
        rest = one.factors[loud] / one.factors[loud].sum() * one.factors.sum()
        offset = float(one.scorer.offset)
        train = sum(f * train_scores(int(k)) for k, f in zip(loud, rest, strict=True))
        return np.asarray(train) + offset, one.valid[:, 0]

    scores = of_average(answer.average)
    pooled = PooledRows.of(metric_of(judge), search.sample, scores)
    shift, trust = pooled.placed(scores, exact)
    if trust == 0.0:
        return answer
    placed = at_shift(answer, shift, trust, exact)
    if family.name != LINEAR:
        return placed
    pairs = [(train_scores(k), one.valid[:, 0]) for k, one in enumerate(table.candidates)]
    costs, at = chosen_again(pooled, pairs, trust, resamples, search.rng)
    shares = agreeing(
        selection.shares(costs, table.scores, exact.evaluate), table.scores[:, :, 0]
    )
    moved = [
        replace(one, offsets=np.array([s]), scale=1.0)
        for one, s in zip(table.assessments, at, strict=True)
    ]
    average = averaged(search, table.reassessed(moved), shares)
    scores = of_average(average)
    pooled = PooledRows.of(metric_of(judge), search.sample, scores)
    shift, trust = pooled.placed(scores, exact)
    again = at_shift(Answer(table, shares, average, answer.found), shift, trust, exact)
    again_worse = worse(again.found.resampled, placed.found.resampled, CLEARLY_WORSE)
    return placed if again_worse else again


def at_shift(answer: Answer, shift: float, trust: float, judge: CountsJudge) -> Answer:
    """Return the answer with its threshold at a shift of the average."""
    scores = answer.average.valid + shift
    costs = judge.evaluate(scores)
    found = Assessment(np.array([shift]), float(costs[0]), costs[1:], scores)
    return replace(answer, found=found, trust=trust)
