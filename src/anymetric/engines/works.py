"""Works: what is summed over rows: profiles, slopes, curvatures, counts; and scores, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data
from anymetric.engines.rows import Sums, cut
from anymetric.losses import Loss
from anymetric.models import Linear, Scorer
from anymetric.models.tables import Plain

Floats64 = NDArray[np.float64]
# Rows that are worked on at a time: in double precision they fit the cache, and the scores of some
# eight models are small enough for memory that is kept.
BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Term:
    """A loss of the rows by weight, ``sum_i r_i loss(f(x_i), y_i)``.

    Attributes
    ----------
    loss : Loss
    weigh : callable
        From rows to their weights.

    Examples
    --------
    >>> from anymetric.losses import as_loss
    >>> Term(as_loss("hinge"), lambda data: data.weights).loss.name
    'hinge'
    """

    loss: Loss
    weigh: Callable[[Data], Floats64]


@dataclass(frozen=True, eq=False)
class Weighed:
    """Sums of the weights and of their squares, by class: two arrays ``(terms, 2)``.

    Examples
    --------
    >>> work = Weighed((lambda data: data.weights,))
    >>> work(Data(np.zeros((3, 1)), np.array([1.0, 1.0, -1.0])), 0)[0].tolist()
    [[1.0, 2.0]]
    """

    weighs: tuple[Callable[[Data], Floats64], ...]
    reader: Plain | None = None

    def __call__(self, data: Data, start: int) -> Sums:
        """Sum the weights."""
        sums = np.zeros((2, len(self.weighs), 2))
        for block in blocks(data, self.reader):
            own = np.stack([block.y <= 0.0, block.y > 0.0], axis=1).astype(np.float64)
            rows = np.stack([weigh(block) for weigh in self.weighs])
            sums += np.stack([rows @ own, np.square(rows) @ own])
        return tuple(sums)


@dataclass(frozen=True, eq=False)
class ValuesAndSlopes:
    """Value ``(terms,)`` and gradient ``(terms, p)`` of each term at its own parameters.

    Examples
    --------
    >>> from anymetric.losses import as_loss
    >>> term = Term(as_loss("hinge"), lambda data: data.weights)
    >>> work = ValuesAndSlopes(Linear(), (term,), np.zeros((1, 2)))
    >>> [one.tolist() for one in work(Data(np.array([[3.0]]), np.array([1.0])), 0)]
    [[1.0], [[-3.0, -1.0]]]
    """

    model: Linear
    terms: tuple[Term, ...]
    thetas: Floats64
    reader: Plain | None = None

    def __call__(self, data: Data, start: int) -> Sums:
        """Sum losses and slopes."""
        values, gradients = np.zeros(len(self.terms)), np.zeros(self.thetas.shape)
        for block in blocks(data, self.reader):
            scores = np.asarray(self.model.scores(block.X, self.thetas), dtype=np.float64)
            table = np.empty((len(self.terms), len(block)))
            for k, rows in enumerate(weights_of(self.terms, block)):
                own = np.ascontiguousarray(scores[:, k])
                losses, slopes = self.terms[k].loss.with_slopes(own, block.y)
                values[k] += float(rows @ losses)
                table[k] = rows * slopes
            gradients += self.model.pullback(block.X, self.thetas[0], table)
        return values, gradients


@dataclass(frozen=True, eq=False)
class Curvatures:
    """The second derivatives ``(terms, p, p)`` of each term at its own parameters.

    Examples
    --------
    >>> from anymetric.losses import as_loss
    >>> term = Term(as_loss("squared"), lambda data: data.weights)
    >>> work = Curvatures(Linear(intercept=False), (term,), np.zeros((1, 1)))
    >>> work(Data(np.array([[3.0]]), np.array([1.0])), 0)[0].round(9).tolist()
    [[[18.0]]]
    """

    model: Linear
    terms: tuple[Term, ...]
    thetas: Floats64
    reader: Plain | None = None

    def __call__(self, data: Data, start: int) -> Sums:
        """Sum weighted products of the features."""
        p = self.thetas.shape[1]
        total = np.zeros((len(self.terms), p, p))
        for block in blocks(data, self.reader):
            scores = np.asarray(self.model.scores(block.X, self.thetas), dtype=np.float64)
            for k, rows in enumerate(weights_of(self.terms, block)):
                curvature = rows * self.terms[k].loss.score_curvature(scores[:, k], block.y)
                total[k] += self.model.hessian(block.X, curvature)
        return (total,)


@dataclass(frozen=True, eq=False)
class Profiles:
    """Each term at many parameters, ``(m, terms)``.

    Examples
    --------
    >>> from anymetric.losses import as_loss
    >>> term = Term(as_loss("hinge"), lambda data: data.weights)
    >>> work = Profiles(Linear(), (term,), np.array([[0.0, 0.0], [1.0, 0.0]]))
    >>> work(Data(np.array([[-3.0]]), np.array([1.0])), 0)[0].tolist()
    [[1.0], [4.0]]
    """

    model: Linear
    terms: tuple[Term, ...]
    thetas: Floats64
    reader: Plain | None = None

    def __call__(self, data: Data, start: int) -> Sums:
        """Sum losses."""
        total = np.zeros((len(self.thetas), len(self.terms)))
        for block in blocks(data, self.reader):
            scores = np.asarray(self.model.scores(block.X, self.thetas), dtype=np.float64)
            for k, rows in enumerate(weights_of(self.terms, block)):
                total[:, k] += rows @ self.terms[k].loss.of_scores(scores, block.y)
        return (total,)


@dataclass(frozen=True, eq=False)
class Counts:
    """The weight of the rows of each class above each threshold, ``(2, thresholds)``.

    Parameters
    ----------
    scorer : Scorer
        Of rows as they are.
    thresholds : array
        Rising.

    Examples
    --------
    >>> from anymetric.models import LinearScorer
    >>> work = Counts(LinearScorer(np.ones(1), 0.0), np.array([0.0, 2.5]))
    >>> work(Data(np.array([[1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, 1.0])), 0)[0].tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """

    scorer: Scorer
    thresholds: Floats64

    def __call__(self, data: Data, start: int) -> Sums:
        """Count rows between thresholds, then from the top."""
        place = np.searchsorted(self.thresholds, self.scorer.scores(data.X).ravel(), side="left")
        size = len(self.thresholds) + 1
        found = [
            np.bincount(place, data.weights * own, minlength=size)
            for own in (data.y <= 0.0, data.y > 0.0)
        ]
        above = np.cumsum(np.stack(found)[:, ::-1], axis=1)[:, ::-1]
        return (np.asarray(above[:, 1:], dtype=np.float64),)


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Out-of-fold scores of all rows, ``(n,)``: each by the model that its fold did not train.

    Parameters
    ----------
    scorers : tuple of Scorer
        One for each fold; a row's fold is its number modulo their count.
    size : int
        Rows in all.

    Examples
    --------
    >>> from anymetric.models import LinearScorer
    >>> scorers = tuple(LinearScorer(np.array([w]), 0.0) for w in (1.0, -1.0))
    >>> FoldScores(scorers, 4)(Data(np.array([[5.0], [6.0]]), np.ones(2)), 1)[0].tolist()
    [0.0, -5.0, 6.0, 0.0]
    """

    scorers: tuple[Scorer, ...]
    size: int

    def __call__(self, data: Data, start: int) -> Sums:
        """Write the shard's scores into a column of zeros."""
        found, fold = np.zeros(self.size), (start + np.arange(len(data))) % len(self.scorers)
        for k, scorer in enumerate(self.scorers):
            own = np.flatnonzero(fold == k)
            found[start + own] = scorer.scores(data.X[own]).ravel()
        return (found,)


def weights_of(terms: tuple[Term, ...], data: Data) -> Iterator[Floats64]:
    """Yield the rows' weights for each term; terms that share a weighing share the work."""
    known: dict[int, Floats64] = {}
    for term in terms:
        if id(term.weigh) not in known:
            known[id(term.weigh)] = term.weigh(data)
        yield known[id(term.weigh)]


def blocks(data: Data, reader: Plain | None = None, rows: int = BLOCK) -> Iterator[Data]:
    """Yield a few rows at a time, in double precision, as a linear model reads them.

    Rows in single precision are copied into one place, where the next ones overwrite them: where
    freed memory is given back at once, as by Dask's workers, a new place for each would cost as
    much as the sums.

    Examples
    --------
    >>> [len(one) for one in blocks(Data(np.zeros((5, 1)), np.zeros(5)), rows=3)]
    [3, 2]
    """
    place = np.empty((0, 0))
    for start in range(0, len(data), rows):
        part = cut(data, start, start + rows)
        X: Any = part.X if reader is None else reader.table(part.X)
        stored = sparse.issparse(X)
        if stored:
            X = sparse.csr_array(X, dtype=np.float64)
        elif X.dtype != np.float64:
            if len(place) < len(X):
                place = np.empty_like(X, dtype=np.float64)
            place[: len(X)] = X
            X = place[: len(X)]
        yield replace(part, X=X)
