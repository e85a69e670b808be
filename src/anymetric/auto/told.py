"""Told: what is said of candidates by the verdicts on them, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.pool import Recipe, unit
from anymetric.losses import Squared
from anymetric.problem import Problem

Floats64 = NDArray[np.float64]
# Fewer replicates than this tell no error of a gain.
FEWEST_REPLICATES = 8


class Verdict(Protocol):
    """What a jury says of a candidate: its cost, and its costs in the replicates."""

    @property
    def cost(self) -> float:
        """On the rows as they are."""

    @property
    def replicates(self) -> Floats64:
        """Shape (B,)."""


def gains(
    verdicts: Sequence[Verdict], last: Verdict, plain: Sequence[int] = (0,)
) -> dict[str, float]:
    """Return the gain over the best plain candidate, its error, and the optimism of choosing.

    Nothing where replicates are too few to tell an error.
    """
    replicates = np.stack([one.replicates for one in verdicts], axis=1)  # (B, C)
    if len(replicates) < FEWEST_REPLICATES:
        return {}
    gain = replicates[:, min(plain, key=replicates.mean(axis=0).item)] - last.replicates
    return {
        "gain": float(gain.mean()),
        "gain_error": float(gain.std(ddof=1)),
        "optimism": optimism(verdicts),
    }


def optimism(verdicts: Sequence[Verdict]) -> float:
    """Return how much lower a replicate's winner looks in that replicate than over all.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.auto.jury import Judgement
    >>> one, two = np.array([0.1, 0.3]), np.array([0.3, 0.1])
    >>> optimism([Judgement(0.0, 0.2, one), Judgement(0.0, 0.2, two)])
    0.1
    """
    replicates = np.stack([one.replicates for one in verdicts], axis=1)  # (B, C)
    costs = np.array([one.cost for one in verdicts])
    return float(np.mean(costs[np.argmin(replicates, axis=1)] - replicates.min(axis=1)))


def plain_among(problem: Problem, recipes: Sequence[Recipe]) -> list[int]:
    """Return the places of recipes that anybody would try: all rows alike, and the usual loss.

    The first one if there is none.
    """
    return [k for k, recipe in enumerate(recipes) if is_plain(problem, recipe)] or [0]


def is_plain(problem: Problem, recipe: Recipe) -> bool:
    """Return whether a recipe trains on the training rows as they are, with the usual loss."""
    single = problem.valid is problem.train
    if recipe.valid is not None and not (single and recipe.share == 1.0):
        return False
    rows = recipe.train if recipe.valid is None else recipe.valid
    usual = recipe.loss is None or isinstance(recipe.loss, Squared)
    weights = problem.train.weights
    return usual and rows.shape == weights.shape and np.allclose(unit(rows), unit(weights))


def votes_of(
    names: Sequence[str], verdicts: Sequence[Verdict], share: Floats64
) -> list[dict[str, object]]:
    """Return every candidate with its cost and its share of the votes."""
    return [
        {"name": name, "cost": one.cost, "votes": float(part)}
        for name, one, part in zip(names, verdicts, share, strict=True)
    ]


def families_of(
    names: Sequence[str], verdicts: Sequence[Verdict], share: Floats64
) -> dict[str, dict[str, float]]:
    """Return each family's share of the votes, and how far its best is behind the best of all."""
    costs = np.array([one.replicates.mean() for one in verdicts])
    first = verdicts[int(np.argmin(costs))].replicates
    found = {}
    for name in dict.fromkeys(names):
        own = [k for k, other in enumerate(names) if other == name]
        behind = verdicts[min(own, key=costs.item)].replicates - first
        found[name] = {
            "votes": float(share[own].sum()),
            "behind": float(behind.mean()),
            "error": float(behind.std()),
        }
    return found
