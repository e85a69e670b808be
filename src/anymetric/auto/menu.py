"""Menu: the short list of recipes for families whose every fit is dear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.learners import Growing
from anymetric.auto.pool import Recipe
from anymetric.auto.recipes import (
    bases,
    few_recipes,
    sliced_by,
    source_recipes,
    stake_recipes,
)
from anymetric.auto.regressions import few_numbers
from anymetric.auto.room import Room
from anymetric.auto.walk import best
from anymetric.losses import Huber, Lp
from anymetric.starts import class_balance, evened

Floats64 = NDArray[np.float64]
# Of the judging rows in a mixture.
SHARES = (0.5, 0.85)
# Strength of a recipe that asks for smaller models.
SMALL = 100.0
# Of a regression, beside the square.
LOSSES = (Huber(0.2), Lp(1.1))


def first_courses(room: Room, family: str, use_validation: bool, stakes: bool) -> list[Recipe]:
    """Return the recipes that need not wait for the metric, the plain ones first."""
    kitchen, needs = room.kitchen, room.problem.metric.needs
    if room.problem.labels is None:
        return [named(recipe, family) for recipe in by_loss(room, family, use_validation)]
    recipes = [*on_train(room), *source_recipes(kitchen, sliced_by(room.problem))]
    if use_validation:
        recipes += on_valid(room)
    if stakes:
        recipes += stake_recipes(kitchen, needs)
    return [named(recipe, family) for recipe in recipes]


def by_loss(room: Room, family: str, use_validation: bool) -> Iterator[Recipe]:
    """Yield a regression's rows with every loss that the family knows."""
    plain = [*on_train(room), *(on_valid(room) if use_validation else ())]
    yield from plain
    if hasattr(room.kitchens[family].learner, "with_loss"):
        for loss in LOSSES:
            for recipe in (one for one in plain if one.strength != SMALL):
                yield replace(recipe, name=f"{recipe.name}, {loss.name}", loss=loss)


def few_courses(room: Room, family: str) -> list[Recipe]:
    """Return the plainest recipe twice: all that a handful of rows can choose between."""
    few = few_numbers if room.problem.labels is None else few_recipes
    found = [recipe for recipe in few(room.kitchen) if recipe.loss is None]
    return [named(recipe, family) for recipe in found]


def on_train(room: Room) -> Iterator[Recipe]:
    """Yield training rows as they are and as they look like the judging rows."""
    train = room.kitchen.train
    known = {} if room.domain is None else bases(room.kitchen.train, room.domain)
    for name, rows in known.items():
        yield Recipe(name, rows)
        if room.problem.labels is not None:
            yield Recipe(f"{name}, balanced", evened(train.y, rows))
        yield Recipe(f"{name}, small", rows, strength=SMALL)


def on_valid(room: Room) -> Iterator[Recipe]:
    """Yield the judging rows alone, cross-fitted."""
    valid, nothing = room.kitchen.valid, np.zeros(len(room.kitchen.train))
    name = "valid" if room.domain is not None else "all"
    yield Recipe(name, nothing, valid.weights, 1.0)
    yield Recipe(f"{name}, small", nothing, valid.weights, 1.0, SMALL)
    if room.problem.labels is not None:
        yield Recipe(f"{name}, balanced", nothing, class_balance(valid), 1.0)


def mixtures(room: Room, family: str) -> Iterator[Recipe]:
    """Yield judging rows mixed with the training rows that are best alone, and as they are."""
    valid, train = room.kitchen.valid, room.kitchen.train
    if room.domain is None:
        return
    own = [one for one in room.judged if one.candidate.recipe.family == family]
    alone = [one for one in own if one.candidate.recipe.valid is None]
    first = best(alone).candidate
    leader = first.recipe
    natural = valid.weights.sum() / (valid.weights.sum() + train.weights.sum())
    even = room.problem.labels is not None and "balanced" in leader.name
    own_rows = class_balance(valid) if even else valid.weights
    for share in sorted({float(natural), *SHARES}):
        name = f"{leader.name.partition(': ')[2]} + valid {share:.2g}"
        recipe = Recipe(name, leader.train, own_rows, share, leader.strength, leader.loss)
        yield named(recipe, family)
    if isinstance(room.kitchens[family].learner, Growing):
        name = f"{leader.name.partition(': ')[2]}, then valid"
        after = Recipe(name, leader.train, own_rows, 0.5, SMALL, leader.loss, base=first)
        yield named(after, family)


def named(recipe: Recipe, family: str) -> Recipe:
    """Return the recipe for a family, which its name says.

    Examples
    --------
    >>> import numpy as np
    >>> named(Recipe("train", np.ones(2)), "boosted").name
    'boosted: train'
    """
    return replace(recipe, name=f"{family}: {recipe.name}", family=family)
