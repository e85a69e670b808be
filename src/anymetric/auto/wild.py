"""Wild: a handful of rows with values far beyond all others may judge, but need not train."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.auto.pool import Recipe
from anymetric.data import Data, Matrix
from anymetric.metrics import Classes
from anymetric.problem import Problem
from anymetric.solution import Solution

# A value so many times as far from its column's middle as nine tenths of the others is wild. No
# column of money that we know goes beyond a fifth of that.
BEYOND, USUAL = 1000.0, 0.9
# Of the rows, at most: more of them are no accident.
HANDFUL = 0.05
# Rows that say where a column lies, evenly spread.
SEEN = 2000


def wild_rows(X: Matrix) -> NDArray[np.bool_]:
    """Return which rows hold a wild value; none where they are more than a handful.

    A column in which nine tenths of the rows have the same value has none, for there the others
    are all that it says; nor has a sparse table.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> X[3, 1] = 1e6
    >>> np.flatnonzero(wild_rows(X)).tolist()
    [3]
    >>> rare = np.zeros((100, 1))
    >>> rare[3] = 1e6
    >>> wild_rows(rare).any()
    np.False_
    """
    found = np.zeros(X.shape[0], dtype=bool)
    if sparse.issparse(X) or X.size == 0:
        return found
    some = np.asarray(X[:: 1 + X.shape[0] // SEEN], dtype=np.float64)
    middle = np.median(some, axis=0)
    usual = np.quantile(np.abs(some - middle), USUAL, axis=0, method="inverted_cdf")
    most = np.where(usual > 0.0, BEYOND * usual, np.inf)
    reach = np.maximum(X.max(axis=0) - middle, middle - X.min(axis=0))
    suspect = np.flatnonzero(reach > most)
    found |= np.any(np.abs(X[:, suspect] - middle[suspect]) > most[suspect], axis=1)
    return found if found.mean() <= HANDFUL else np.zeros_like(found)


class Rows(Protocol):
    """What a kitchen has in store."""

    @property
    def train(self) -> Data:
        """The rows that train."""

    @property
    def valid(self) -> Data:
        """The rows that judge."""

    @property
    def both(self) -> Data:
        """Training rows first."""


def without_wild(X: Matrix, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows' weights, those of wild rows zero: by these a size is measured.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.append(np.arange(30.0), 1e9)[:, np.newaxis]
    >>> without_wild(X, np.ones(31))[-2:].tolist()
    [1.0, 0.0]
    """
    return np.where(wild_rows(X), 0.0, weights)


def wild_of(problem: Problem, kitchen: Rows) -> NDArray[np.bool_]:
    """Return which rows of a kitchen are wild, training rows first; none where they are a class."""
    pairs = ((kitchen.train, problem.train), (kitchen.valid, problem.valid))
    # What was dense may be sparse here, for its products are faster.
    tables = [given.X if sparse.issparse(own.X) and len(own) else own.X for own, given in pairs]
    wild = np.concatenate([wild_rows(X) for X in tables])
    lost = [wild[one].mean() > 0.5 for one in classes(problem, kitchen.both.y) if one.any()]
    return np.zeros_like(wild) if any(lost) else wild


def classes(problem: Problem, y: NDArray[np.float64]) -> list[NDArray[np.bool_]]:
    """Return which rows belong to each class or label; none where targets are numbers."""
    if problem.labels is None:
        return []
    if isinstance(problem.labels, Classes):
        return list(problem.labels.members(y).T)
    return [y < 0.0, y > 0.0]


def noted(solution: Solution, spared: NDArray[np.bool_]) -> Solution:
    """Return the solution with the number of rows that did not train, if there are any."""
    if not spared.any():
        return solution
    return replace(solution, settings={**solution.settings, "wild": int(spared.sum())})


def spared(recipe: Recipe, wild: NDArray[np.bool_]) -> Recipe:
    """Return a recipe in which wild rows do not train.

    Examples
    --------
    >>> import numpy as np
    >>> wild = np.array([False, True, False])
    >>> spared(Recipe("both", np.ones(2), np.ones(1), share=0.5), wild).train.tolist()
    [1.0, 0.0]
    """
    n, train, valid = len(recipe.train), recipe.train.copy(), recipe.valid
    train[wild[:n]] = 0.0
    if valid is not None:
        valid = valid.copy()
        valid[wild[n:]] = 0.0
    return replace(recipe, train=train, valid=valid)
