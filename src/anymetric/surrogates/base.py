"""Surrogate: the contract of one coordinate of surrogate space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data, Floats, Sparse


@runtime_checkable
class Surrogate(Protocol):
    """One coordinate of surrogate space: a name, the columns it needs, and how it binds to rows.

    Examples
    --------
    >>> from anymetric.surrogates import Sliced
    >>> isinstance(Sliced("hinge"), Surrogate)
    True
    """

    @property
    def name(self) -> str:
        """What the user reads in `weights_` and in errors."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Metadata columns that must be given."""
        ...

    def bind(self, data: Data) -> Bound:
        """Fix the rows: the result turns scores into values and slopes."""
        ...


class Bound(Protocol):
    """One or more surrogates on fixed rows.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.surrogates import Sliced
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> Sliced("hinge").bind(data).values(np.zeros(2)).tolist()
    [1.0]
    """

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return ``(k,)`` values for ``(n,)`` scores, ``(m, k)`` for ``(n, m)``."""
        ...

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Return the ``(k, n)`` derivatives by the ``(n,)`` scores."""
        ...


class Slopes(Protocol):
    """The derivatives of k values by n scores, at some scores.

    Examples
    --------
    >>> slopes: Slopes = MatrixSlopes(sparse.csr_array([[1.0, 2.0]]))
    >>> slopes.mixed(np.array([3.0])).tolist()
    [3.0, 6.0]
    """

    def mixed(self, weights: NDArray[np.float64]) -> Floats:
        """Return the ``(n,)`` derivative of the values' sum by these ``(k,)`` weights."""
        ...

    def matrix(self) -> Sparse:
        """Return the ``(k, n)`` derivatives."""
        ...


@dataclass(frozen=True, eq=False)
class MatrixSlopes:
    """Slopes that are a matrix already.

    Examples
    --------
    >>> MatrixSlopes(sparse.csr_array([[1.0, 2.0]])).matrix().shape
    (1, 2)
    """

    slopes: sparse.csr_array

    def mixed(self, weights: NDArray[np.float64]) -> Floats:
        """Multiply."""
        return np.asarray(weights @ self.slopes)

    def matrix(self) -> sparse.csr_array:
        """Return them."""
        return self.slopes
