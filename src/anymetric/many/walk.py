"""Walk: weights of the slices moved the way that the metric slopes, for any family of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.pool import Recipe, unit
from anymetric.auto.walk import LENGTHS, PAIRS
from anymetric.data import Data
from anymetric.gradients.base import fit
from anymetric.many.room import Heard, ManyRoom
from anymetric.metrics import Classes
from anymetric.surrogates import ClassLoss

Floats64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Rounds at most, the standard deviation of the shifts of a slice's margins, and the judging rows
# that a slope asks for: with fewer it tells of their noise.
ROUNDS, SIGMA, ROWS = 2, 0.2, 50
# A step pays if it gains more than so many standard errors: among many directions of noise the
# best gains one or two.
ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Entries:
    """A slice: which rows, or entries of the table of labels, belong to it.

    Attributes
    ----------
    name : str
    train, valid : boolean arrays of shape (n,) or (n, L)
    """

    name: str
    train: Bools
    valid: Bools


def slices(room: ManyRoom) -> list[Entries]:
    """Return the surrogates' own slices where every row, or entry, is in one; else the classes."""
    problem, classes = room.problem, room.classes
    own = [s for s in problem.profiler.surrogates if isinstance(s, ClassLoss)]
    kitchen = next(iter(room.kitchens.values()))
    parts = [Entries(s.name, entries(s, kitchen.train), entries(s, kitchen.valid)) for s in own]
    stock = [part.train if len(kitchen.train) else part.valid for part in parts]
    if parts and np.all(sum(mask.astype(int) for mask in stock) == 1):
        return parts
    return [by_class(k, classes, kitchen.train, kitchen.valid) for k in range(len(classes))]


def by_class(k: int, classes: Classes, train: Data, valid: Data) -> Entries:
    """Return the rows of one class, or one label's entries."""
    if classes.exclusive:
        return Entries(f"class={classes.names[k]}", train.y == k, valid.y == k)
    column = np.arange(len(classes)) == k
    wide = [np.broadcast_to(column, (len(data), len(classes))) for data in (train, valid)]
    return Entries(f"label={classes.names[k]}", wide[0], wide[1])


def entries(loss: ClassLoss, data: Data) -> Bools:
    """Return which rows a surrogate reads, of labels which entries; none if a column is missing."""
    if all(name in data.side for name in loss.needs):
        chosen = loss.chosen(data)
    else:
        chosen = np.zeros(len(data), dtype=bool)
    if loss.classes.exclusive:
        return chosen
    outputs = np.arange(len(loss.classes)) == loss.output
    if loss.output is None:
        outputs = np.ones(len(loss.classes), dtype=bool)
    return np.asarray(chosen[:, np.newaxis] & outputs)


def steps(room: ManyRoom, parts: Sequence[Entries], family: str) -> Iterator[Recipe]:
    """Yield recipes along the slopes from a family's best candidate; each must then be heard.

    Steps that do not pay are refused: they may not vote.
    """
    for number in range(1, ROUNDS + 1):
        leader = min(
            (h for h in room.heard if h.served.recipe.family == family), key=lambda h: h.told.mean
        )
        held = [p for p in parts if np.any(p.valid) and weight(leader.served.recipe, p) > 0.0]
        enough = len(held) > 1 and len(room.problem.valid) >= ROWS * len(held)
        if not enough or room.jury.brief or room.ledger.left < 2 * PAIRS + 2 * room.jury.price:
            return
        slopes = slopes_at(room, leader, held)
        if not np.any(slopes):
            return
        now = unit(np.array([weight(leader.served.recipe, p) for p in held]))
        before = len(room.refused)
        for length in LENGTHS:
            wanted = (1.0 - length) * now + length * unit(slopes)
            name = f"{family}: walk {number} x {length:g}"
            yield reweighted(leader.served.recipe, held, wanted / now, name)
            if not pays(room.heard[-1], leader):
                room.refused.append(room.heard[-1])
        if len(room.refused) == before + len(LENGTHS):
            return


def pays(one: Heard, other: Heard) -> bool:
    """Return whether a candidate is below another by more than the noise of the gain."""
    gain = other.told.replicates - one.told.replicates
    return bool(gain.mean() > ERRORS * gain.std())


def slopes_at(room: ManyRoom, leader: Heard, parts: Sequence[Entries]) -> Floats64:
    """Return how the cost changes with each slice's mean loss, none negative.

    The margins of a slice's rows are shifted together (Algorithm 2): the loss there is known
    exactly, and the metric is asked.
    """
    valid, classes = room.problem.valid, room.classes
    members = classes.members(valid.y)
    Z = SIGMA * room.rng.standard_normal((PAIRS, len(parts)))
    profiles, costs = [], []
    for z in np.concatenate([Z, -Z]):
        moved = leader.told.scores + shifts(parts, members, z, classes)
        losses = margin_losses(moved, members, classes)
        profiles.append([mean_loss(losses, part.valid, valid.weights) for part in parts])
        costs.append(room.jury.probe(moved))
    H, M = np.array(profiles), np.array(costs)
    return fit(H, M, intercept=True, nonnegative=True).gradient


def shifts(parts: Sequence[Entries], members: Bools, z: Floats64, classes: Classes) -> Floats64:
    """Return what is added to the scores when each slice's margins grow by z."""
    if classes.exclusive:
        rows = np.sum([size * part.valid for part, size in zip(parts, z, strict=True)], axis=0)
        return np.asarray(members * rows[:, np.newaxis])
    table = np.sum([size * part.valid for part, size in zip(parts, z, strict=True)], axis=0)
    return np.asarray(np.where(members, table, -table))


def margin_losses(scores: Floats64, members: Bools, classes: Classes) -> Floats64:
    """Return the softmax loss of each row, or the logistic loss of each entry."""
    if classes.exclusive:
        return np.asarray(np.logaddexp.reduce(scores, axis=1) - scores[members])
    return np.asarray(np.logaddexp(0.0, np.where(members, -scores, scores)))


def mean_loss(losses: Floats64, mask: Bools, weights: Floats64) -> float:
    """Return the mean over some rows, or entries, where each row counts by its weight.

    Examples
    --------
    >>> import numpy as np
    >>> mean_loss(np.array([1.0, 4.0, 9.0]), np.array([True, True, False]), np.array([2, 1, 1]))
    2.0
    """
    each = np.broadcast_to(weights, losses.T.shape).T
    return float(np.average(losses[mask], weights=each[mask]))


def weight(recipe: Recipe, part: Entries) -> float:
    """Return the part of a recipe's whole weight that a slice has."""
    total = (1.0 - recipe.share) * spent(recipe.train, part.train)
    if recipe.valid is not None:
        total += recipe.share * spent(recipe.valid, part.valid)
    return total


def spent(rows: Floats64, mask: Bools) -> float:
    """Return the share of the weights on some rows or entries."""
    return float(rows[mask].sum() / max(rows.sum(), np.finfo(float).tiny))


def reweighted(recipe: Recipe, parts: Sequence[Entries], factors: Floats64, name: str) -> Recipe:
    """Return the recipe with each slice's weights multiplied."""
    pairs = list(zip(parts, factors, strict=True))
    train = scaled(recipe.train, [(p.train, f) for p, f in pairs])
    if recipe.valid is None:
        return replace(recipe, name=name, train=train)
    valid = scaled(recipe.valid, [(p.valid, f) for p, f in pairs])
    masses = [
        (1.0 - recipe.share) * train.sum() / max(recipe.train.sum(), 1e-300),
        recipe.share * valid.sum() / max(recipe.valid.sum(), 1e-300),
    ]
    share = float(masses[1] / sum(masses))
    return replace(recipe, name=name, train=train, valid=valid, share=share)


def scaled(rows: Floats64, factors: Sequence[tuple[Bools, float]]) -> Floats64:
    """Return weights multiplied where each slice lies."""
    found = rows.copy()
    for mask, factor in factors:
        found[mask] *= factor
    return found
