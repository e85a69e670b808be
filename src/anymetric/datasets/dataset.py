"""Dataset: what every loader returns, features beside labels, groups and metadata columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Columns, Data, Matrix


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named sample with its labels, its groups and the columns that metrics may read.

    Parameters
    ----------
    name : str
    X : array or csr_array of shape (n, d)
    y : integer array of shape (n,)
        0 or 1.
    groups : string array of shape (n,)
        The group of each row; ``"all"`` everywhere when the data have none.
    feature_names : list of str
        One name for each column of X.
    side : mapping from name to array of shape (n,)
        Columns that are not features: amounts, raw ages, proxy labels, queries...
    description : str
        What a row is, where the data come from, and under which licence.

    Examples
    --------
    >>> import numpy as np
    >>> toy = Dataset(
    ...     "toy", np.eye(3), np.array([0, 1, 1]), np.array(["a", "b", "b"]), ["x", "y", "z"]
    ... )
    >>> toy
    Dataset('toy', 3 x 3, 66.67 % positive, groups: a, b)
    >>> toy.take(np.array([0, 2])).y.tolist()
    [0, 1]
    """

    name: str
    X: Matrix
    y: NDArray[np.int64]
    groups: NDArray[np.str_]
    feature_names: list[str]
    side: Columns = field(default_factory=dict)
    description: str = ""

    def __post_init__(self) -> None:
        n, d = self.X.shape
        for name, column in {"y": self.y, "groups": self.groups, **self.side}.items():
            if np.shape(column) != (n,):
                raise ValueError(
                    f"{name} must have one value for each of the {n} rows of X; "
                    f"got shape {np.shape(column)}."
                )
        if len(self.feature_names) != d:
            raise ValueError(f"X has {d} columns; got {len(self.feature_names)} feature names.")
        object.__setattr__(self, "side", MappingProxyType(dict(self.side)))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        shape = " x ".join(str(size) for size in self.X.shape)
        share = 100.0 * float(np.mean(self.y)) if len(self) else float("nan")
        seen = ", ".join(np.unique(self.groups).tolist())
        return f"Dataset({self.name!r}, {shape}, {share:.2f} % positive, groups: {seen})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "side": dict(self.side)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "side", MappingProxyType(dict(self.side)))

    def take(self, rows: NDArray[Any]) -> Dataset:
        """Return the same dataset with these rows only."""
        side = {name: column[rows] for name, column in self.side.items()}
        return replace(self, X=self.X[rows], y=self.y[rows], groups=self.groups[rows], side=side)

    def as_data(self) -> Data:
        """Return the sample that problems are made of: labels -1.0 and +1.0, groups at the side.

        Examples
        --------
        >>> import numpy as np
        >>> toy = Dataset("toy", np.eye(2), np.array([0, 1]), np.array(["a", "b"]), ["x", "y"])
        >>> toy.as_data().y.tolist(), toy.as_data().column("groups").tolist()
        ([-1.0, 1.0], ['a', 'b'])
        """
        return Data(
            self.X, 2.0 * self.y.astype(np.float64) - 1.0, side={**self.side, "groups": self.groups}
        )


def no_groups(n: int) -> NDArray[np.str_]:
    """Return the group column of data without groups.

    Examples
    --------
    >>> no_groups(2).tolist()
    ['all', 'all']
    """
    return np.full(n, "all")
