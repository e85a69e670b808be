"""Parts: slices of the rows that train, named by columns or found by trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from anymetric.auto.average import Judged
from anymetric.auto.pool import Kitchen
from anymetric.data import Data, Matrix
from anymetric.surrogates import Sliced

Bools = NDArray[np.bool_]
Floats64 = NDArray[np.float64]
# A tree has so many leaves, and each this share of the rows at least.
LEAVES, LEAST = 4, 0.05
# A tree is grown on no more rows than this, drawn evenly.
GROWN = 20_000
# Fewer rows than this in a slice cannot be told from noise.
FEWEST = 20


@dataclass(frozen=True, eq=False)
class Part:
    """A slice: which training rows belong to it, and which of the rows that judge.

    Examples
    --------
    >>> import numpy as np
    >>> Part("men", np.array([True, False]), np.array([True])).rows.tolist()
    [True, False, True]
    """

    name: str
    train: Bools
    valid: Bools

    @property
    def rows(self) -> Bools:
        """All rows, training rows first."""
        return np.concatenate([self.train, self.valid])

    def within(self, other: Part) -> Part:
        """Return the rows that belong to both."""
        return Part(
            f"{other.name}, {self.name}", self.train & other.train, self.valid & other.valid
        )


def named(slices: Sequence[Sliced], kitchen: Kitchen) -> list[Part]:
    """Return slices as parts; where a column is not there, no row belongs to them."""
    return [Part(s.name, chosen(s, kitchen.train), chosen(s, kitchen.valid)) for s in slices]


def chosen(slice_: Sliced, data: Data) -> Bools:
    """Return which rows a slice chooses; none where they lack a column that it reads."""
    if not all(name in data.side for name in slice_.needs):
        return np.zeros(len(data), dtype=bool)
    return slice_.chosen(data)


def by_class(parts: Sequence[Part], kitchen: Kitchen) -> list[Part]:
    """Return the parts split by class, those too small left out."""
    signs = [
        Part(name, kitchen.train.y == sign, kitchen.valid.y == sign)
        for sign, name in ((-1.0, "class=-1"), (1.0, "class=+1"))
    ]
    split = [part.within(sign) for sign in signs for part in parts]
    return [part for part in split if np.count_nonzero(part.rows) >= FEWEST]


def where_it_errs(kitchen: Kitchen, leader: Judged, seed: int) -> list[Part]:
    """Return the leaves of a shallow tree that tells the judging rows where the leader errs."""
    wrong = (leader.scores > 0.0) != (kitchen.valid.y > 0.0)
    if np.count_nonzero(wrong) < FEWEST or np.count_nonzero(~wrong) < FEWEST:
        return []
    tree = grown(kitchen.valid.X, wrong, kitchen.valid.weights, seed)
    return leaves(tree, kitchen, "errs")


def grown(X: Matrix, y: Bools, weights: Floats64, seed: int) -> DecisionTreeClassifier:
    """Grow a shallow tree."""
    step = max(1, X.shape[0] // GROWN)
    tree = DecisionTreeClassifier(
        max_leaf_nodes=LEAVES, min_weight_fraction_leaf=LEAST, random_state=seed
    )
    return tree.fit(readable(X[::step]), y[::step], sample_weight=weights[::step])


def leaves(tree: DecisionTreeClassifier, kitchen: Kitchen, name: str) -> list[Part]:
    """Return a tree's leaves as parts."""
    found = [
        tree.apply(readable(data.X)) if len(data) else np.zeros(0)
        for data in (kitchen.train, kitchen.valid)
    ]
    return [
        Part(f"{name} {k + 1}", found[0] == leaf, found[1] == leaf)
        for k, leaf in enumerate(np.unique(found[1]))
    ]


def readable(X: Matrix) -> Matrix:
    """Return features as the trees read them."""
    return sparse.csr_array(X).astype(np.float32) if sparse.issparse(X) else X
