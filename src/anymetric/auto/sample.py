"""Sample: the rows that train and the rows that validate, and how a weighting weighs them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans

from anymetric.auto.constants import FEWEST_ROWS, FOLDS
from anymetric.auto.records import Weighting
from anymetric.auto.task import TINY, Task
from anymetric.data import TARGET, Data, Matrix, quantiles
from anymetric.problem import Problem
from anymetric.threads import unwarned

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Clusters are found on so many rows of a class.
CLUSTERED = 5000


@dataclass(frozen=True, eq=False)
class Sample:
    """Training rows, validation rows, and the folds in which validation rows train too.

    Where there is but one sample, it is the validation rows, and `train` is empty; where that is
    too small to be cross-fitted, the same rows train and validate.

    Attributes
    ----------
    task : Task
    train, valid : Data
    fold : array of shape (n_valid,)
    density_ratio : array of shape (n_train,) or None
        Density of validation to training rows at each training row; None with a single sample.

    Examples
    --------
    >>> rows = Data(np.zeros((4, 1)), np.array([1.0, -1.0, -1.0, -1.0]))
    >>> sample = Sample(Task((0, 1)), rows.take(np.arange(0)), rows, np.arange(4) % 2)
    >>> sample.weights(Weighting("all", balance=1.0)).valid.round(3).tolist()
    [1.0, 0.333, 0.333, 0.333]
    """

    task: Task
    train: Data
    valid: Data
    fold: Ints
    density_ratio: Floats64 | None = None
    few: bool = False

    @classmethod
    def of(cls, problem: Problem, task: Task, fold: Ints) -> Sample:
        """Arrange the rows of a problem."""
        train, valid = problem.train, problem.valid
        few = valid is train and len(valid) < FEWEST_ROWS
        if valid is train and not few:
            train = train.take(np.arange(0))
        return cls(task, train, valid, fold, few=few)

    @property
    def single(self) -> bool:
        """Whether there is but one sample."""
        return len(self.train) == 0 or self.few

    @property
    def stock(self) -> Data:
        """The rows that train first of all."""
        return self.train if len(self.train) else self.valid

    @property
    def source(self) -> str:
        """What a `Weighting` calls these."""
        return "train" if len(self.train) else "all"

    @cached_property
    def both(self) -> Data:
        """All rows, training rows first."""
        return self.train.followed_by(self.valid) if len(self.train) else self.valid

    @property
    def folds(self) -> list[Ints]:
        """The validation rows of each fold."""
        return [np.flatnonzero(self.fold == k) for k in range(int(self.fold.max(initial=0)) + 1)]

    @property
    def natural(self) -> float:
        """The validation rows' share of all rows."""
        own = float(self.valid.weights.sum())
        return own / (own + float(self.train.weights.sum()))

    def with_features(self, train: Matrix, valid: Matrix) -> Sample:
        """Return the same rows with other features."""
        parts = replace(self.train, X=train), replace(self.valid, X=valid)
        return replace(self, train=parts[0], valid=parts[1])

    def weights(self, weighting: Weighting, without: Ints | None = None) -> Weights:
        """Return the weights of the rows, optionally without some of the validation rows."""
        train = valid = None
        if weighting.rows in ("train", "both"):
            like = 1.0 if self.density_ratio is None else self.density_ratio**weighting.importance
            train = self._weighed(self.train, weighting, self.train.weights * like)
        if weighting.rows != "train":
            rows = self.valid.weights.copy()
            if without is not None:
                rows[without] = 0.0
            valid = self._weighed(self.valid, weighting, rows)
        return Weights(train, valid, weighting.share if weighting.rows == "both" else 1.0)

    def _weighed(self, data: Data, weighting: Weighting, rows: Floats64) -> Floats64:
        rows = rows.copy()
        if weighting.only is not None:
            column, value, chosen = weighting.only
            rows[(data.side[column] == value) != chosen] = 0.0
        if weighting.amounts is not None:
            column, sign = weighting.amounts
            amounts = np.asarray(data.side[column], dtype=np.float64)
            own = np.ones(len(data), dtype=bool) if sign == 0 else data.y == sign
            rows[own] *= (amounts / np.average(amounts, weights=data.weights))[own]
        for y, group, factor in weighting.cells:
            rows[(data.y == y) & (data.side["groups"] == group)] *= factor
        if weighting.half is not None:
            label, which = weighting.half
            rows[(data.y == label) & (self.clusters[label][: len(data)] != which)] = 0.0
        if weighting.relative:
            rows *= inverse_sizes(data.side.get(TARGET, data.y), data.weights)
        return self.task.balanced(data.y, rows, weighting.balance)

    @cached_property
    def clusters(self) -> dict[float, Ints]:
        """For each of two classes, which of two clusters each training row is nearer to.

        Two halves of a class may lie on opposite sides of the other: no hyperplane serves both,
        and the plain loss serves neither.
        """
        data = self.stock
        found = {}
        for sign in (-1.0, 1.0):
            own = np.flatnonzero(data.y == sign)
            found[sign] = nearer(data.X, data.X[own[:: 1 + len(own) // CLUSTERED]])
        return found


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the training rows and of the validation rows; None where a sample is not used.

    Examples
    --------
    >>> Weights(np.ones(2), np.ones(1), 0.5).joined.tolist()
    [0.25, 0.25, 0.5]
    """

    train: Floats64 | None
    valid: Floats64 | None
    share: float = 1.0

    @property
    def joined(self) -> Floats64:
        """Those of all rows that are used, summing to one; validation rows last."""
        if self.train is None or self.valid is None:
            rows = self.valid if self.train is None else self.train
            assert rows is not None
            return unit(rows)
        return np.concatenate(
            [(1.0 - self.share) * unit(self.train), self.share * unit(self.valid)]
        )


def unit(rows: Floats64) -> Floats64:
    """Return weights that sum to one, or zeros; those of a table, column by column."""
    return np.asarray(rows / np.maximum(rows.sum(axis=0), TINY))


def effective(rows: Floats64) -> float:
    """Return of how many rows with equal weights a mean would be as certain (Kish).

    Examples
    --------
    >>> effective(np.full(4, 0.25)), effective(np.array([1.0, 0.0])), effective(np.zeros(2))
    (4.0, 1.0, 0.0)
    """
    columns = rows.reshape(len(rows), -1)
    square = np.maximum(np.sum(columns**2, axis=0), TINY)
    return float(np.mean(columns.sum(axis=0) ** 2 / square))


def dealt(y: Floats64, rng: np.random.Generator, folds: int = FOLDS) -> Ints:
    """Return the fold of each row at random, every class, or low and high targets, evenly.

    Examples
    --------
    >>> sorted(dealt(np.repeat([-1.0, 1.0], 5), np.random.default_rng(0))[5:].tolist())
    [0, 1, 2, 3, 4]
    """
    order = np.lexsort((rng.random(len(y)), y))
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % folds
    return fold


def inverse_sizes(y: NDArray[Any], weights: Floats64) -> Floats64:
    """Return ``1 / |y|``, bounded for the smallest; ones where y has both signs or zeros.

    Examples
    --------
    >>> inverse_sizes(np.array([1.0, 2.0, 4.0]), np.ones(3)).tolist()
    [1.0, 0.5, 0.25]
    >>> inverse_sizes(np.array([-1.0, 2.0]), np.ones(2)).tolist()
    [1.0, 1.0]
    """
    size = np.abs(np.asarray(y, dtype=np.float64))
    least = quantiles(size, 0.01, weights) if len(size) else 0.0
    if least <= 0.0 or np.min(y) * np.max(y) < 0.0:
        return np.ones(len(size))
    return np.asarray(1.0 / np.maximum(size, least))


def nearer(X: Matrix, own: Matrix) -> Ints:
    """Return which of two clusters of some rows each row is nearer to, by standardised columns.

    Examples
    --------
    >>> nearer(np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [0.1], [10.0], [10.1]])).tolist()
    [0, 0, 1]
    """
    if own.shape[0] < 2:
        return np.zeros(X.shape[0], dtype=np.intp)
    along, middle = between(own)
    return np.asarray(X @ along > middle, dtype=np.intp)


def between(own: Matrix) -> tuple[Floats64, float]:
    """Return the direction from one of two clusters to the other, and where the second begins.

    Between two centres lies a hyperplane: a row needs no more than its side of it.

    Examples
    --------
    >>> along, middle = between(np.array([[0.0], [0.1], [10.0], [10.1]]))
    >>> bool(np.array([9.0]) @ along > middle), bool(np.array([1.0]) @ along > middle)
    (True, False)
    """
    dense = np.asarray(own.toarray() if sparse.issparse(own) else own, dtype=np.float64)
    mean, scale = dense.mean(axis=0), dense.std(axis=0)
    differs = scale > 1e-9 * np.abs(mean)  # rounding alone is no difference
    inverse = np.where(differs, 1.0 / np.where(differs, scale, 1.0), 0.0)
    with unwarned():  # rows that are all the same make one cluster
        centres = KMeans(2, n_init=3, random_state=0).fit((dense - mean) * inverse).cluster_centers_
    first, second = centres[np.argsort(centres.sum(axis=1))]
    along = inverse * (second - first)
    return along, float(mean @ along) + 0.5 * float(second @ second - first @ first)
