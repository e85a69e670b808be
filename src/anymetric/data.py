"""Data: rows, targets, weights and side columns, checked once and never changed."""

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

NO_COLUMNS: Columns = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Data:
    """A sample: features, a target, row weights and side columns by name.

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
        """Return a side column, or ``class``: the target itself."""
        if name == "class":
            return self.y
        if name not in self.side:
            raise ValueError(
                f"The column {name!r} was asked for; columns given: {sorted(self.side) or 'none'}."
            )
        return self.side[name]

    def take(self, rows: NDArray[Any]) -> Data:
        """Return the sample of these rows only."""
        side = {name: column[rows] for name, column in self.side.items()}
        return Data(self.X[rows], self.y[rows], self.weights[rows], side)
