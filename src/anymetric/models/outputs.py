"""Outputs: a linear model with one score for each of C classes, all in one score vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats, Matrix, Sparse
from anymetric.models.linear import Linear


@dataclass(frozen=True, eq=False)
class Outputs:
    """C linear models side by side; the score vector is ``n C`` long, row after row.

    Parameters
    ----------
    linear : Linear
        What each of them is.
    count : int
        C. The parameters are those of the first class, then of the second, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> model = Outputs(Linear(), 3)
    >>> theta = np.array([1.0, 0.0, 2.0, 0.0, 0.0, 5.0])
    >>> model.scores(np.array([[1.0], [2.0]]), theta).tolist()
    [1.0, 2.0, 5.0, 2.0, 4.0, 5.0]
    """

    linear_in_parameters: ClassVar[bool] = True

    linear: Linear
    count: int

    @property
    def intercept(self) -> bool:
        """Whether each class has an intercept."""
        return self.linear.intercept

    def size(self, X: Matrix) -> int:
        """Return C times the parameters of one class."""
        return self.count * self.linear.size(X)

    def table(self, X: Matrix, theta: NDArray[Any]) -> Floats:
        """Return the scores of one theta as a table ``(n, C)``."""
        return self.linear.scores(X, theta.reshape(self.count, -1))

    def scores(self, X: Matrix, theta: NDArray[Any]) -> Floats:
        """Return score vectors: ``(n C,)`` for one theta, ``(n C, m)`` for ``(m, C p)``."""
        if theta.ndim == 1:
            return self.table(X, theta).reshape(-1)
        m, n = len(theta), X.shape[0]
        each = self.linear.scores(X, theta.reshape(m * self.count, -1)).reshape(n, m, self.count)
        return np.ascontiguousarray(each.transpose(0, 2, 1)).reshape(n * self.count, m)

    def pullback(
        self, X: Matrix, theta: NDArray[Any], slopes: Floats | Sparse
    ) -> NDArray[np.float64]:
        """Turn ``(n C,)`` or ``(K, n C)`` gradients by scores into gradients by parameters."""
        dense = slopes.toarray() if sparse.issparse(slopes) else np.asarray(slopes)
        lead, n = dense.shape[:-1], X.shape[0]
        by_class = dense.reshape(-1, n, self.count).transpose(0, 2, 1).reshape(-1, n)
        return self.linear.pullback(X, theta, by_class).reshape(*lead, -1)

    def raw(self, theta: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return weights ``(C, d)`` and intercepts ``(C,)`` on X as it is."""
        return self.linear.raw(theta.reshape(self.count, -1))

    def parameters(self, weights: NDArray[Any], offsets: NDArray[Any]) -> NDArray[np.float64]:
        """Return theta for weights and intercepts on X as it is: the inverse of `raw`."""
        pairs = zip(weights, offsets, strict=True)
        return np.concatenate([self.linear.parameters(w, float(b)) for w, b in pairs])
