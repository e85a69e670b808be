"""Linear: ``f(x) = w . (x - shift) / scale + b``, dense or sparse, many models in one product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import min_max_axis

from anymetric.data import Floats, Matrix, Sparse
from anymetric.models.products import row_sums, sums_and_totals, times

# Entries of X up to which a Hessian is summed in double precision, and rows in a block of it.
EXACT = 1 << 17
ROWS = 2048
# Columns of which so many are mostly zero, of about the same range and of more than two values, are
# counts or shares of the same kind, such as words; two numbers that differ by less are rounded.
KIN, RANGES, ROUNDED = 100, 10.0, 1e-6
# So many standard deviations from zero the columns of a sparse X are centred before they are used.
REMOTE = 1e4


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear model with parameters ``theta = (w_1, ..., w_d, b)``.

    Parameters
    ----------
    intercept : bool
        Without it theta is ``w`` alone.
    shift, scale : arrays of shape (d,), optional
        The parameters live in the features ``(x - shift) / scale``. X itself is never copied
        or densified: the change is folded into the parameters. `Linear.standardised` fills them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Linear().scores(X, np.array([1.0, 0.0, 0.5])).tolist()
    [1.5, 3.5]
    >>> Linear().pullback(X, np.zeros(3), np.array([1.0, 1.0])).tolist()
    [4.0, 6.0, 2.0]
    """

    linear_in_parameters: ClassVar[bool] = True

    intercept: bool = True
    shift: NDArray[np.float64] | None = None
    scale: NDArray[np.float64] | None = None

    @classmethod
    def standardised(
        cls, X: Matrix, weights: NDArray[np.float64] | None = None, *, intercept: bool = True
    ) -> Linear:
        """Return the model whose parameters live in standardised columns of X.

        Columns are centred only where an intercept can absorb the shift. Columns of the same kind,
        such as the words of a text, share one scale: a word of two documents is not to weigh as
        much as one of two hundred.

        Examples
        --------
        >>> import numpy as np
        >>> model = Linear.standardised(np.array([[1.0, 5.0], [3.0, 5.0]]))
        >>> model.shift.tolist(), model.scale.tolist()
        ([2.0, 5.0], [1.0, 1.0])
        """
        rows = np.ones(X.shape[0]) if weights is None else weights
        mass = rows.sum()
        mean = weighted_sum(X, rows) / mass
        # A second pass in blocks: E[x^2] - mean^2 would lose every digit of a large offset.
        variance = sum_of_squares(X, rows, mean) / mass
        scale = np.sqrt(variance)
        floor = 1e-12 * np.maximum(np.abs(mean), 1e-300)
        scale = np.where(scale > floor, scale, 1.0)
        kin = of_one_kind(X, mean, variance)
        if np.any(kin):
            scale[kin] = np.sqrt(variance[kin].mean())
        return cls(intercept, mean if intercept else None, scale)

    def size(self, X: Matrix) -> int:
        """Return d, or d + 1 with an intercept."""
        return int(X.shape[1]) + self.intercept

    def raw(self, theta: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights and intercept on X as it is, for ``(p,)`` or ``(m, p)`` parameters."""
        theta = np.asarray(theta, dtype=np.float64)
        weights = theta[..., :-1] if self.intercept else theta
        offset = theta[..., -1] if self.intercept else np.zeros(theta.shape[:-1])
        if self.scale is not None:
            weights = weights / self.scale
        if self.shift is not None:
            offset = offset - weights @ self.shift
        return weights, offset

    def parameters(self, weights: NDArray[Any], offset: float) -> NDArray[np.float64]:
        """Return theta for weights and an intercept on X as it is: the inverse of `raw`."""
        weights = np.asarray(weights, dtype=np.float64)
        if self.shift is not None:
            offset = offset + float(weights @ self.shift)
        if self.scale is not None:
            weights = weights * self.scale
        return np.append(weights, offset) if self.intercept else weights.copy()

    def scores(self, X: Matrix, theta: NDArray[Any]) -> Floats:
        """Return scores: ``(n,)`` for one theta, ``(n, m)`` for ``(m, p)`` thetas."""
        weights, offset = self.raw(theta)
        product = times(X, weights.T.astype(X.dtype, copy=False))
        product += offset.astype(X.dtype, copy=False)
        return product

    def pullback(
        self, X: Matrix, theta: NDArray[Any], slopes: Floats | Sparse
    ) -> NDArray[np.float64]:
        """Turn gradients by scores, ``(n,)`` or ``(K, n)``, into gradients by parameters."""
        alike = slopes if slopes.dtype == X.dtype else slopes.astype(X.dtype)
        gradient, total = sums_and_totals(X, alike)
        if self.shift is not None:
            gradient = gradient - np.multiply.outer(total, self.shift)
        if self.scale is not None:
            gradient = gradient / self.scale
        if not self.intercept:
            return gradient
        return np.concatenate([gradient, total[..., np.newaxis]], axis=-1)

    def hessian(self, X: Matrix, curvature: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``A^T diag(curvature) A`` for the features A that the parameters see.

        Examples
        --------
        >>> import numpy as np
        >>> Linear().hessian(np.array([[2.0], [1.0]]), np.array([1.0, 3.0])).round(9).tolist()
        [[7.0, 5.0], [5.0, 4.0]]
        """
        if sparse.issparse(X):
            return self._sparse_hessian(X, curvature)
        d, width = X.shape[1], X.shape[1] + self.intercept
        total = np.zeros((width, width))
        # Newton's method needs no exact Hessian: large ones are summed from single precision.
        kind = np.float32 if X.size > EXACT else np.float64
        root = np.sqrt(np.maximum(curvature, 0.0)).astype(kind)
        shift = np.zeros(d, X.dtype) if self.shift is None else self.shift.astype(X.dtype)
        scale = None if self.scale is None else (1.0 / self.scale).astype(kind)
        block = np.ones((min(ROWS, X.shape[0]), width), dtype=kind)
        for start in range(0, X.shape[0], ROWS):
            part = block[: min(ROWS, X.shape[0] - start)]
            rows = slice(start, start + len(part))
            np.subtract(X[rows], shift, out=part[:, :d], casting="same_kind")
            if scale is not None:
                part[:, :d] *= scale
            part[:, d:] = 1.0
            part *= root[rows, np.newaxis]
            total += part.T @ part
        return total

    def _sparse_hessian(
        self, X: sparse.csr_array, curvature: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        H = np.asarray((X.T @ X.multiply(curvature[:, np.newaxis])).toarray(), dtype=np.float64)
        first = np.asarray(curvature @ X, dtype=np.float64)
        total = float(curvature.sum())
        if self.shift is not None:
            cross = np.outer(first, self.shift)
            H = H - cross - cross.T + total * np.outer(self.shift, self.shift)
            first = first - total * self.shift
        if self.scale is not None:
            H = H / np.outer(self.scale, self.scale)
            first = first / self.scale
        remote = self._remote(X.shape[1])
        if len(remote):
            H[:, remote] = self._columns_of_hessian(X, curvature, remote)
            H[remote, :] = H[:, remote].T
        if not self.intercept:
            return H
        return np.block([[H, first[:, np.newaxis]], [first[np.newaxis, :], np.array([[total]])]])

    def _remote(self, d: int) -> NDArray[np.intp]:
        """Return the columns that lie so far from zero that a difference of sums says nothing."""
        if self.shift is None:
            return np.zeros(0, dtype=np.intp)
        scale = np.ones(d) if self.scale is None else self.scale
        return np.flatnonzero(np.abs(self.shift) > REMOTE * scale)

    def _columns_of_hessian(
        self, X: sparse.csr_array, curvature: NDArray[np.float64], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return some columns of the sparse Hessian, each row centred before it is multiplied."""
        assert self.shift is not None
        scale = np.ones(X.shape[1]) if self.scale is None else self.scale
        total = np.zeros((X.shape[1], len(columns)))
        for start in range(0, X.shape[0], ROWS):
            part = X[start : start + ROWS]
            # Such columns are hardly ever zero: dense ones take no more memory.
            dense = (part[:, columns].toarray() - self.shift[columns]) / scale[columns]
            bent = dense * curvature[start : start + ROWS, np.newaxis]
            crossed = (part.T @ bent - np.outer(self.shift, bent.sum(axis=0))) / scale[
                :, np.newaxis
            ]
            crossed[columns] = dense.T @ bent
            total += crossed
        return total


def weighted_sum(X: Matrix, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted column sums in double precision, without a copy of X in it.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_sum(np.eye(2, dtype=np.float32), np.array([1.0, 0.5])).tolist()
    [1.0, 0.5]
    """
    if sparse.issparse(X) or X.dtype == np.float64:
        return row_sums(X, rows)
    total = np.zeros(X.shape[1])
    for start in range(0, X.shape[0], 4096):
        total += rows[start : start + 4096] @ X[start : start + 4096].astype(np.float64)
    return total


def sum_of_squares(
    X: Matrix, rows: NDArray[np.float64], mean: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weighted column sums of ``(x - mean)^2``, without a dense copy of X."""
    if sparse.issparse(X):
        stored = sparse.csr_array(X)
        centred = stored.data.astype(np.float64) - mean[stored.indices]
        row_of = np.repeat(rows, np.diff(stored.indptr))
        full = np.bincount(stored.indices, row_of * centred**2, minlength=len(mean))
        kept = np.bincount(stored.indices, row_of, minlength=len(mean))
        # The zeros that are not stored lie at distance `mean` from the mean.
        return np.asarray(full + (rows.sum() - kept) * mean**2)
    total = np.zeros(len(mean))
    for start in range(0, X.shape[0], 4096):
        block = np.asarray(X[start : start + 4096], dtype=np.float64) - mean
        total += rows[start : start + 4096] @ (block * block)
    return total


def of_one_kind(
    X: Matrix, mean: NDArray[np.float64], variance: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which columns are counts or shares of the same kind; none where they are not most.

    They are mostly zero, have more than two values, and ranges of about the same size.

    Examples
    --------
    >>> import numpy as np
    >>> words = sparse.random(50, 300, 0.1, format="csr", random_state=0)
    >>> mean = words.mean(axis=0)
    >>> variance = words.power(2).mean(axis=0) - np.square(mean)
    >>> of_one_kind(words, np.ravel(mean), np.ravel(variance)).mean() > 0.8
    np.True_
    """
    none = np.zeros(len(mean), dtype=bool)
    least = max(KIN, len(mean) // 2)
    if len(mean) < KIN or X.shape[0] == 0:
        return none
    low, high = extremes(X)
    some = filled(X) <= 0.5 * X.shape[0]
    kin = some & (high > low) & ~two_valued(low, high, mean, variance)
    if np.count_nonzero(kin) < least:
        return none
    size = np.log(
        (high - low) / np.median((high - low)[kin]), out=np.full(len(mean), np.inf), where=kin
    )
    kin = np.abs(size) < np.log(RANGES)
    return kin if np.count_nonzero(kin) >= least else none


def two_valued(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which columns have just two values.

    Within its range no column of this mean has a greater variance; only two values reach it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 0.5], [1.0, 1.0]])
    >>> two_valued(X.min(axis=0), X.max(axis=0), X.mean(axis=0), X.var(axis=0)).tolist()
    [True, False]
    """
    most = (high - mean) * (mean - low)
    return np.asarray((most > 0.0) & (variance >= (1.0 - ROUNDED) * most))


def filled(X: Matrix) -> NDArray[np.intp]:
    """Return how many rows of each column are not zero.

    Examples
    --------
    >>> import numpy as np
    >>> filled(sparse.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))).tolist()
    [2, 1]
    """
    if not sparse.issparse(X):
        return np.asarray(np.count_nonzero(X, axis=0))
    stored = sparse.csr_array(X)
    return np.bincount(stored.indices[stored.data != 0.0], minlength=X.shape[1])


def extremes(X: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest value of each column.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = extremes(sparse.csr_array(np.array([[1.0, -2.0], [0.0, -3.0]])))
    >>> low.tolist(), high.tolist()
    ([0.0, -3.0], [1.0, -2.0])
    """
    low, high = min_max_axis(X, axis=0) if sparse.issparse(X) else (X.min(axis=0), X.max(axis=0))
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
