"""Span: a problem near the scores of a model that has no parameters of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats, Matrix, Sparse
from anymetric.problem import Problem

Floats64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Span:
    """Score vectors that are combinations of some given ones, whatever the features are.

    Examples
    --------
    >>> import numpy as np
    >>> Span(np.array([[1.0, 0.0], [2.0, 1.0]])).scores(np.zeros((1, 1)), np.ones(2)).tolist()
    [1.0, 3.0]
    """

    linear_in_parameters: ClassVar[bool] = True

    basis: Floats64  # (n C, p)

    def size(self, X: Matrix) -> int:
        """Return how many score vectors are given."""
        return int(self.basis.shape[1])

    def scores(self, X: Matrix, theta: NDArray[Any]) -> Floats:
        """Return the combinations."""
        return np.asarray(self.basis @ theta.T)

    def pullback(self, X: Matrix, theta: NDArray[Any], slopes: Floats | Sparse) -> Floats64:
        """Return the slopes along each of the given score vectors."""
        dense = slopes.toarray() if sparse.issparse(slopes) else np.asarray(slopes)
        return np.asarray(dense @ self.basis)


def around(problem: Problem, scores: Floats64) -> tuple[Problem, Floats64]:
    """Return the problem of moving from some scores along the surrogates' gradients by them.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import ClassAccuracy, Classes
    >>> from anymetric.surrogates import class_losses
    >>> data, three = Data(np.zeros((3, 1)), np.arange(3.0)), Classes(("a", "b", "c"))
    >>> problem = Problem(data, class_losses("auto", three, data), ClassAccuracy(), labels=three)
    >>> near, theta = around(problem, np.eye(3))
    >>> near.scores(theta).reshape(3, 3).tolist() == np.eye(3).tolist()
    True
    """
    flat = scores.reshape(-1)
    slopes = problem.profiler.slopes(flat).toarray()
    sizes = np.maximum(np.linalg.norm(slopes, axis=1), np.finfo(float).tiny)
    basis = np.column_stack([flat, (slopes / sizes[:, np.newaxis]).T])
    return replace(problem, model=Span(basis)), np.eye(basis.shape[1])[0]
