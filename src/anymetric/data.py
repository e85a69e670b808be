"""Data: rows, targets, weights and metadata, checked once and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats: TypeAlias = NDArray[np.floating[Any]]
Matrix: TypeAlias = Floats | sparse.csr_array
Sparse: TypeAlias = sparse.csr_array | sparse.csc_array
Columns: TypeAlias = Mapping[str, NDArray[Any]]

# The metadata column that keeps the targets of a regression as they were given.
TARGET = "y"
# So many robust standard deviations from where it is expected a target may lie.
FAR = 6.0
NO_COLUMNS: Columns = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Data:
    """A sample: features, a target, row weights and metadata columns by name.

    Parameters
    ----------
    X : array or csr_array of shape (n, d)
    y : array of shape (n,)
        -1.0 and +1.0 for classes; any real number for regression.
    weights : array of shape (n,), optional
        Non-negative row weights; ones by default.
    side : mapping from name to array of shape (n,)
        Columns that slices and metrics read: ``groups``, ``source``, ``amount``...

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.eye(2), np.array([1.0, -1.0]), side={"groups": np.array(["a", "b"])})
    >>> len(data), data.column("groups").tolist()
    (2, ['a', 'b'])
    """

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64] = None  # type: ignore[assignment]
    side: Columns = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = self.X.shape[0]
        if self.weights is None:
            object.__setattr__(self, "weights", np.ones(n))
        columns = {"y": self.y, "weights": self.weights, **self.side}
        for name, column in columns.items():
            if np.shape(column) != (n,):
                raise ValueError(
                    f"{name} must have one value for each of the {n} rows of X; "
                    f"got shape {np.shape(column)}."
                )
        object.__setattr__(self, "side", MappingProxyType(dict(self.side)))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "side": dict(self.side)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "side", MappingProxyType(dict(self.side)))

    def column(self, name: str) -> NDArray[Any]:
        """Return a metadata column, or ``class``: the target itself."""
        if name == "class":
            return self.y
        if name not in self.side:
            raise ValueError(
                f"The column {name!r} is needed; columns given: {sorted(self.side) or 'none'}."
            )
        return self.side[name]

    def take(self, rows: NDArray[Any]) -> Data:
        """Return the sample of these rows only."""
        side = {name: column[rows] for name, column in self.side.items()}
        return Data(self.X[rows], self.y[rows], self.weights[rows], side)

    def followed_by(self, other: Data) -> Data:
        """Return the rows of both, without metadata.

        Examples
        --------
        >>> import numpy as np
        >>> row = Data(np.ones((1, 2)), np.array([1.0]))
        >>> row.followed_by(row.take(np.array([0, 0]))).y.tolist()
        [1.0, 1.0, 1.0]
        """
        y, weights = np.append(self.y, other.y), np.append(self.weights, other.weights)
        return Data(stacked(self.X, other.X), y, weights)


def stacked(first: Matrix, second: Matrix) -> Matrix:
    """Return the rows of both; if one of them is sparse, so is the whole.

    Examples
    --------
    >>> import numpy as np
    >>> stacked(np.zeros((1, 2)), np.ones((2, 2))).shape
    (3, 2)
    """
    if sparse.issparse(first) or sparse.issparse(second):
        parts = [sparse.csr_array(first), sparse.csr_array(second)]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.vstack([first, second])


def quantiles(values: Floats, levels: Any, weights: Floats) -> Any:
    """Return weighted quantiles: a weight of two is a value twice.

    Examples
    --------
    >>> float(quantiles(np.array([1.0, 2.0, 9.0]), 0.5, np.array([1.0, 3.0, 1.0])))
    2.0
    """
    return np.quantile(values, levels, weights=weights, method="inverted_cdf")


def drawn_in(y: Floats, around: Floats, weights: Floats, far: float = FAR) -> Any:
    """Return targets none of which lies far beyond the others from where they are expected.

    That is so many robust standard deviations.

    Examples
    --------
    >>> drawn_in(np.array([1.0, -1.0, 2.0, 0.0, 1e9]), np.zeros(5), np.ones(5)).round(1).tolist()
    [1.0, -1.0, 2.0, 0.0, 9.9]
    """
    off = y - around
    middle = quantiles(off, 0.5, weights)
    most = far * 1.4826 * quantiles(np.abs(off - middle), 0.5, weights)
    return np.clip(y, around + middle - most, around + middle + most) if most > 0.0 else y
