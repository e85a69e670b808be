"""Rotation: where columns outnumber rows, linear models are trained in the span of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from anymetric.data import Matrix
from anymetric.models.linear import REMOTE, Linear, weighted_sum

Floats64 = NDArray[np.float64]
# Columns that are standardised at a time.
COLUMNS = 1024


@dataclass(frozen=True, eq=False)
class Rotation:
    """The rows of X in orthonormal coordinates of their own span.

    With features A of rank r, the solution of a problem with a ridge lies in the span of A's rows
    (the representer theorem). With ``A = U S V^T`` the columns of V are a basis of it: the rows
    become ``U S``, and the ridge of the weights is the ridge of their coordinates.

    Attributes
    ----------
    table : array of shape (n, r)
        ``U S``: train `Linear` without shift and scale on it.
    squares : array of shape (r,)
        The diagonal of ``S^2``.
    model : Linear
        Its features ``(x - shift) / scale`` are A.
    X : array or csr_array of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5, 40))
    >>> rotation = Rotation.of(Linear.standardised(X), X)
    >>> rotation.table.shape
    (5, 4)
    >>> theta = np.array([1.0, -2.0, 0.5, 3.0, 0.1])
    >>> weights, intercept = rotation.weights(theta)
    >>> np.allclose(X @ weights + intercept, rotation.table @ theta[:-1] + theta[-1])
    True
    >>> Rotation.of(Linear(), X.T) is None
    True
    """

    table: Floats64
    squares: Floats64
    model: Linear
    X: Matrix

    @classmethod
    def of(cls, model: Linear, X: Matrix) -> Rotation | None:
        """Return the rotation of X's rows; None if there are no more columns than rows."""
        n, d = X.shape
        if d <= n:
            return None
        squares, vectors = linalg.eigh(gram(model, X))
        # Squares of singular values: below this they are rounding errors of the largest one.
        kept = np.flatnonzero(squares > d * np.finfo(float).eps * squares[-1])[::-1]
        table = np.ascontiguousarray(vectors[:, kept] * np.sqrt(squares[kept]))
        return cls(table, squares[kept], model, X)

    def weights(self, theta: Floats64) -> tuple[Floats64, float]:
        """Return weights and intercept on X as it is, for ``(r,)`` or ``(r + 1,)`` parameters."""
        r = self.table.shape[1]
        rows = self.table @ (theta[:r] / self.squares)
        found = weighted_sum(self.X, rows)
        if self.model.shift is not None:
            found = found - rows.sum() * self.model.shift
        if self.model.scale is not None:
            found = found / self.model.scale**2
        offset = float(theta[r:].sum())
        if self.model.shift is not None:
            offset -= float(found @ self.model.shift)
        return found, offset


def gram(model: Linear, X: Matrix) -> Floats64:
    """Return ``A A^T`` for the features ``A = (X - shift) / scale`` of a model.

    A sparse X is never made dense: shift and scale are folded into the product, but for columns so
    far from zero that a difference of sums would have no digits left.

    Examples
    --------
    >>> import numpy as np
    >>> model = Linear(shift=np.array([1.0, 0.0]), scale=np.array([1.0, 2.0]))
    >>> gram(model, sparse.csr_array([[2.0, 2.0], [0.0, 4.0]])).tolist()
    [[2.0, 1.0], [1.0, 5.0]]
    """
    n, d = X.shape
    shift = np.zeros(d) if model.shift is None else model.shift
    scale = np.ones(d) if model.scale is None else model.scale
    if not sparse.issparse(X):
        total = np.zeros((n, n))
        for start in range(0, d, COLUMNS):
            own = slice(start, start + COLUMNS)
            part = np.subtract(X[:, own], shift[own], dtype=np.float64)
            part /= scale[own]
            total += part @ part.T
        return total
    remote = np.flatnonzero(np.abs(shift) > REMOTE * scale)
    near = np.ones(d)
    near[remote] = 0.0
    scaled = X.astype(np.float64) @ sparse.diags_array(near / scale, format="csr")
    crossed = scaled @ (near * shift / scale)
    total = np.asarray((scaled @ scaled.T).toarray(), dtype=np.float64)
    total += float(np.sum(np.square(near * shift / scale))) - crossed[:, np.newaxis] - crossed
    if len(remote):
        part = (X[:, remote].toarray() - shift[remote]) / scale[remote]
        total += part @ part.T
    return total
