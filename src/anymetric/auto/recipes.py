"""Recipes: the candidates that a table proposes before the metric has said a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from anymetric.auto.pool import Kitchen, Recipe, concentration
from anymetric.data import Data
from anymetric.losses import Huber, Lp, Squared
from anymetric.starts import class_balance, evened
from anymetric.surrogates import Sliced

Floats64 = NDArray[np.float64]
STRENGTHS = (10.0, 100.0)
# How much more or less a slice is worth, one round along the frontier.
STEP = 2.0
SHARES = (0.2, 0.5, 0.8)
# Below this share of effective rows the domain weights say that train and valid differ.
ALIKE = 0.97


def classifier_recipes(
    kitchen: Kitchen, domain: Floats64 | None, use_validation: bool
) -> Iterator[Recipe]:
    """Yield plain and balanced losses, on train rows as they are or as they look like valid.

    Parameters
    ----------
    kitchen : Kitchen
    domain : array of shape (n_train,) or None
        How much each training row looks like the judging rows; None if there is but one sample.
    use_validation : bool
        Let the judging rows train as well, cross-fitted.
    """
    train, valid = kitchen.train, kitchen.valid
    if domain is None:
        yield from alone(kitchen, "all", STRENGTHS)
        return
    bases = {"train": train.weights}
    if concentration(domain, np.ones(len(domain))) * len(domain) > 1.0 / ALIKE:
        bases["train like valid"] = train.weights * domain
        bases["train rather like valid"] = train.weights * np.sqrt(domain)
    for name, rows in bases.items():
        for strength in STRENGTHS:
            yield Recipe(f"{name}, {strength:g}", rows, strength=strength)
            yield Recipe(
                f"{name}, balanced, {strength:g}", evened(train.y, rows), strength=strength
            )
    if not use_validation:
        return
    yield from alone(kitchen, "valid", STRENGTHS)
    natural = valid.weights.sum() / (valid.weights.sum() + train.weights.sum())
    for name, rows in list(bases.items())[:2]:
        for share in sorted({float(natural), *SHARES}):
            yield Recipe(f"{name} + valid {share:.2g}", rows, valid.weights, share)
            balanced = class_balance(valid)
            yield Recipe(
                f"{name} + valid {share:.2g}, balanced", evened(train.y, rows), balanced, share
            )


def source_recipes(kitchen: Kitchen) -> Iterator[Recipe]:
    """Yield each source of training rows alone, plain and balanced."""
    train = kitchen.train
    source = train.side.get("source")
    if source is None:
        return
    for value in np.unique(source):
        rows = np.where(source == value, train.weights, 0.0)
        if len(np.unique(train.y[rows > 0.0])) == 2:
            yield Recipe(f"source {value}", rows)
            yield Recipe(f"source {value}, balanced", evened(train.y, rows))


def slice_recipes(kitchen: Kitchen, leader: Recipe, slices: Sequence[Sliced]) -> Iterator[Recipe]:
    """Yield the leader with each slice of the rows worth more, and worth less.

    One round along the frontier of the slices' losses: the weights move, the metric judges.
    """
    for slice_ in slices:
        for factor in (STEP, 1.0 / STEP):
            train = reweighted(leader.train, slice_, kitchen.train, factor)
            valid = leader.valid
            if valid is not None:
                valid = reweighted(valid, slice_, kitchen.valid, factor)
            name = f"{leader.name}, {slice_.name} x {factor:.2g}"
            yield replace(leader, name=name, train=train, valid=valid)


def reweighted(rows: Floats64, slice_: Sliced, data: Data, factor: float) -> Floats64:
    """Return the weights with those of a slice multiplied."""
    return np.where(slice_.chosen(data), factor * rows, rows)


def few_recipes(kitchen: Kitchen, regression: bool) -> Iterator[Recipe]:
    """Yield the two plainest recipes: all that a handful of rows can choose between."""
    train = kitchen.train
    if regression:
        yield Recipe("squared, few rows", train.weights, strength=1.0)
        yield Recipe("huber, few rows", train.weights, strength=1.0, loss=Huber(0.5))
        return
    yield Recipe("few rows", train.weights)
    yield Recipe("few rows, balanced", class_balance(train))


def alone(kitchen: Kitchen, name: str, strengths: tuple[float, ...]) -> Iterator[Recipe]:
    """Yield recipes that train on the judging rows alone, cross-fitted."""
    nothing = np.zeros(len(kitchen.train))
    for strength in strengths:
        for tag, rows in (
            ("", kitchen.valid.weights),
            (", balanced", class_balance(kitchen.valid)),
        ):
            yield Recipe(f"{name}{tag}, {strength:g}", nothing, rows, 1.0, strength)


def cluster_recipes(kitchen: Kitchen, rng: np.random.Generator) -> Iterator[Recipe]:
    """Yield each half of a class against the other class: slices that no column names.

    Two halves of a class may lie on opposite sides of the other; no single hyperplane serves
    both, and the plain loss serves neither.
    """
    train = kitchen.train
    for sign, name in ((-1.0, "negatives"), (1.0, "positives")):
        members = np.flatnonzero(train.y == sign)
        if len(members) < 50:
            continue
        scale = 1.0 if kitchen.model.scale is None else kitchen.model.scale
        means = KMeans(2, n_init=3, random_state=int(rng.integers(2**31)))
        half = means.fit_predict(train.X[members] / scale)
        for k in (0, 1):
            rows = train.weights.copy()
            rows[members[half != k]] = 0.0
            if np.count_nonzero(rows[members]) < 20:
                continue
            yield Recipe(f"half {k + 1} of the {name}, balanced", evened(train.y, rows))


def regressor_recipes(
    kitchen: Kitchen, domain: Floats64 | None, use_validation: bool
) -> Iterator[Recipe]:
    """Yield losses from blunt to sharp on train, on valid, and on both."""
    for loss in (Lp(1.2), Huber(0.5), Lp(1.5), Squared(), Lp(3.0)):
        if domain is None:
            nothing = np.zeros(len(kitchen.train))
            yield Recipe(f"{loss.name}, all", nothing, kitchen.valid.weights, 1.0, 1.0, loss)
            continue
        rows = kitchen.train.weights
        yield Recipe(f"{loss.name}, train", rows, strength=1.0, loss=loss)
        if use_validation:
            for share in (0.5, 0.9):
                yield Recipe(
                    f"{loss.name}, train + valid {share:g}",
                    rows,
                    kitchen.valid.weights,
                    share,
                    1.0,
                    loss,
                )
