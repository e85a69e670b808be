"""Targets: where the weights of the losses lead nowhere, their values may; and smooth losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anymetric.auto.average import Judged, lifted
from anymetric.auto.parts import Part
from anymetric.auto.pool import Candidate, Kitchen, Recipe
from anymetric.data import Floats
from anymetric.descent import Descent
from anymetric.gradients import Subspace
from anymetric.ledger import Ledger
from anymetric.losses import Hinge, Loss, MarginLoss, Sigmoid, as_loss
from anymetric.problem import Problem
from anymetric.projections import GaussNewton
from anymetric.surrogates import Sliced

# A step of the weights that moves no loss by more than this has met a flat stretch.
FLAT = 0.01
DESCENT = Descent(
    turns=8,
    step=0.1,
    gradient=Subspace(m=12),
    projection=GaussNewton(iterations=10),
    decay=0.3,
    normalised=True,
)
# Metric calls of that descent.
PRICE = 1 + DESCENT.turns * (2 * 12 + 1)


@dataclass(frozen=True)
class SmoothHinge(MarginLoss):
    """The hinge with its kink rounded.

    Domain: real margins; values in [0, inf). Convex and smooth.
    Formula: 0 for z >= 1, ``(1 - z)^2 / (2 width)`` down to ``1 - width``, ``1 - z - width / 2``
    below.
    Identities: at most ``width / 2`` below `Hinge`.

    Examples
    --------
    >>> SmoothHinge(0.5).value([0.0, 0.75, 1.0]).tolist()
    [0.75, 0.0625, 0.0]
    """

    width: float = 0.5

    def _value(self, z: Floats) -> Floats:
        gap = np.maximum(1.0 - z, 0.0)
        near = np.minimum(gap, self.width)
        return np.asarray(near * near / (2.0 * self.width) + (gap - near), dtype=z.dtype)

    def _slope(self, z: Floats) -> Floats:
        return np.asarray(-np.clip((1.0 - z) / self.width, 0.0, 1.0), dtype=z.dtype)

    def _curvature(self, z: Floats) -> Floats:
        gap = 1.0 - z
        return ((gap > 0.0) & (gap < self.width)).astype(z.dtype) / self.width


def own_loss(problem: Problem, usual: Loss) -> Loss | None:
    """Return the loss of the user's slices in a convex and smooth form; None if it is the usual.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> own_loss(Problem(data, "hinge", as_metric("error")), as_loss("logistic")).name
    'smooth_hinge'
    """
    surrogates = problem.profiler.surrogates
    losses = {as_loss(s.loss) for s in surrogates if isinstance(s, Sliced)}
    if len(losses) != 1 or len(surrogates) == 0:
        return None
    loss = losses.pop()
    if loss == usual or isinstance(loss, Sigmoid) or not isinstance(loss, MarginLoss):
        return None
    if isinstance(loss, Hinge):
        return SmoothHinge()
    return loss if loss.smooth else None


def moved(kitchen: Kitchen, parts: Sequence[Part], one: Candidate, two: Candidate) -> float:
    """Return by how much the slices' mean losses differ between two candidates, at most."""
    loss, y = one.recipe.loss or kitchen.loss, kitchen.both.y
    losses = [loss.of_scores(np.concatenate([c.train, c.valid]), y) for c in (one, two)]
    change = losses[1] - losses[0]
    return max(abs(float(change[part.rows].mean())) for part in parts if np.any(part.rows))


def reached(
    ledger: Ledger, kitchen: Kitchen, leader: Judged, rng: np.random.Generator
) -> Candidate:
    """Descend from a candidate by targets for the surrogates' values (Algorithm 1)."""
    begun = lifted(leader.candidate.theta, leader.tuned.shift)
    theta = DESCENT.run(ledger, [begun], rng).theta
    scores = [
        np.asarray(kitchen.model.scores(data.X, theta), dtype=np.float64)
        for data in (kitchen.train, kitchen.valid)
    ]
    recipe = Recipe(f"{leader.candidate.recipe.name}, by targets", leader.candidate.recipe.train)
    return Candidate(recipe, theta, scores[0], scores[1])
