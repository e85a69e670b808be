"""Walks: the ways to go on from the best candidate, tried one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from anymetric.auto.average import Judged, shared_out
from anymetric.auto.parts import Part, by_class, named, where_it_errs
from anymetric.auto.pool import LINEAR, Candidate, Recipe
from anymetric.auto.room import Room
from anymetric.auto.targets import FLAT, PRICE, moved, own_loss, reached
from anymetric.auto.walk import Walk, best, pays

# The least of the usual ridges, and less, which must pay by so many errors of the gain.
LEAST, LIGHTER, PAID = 10.0, (1.0, 0.1), 1.0


def walks(room: Room, discovered: bool = True) -> Iterator[Recipe | Candidate]:
    """Yield less ridge, the user's own loss, steps along slices, targets, along slices found.

    Each must be heard in the room before the next is asked for.
    """
    yield from lighter(room)
    yield from with_own_loss(room)
    slices = named_slices(room)
    leader, before = best(in_the_lead(room)), len(room.refused)
    yield from along(room, slices, "walk")
    if len(room.refused) > before and stuck(room, slices, leader, room.refused[before]):
        yield reached(room.ledger, room.kitchen, leader, room.rng)
        if not pays(room.judged[-1], leader, 1.0 + np.sqrt(len(slices))):
            room.refused.append(room.judged[-1])
    if discovered:
        seed = int(room.rng.integers(2**31))
        found = where_it_errs(room.kitchen, best(in_the_lead(room)), seed)
        yield from along(room, by_class(found, room.kitchen), "walk by tree")


def lighter(room: Room) -> Iterator[Recipe]:
    """Yield the best recipe with less ridge, as long as that pays beyond noise.

    Where labels are nearly certain, the least of the usual ridges is far too much.
    """
    leader = best(in_the_lead(room))
    if leader.candidate.recipe.strength > LEAST or room.jury.brief:
        return
    for strength in LIGHTER:
        if room.looks < room.jury.price:
            return
        recipe = leader.candidate.recipe
        name = recipe.name.removesuffix(f", {recipe.strength:g}")
        yield replace(recipe, name=f"{name}, {strength:g}", strength=strength)
        if not pays(room.judged[-1], leader, PAID):
            room.refused.append(room.judged[-1])
            return
        leader = room.judged[-1]


def with_own_loss(room: Room) -> Iterator[Recipe]:
    """Yield the best recipe with the loss of the user's surrogates, if that is another."""
    recipe = best(in_the_lead(room)).candidate.recipe
    loss = own_loss(room.problem, room.kitchen.loss)
    if loss is not None:
        yield replace(recipe, name=f"{recipe.name}, {loss.name}", loss=loss)


def named_slices(room: Room) -> list[Part]:
    """Return the surrogates' own slices, or the classes."""
    return named(shared_out(room.problem), room.kitchen)


def in_the_lead(room: Room, family: str = LINEAR) -> list[Judged]:
    """Return the candidates of one family."""
    return [one for one in room.judged if one.candidate.recipe.family == family]


def along(room: Room, parts: list[Part], name: str, family: str = LINEAR) -> Iterator[Recipe]:
    """Yield steps from a family's best candidate along the frontier of some slices."""
    walk = Walk(room.kitchen, room.jury, parts, name, room.refused)
    return walk.steps(room.judged, room.rng, best(in_the_lead(room, family)))


def stuck(room: Room, slices: list[Part], leader: Judged, step: Judged) -> bool:
    """Return whether weights lead nowhere from here, and targets can be asked for."""
    candidate = leader.candidate
    alone = candidate.recipe.valid is None and not room.kitchens
    able = alone and room.ledger.left >= PRICE + 2 * room.jury.price
    return able and moved(room.kitchen, slices, candidate, step.candidate) < FLAT
