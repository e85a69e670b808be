"""Recipes: the candidates that a table proposes before the metric has said a word."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from anymetric.auto.pool import Kitchen, Recipe, concentration
from anymetric.data import Matrix
from anymetric.losses import Huber, Lp, Squared
from anymetric.starts import class_balance, evened

Floats64 = NDArray[np.float64]
STRENGTHS = (10.0, 100.0)
# Clusters are found on no more rows of a class than this, evenly spread.
CLUSTERED = 5_000
SHARES = (0.2, 0.5, 0.8)
# Below this share of effective rows the domain weights say that train and valid differ.
ALIKE = 0.97


def classifier_recipes(
    kitchen: Kitchen,
    domain: Floats64 | None,
    use_validation: bool,
    strengths: tuple[float, ...] = STRENGTHS,
) -> Iterator[Recipe]:
    """Yield plain and balanced losses, on train rows as they are or as they look like valid.

    Parameters
    ----------
    kitchen : Kitchen
    domain : array of shape (n_train,) or None
        How much each training row looks like the judging rows; None if there is but one sample.
    use_validation : bool
        Let the judging rows train as well, cross-fitted.
    strengths : tuple of float
        Ridges, in units of one effective row.
    """
    train, valid = kitchen.train, kitchen.valid
    if domain is None:
        yield from alone(kitchen, "all", strengths)
        return
    bases = {"train": train.weights}
    if concentration(domain, np.ones(len(domain))) * len(domain) > 1.0 / ALIKE:
        bases["train like valid"] = train.weights * domain
        bases["train rather like valid"] = train.weights * np.sqrt(domain)
    for name, rows in bases.items():
        for strength in strengths:
            yield Recipe(f"{name}, {strength:g}", rows, strength=strength)
            yield Recipe(
                f"{name}, balanced, {strength:g}", evened(train.y, rows), strength=strength
            )
    if not use_validation:
        return
    yield from alone(kitchen, "valid", strengths)
    natural = valid.weights.sum() / (valid.weights.sum() + train.weights.sum())
    for name, rows in list(bases.items())[:2]:
        for share in sorted({float(natural), *SHARES}):
            yield Recipe(f"{name} + valid {share:.2g}", rows, valid.weights, share)
            balanced = class_balance(valid)
            yield Recipe(
                f"{name} + valid {share:.2g}, balanced", evened(train.y, rows), balanced, share
            )


def source_recipes(kitchen: Kitchen) -> Iterator[Recipe]:
    """Yield each source of the rows that train alone, plain and balanced."""
    data = kitchen.stock
    source = data.side.get("source")
    if source is None:
        return
    for value in np.unique(source):
        rows = np.where(source == value, data.weights, 0.0)
        if len(np.unique(data.y[rows > 0.0])) == 2:
            yield on(kitchen, f"source {value}", rows)
            yield on(kitchen, f"source {value}, balanced", evened(data.y, rows))


def stake_recipes(kitchen: Kitchen, needs: Sequence[str]) -> Iterator[Recipe]:
    """Yield rows weighted by a column of amounts that the metric reads: in one class or in both.

    A metric of money counts a row by what is at stake in it.
    """
    data = kitchen.stock
    for name in needs:
        column = data.side.get(name)
        if column is None or column.dtype.kind not in "fiu" or not amounts(column):
            continue
        stake = data.weights * column / np.average(column, weights=data.weights)
        for sign, tag in ((1.0, "positives by"), (-1.0, "negatives by"), (None, "by")):
            rows = stake if sign is None else np.where(data.y == sign, stake, data.weights)
            if all(np.any(rows[data.y == one] > 0.0) for one in (-1.0, 1.0)):
                yield on(kitchen, f"{tag} {name}", rows)
                yield on(kitchen, f"{tag} {name}, balanced", evened(data.y, rows))


def amounts(column: NDArray[np.generic]) -> bool:
    """Return whether numbers can be amounts: none negative, and many of them different.

    Examples
    --------
    >>> import numpy as np
    >>> amounts(np.arange(50)), amounts(np.array([0, 1] * 25))
    (True, False)
    """
    values = np.asarray(column, dtype=np.float64)
    return bool(np.all(values >= 0.0) and len(np.unique(values)) > 10)


def on(kitchen: Kitchen, name: str, rows: Floats64) -> Recipe:
    """Return a recipe for the rows that train: cross-fitted if they are those that judge."""
    if len(kitchen.train) > 0:
        return Recipe(name, rows)
    return Recipe(name, np.zeros(0), rows, 1.0)


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
    data = kitchen.stock
    for sign, name in ((-1.0, "negatives"), (1.0, "positives")):
        members = np.flatnonzero(data.y == sign)
        if len(members) < 50:
            continue
        half = halves(data.X[members], kitchen.model.scale, int(rng.integers(2**31)))
        for k in (0, 1):
            rows = data.weights.copy()
            rows[members[half != k]] = 0.0
            if np.count_nonzero(rows[members]) < 20:
                continue
            yield on(kitchen, f"half {k + 1} of the {name}, balanced", evened(data.y, rows))


def halves(X: Matrix, scale: Floats64 | None, seed: int) -> NDArray[np.intp]:
    """Return which of two clusters each row belongs to; they are found on some of the rows.

    Between two centres lies a hyperplane: the other rows need no more than their side of it.
    """
    unit = np.ones(X.shape[1]) if scale is None else 1.0 / scale
    some = X[:: max(1, X.shape[0] // CLUSTERED)]
    some = sparse.csr_array(some.multiply(unit)) if sparse.issparse(some) else some * unit
    with warnings.catch_warnings():
        # Rows that are all the same make one cluster: then there is but one half.
        warnings.simplefilter("ignore", ConvergenceWarning)
        first, second = KMeans(2, n_init=3, random_state=seed).fit(some).cluster_centers_
    side = X @ (unit * (second - first)).astype(X.dtype)
    return np.asarray(side > 0.5 * (second @ second - first @ first), dtype=np.intp)


def regressor_recipes(
    kitchen: Kitchen, domain: Floats64 | None, use_validation: bool
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
        if domain is None:
            nothing = np.zeros(len(kitchen.train))
            yield Recipe(f"{name}, all", nothing, kitchen.valid.weights, 1.0, 1.0, loss)
            continue
        rows = kitchen.train.weights
        yield Recipe(f"{name}, train", rows, strength=1.0, loss=loss)
        if use_validation and loss != Lp(1.2):
            for share in (0.5, 0.9):
                both = f"{name}, train + valid {share:g}"
                yield Recipe(both, rows, kitchen.valid.weights, share, 1.0, loss)
