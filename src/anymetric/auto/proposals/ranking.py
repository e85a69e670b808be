"""Proposals for rankings by query: each surrogate alone, all together, and mixtures of the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anymetric.auto.families.ranking import QueryRows
from anymetric.auto.records import LINEAR, Predictions, Proposal, Weighting

# Ridges, in units of one row; of a large sample the first will do.
RIDGES = (30.0, 300.0, 3000.0)
# More rows than this are enough to train on without the validation queries.
LARGE = 20_000
# So many others are mixed with the best; so many then train on validation queries too, of lines
# and of trees; trees follow so many blends that served lines best.
MIXED, JOINED, JOINED_TREES, FOLLOWED = 2, 12, 2, 2


def ranking_proposals(
    rows: QueryRows, table: Predictions, use_validation: str | bool, family: str
) -> Iterator[Proposal]:
    """Yield the plain ones, mixtures of the best, and the best trained on all queries.

    Parameters
    ----------
    rows : QueryRows
    table : Predictions
        The caller must append every proposal before drawing the next.
    use_validation : "auto" or bool
    family : str
    """
    size = len(rows.problem.train) + len(rows.problem.valid)
    joins = use_validation == "auto" and size <= LARGE and rows.joins
    always = use_validation is True and rows.joins
    for proposal in followed(plain_proposals(rows, family), table, family):
        yield with_validation(proposal) if always else proposal
    if len(rows.problem.names) > 2 and not rows.few:
        found = distinct(ranked(table, family))
        for other in found[1 : 1 + MIXED]:
            best = found[0]
            assert best.surrogates is not None
            assert other.surrogates is not None
            mixed = 0.5 * (best.surrogates + other.surrogates)
            yield replace(best, surrogates=mixed, note=f"{best.note} + {other.note}")
    if joins:
        for proposal in ranked(table, family)[: JOINED if family == LINEAR else JOINED_TREES]:
            yield with_validation(proposal)


def followed(proposals: Iterator[Proposal], table: Predictions, family: str) -> Iterator[Proposal]:
    """Yield those whose blend of surrogates served lines best; all, if there are none to follow."""
    best = [] if family == LINEAR else distinct(ranked(table, LINEAR))
    if not best:
        yield from proposals
        return
    own = {one.note: one for one in proposals}
    yield from [own[one.note] for one in best if one.note in own][:FOLLOWED]


def plain_proposals(rows: QueryRows, family: str) -> Iterator[Proposal]:
    """Yield every surrogate alone and all in equal parts; linear models with each ridge."""
    names = rows.problem.names
    K = len(names)
    blends = [*zip(names, np.eye(K), strict=True)]
    blends += [("all", np.full(K, 1.0 / K))] if K > 1 else []
    large = len(rows.problem.train) > LARGE
    ridges = RIDGES[:1] if large or rows.few or family != LINEAR else RIDGES
    for ridge in ridges:
        for name, weights in blends:
            yield Proposal(Weighting(), ridge, family=family, surrogates=weights, note=name)


def with_validation(proposal: Proposal) -> Proposal:
    """Return the same, trained on the validation queries too."""
    note = f"{proposal.note}, validation queries too"
    return replace(proposal, weighting=Weighting("both", 0.5), note=note)


def ranked(table: Predictions, family: str) -> list[Proposal]:
    """Return the proposals of a family, those of the lowest mean cost first."""
    own = table.of(family)
    costs = [table.assessments[k].mean for k in own]
    return [table.candidates[own[k]].proposal for k in np.argsort(costs, kind="stable")]


def distinct(proposals: list[Proposal]) -> list[Proposal]:
    """Keep the first of those with equal weights."""
    kept: list[Proposal] = []
    for one in proposals:
        same = (np.array_equal(one.surrogates, other.surrogates) for other in kept)  # type: ignore[arg-type]
        if not any(same):
            kept.append(one)
    return kept
