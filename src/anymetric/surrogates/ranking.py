"""Ranking surrogates: losses of the order in which rows are scored, not of single rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data, Floats
from anymetric.surrogates.base import MatrixSlopes

# Scores that are worked on at once: they and what is made of them stay in the cache.
CACHED = 1 << 14


@dataclass(frozen=True)
class PrecisionAtRecall:
    """Negatives above the score that a fraction `recall` of the positives reaches.

    With ``q`` the ``(1 - recall)``-quantile of the positives' scores, the surrogate is the mean
    over the negatives of ``max(0, 1 - (q - f))`` (Mackey et al. 2018; section 6.3 of the paper).
    The quantile is averaged over neighbouring order statistics, so that it has a gradient.

    Parameters
    ----------
    recall : float
        tau in the paper, in (0, 1].
    smoothing : float
        Half-width of the averaging window, as a fraction of the positives.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, 1.0, -1.0]))
    >>> PrecisionAtRecall(0.5).bind(data).values(np.array([3.0, 1.0, 0.0])).round(6).tolist()
    [0.0]
    """

    recall: float
    smoothing: float = 0.05

    def __post_init__(self) -> None:
        if not 0.0 < self.recall <= 1.0:
            raise ValueError(f"recall must be in (0, 1]; got {self.recall}.")
        if not self.smoothing > 0.0:
            raise ValueError(f"smoothing must be positive; got {self.smoothing}.")

    @property
    def name(self) -> str:
        """``precision@recall=tau``."""
        return f"precision@recall={self.recall:g}"

    @property
    def needs(self) -> tuple[str, ...]:
        """Nothing but the two classes."""
        return ()

    def bind(self, data: Data) -> BoundPrecisionAtRecall:
        """Fix the rows."""
        return bind_recalls([self], data)


def bind_recalls(surrogates: Sequence[PrecisionAtRecall], data: Data) -> BoundPrecisionAtRecall:
    """Bind several recalls of equal smoothing: they share one sort of the positives.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, 1.0, -1.0]))
    >>> both = bind_recalls([PrecisionAtRecall(0.5), PrecisionAtRecall(1.0)], data)
    >>> both.values(np.array([3.0, 1.0, 0.5])).round(6).tolist()
    [0.0, 0.5]
    """
    positives, negatives = two_classes(data, surrogates[0].name)
    weights = data.weights
    return BoundPrecisionAtRecall(
        positives,
        negatives,
        weights[positives] / weights[positives].sum(),
        weights[negatives] / weights[negatives].sum(),
        len(data),
        np.array([1.0 - surrogate.recall for surrogate in surrogates]),
        surrogates[0].smoothing,
    )


@dataclass(frozen=True, eq=False)
class BoundPrecisionAtRecall:
    """k surrogates `PrecisionAtRecall` on fixed rows."""

    positives: NDArray[np.intp]
    negatives: NDArray[np.intp]
    positive_shares: NDArray[np.float64]
    negative_shares: NDArray[np.float64]
    n: int
    levels: NDArray[np.float64]
    smoothing: float

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the mean excess of the negatives over each smoothed quantile, less one."""
        return self._means(scores, self._quantiles(scores)[0])

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Push negatives above the margin down, and the quantile's positives up."""
        return self._pushes(scores, *self._quantiles(scores))

    def local(self, scores: Floats) -> tuple[NDArray[np.float64], MatrixSlopes]:
        """Return the values and their derivatives, from one sort of the positives."""
        quantiles, order, weights = self._quantiles(scores)
        slopes = self._pushes(scores, quantiles, order, weights)
        return self._means(scores, quantiles), MatrixSlopes(slopes)

    def _means(self, scores: Floats, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
        margins = (1.0 - quantiles).astype(scores.dtype, copy=False)
        means = np.zeros(quantiles.shape)
        step = max(CACHED // max(scores[0].size, 1), 1)
        over = np.empty((step, *scores.shape[1:]), scores.dtype)
        for start in range(0, len(self.negatives), step):
            below = scores[self.negatives[start : start + step]]
            shares, part = self.negative_shares[start : start + step], over[: len(below)]
            for k, margin in enumerate(margins):
                np.add(below, margin, out=part)
                np.maximum(part, 0.0, out=part)
                means[k] += shares.astype(scores.dtype, copy=False) @ part
        return np.moveaxis(means, 0, -1)

    def _pushes(
        self,
        scores: Floats,
        quantiles: NDArray[np.float64],
        order: NDArray[np.intp],
        weights: NDArray[np.float64],
    ) -> sparse.csr_array:
        below = scores[self.negatives]
        rows = np.zeros((len(self.levels), self.n))
        for row, quantile, parts in zip(rows, quantiles, weights, strict=True):
            active = self.negative_shares * (1.0 - quantile + below > 0.0)
            row[self.negatives] = active
            row[self.positives[order]] = -active.sum() * parts
        return full_rows(rows)

    def _quantiles(
        self, scores: Floats
    ) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
        """Return the k quantiles, the order of the positives, and each one's part in that order.

        A part is the window's mass over the rank interval: a row of weight two is exactly two
        rows of weight one.
        """
        positives = scores[self.positives]
        order = np.argsort(positives, axis=0, kind="stable")
        right = np.cumsum(self.positive_shares[order], axis=0)
        level = self.levels.reshape(-1, *(1,) * scores.ndim)
        mass = window_cdf((right - level) / self.smoothing)  # (k, positives, ...)
        parts = mass - window_cdf(-level / self.smoothing)
        parts[:, 1:] = mass[:, 1:] - mass[:, :-1]
        parts /= parts.sum(axis=1, keepdims=True)
        return np.sum(parts * np.take_along_axis(positives, order, axis=0), axis=1), order, parts


@dataclass(frozen=True)
class AveragePrecisionAtK:
    """The average precision@k surrogate of Kar, Narasimhan and Jain (2015), divided by k.

    The maximum over label vectors with k ones of ``(k - TP) + sum_FP s - (k - TP)/(n_+ - TP)
    sum_FN s``. For a fixed TP the best-scored rows of each class are taken, so one sort and a
    sweep over TP finds it.

    Parameters
    ----------
    k : int or None
        At most the number of positives; None takes exactly that many (PRBEP).

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, -1.0]))
    >>> AveragePrecisionAtK().bind(data).values(np.array([0.0, 1.0, -5.0])).tolist()
    [2.0]
    """

    k: int | None = None

    @property
    def name(self) -> str:
        """``average_precision@k``."""
        return f"average_precision@{'positives' if self.k is None else self.k}"

    @property
    def needs(self) -> tuple[str, ...]:
        """Nothing but the two classes."""
        return ()

    def bind(self, data: Data) -> BoundAveragePrecisionAtK:
        """Fix the rows; weights other than 0 and 1 are refused, as the surrogate counts rows."""
        if np.any((data.weights != 0.0) & (data.weights != 1.0)):
            raise ValueError(f"{self.name} counts rows: it takes no weights other than 0 and 1.")
        positives, negatives = two_classes(data, self.name)
        k = len(positives) if self.k is None else self.k
        if not 1 <= k <= len(positives):
            raise ValueError(
                f"{self.name} needs 1 <= k <= positives; got {len(positives)} of them."
            )
        return BoundAveragePrecisionAtK(positives, negatives, len(data), k)


@dataclass(frozen=True, eq=False)
class BoundAveragePrecisionAtK:
    """`AveragePrecisionAtK` on fixed rows."""

    positives: NDArray[np.intp]
    negatives: NDArray[np.intp]
    n: int
    k: int

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the maximum over the number of true positives."""
        _, value, _, _ = self._sweep(scores)
        return np.asarray(value / self.k, dtype=np.float64)[..., np.newaxis]

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Differentiate at the maximising label vector."""
        true, _, up, down = self._sweep(scores)
        false = self.k - int(true)
        row = np.zeros(self.n)
        row[self.negatives[down[:false]]] = 1.0 / self.k
        missed = up[int(true) :]
        if len(missed):
            row[self.positives[missed]] = -false / len(missed) / self.k
        return full_rows(row[np.newaxis, :])

    def _sweep(self, scores: Floats) -> tuple[Any, Any, NDArray[np.intp], NDArray[np.intp]]:
        """Return the best TP, its value, and both classes sorted from the top."""
        up = np.argsort(-scores[self.positives], axis=0, kind="stable")
        down = np.argsort(-scores[self.negatives], axis=0, kind="stable")
        above = np.take_along_axis(scores[self.negatives], down, axis=0)[: self.k]
        ranked = np.take_along_axis(scores[self.positives], up, axis=0)
        true = np.arange(max(0, self.k - len(self.negatives)), self.k + 1)
        false = self.k - true
        zero = np.zeros((1, *scores.shape[1:]))
        top = np.concatenate([zero, np.cumsum(above, axis=0, dtype=np.float64)])
        bottom = np.cumsum(ranked[::-1], axis=0, dtype=np.float64)[::-1]
        bottom = np.concatenate([bottom, zero])
        missed = np.maximum(len(self.positives) - true, 1)
        shape = (-1,) + (1,) * (scores.ndim - 1)
        value = false.reshape(shape) + top[false] - (false / missed).reshape(shape) * bottom[true]
        best = np.argmax(value, axis=0)
        return true[best], np.max(value, axis=0), up, down


def full_rows(rows: NDArray[np.float64]) -> sparse.csr_array:
    """Return rows as a sparse matrix, zeros stored too: finding them takes longer than a product.

    Examples
    --------
    >>> import numpy as np
    >>> full_rows(np.array([[0.0, 2.0]])).shape
    (1, 2)
    """
    matrix = copy(_places(*rows.shape))
    matrix.data = rows.ravel()
    return matrix


@lru_cache(maxsize=8)
def _places(k: int, n: int) -> sparse.csr_array:
    columns, pointers = np.tile(np.arange(n), k), n * np.arange(k + 1)
    return sparse.csr_array((np.zeros(k * n), columns, pointers), shape=(k, n))


def window_cdf(z: Any) -> Any:
    """Return the distribution function of the triangular window on [-1, 1].

    Examples
    --------
    >>> float(window_cdf(0.0)), float(window_cdf(2.0))
    (0.5, 1.0)
    """
    z = np.clip(z, -1.0, 1.0)
    return 0.5 + z - 0.5 * z * np.abs(z)


def two_classes(data: Data, name: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of each class that have weight; an absent class is an error.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, 1.0, -1.0]))
    >>> [rows.tolist() for rows in two_classes(data, "precision")]
    [[0, 1], [2]]
    """
    alive = data.weights > 0
    positives = np.flatnonzero(alive & (data.y > 0))
    negatives = np.flatnonzero(alive & (data.y <= 0))
    if len(positives) == 0 or len(negatives) == 0:
        raise ValueError(
            f"Surrogate {name!r} compares two classes; got {len(positives)} positives and "
            f"{len(negatives)} negatives of positive weight."
        )
    return positives, negatives
