"""Tables: missing values, categories and outliers, prepared for linear models."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats, Matrix

Floats64 = NDArray[np.float64]
# A category seen more rarely than this is one of the others.
RARE = 10
# A value so many times as far from its column's median as nine tenths of the others is an outlier:
# no column of money that we know goes beyond a fifth of that. More of them than this share of the
# rows are no accident.
OUTLYING, HANDFUL = 1000.0, 0.05
# Evenly spaced rows from which the limits of a column are estimated.
SEEN = 2000


@dataclass(frozen=True, eq=False)
class Plain:
    """Impute missing values by the mean and mark them, one-hot encode categories, clip outliers.

    Parameters
    ----------
    means : array of shape (d,)
    with_missing : array of int
        Columns with missing values: each gets a column that marks them.
    categories : dict from column to array of codes
        Those that get a column each; others, and missing ones, have none.
    limits : dict from column to (low, high)
        Where values beyond are clipped.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0]])
    >>> Plain.of(X, (1,), rare=1).table(X).tolist()
    [[1.0, 0.0, 1.0, 0.0], [2.0, 1.0, 0.0, 1.0], [3.0, 0.0, 1.0, 0.0]]
    """

    means: Floats64
    with_missing: NDArray[np.intp]
    categories: dict[int, Floats64]
    limits: dict[int, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Matrix, categorical: tuple[int, ...] = (), rare: int = RARE) -> Plain | None:
        """Learn means, categories and limits; None for a sparse table, which has none of them."""
        if sparse.issparse(X):
            return None
        numbers = np.setdiff1d(np.arange(X.shape[1]), categorical)
        means, with_missing = np.zeros(X.shape[1]), []
        for k in range(X.shape[1]):
            column = X[:, k]
            means[k] = column.mean(dtype=np.float64)
            if np.isnan(means[k]):
                present = column[~np.isnan(column)]
                means[k] = present.mean(dtype=np.float64) if len(present) else 0.0
                with_missing.append(k)
        marked = np.intersect1d(numbers, np.array(with_missing, dtype=np.intp))
        categories = {k: frequent(X[:, k], rare) for k in categorical}
        return cls(means, marked, categories, limits_of(X, numbers))

    @property
    def idle(self) -> bool:
        """Whether rows without missing values stay as they are."""
        return len(self.with_missing) == 0 and not self.categories and not self.limits

    def table(self, X: Matrix) -> Floats64:
        """Return the rows with missing values imputed, categories encoded, outliers clipped."""
        X = np.asarray(X, dtype=np.float64)
        numbers = np.setdiff1d(np.arange(X.shape[1]), list(self.categories))
        missing = np.isnan(X)
        filled = np.where(missing, self.means, X)
        for k, (low, high) in self.limits.items():
            np.clip(filled[:, k], low, high, out=filled[:, k])
        spread = [X[:, [k]] == codes for k, codes in self.categories.items()]
        parts = [filled[:, numbers], missing[:, self.with_missing], *spread]
        return np.column_stack(parts).astype(np.float64)


def frequent(codes: NDArray[np.floating], rare: int) -> Floats64:
    """Return the codes that occur often enough.

    Examples
    --------
    >>> frequent(np.array([2.0, 2.0, 1.0, np.nan]), 2).tolist()
    [2.0]
    """
    values, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
    return np.asarray(values[counts >= rare], dtype=np.float64)


def limits_of(X: Floats, columns: NDArray[np.intp]) -> dict[int, tuple[float, float]]:
    """Return where columns with outliers are to be clipped; none where outliers are many.

    A column in which nine tenths of the rows have the same value has none, for there the others
    are all that it says.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> limits_of(X, np.arange(2))
    {}
    >>> X[3, 1] = 1e6
    >>> list(limits_of(X, np.arange(2)))
    [1]
    """
    if len(X) == 0:
        return {}
    some = np.asarray(X[:: 1 + len(X) // SEEN], dtype=np.float64)
    found = {}
    for k in columns.tolist():
        column = some[:, k][~np.isnan(some[:, k])]
        if len(column) == 0:
            continue
        middle = float(np.median(column))
        usual = float(np.quantile(np.abs(column - middle), 0.9, method="inverted_cdf"))
        most = OUTLYING * usual
        far = np.abs(X[:, k] - middle) > most
        if usual > 0.0 and 0.0 < far.mean() <= HANDFUL:
            found[k] = (middle - 3.0 * usual, middle + 3.0 * usual)
    return found
