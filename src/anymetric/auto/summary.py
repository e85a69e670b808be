"""Summary: a run as a solution, with statistics of its candidates and of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.answer import Answer
from anymetric.auto.families.linear import LinearFamily
from anymetric.auto.passes.refit import Lines, fitted_lines
from anymetric.auto.records import LINEAR, Assessment, Candidate, Predictions
from anymetric.auto.search import Search
from anymetric.auto.selection import Average
from anymetric.auto.weights import LearnedWeights, losses_of, weights_of
from anymetric.engines.rows import HeldRows, Rows
from anymetric.metrics import Classes
from anymetric.models import Ensemble, Scorer
from anymetric.rules import GroupRule
from anymetric.solution import Iteration, Solution, Status
from anymetric.summary import CandidateSummary, FamilySummary, Summary

Floats64 = NDArray[np.float64]
# With fewer resamples the standard error of a gain is not estimated.
FEWEST_RESAMPLES = 8


def averaged_solution(search: Search, answer: Answer, status: Status) -> Solution:
    """Return the average as the last iteration."""
    found = answer.found
    scorer = decided(answer.average.scorer, found, search)
    rebased = replace(found, offsets=np.zeros_like(found.offsets), scale=1.0)
    here = search.probe(scorer, rebased)
    last = Iteration(len(search.iterations), 0, here, here.profile, calls=search.ledger.calls)
    return build_solution(search, answer, scorer, last, (*search.iterations, last), status)


def single_solution(search: Search, status: Status) -> Solution:
    """Return the candidate of the lowest cost, without further calls."""
    table = search.table
    k = int(np.argmin([one.cost for one in table.assessments]))
    shares = np.eye(len(table))[k]
    found = table.assessments[k]
    member = Ensemble.of([table.candidates[k].scorer], [1.0])
    average = Average(shares, table.candidates[k].valid, shares, member)
    answer = Answer(table, shares, average, found)
    scorer = decided(member, found, search)
    return build_solution(
        search, answer, scorer, search.iterations[k], tuple(search.iterations), status
    )


def refitted(
    search: Search, answer: Answer, status: Status, rows: Rows, larger: Callable[[], Search]
) -> Solution:
    """Return the answer of a sample of the rows, its candidates fitted to all of them.

    Linear models of one output are fitted in passes over all rows, wherever these are; others are
    trained on what memory holds.

    Parameters
    ----------
    search : Search
        Of the sample.
    answer : Answer
    status : Status
    rows : Rows
        All training rows.
    larger : callable
        The families on as many rows as memory holds.
    """
    used = [int(k) for k in np.flatnonzero(answer.shares)]
    candidates = [answer.table.candidates[k] for k in used]
    lines = [one for one in candidates if summable(search, one)]
    held = isinstance(rows, HeldRows)
    full = larger() if held or len(lines) < len(candidates) else None
    fitted = Lines((), 0)
    if lines:
        family = search.families[LINEAR]
        assert isinstance(family, LinearFamily)
        fitted = fitted_lines(family, lines, rows)
    scorers = dict(zip(map(id, lines), fitted.scorers, strict=True))
    trained = dict.fromkeys((one.proposal.family for one in lines), len(rows))
    members: list[Scorer] = []
    for one in candidates:
        if id(one) not in scorers:
            assert full is not None
            own = full.families[one.proposal.family]
            trained[own.name] = len(full.sample.stock)
        found = scorers.get(id(one))
        members.append(found or own.train(one.proposal, one, search.rng.spawn(1)[0]))
    factors = answer.average.factors[used].tolist()
    ensemble = Ensemble.of(members, factors, answer.average.scorer.offset)
    scorer = decided(ensemble, answer.found, search)
    # The learned weights of rows are those of the rows in memory.
    known = full if held and full is not None else search
    solution = with_scorer(known, search, answer, scorer, status)
    summary = replace(solution.summary, passes=fitted.passes, rows=trained)
    return replace(solution, summary=summary)


def summable(search: Search, candidate: Candidate) -> bool:
    """Return whether a candidate is a line that can be fitted by sums over rows."""
    family = search.families[candidate.proposal.family]
    return isinstance(family, LinearFamily) and family.features.rotation is None


def with_scorer(
    full: Search, search: Search, answer: Answer, scorer: Ensemble, status: Status
) -> Solution:
    """Return the solution with a model of more rows than it was selected on."""
    ledger = full.ledger
    raw = np.asarray(scorer.scores(ledger.problem.train.X), dtype=np.float64)
    profile = np.asarray(ledger.problem.profiler.values(raw.reshape(-1)))
    here = replace(search.iterations[0].here, profile=profile, cost=answer.found.cost)
    last = Iteration(len(search.iterations), 0, here, profile, calls=ledger.calls)
    return build_solution(full, answer, scorer, last, (*search.iterations, last), status, search)


def decided(scorer: Ensemble, found: Assessment, search: Search) -> Ensemble:
    """Return the model with the decision rule in its scores."""
    shift = found.offsets if search.sample.task.many else float(found.offsets[0])
    return (scorer if found.scale == 1.0 else scorer.times(found.scale)).moved(shift)


def build_solution(
    search: Search,
    answer: Answer,
    scorer: Ensemble,
    best: Iteration,
    iterations: tuple[Iteration, ...],
    status: Status,
    evaluated: Search | None = None,
) -> Solution:
    """Return the solution, with its summary and learned weights."""
    problem, sample = search.problem, search.sample
    if LINEAR in search.families:
        sample = search.families[LINEAR].sample  # where clusters of rows can be found
    evaluated = evaluated or search
    proposals = [one.proposal for one in answer.table.candidates]
    summary = summary_of(evaluated, answer)
    rows, valid, losses = None, None, losses_of(proposals, answer.shares)
    if all(one.surrogates is None for one in proposals):
        weights = LearnedWeights.of(sample, proposals, answer.shares)
        rows, valid = weights.training_weights(problem), weights.validation_weights(problem)
    by_slice = weights_of(problem, answer.table, answer.shares, sample)
    resampled = answer.found.resampled if answer.found.resampled.size else None
    seen = evaluated.problem.valid, answer.found.scores
    calls = search.ledger.calls
    held_out = answer.found.scale * answer.average.valid + answer.found.offsets
    return Solution(
        best,
        status,
        iterations,
        calls,
        summary,
        by_slice,
        rows,
        scorer,
        valid,
        resampled,
        seen,
        rule=answer.found.rule,
        held_out=held_out,
        losses=losses,
    )


def summary_of(search: Search, answer: Answer) -> Summary:
    """Return the candidates with their shares, and what resamples say of the answer."""
    table, found, labels = search.table, answer.found, search.problem.labels
    share = {id(c): s for c, s in zip(answer.table.candidates, answer.shares, strict=True)}
    candidates = tuple(
        CandidateSummary(c.proposal.name, one.cost, float(share.get(id(c), 0.0)))
        for one, c in zip(table.assessments, table.candidates, strict=True)
    )
    offsets = found.offsets.tolist() if isinstance(labels, Classes) else []
    names = labels.names if isinstance(labels, Classes) else ()
    summary = Summary(
        candidates,
        families_of(answer.table, answer.shares),
        training_weight=answer.training_weight,
        metric_error=search.judge.metric_error,
        offsets=dict(zip(names, offsets, strict=True)),
        group_offsets=found.rule.shifts if isinstance(found.rule, GroupRule) else {},
    )
    return with_gain(summary, answer)


def with_gain(summary: Summary, answer: Answer) -> Summary:
    """Add the error of the answer's cost, its gain over the best plain candidate, the optimism.

    Empty where resamples are too few for a standard error.
    """
    found, table = answer.found, answer.table
    if len(found.resampled) < FEWEST_RESAMPLES:
        return summary
    plain = [k for k, one in enumerate(table.candidates) if one.proposal.plain] or [0]
    best = min((table.assessments[k] for k in plain), key=lambda one: one.mean)
    gain = best.resampled - found.resampled
    return replace(
        summary,
        error=float(found.resampled.std()),
        gain=float(gain.mean()),
        gain_error=float(gain.std(ddof=1)),
        optimism=optimism(table.assessments),
    )


def optimism(found: Sequence[Assessment]) -> float:
    """Return the selection bias: the winner's cost on its resample below that on all rows.

    Examples
    --------
    >>> one, two = np.array([0.1, 0.3]), np.array([0.3, 0.1])
    >>> nothing = np.zeros((1, 1))
    >>> optimism([Assessment(np.zeros(1), 0.2, costs, nothing) for costs in (one, two)])
    0.1
    """
    resampled = np.stack([one.resampled for one in found], axis=1)  # (B, C)
    costs = np.array([one.cost for one in found])
    return float(np.mean(costs[np.argmin(resampled, axis=1)] - resampled.min(axis=1)))


def families_of(table: Predictions, shares: Floats64) -> dict[str, FamilySummary]:
    """Return each family's share, and how far its best is behind the best of all.

    Nothing where there is but one family.
    """
    names = [one.proposal.family for one in table.candidates]
    if len(set(names)) < 2 or any(one.resampled.size == 0 for one in table.assessments):
        return {}
    costs = np.array([one.resampled.mean() for one in table.assessments])
    first = table.assessments[int(np.argmin(costs))].resampled
    found = {}
    for name in dict.fromkeys(names):
        own = table.of(name)
        behind = table.assessments[min(own, key=costs.item)].resampled - first
        share = float(shares[own].sum())
        found[name] = FamilySummary(share, float(behind.mean()), float(behind.std()))
    return found
