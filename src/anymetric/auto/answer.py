"""Answer: candidates are selected and averaged, and the average gets its decision rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.decisions import Competing, Threshold, Top
from anymetric.auto.decisions.thresholds import sweep_optimism
from anymetric.auto.judges.base import Judge
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.records import LINEAR, Assessment, Predictions
from anymetric.auto.search import Search
from anymetric.auto.selection import Average, Selection, agreeing
from anymetric.auto.threshold_transfer import PooledRows
from anymetric.metrics.subjects import about

Floats64 = NDArray[np.float64]
# Selections after a cost that was predicted wrongly, at most.
SELECTIONS = 4
# Smallest share of candidates that score the training rows out of fold.
SCORED = 0.03


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of a run.

    Attributes
    ----------
    table : Predictions
        The candidates that could be selected.
    shares : array of shape (candidates,)
    average : Average
    found : Assessment
        Of the average at its decision rule.
    training_weight : float
        The weight of training rows beside validation rows where the threshold was placed.
    """

    table: Predictions
    shares: Floats64
    average: Average
    found: Assessment
    training_weight: float = 0.0


def answer_of(search: Search, selection: Selection, transfer: bool) -> Answer | None:
    """Return the answer; None if no candidate has costs on resamples."""
    found, judge = None, search.judge.closing()
    if judge is None:
        return None
    search = replace(search, judge=judge)
    for _ in range(SELECTIONS):
        table = search.finalists()
        if not len(table):
            return None
        with about(stage="answer"):
            found = by_rule(search, table, selection, transfer)
            if search.judge.confirmed(found.found.scores):
                break
    return found


def by_rule(search: Search, table: Predictions, selection: Selection, transfer: bool) -> Answer:
    """Select under each of several decision rules; a later one must improve beyond noise."""
    if not isinstance(search.rule, Competing):
        return selected(search, table, selection, transfer)
    found: list[Answer] = []
    for rule in search.rule.rules:
        assessed = [rule.assess(one.valid, search.judge) for one in table.candidates]
        own = Predictions(table.candidates, assessed)
        answer = selected(replace(search, rule=rule), own, selection, transfer)
        if not found or pays(search.judge, answer, found[0]):
            found.insert(0, answer)
    return found[0]


def pays(judge: Judge, answer: Answer, before: Answer) -> bool:
    """Return whether an answer costs less than one before it, beyond noise.

    The cost at a threshold is corrected for the optimism of the rows it was tuned on.
    """
    gain = before.found.resampled - answer.found.resampled
    optimism = 0.0
    if answer.found.rule is None:
        optimism = sweep_optimism(judge.sweep(answer.average.valid)[1])
    return bool(gain.mean() > optimism + gain.std())


def selected(search: Search, table: Predictions, selection: Selection, transfer: bool) -> Answer:
    """Select among all candidates; linear models alone are preferred where they cost no more."""
    found = from_pool(search, table, selection, transfer)
    lines, judge = table.of(LINEAR), search.judge
    if not lines or not np.any(np.delete(found.shares, lines)) or judge.left < judge.price:
        return found
    plain = from_pool(search, table.take(lines), selection, transfer)
    if len(plain.found.resampled) == 0 or plain.found.gain(found.found)[0] < 0.0:
        return found
    shares = np.zeros(len(table))
    shares[lines] = plain.shares
    return replace(plain, table=table, shares=shares)


def shares_of(table: Predictions, selection: Selection, judge: Judge) -> Floats64:
    """Return the shares of candidates whose scores agree with the leader's."""
    resampled = np.stack([one.compared for one in table.assessments], axis=1)  # (B, C)
    scores = [one.scores for one in table.assessments]
    shares = selection.shares(resampled, scores, judge.evaluate)
    return agreeing(shares, [one.valid.reshape(-1) for one in table.candidates])


def averaged(search: Search, table: Predictions, shares: Floats64) -> Average:
    """Average candidates by their shares."""
    return Average.of(table, shares, search.sample.task, search.sample.valid.weights)


def from_pool(search: Search, table: Predictions, selection: Selection, transfer: bool) -> Answer:
    """Select among candidates, and tune the threshold of their average."""
    shares = shares_of(table, selection, search.judge)
    average = averaged(search, table, shares)
    if search.judge.thrifty:
        found = frugal(average, search.judge)
        if found is None:
            return single(search, table)
        if isinstance(search.rule, Top):
            found = replace(found, rule=search.rule.rule)
    else:
        found = search.rule.assess(average.valid, search.judge)
        if not np.isfinite(found.cost):
            return single(search, table)
    answer = Answer(table, shares, average, found)
    if transfer and transferable(search, table, shares):
        answer = transferred(search, answer)
    return answer


def single(search: Search, table: Predictions) -> Answer:
    """Return the best candidate as it is, at its own decision rule."""
    shares = np.eye(len(table))[table.best]
    best = table.assessments[table.best]
    found = replace(best, offsets=np.zeros_like(best.offsets), scale=1.0)
    return Answer(table, shares, averaged(search, table, shares), found)


def frugal(average: Average, judge: Judge) -> Assessment | None:
    """Assess an average at its members' thresholds; None if there are no calls for that."""
    if judge.left < judge.price:
        return None
    cost, resampled = judge.evaluate(average.valid)[0], judge.resample(average.valid)
    if not np.isfinite(cost):
        return None
    return Assessment(np.zeros(average.valid.shape[1]), float(cost), resampled, average.valid)


def transferable(search: Search, table: Predictions, shares: Floats64) -> bool:
    """Return whether training rows can help: lines, another sample, one threshold, every column."""
    if any(table.candidates[k].proposal.family != LINEAR for k in np.flatnonzero(shares)):
        return False
    if search.sample.single or not isinstance(search.rule, Threshold):
        return False
    exact = search.judge.of_counts()
    return exact is not None and all(
        name in search.sample.train.side for name in exact.metric.needs
    )


def transferred(search: Search, answer: Answer) -> Answer:
    """Use training rows to tune the threshold."""
    exact = search.judge.of_counts()
    assert exact is not None
    average, family = answer.average, search.families[LINEAR]
    loud = np.flatnonzero(average.shares > min(SCORED, average.shares.max() / 2.0))
    factors = average.factors[loud] * (average.factors.sum() / average.factors[loud].sum())
    train = np.full(len(search.sample.train), float(average.scorer.offset))
    for k, factor in zip(loud, factors, strict=True):
        candidate = answer.table.candidates[k]
        train += factor * family.train_scores(candidate, search.rng.spawn(1)[0])[:, 0]
    scores = train, average.valid[:, 0]
    pooled = PooledRows.of(exact.metric, search.sample, scores)
    shift, weight = pooled.placed(scores, exact)
    return answer if weight == 0.0 else at_shift(answer, shift, weight, exact)


def at_shift(answer: Answer, shift: float, weight: float, judge: CountsJudge) -> Answer:
    """Return the answer with its threshold at a shift of the average."""
    scores = answer.average.valid + shift
    costs = judge.evaluate(scores)
    found = Assessment(np.array([shift]), float(costs[0]), costs[1:], scores)
    return replace(answer, found=found, training_weight=weight)
