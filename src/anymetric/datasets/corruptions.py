"""Corruptions: how training data are corrupted in the paper's experiments."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Matrix

Labels = TypeVar("Labels", bound=np.generic)


def corrupt_features(
    X: Matrix,
    group0: NDArray[np.bool_],
    fraction: float,
    rng: np.random.Generator,
    *,
    flip: float = 0.9,
) -> Matrix:
    """Corrupt the features of a share of one group's rows (section 6.2); for training rows only.

    Real features get Gaussian noise with the feature's own standard deviation over X; binary
    ones (all values 0 or 1) are flipped with probability ``flip``.

    Parameters
    ----------
    X : array or csr_array of shape (n, d)
        Not changed; a corrupted copy of the same type is returned.
    group0 : boolean array of shape (n,)
        The rows of the group to corrupt.
    fraction : float
        The share of these rows, between 0 and 1; ``round(fraction * rows)`` are drawn.
    rng : Generator
    flip : float
        The probability that a binary value of a drawn row is flipped.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((4, 3))
    >>> X[0] = 1.0
    >>> group0 = np.array([True, True, False, False])
    >>> corrupt_features(X, group0, 1.0, np.random.default_rng(0), flip=1.0)[:, 0].tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    _check_share("fraction", fraction)
    _check_share("flip", flip)
    if sparse.issparse(X):
        return sparse.csr_array(corrupt_features(X.toarray(), group0, fraction, rng, flip=flip))
    values = np.array(X, dtype=np.float64)
    members = np.flatnonzero(np.asarray(group0, dtype=np.bool_))
    rows = rng.choice(members, size=round(fraction * members.size), replace=False)
    binary = np.all((values == 0.0) | (values == 1.0), axis=0)
    spread = values.std(axis=0)[~binary]
    chosen = values[rows]
    flipped = rng.random((rows.size, int(binary.sum()))) < flip
    chosen[:, binary] = np.where(flipped, 1.0 - chosen[:, binary], chosen[:, binary])
    chosen[:, ~binary] += spread * rng.standard_normal((rows.size, spread.size))
    values[rows] = chosen
    return values


def flip_labels(y: NDArray[Labels], fraction: float, rng: np.random.Generator) -> NDArray[Labels]:
    """Flip each positive label with this probability, as in the authors' notebook.

    Labels may be 0 and 1 or -1 and +1; the larger of the two is the positive one.

    Parameters
    ----------
    y : array of shape (n,)
        Left as it is; a copy is returned.
    fraction : float
        The probability, between 0 and 1.
    rng : Generator

    Examples
    --------
    >>> import numpy as np
    >>> flip_labels(np.array([1, 0, 1]), 1.0, np.random.default_rng(0)).tolist()
    [0, 0, 0]
    """
    _check_share("fraction", fraction)
    classes = np.unique(y)
    if classes.size != 2:
        raise ValueError(f"y must have two classes; got {classes.tolist()}.")
    flipped = (y == classes[1]) & (rng.random(y.shape) < fraction)
    return np.where(flipped, classes[0], y)


def _check_share(name: str, value: Any) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be between 0 and 1; got {value!r}.")
