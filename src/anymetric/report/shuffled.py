"""Shuffled: the rows of a fitted model with the values of a column in another order."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.report.sample import Sample

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
# From features, groups and metadata to scores.
Scorer = Callable[[Any, Any, Mapping[str, Any]], Floats]
Blocks = Mapping[str, Sequence[int]]
# Rows that say which columns of a wide table move the scores at all, and seconds for it.
FEW, SECONDS = 100, 5.0


@dataclass(frozen=True, eq=False)
class Shuffled:
    """A fitted model's rows, and how to score them with a column shuffled.

    Parameters
    ----------
    score : Scorer
    sample : Sample
        Rows that the model did not train on, with its scores.
    X : array, sparse array or data frame of shape (n, d)
    blocks : dict from name to column numbers
        What is shuffled together: the features that come from one column of the user's table.
    group : str
        The column that the groups come from: a decision rule may read them, too.
    prior : dict from name to float
        What the model itself says of its columns: those of more are tried first.
    """

    score: Scorer
    sample: Sample
    X: Any
    blocks: Blocks
    group: str = ""
    prior: Mapping[str, float] = field(default_factory=dict)

    def few(self, most: int, rng: np.random.Generator) -> Shuffled:
        """Return some of the rows, whole queries together."""
        n, queries = len(self.sample.data), self.sample.queries
        if n <= most:
            return self
        order = rng.permutation(n if queries is None else len(queries))
        if queries is not None:
            place = np.empty(len(queries), dtype=np.intp)
            place[order] = np.arange(len(queries))
            ranked = np.argsort(place[queries.member], kind="stable")
            last = queries.member[ranked[most - 1]]
            count = int(np.sum(place[queries.member] <= place[last]))
            rows = np.sort(ranked[:count])
        else:
            rows = np.sort(order[:most])
        return replace(self, sample=self.sample.take(rows), X=taken(self.X, rows))

    def scores(self, name: str, order: Rows) -> Floats:
        """Return the model's scores with a column in another order."""
        known = dict(self.sample.data.side)
        for column in {"groups" if name == self.group else name} & set(known):
            known[column] = known[column][order]
        groups = known.pop("groups", None)
        return self.score(permuted(self.X, self.blocks[name], order), groups, known)

    def moved(self, rng: np.random.Generator) -> dict[str, float]:
        """Return how far shuffling each column moves the scores of a few rows.

        Columns that could not be tried in time are missing.
        """
        small, began = self.few(FEW, rng), time.perf_counter()
        here = next(iter(small.sample.scores.values()))
        found: dict[str, float] = {}
        for name in sorted(self.blocks, key=lambda name: -self.prior.get(name, 0.0)):
            change = small.scores(name, rng.permutation(len(small.sample.data))) - here
            found[name] = float(np.sqrt(np.mean(change**2)))
            if time.perf_counter() - began > SECONDS:
                break
        return found


def permuted(X: Any, columns: Sequence[int], order: Rows) -> Any:
    """Return rows with the values of some columns in another order.

    Examples
    --------
    >>> X = np.array([[1, 2], [3, 4]])
    >>> permuted(X, [1], np.array([1, 0])).tolist()
    [[1, 4], [3, 2]]
    >>> permuted(sparse.csr_array(X), [1], np.array([1, 0])).toarray().tolist()
    [[1, 4], [3, 2]]
    """
    chosen = list(columns)
    if sparse.issparse(X):
        return _permuted_sparse(X, chosen, order)
    changed = X.copy()
    if hasattr(X, "iloc"):
        for column in chosen:
            moved = X.iloc[order, column]
            moved.index = X.index
            changed[X.columns[column]] = moved
        return changed
    changed[:, chosen] = X[order][:, chosen]
    return changed


def _permuted_sparse(X: Any, columns: list[int], order: Rows) -> Any:
    kept = np.zeros((1, X.shape[1]), dtype=X.dtype)
    kept[0, columns] = 1
    part = X.multiply(kept).tocsr()
    return (X - part + part[order]).tocsr()


def taken(X: Any, rows: Rows) -> Any:
    """Return some rows of a table of any kind."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
