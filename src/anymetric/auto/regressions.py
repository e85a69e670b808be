"""Regressions: the candidates for numbers, which differ in their losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.auto.pool import Kitchen, Recipe
from anymetric.data import TARGET, drawn_in, quantiles
from anymetric.losses import Huber, Lp, Squared, Tilted

Floats64 = NDArray[np.float64]
# With fewer rows than so many a column the ridge is sought among these, unless that
# is too much work.
TALL, COSTLY = 10, 1e10
RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
# Robust standard deviations from a fit, to which targets are drawn in to ask for the ridge.
NEAR = 1.5


def few_numbers(kitchen: Kitchen) -> Iterator[Recipe]:
    """Yield the two plainest recipes: all that a handful of rows can choose between."""
    ridge, rows = held_back(kitchen), kitchen.train.weights
    yield Recipe("squared, few rows", rows, strength=ridge)
    yield Recipe("huber, few rows", rows, strength=ridge, loss=Huber(0.5))


def held_back(kitchen: Kitchen) -> float:
    """Return the ridge of regressions: one, or where rows are few the best of several."""
    data, model = kitchen.stock, kitchen.model
    n, d = data.X.shape
    if n >= TALL * d or n * d * min(n, d) > COSTLY:
        return 1.0
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
    X = X if model.shift is None else X - model.shift
    X = X if model.scale is None else X / model.scale
    return Spectrum.of(X, data.weights, model.intercept).ridge(data.y)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A table taken apart once, so that least squares with any ridge are cheap.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> Spectrum.of(X, np.ones(20), True).ridge(X @ np.ones(5))
    1.0
    """

    left: Floats64  # (n, r)
    sizes: Floats64  # (r,)
    weights: Floats64
    intercept: bool

    @classmethod
    def of(cls, X: Floats64, weights: Floats64, intercept: bool) -> Spectrum:
        """Take a table of weighted rows apart."""
        if intercept:
            X = X - np.average(X, axis=0, weights=weights)
        left, sizes, _ = np.linalg.svd(np.sqrt(weights)[:, np.newaxis] * X, full_matrices=False)
        return cls(left, sizes, weights, intercept)

    def ridge(self, y: Floats64) -> float:
        """Return the ridge that is best for targets, those far from the fit drawn in.

        Numbers far beyond the others ask for far too much. Drawn in to a fit that they have
        flattened they still do: so it goes on as long as the ridge falls.
        """
        best, fit = self.best(drawn_in(y, np.zeros(len(y)), self.weights))
        for _ in RIDGES:
            lower, fit = self.best(drawn_in(y, fit, self.weights, NEAR))
            if lower >= best:
                break
            best = lower
        return best

    def best(self, y: Floats64) -> tuple[float, Floats64]:
        """Return the ridge of the lowest generalised cross-validation error, and its fit."""
        middle = float(np.average(y, weights=self.weights)) if self.intercept else 0.0
        root, n = np.sqrt(self.weights), float(self.weights.sum())
        along = self.left.T @ (root * (y - middle))
        beyond = max(float(self.weights @ (y - middle) ** 2 - along @ along), 0.0)

        def error(ridge: float) -> float:
            kept = self.kept(ridge)
            free = max(n - float(kept.sum()) - self.intercept, np.finfo(float).tiny)
            return (beyond + float(np.sum(((1.0 - kept) * along) ** 2))) / free**2

        ridge = min(RIDGES, key=error)
        return ridge, middle + self.left @ (self.kept(ridge) * along) / root

    def kept(self, ridge: float) -> Floats64:
        """Return how much of each direction a ridge leaves: half of the square is held back."""
        return np.asarray(self.sizes**2 / (self.sizes**2 + 0.5 * ridge))


def tilted_recipes(
    kitchen: Kitchen, domain: Floats64 | None, use_validation: bool, ridge: float, level: float
) -> Iterator[Recipe]:
    """Yield losses that lean to one side, so that about such a part of the targets lies below."""
    for near in (level, 0.5 * (level + 0.5)):
        loss = Tilted(min(max(near, 0.01), 0.99), 0.2)
        name = f"tilted({loss.level:.2f})"
        shares = (0.5,) if use_validation else ()
        yield from with_loss(
            kitchen, domain, Recipe(name, np.zeros(0), strength=ridge, loss=loss), shares
        )


def regressor_recipes(
    kitchen: Kitchen, domain: Floats64 | None, use_validation: bool, ridge: float
) -> Iterator[Recipe]:
    """Yield losses on train, on valid, and on both: least squares first, then blunt to sharp.

    Example 2 of the paper.
    """
    losses = [Squared(), Huber(0.03), Huber(0.2), Lp(1.5), Lp(3.0), Lp(4.0)]
    if domain is not None:
        # On rows that judge too this takes long to solve without each fold: there Huber's losses
        # say the same.
        losses.append(Lp(1.2))
    for loss in losses:
        name = f"huber({loss.delta:g})" if isinstance(loss, Huber) else loss.name
        shares = (0.5, 0.9) if use_validation and loss != Lp(1.2) else ()
        yield from with_loss(
            kitchen, domain, Recipe(name, np.zeros(0), strength=ridge, loss=loss), shares
        )


def relative_recipes(
    kitchen: Kitchen, domain: Floats64 | None, use_validation: bool, ridge: float
) -> Iterator[Recipe]:
    """Yield losses that count errors by their share of the target, where that is of one sign."""
    data = (kitchen.train, kitchen.valid)
    rows, judges = (one.weights * nearer(one.side.get(TARGET, one.y), one.weights) for one in data)
    if not all(np.any(one != one[0]) for one in (rows, judges) if len(one)):
        return
    shares = (0.5,) if use_validation else ()
    plain = Recipe("relative", np.zeros(0), strength=ridge, loss=Huber(0.03))
    yield from with_loss(kitchen, domain, plain, shares, (rows, judges))


def nearer(y: NDArray[Any], weights: Floats64) -> Floats64:
    """Return ``1 / |y|``, bounded for the smallest; ones where y has both signs or none.

    Examples
    --------
    >>> import numpy as np
    >>> nearer(np.array([1.0, 2.0, 4.0]), np.ones(3)).tolist()
    [1.0, 0.5, 0.25]
    >>> nearer(np.array([-1.0, 2.0]), np.ones(2)).tolist()
    [1.0, 1.0]
    """
    size = np.abs(np.asarray(y, dtype=np.float64))
    least = quantiles(size, 0.01, weights) if len(size) else 0.0
    if least <= 0.0 or np.min(y) * np.max(y) < 0.0:
        return np.ones(len(size))
    return np.asarray(1.0 / np.maximum(size, least))


def with_loss(
    kitchen: Kitchen,
    domain: Floats64 | None,
    plain: Recipe,
    shares: Sequence[float],
    weights: tuple[Floats64, Floats64] | None = None,
) -> Iterator[Recipe]:
    """Yield a loss on all rows where there is one sample; else on train, and mixed with valid."""
    rows, judges = weights or (kitchen.train.weights, kitchen.valid.weights)
    if domain is None:
        nothing = np.zeros(len(kitchen.train))
        yield replace(plain, name=f"{plain.name}, all", train=nothing, valid=judges, share=1.0)
        return
    yield replace(plain, name=f"{plain.name}, train", train=rows)
    for share in shares:
        both = f"{plain.name}, train + valid {share:g}"
        yield replace(plain, name=both, train=rows, valid=judges, share=share)
