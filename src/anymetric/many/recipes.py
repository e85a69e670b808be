"""Recipes: weights of rows and labels that are tried before the metric has said a word."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.pool import Recipe, concentration
from anymetric.auto.recipes import ALIKE, parted
from anymetric.data import Data
from anymetric.losses import Loss, as_loss
from anymetric.many.pool import ManyKitchen
from anymetric.metrics import Classes

Floats64 = NDArray[np.float64]
# How far classes are evened out: the weight of a class is its share to one minus this.
EVENED = {"": 0.0, ", half balanced": 0.5, ", balanced": 1.0}
ENDS = [(tag, part) for tag, part in EVENED.items() if part in (0.0, 1.0)]
# Ridges in units of one effective row, for training rows and for the fewer rows that judge.
STRENGTHS, FIRM = (10.0, 1.0, 100.0), (10.0, 100.0)
# Shares of the judging rows in mixtures, beside their natural one.
SHARES = (0.5, 0.8)


def evened(data: Data, rows: Floats64, classes: Classes, part: float) -> Floats64:
    """Return rows weighted so that every class has its share to the power ``1 - part``.

    Of labels each is evened by itself, the rows that have it against those that have not: the
    weights are then a table.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((4, 1)), np.array([0.0, 0.0, 0.0, 1.0]))
    >>> evened(data, np.ones(4), Classes(("a", "b", "c")), 1.0).round(3).tolist()
    [0.333, 0.333, 0.333, 1.0]
    """
    if classes.exclusive:
        share = np.bincount(data.y.astype(np.intp), rows, minlength=len(classes))
        scale = np.where(share > 0.0, share, 1.0) ** -part
        return np.asarray(rows * scale[data.y.astype(np.intp)])
    members = classes.members(data.y)
    sums = np.stack([rows @ ~members, rows @ members])  # (2, L)
    scale = np.where(sums > 0.0, sums, 1.0) ** -part
    return np.asarray(rows[:, np.newaxis] * np.where(members, scale[1], scale[0]))


def many_recipes(
    kitchen: ManyKitchen, domain: Floats64 | None, use_validation: bool
) -> Iterator[Recipe]:
    """Yield plain, half balanced and balanced losses, on the rows that train, judge, or both.

    Parameters
    ----------
    kitchen : ManyKitchen
    domain : array of shape (n_train,) or None
        How much each training row looks like the judging rows; None if there is but one sample.
    use_validation : bool
        Let the judging rows train as well, cross-fitted.
    """
    train, valid, classes = kitchen.train, kitchen.valid, kitchen.classes
    loss = None if classes.exclusive else as_loss("logistic")
    if domain is None:
        yield from alone(kitchen, "all", loss)
        return
    bases = {"train": train.weights}
    if concentration(domain, np.ones(len(domain))) * len(domain) > 1.0 / ALIKE:
        bases["train like valid"] = train.weights * domain
    for name, rows in bases.items():
        for strength in STRENGTHS:
            for tag, part in EVENED.items():
                weights = evened(train, rows, classes, part)
                called = f"{name}{tag}, {strength:g}"
                yield Recipe(called, weights, strength=strength, loss=loss)
    if not use_validation:
        return
    yield from alone(kitchen, "valid", loss)
    natural = valid.weights.sum() / (valid.weights.sum() + train.weights.sum())
    for name, rows in bases.items():
        for share in sorted({float(natural), *SHARES}):
            for tag, part in ENDS:
                called = f"{name} + valid {share:.2g}{tag}"
                first = evened(train, rows, classes, part)
                second = evened(valid, valid.weights, classes, part)
                yield Recipe(called, first, second, share, loss=loss)


def alone(kitchen: ManyKitchen, name: str, loss: Loss | None) -> Iterator[Recipe]:
    """Yield recipes that train on the judging rows alone, cross-fitted."""
    valid, classes = kitchen.valid, kitchen.classes
    strengths = STRENGTHS if name == "all" else FIRM
    for strength in strengths:
        for tag, part in EVENED.items():
            rows = evened(valid, valid.weights, classes, part)
            nothing = np.zeros((len(kitchen.train), *rows.shape[1:]))
            yield Recipe(f"{name}{tag}, {strength:g}", nothing, rows, 1.0, strength, loss)


def on_stock(kitchen: ManyKitchen, name: str, rows: Floats64, loss: Loss | None) -> Recipe:
    """Return a recipe for the rows that train: cross-fitted if they are those that judge."""
    if len(kitchen.train) > 0:
        return Recipe(name, rows, loss=loss)
    return Recipe(name, np.zeros((0, *rows.shape[1:])), rows, 1.0, loss=loss)


def rest_recipes(kitchen: ManyKitchen) -> Iterator[Recipe]:
    """Yield each class against the rest by logistic losses, which need not agree on anything."""
    data, classes = kitchen.stock, kitchen.classes
    if classes.exclusive:
        for tag, part in EVENED.items():
            rows = evened(data, data.weights, classes, part)
            yield on_stock(kitchen, f"one against the rest{tag}", rows, as_loss("logistic"))


def source_recipes(kitchen: ManyKitchen) -> Iterator[Recipe]:
    """Yield each source of the rows that train alone, and without it, plain and balanced."""
    data, classes = kitchen.stock, kitchen.classes
    source = data.side.get("source", np.zeros(0))
    loss = None if classes.exclusive else as_loss("logistic")
    for name, chosen in parted("source", source):
        rows = np.where(chosen, data.weights, 0.0)
        if len(np.unique(data.y[rows > 0.0])) > 1:
            for tag, part in ENDS:
                yield on_stock(kitchen, f"{name}{tag}", evened(data, rows, classes, part), loss)
