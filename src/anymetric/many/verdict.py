"""Verdict: what a run with many classes comes to, and what is noted of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import judge_weights
from anymetric.auto.pool import Recipe
from anymetric.auto.told import families_of, gains, plain_among, votes_of
from anymetric.many.jury import Told
from anymetric.many.pool import Table
from anymetric.many.room import Heard, ManyRoom, readable, summed
from anymetric.many.walk import slices, spent
from anymetric.models import Scorer
from anymetric.solution import Solution, Status, Turn

Floats64 = NDArray[np.float64]


def flat(heard: Sequence[Heard]) -> bool:
    """Return whether no candidate, offset or replicate changes the cost; one look cannot tell."""
    costs = np.concatenate([np.append(h.told.replicates, h.told.cost) for h in heard])
    return len(costs) > 1 and bool(np.all(costs == costs[0]))


def single(room: ManyRoom, status: Status) -> Solution:
    """Return the candidate of the lowest cost, without another look at the metric."""
    k = int(np.argmin([h.told.cost for h in room.heard]))
    one, turn = room.heard[k], room.turns[k]
    share = np.eye(len(room.heard))[k]
    settings = {"candidates": ballot(room.heard, share), "offsets": named(room, one.told.offsets)}
    model = summed([(one.served.model, 1.0, one.told.offsets)])
    return solution(room, turn, tuple(room.turns), status, settings, model, one.served.recipe)


def concluded(
    room: ManyRoom,
    running: list[Heard],
    share: Floats64,
    model: Scorer,
    recipe: Recipe,
    told: Told,
    status: Status,
) -> Solution:
    """Return the average as the last turn, with what the replicates say of it."""
    bare = Told(np.zeros_like(told.offsets), told.cost, told.replicates, told.scores)
    here = room.probe(model, bare)
    last = Turn(len(room.turns), 0, here, here.profile, calls=room.ledger.calls)
    among = {id(h.served): float(w) for h, w in zip(running, share, strict=True)}
    everyone = np.array([among.get(id(h.served), 0.0) for h in room.heard])
    settings = {
        "candidates": ballot(room.heard, everyone),
        "offsets": named(room, told.offsets),
        "error": float(told.replicates.std()),
        **gains(
            [h.told for h in running],
            told,
            plain_among(room.problem, [h.served.recipe for h in running]),
        ),
    }
    if len(room.trainers) > 1:
        settings["families"] = families(running, share)
    return solution(room, last, (*room.turns, last), status, settings, model, recipe)


def solution(
    room: ManyRoom,
    best: Turn,
    turns: tuple[Turn, ...],
    status: Status,
    settings: dict[str, Any],
    model: Scorer,
    recipe: Recipe,
) -> Solution:
    """Return the solution; its model is the best turn's parameters where those say it all."""
    scorer: Scorer | None = readable(model, room.plain)
    if isinstance(model, Table) and len(room.trainers) == 1 and room.plain is None:
        scorer = None
    rows = learned_rows(room, recipe)
    judges = judge_weights(room.ledger.problem, recipe)
    noted = settings, worth(room, recipe), rows, scorer, judges
    return Solution(best, status, turns, room.ledger.calls, *noted)


def ballot(heard: Sequence[Heard], share: Floats64) -> list[dict[str, object]]:
    """Return every candidate with its cost and its share of the votes."""
    return votes_of([h.served.recipe.name for h in heard], [h.told for h in heard], share)


def families(heard: Sequence[Heard], share: Floats64) -> dict[str, dict[str, float]]:
    """Return each family's votes, and how far its best is behind the best of all."""
    return families_of([h.served.recipe.family for h in heard], [h.told for h in heard], share)


def named(room: ManyRoom, offsets: Floats64) -> dict[Any, float]:
    """Return the offsets by the user's names."""
    return dict(zip(room.classes.names, offsets.tolist(), strict=True))


def worth(room: ManyRoom, recipe: Recipe) -> dict[str, float]:
    """Return the part of the whole weight that each slice of the training rows had.

    The judging rows are one more entry if they trained too.
    """
    problem, parts = room.problem, slices(room)
    found: dict[str, float] = {}
    if problem.valid is problem.train and recipe.valid is not None:
        return {part.name: spent(recipe.valid, part.valid) for part in parts}
    if recipe.train.sum() > 0.0:
        found = {p.name: (1.0 - recipe.share) * spent(recipe.train, p.train) for p in parts}
    if recipe.share > 0.0:
        found["validation rows"] = recipe.share
    return found


def learned_rows(room: ManyRoom, recipe: Recipe) -> Floats64 | None:
    """Return the learned weight of every training row; None if none of them trained."""
    single_sample = room.problem.valid is room.problem.train and recipe.valid is not None
    rows = recipe.valid if single_sample else recipe.train
    if rows is None or not rows.sum() > 0.0:
        return None
    return rows if rows.ndim == 1 else np.asarray(rows.mean(axis=1))
