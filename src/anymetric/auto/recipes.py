"""Recipes: the candidates that a table proposes before the metric has said a word."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from anymetric.auto.pool import Kitchen, Recipe, concentration
from anymetric.data import Data, Matrix
from anymetric.problem import Problem
from anymetric.starts import class_balance, evened
from anymetric.surrogates import Sliced

Floats64 = NDArray[np.float64]
# Ridges, rising: a higher one is tried only where the one before it paid.
STRENGTHS = (10.0, 100.0, 1000.0, 10000.0)
# Clusters are found on no more rows of a class than this, evenly spread.
CLUSTERED = 5_000
SHARES = (0.2, 0.5, 0.8)
# Below this share of effective rows the domain weights say that train and valid differ.
ALIKE = 0.97


def climbed(
    recipes: Sequence[Recipe], strengths: Sequence[float], heard: Callable[[], float]
) -> Generator[Recipe, None, float]:
    """Yield recipes with rising ridges, until one is no better than the last; return the best.

    Parameters
    ----------
    recipes : sequence of Recipe
    strengths : sequence of float
        In units of one effective row.
    heard : callable
        Returns the cost of the recipe that was yielded last.

    Examples
    --------
    >>> import numpy as np
    >>> told = iter([0.3, 0.2, 0.25])
    >>> climb = climbed([Recipe("train", np.ones(3))], STRENGTHS, lambda: next(told))
    >>> [recipe.name for recipe in climb]
    ['train, 10', 'train, 100', 'train, 1000']
    """
    best, least = strengths[0], np.inf
    for strength in strengths:
        costs = []
        for recipe in with_ridges(recipes, [strength]):
            yield recipe
            costs.append(heard())
        if min(costs) >= least:
            break
        best, least = strength, min(costs)
    return best


def with_ridges(recipes: Sequence[Recipe], strengths: Sequence[float]) -> Iterator[Recipe]:
    """Yield recipes with each ridge, which their names say."""
    for strength in strengths:
        for recipe in recipes:
            yield replace(recipe, name=f"{recipe.name}, {strength:g}", strength=strength)


def bases(train: Data, domain: Floats64) -> dict[str, Floats64]:
    """Return the weights of training rows by name: all alike, and by their likeness to the judges.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Data(np.zeros((4, 1)), np.ones(4))
    >>> list(bases(rows, np.ones(4))), len(bases(rows, np.array([2.0, 0.1, 0.1, 0.1])))
    (['train'], 3)
    """
    found = {"train": train.weights}
    if concentration(domain, np.ones(len(domain))) * len(domain) > 1.0 / ALIKE:
        found["train like valid"] = train.weights * domain
        found["train rather like valid"] = train.weights * np.sqrt(domain)
    return found


def classifier_recipes(
    kitchen: Kitchen,
    domain: Floats64 | None,
    use_validation: Literal["auto"] | bool,
    strengths: tuple[float, ...],
    heard: Callable[[], float],
    decides: bool,
) -> Iterator[Recipe]:
    """Yield plain and balanced losses, on train rows as they are or as they look like valid.

    How much ridge they need, the metric says of the training rows that look like the judging
    rows; the others are tried with as much too, and mixtures get a step less.

    Parameters
    ----------
    kitchen : Kitchen
    domain : array of shape (n_train,) or None
        How much each training row looks like the judging rows; None if there is but one sample.
    use_validation : "auto" or bool
        Let the judging rows train as well, cross-fitted; True: always.
    strengths : tuple of float
        Ridges, in units of one effective row, rising.
    heard : callable
        Returns the cost of the recipe that was yielded last.
    decides : bool
        The metric reads decisions, not the order of the rows.
    """
    if domain is None:
        yield from climbed(on_judges(kitchen, "all"), strengths, heard)
        return
    known = bases(kitchen.train, domain)
    pairs = [] if use_validation is True else [on_train(kitchen, *base) for base in known.items()]
    if use_validation:
        pairs.append(on_judges(kitchen, "valid"))
    if len(known) > 1 and use_validation is not True:
        # Rows unlike those that judge cannot say how much ridge is right.
        yield from with_ridges(pairs.pop(0), strengths[:2])
    ridge = yield from climbed(pairs[0], strengths, heard)
    place = strengths.index(ridge)
    for pair in pairs[1:]:
        yield from with_ridges(pair, (*strengths[:2], *strengths[max(place, 2) : place + 1]))
    if not use_validation:
        return
    yield from mixture_recipes(kitchen, known, strengths[max(place - 1, 0)], decides)


def mixture_recipes(
    kitchen: Kitchen, bases: Mapping[str, Floats64], strength: float, decides: bool
) -> Iterator[Recipe]:
    """Yield training and judging rows together in several shares, for two of the bases at most.

    For an order of the rows no threshold makes up for what balance distorts: there they are half
    balanced.
    """
    train, valid = kitchen.train, kitchen.valid
    natural = valid.weights.sum() / (valid.weights.sum() + train.weights.sum())
    word, judges = "balanced", class_balance(valid)
    if not decides:
        word, judges = "half balanced", half(valid.weights, judges)
    for name, rows in list(bases.items())[:2]:
        even = evened(train.y, rows)
        even = even if decides else half(rows, even)
        for share in sorted({float(natural), *SHARES}):
            mix = f"{name} + valid {share:.2g}"
            yield Recipe(mix, rows, valid.weights, share, strength)
            yield Recipe(f"{mix}, {word}", even, judges, share, strength)


def half(plain: Floats64, balanced: Floats64) -> Floats64:
    """Return row weights half-way between two, by their geometric mean.

    Examples
    --------
    >>> import numpy as np
    >>> half(np.ones(2), np.array([1.0, 9.0])).tolist()
    [1.0, 3.0]
    """
    return np.sqrt(plain * balanced)


def on_train(kitchen: Kitchen, name: str, rows: Floats64) -> list[Recipe]:
    """Return the plain and the balanced loss of training rows with these weights."""
    return [Recipe(name, rows), Recipe(f"{name}, balanced", evened(kitchen.train.y, rows))]


def on_judges(kitchen: Kitchen, name: str) -> list[Recipe]:
    """Return the plain and the balanced loss of the judging rows alone, cross-fitted."""
    nothing, valid = np.zeros(len(kitchen.train)), kitchen.valid
    plain = Recipe(name, nothing, valid.weights, 1.0)
    return [plain, Recipe(f"{name}, balanced", nothing, class_balance(valid), 1.0)]


def source_recipes(kitchen: Kitchen, columns: Sequence[str] = ("source",)) -> Iterator[Recipe]:
    """Yield the rows of each source alone and, of more than two, all others; so by other columns.

    Plain and balanced.
    """
    data = kitchen.stock
    for column in columns:
        for name, chosen in parted(column, data.side.get(column, np.zeros(0))):
            rows = np.where(chosen, data.weights, 0.0)
            if len(np.unique(data.y[rows > 0.0])) == 2:
                yield on(kitchen, name, rows)
                yield on(kitchen, f"{name}, balanced", evened(data.y, rows))


def parted(column: str, values: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield a name for the rows of each value and, of more than two, for those of the others.

    Examples
    --------
    >>> import numpy as np
    >>> [name for name, _ in parted("source", np.array(["a", "b"]))]
    ['source a', 'source b']
    >>> [name for name, _ in parted("source", np.array(["a", "b", "c"]))][:2]
    ['source a', 'source not a']
    """
    distinct = np.unique(values)
    for value in distinct:
        yield f"{column} {value}", values == value
        if len(distinct) > 2:
            yield f"{column} not {value}", values != value


def sliced_by(problem: Problem) -> list[str]:
    """Return the columns that may say which rows to trust: the source, and slices that are named.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import Slices
    >>> side = {"region": np.array(["n", "s"])}
    >>> data = Data(np.zeros((2, 1)), np.ones(2), side=side)
    >>> sliced_by(Problem(data, Slices("logistic", ("region",)), as_metric("error")))
    ['source', 'region']
    """
    own = [one for one in problem.profiler.surrogates if isinstance(one, Sliced)]
    known = dict.fromkeys(["source", *(column for one in own for column in one.needs)])
    return [column for column in known if column != "groups"]


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


def scout(kitchen: Kitchen) -> Recipe:
    """Return the plainest recipe of all."""
    rows = on_train(kitchen, "train", kitchen.train.weights)
    return (rows if len(kitchen.train) > 0 else on_judges(kitchen, "all"))[0]


def few_recipes(kitchen: Kitchen) -> Iterator[Recipe]:
    """Yield the two plainest recipes: all that a handful of rows can choose between."""
    train = kitchen.train
    yield Recipe("few rows", train.weights)
    yield Recipe("few rows, balanced", class_balance(train))


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
