"""Walk: along the frontier of the slices' losses, the way that the metric slopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.auto.average import Judged
from anymetric.auto.calling import CallingJury
from anymetric.auto.jury import CountedJury
from anymetric.auto.parts import Part
from anymetric.auto.pool import Candidate, Kitchen, Recipe, mixed, unit
from anymetric.gradients.base import fit

Floats64 = NDArray[np.float64]
# Probes on each side, and how far they move each loss.
PAIRS, SIGMA = 12, 0.05
# Rounds at most, and the parts of the way to the weights that the slopes ask for.
ROUNDS, LENGTHS = 3, (0.8, 0.3)
# A slope asks for so many judging rows: with fewer it tells of their noise.
ROWS = 100
# Earlier probes no farther from here than so many sigmas still tell of the slopes here.
NEAR = 4.0


@dataclass(frozen=True, eq=False)
class Front:
    """The losses of slices of the rows at one candidate, and how they move with its scores.

    Attributes
    ----------
    weights : array of shape (K,)
        What each slice has of the recipe's whole weight.
    profile : array of shape (K,)
        Its mean loss.
    moves : array of shape (n_valid, K)
        How the judging rows' scores change if one loss is to fall by one, the others to stay.
    """

    weights: Floats64
    profile: Floats64
    moves: Floats64

    @classmethod
    def at(cls, kitchen: Kitchen, candidate: Candidate, parts: Sequence[Part]) -> Front:
        """Linearise the slices' losses at a candidate."""
        model, both, theta = kitchen.model, kitchen.both, candidate.theta
        rows = weighed(kitchen, candidate.recipe)
        weights = np.array([rows[part.rows].sum() for part in parts])
        shares = sparse.csr_array(
            [np.where(part.rows, rows, 0.0) / w for part, w in zip(parts, weights, strict=True)]
        )
        loss = candidate.recipe.loss or kitchen.loss
        scores = np.asarray(model.scores(both.X, theta), dtype=np.float64)
        slope = loss.score_slope(scores, both.y)
        slopes = sparse.csr_array(shares.multiply(slope[np.newaxis, :]))
        # (p, K): J V = I where J has full rank
        V = np.linalg.pinv(model.pullback(both.X, theta, slopes), rcond=1e-6)
        moves = np.asarray(model.scores(kitchen.valid.X, V.T), dtype=np.float64)
        return cls(weights, np.asarray(shares @ loss.of_scores(scores, both.y)), moves)

    @classmethod
    def by_scores(cls, kitchen: Kitchen, leader: Judged, parts: Sequence[Part]) -> Front:
        """Linearise the slices' losses in the scores themselves (Algorithm 2).

        Without parameters there is nothing between a loss and the scores of its own rows: these
        move along its gradient by the scores.
        """
        rows = weighed(kitchen, leader.candidate.recipe)
        weights = np.array([rows[part.rows].sum() for part in parts])
        losses, slope = kitchen.loss.with_slopes(leader.scores, kitchen.valid.y)
        moves = np.zeros((len(kitchen.valid), len(parts)))
        profile = np.zeros(len(parts))
        for k, part in enumerate(parts):
            own = part.valid
            if np.any(own):
                counts = kitchen.valid.weights[own]
                profile[k] = np.average(losses[own], weights=counts)
                steep = np.average(slope[own] ** 2, weights=counts)
                moves[own, k] = slope[own] / max(float(steep), np.finfo(float).tiny)
        return cls(weights, profile, moves)


def front_at(kitchen: Kitchen, leader: Judged, parts: Sequence[Part]) -> Front:
    """Return the front at a candidate, through its parameters where it has some."""
    if len(leader.candidate.theta):
        return Front.at(kitchen, leader.candidate, parts)
    return Front.by_scores(kitchen, leader, parts)


@dataclass(eq=False)
class Walk:
    """Rounds of probes, slopes and steps from the best candidate.

    The metric is probed where single losses rise and fall, each probe at its own best threshold;
    the slopes are fitted to the probes, none negative, for no better loss makes the metric worse.
    On the frontier the best weights are in proportion to the slopes: the weights go part of the
    way there, and the step is kept if it pays beyond the replicates' noise.

    Parameters
    ----------
    kitchen : Kitchen
    jury : Jury
    parts : sequence of Part
        Slices that share no row.
    name : str
        What the recipes are called.
    refused : list of Judged
        Steps that did not pay are put here.
    """

    kitchen: Kitchen
    jury: CountedJury | CallingJury
    parts: Sequence[Part]
    name: str
    refused: list[Judged] = field(default_factory=list)
    seen: list[tuple[Floats64, float]] = field(default_factory=list)

    def steps(
        self, judged: list[Judged], rng: np.random.Generator, leader: Judged
    ) -> Iterator[Recipe]:
        """Yield recipes; each must be the last of `judged` when the next is asked for."""
        for number in range(1, ROUNDS + 1):
            parts = self._weighed(leader.candidate.recipe)
            if not self._affords(len(parts)):
                return
            front = front_at(self.kitchen, leader, parts)
            slopes = self.slopes(front, leader, rng)
            if not np.any(slopes):
                return
            for length in LENGTHS:
                wanted = (1.0 - length) * unit(front.weights) + length * unit(slopes)
                name = f"{self.name} {number} x {length:g}"
                yield reweighted(self.kitchen, leader.candidate.recipe, parts, wanted, name)
                # Among K directions of noise the best gains about sqrt(K) standard errors.
                if pays(judged[-1], leader, 1.0 + np.sqrt(len(parts))):
                    leader = judged[-1]
                    break
                self.refused.append(judged[-1])
            else:
                return

    def _affords(self, slices: int) -> bool:
        """Return whether there are rows and calls enough for the slopes of so many slices."""
        enough = len(self.kitchen.valid) >= ROWS * slices and slices > 1 and not self.jury.brief
        return enough and self.jury.left >= 2 * PAIRS + 2 * self.jury.price

    def _weighed(self, recipe: Recipe) -> list[Part]:
        """Return the parts that have weight in a recipe."""
        rows = weighed(self.kitchen, recipe)
        return [part for part in self.parts if rows[part.rows].sum() > 0.0]

    def slopes(self, front: Front, leader: Judged, rng: np.random.Generator) -> Floats64:
        """Probe around a candidate and return how the cost changes with each loss."""
        Z = rng.standard_normal((PAIRS, len(front.profile)))
        steps = SIGMA * np.concatenate([Z, -Z])
        for step in steps:
            cost = self.jury.probe(leader.scores + front.moves @ step)
            if np.isfinite(cost):
                self.seen.append((front.profile + step, cost))
        near = NEAR * SIGMA * np.sqrt(len(front.profile))
        kept = [(p, c) for p, c in self.seen if np.linalg.norm(p - front.profile) < near]
        if len(kept) <= len(front.profile):
            return np.zeros(len(front.profile))
        profiles, costs = (np.array(column) for column in zip(*kept, strict=True))
        return fit(profiles, costs, intercept=True, nonnegative=True).gradient


def weighed(kitchen: Kitchen, recipe: Recipe) -> Floats64:
    """Return the weights of all rows, training rows first, summing to one."""
    rows = mixed(recipe)
    return np.append(rows, np.zeros(len(kitchen.train) + len(kitchen.valid) - len(rows)))


def reweighted(
    kitchen: Kitchen, recipe: Recipe, parts: Sequence[Part], wanted: Floats64, name: str
) -> Recipe:
    """Return the recipe with these weights for the slices, summing to one."""
    rows = weighed(kitchen, recipe)
    for part, weight in zip(parts, wanted, strict=True):
        chosen = part.rows
        rows[chosen] *= weight / max(float(rows[chosen].sum()), np.finfo(float).tiny)
    train, valid = np.split(rows, [len(kitchen.train)])
    if recipe.valid is None:
        return replace(recipe, name=name, train=train)
    share = float(valid.sum() / rows.sum())
    return replace(recipe, name=name, train=train, valid=valid, share=share)


def best(judged: Sequence[Judged]) -> Judged:
    """Return the candidate of the lowest mean cost."""
    return min(judged, key=mean_cost)


def mean_cost(judged: Judged) -> float:
    """Return a candidate's mean cost over the replicates, and over all rows."""
    return float(np.mean(np.append(judged.tuned.replicates, judged.tuned.cost)))


def pays(one: Judged, other: Judged, errors: float) -> bool:
    """Return whether a candidate is below another by more than so many errors of the gain."""
    gain = other.tuned.replicates - one.tuned.replicates
    return bool(gain.mean() > errors * gain.std())
