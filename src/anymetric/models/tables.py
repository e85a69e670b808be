"""Tables: rows with gaps and categories, as trees read them and as linear models do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Matrix

Floats64 = NDArray[np.float64]
# A category seen more rarely than this is one of the others.
RARE = 10


@dataclass(frozen=True, eq=False)
class Plain:
    """Fill gaps with the column's mean, mark them, and give every category a column.

    Parameters
    ----------
    means : array of shape (d,)
    gaps : array of int
        Columns with missing values: each gets a column that marks them.
    categories : dict from column to array of codes
        Those that get a column each; others, and missing ones, have none.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0]])
    >>> Plain.of(X, (1,), rare=1).table(X).tolist()
    [[1.0, 0.0, 1.0, 0.0], [2.0, 1.0, 0.0, 1.0], [3.0, 0.0, 1.0, 0.0]]
    """

    means: Floats64
    gaps: NDArray[np.intp]
    categories: dict[int, Floats64]

    @classmethod
    def of(cls, X: Matrix, categorical: tuple[int, ...] = (), rare: int = RARE) -> Plain | None:
        """Learn means and categories; None for a sparse table, which has neither."""
        if sparse.issparse(X):
            return None
        missing = np.isnan(X)
        present = np.maximum((~missing).sum(axis=0), 1)
        means = np.where(missing, 0.0, X).sum(axis=0, dtype=np.float64) / present
        numbers = np.setdiff1d(np.arange(X.shape[1]), categorical)
        gaps = numbers[missing[:, numbers].any(axis=0)]
        return cls(means, gaps, {k: frequent(X[:, k], rare) for k in categorical})

    @property
    def idle(self) -> bool:
        """Whether rows without gaps stay as they are."""
        return len(self.gaps) == 0 and not self.categories

    def table(self, X: Matrix) -> Floats64:
        """Return the rows without gaps and categories."""
        X = np.asarray(X, dtype=np.float64)
        numbers = np.setdiff1d(np.arange(X.shape[1]), list(self.categories))
        missing = np.isnan(X)
        filled = np.where(missing, self.means, X)[:, numbers]
        spread = [X[:, [k]] == codes for k, codes in self.categories.items()]
        return np.column_stack([filled, missing[:, self.gaps], *spread]).astype(np.float64)


def frequent(codes: NDArray[np.floating], rare: int) -> Floats64:
    """Return the codes that occur often enough.

    Examples
    --------
    >>> import numpy as np
    >>> frequent(np.array([2.0, 2.0, 1.0, np.nan]), 2).tolist()
    [2.0]
    """
    values, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    return np.asarray(values[counts >= rare], dtype=np.float64)
