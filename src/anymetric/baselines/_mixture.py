"""Mixture: basis functions of the rows, and randomised classifiers made of weighted classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans

from anymetric.data import Matrix
from anymetric.estimators._columns import members

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Basis:
    """Indicators ``phi`` of a row: its group, or one for all rows; then its cluster.

    Parameters
    ----------
    groups : tuple or None
        The groups that are known; None knows none.
    clusters : KMeans or None
        In the features divided by `scale`.
    scale : array of shape (d,) or None

    Examples
    --------
    >>> import numpy as np
    >>> Basis(("a", "b")).of(np.zeros((2, 1)), np.array(["b", "a"])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    >>> Basis().of(np.zeros((2, 1)), None).tolist()
    [[1.0], [1.0]]
    """

    groups: tuple[Any, ...] | None = None
    clusters: Any = None
    scale: Floats | None = None

    @classmethod
    def made(
        cls,
        X: Matrix,
        groups: NDArray[Any] | None,
        count: int,
        scale: Floats | None,
        rng: np.random.Generator,
    ) -> Basis:
        """Learn the groups and, if `count` is above one, that many clusters."""
        names = None if groups is None else tuple(np.unique(groups).tolist())
        if count < 2:
            return cls(names)
        seed = int(rng.integers(2**31))
        clusters = KMeans(min(count, X.shape[0]), n_init=1, random_state=seed)
        return cls(names, clusters.fit(scaled(X, scale)), scale)

    def of(self, X: Matrix, groups: Any) -> Floats:
        """Return the indicators, ``(n, L)``."""
        n = int(X.shape[0])
        first = np.ones((n, 1))
        if self.groups is not None:
            place = members(groups, self.groups, n, "FWEG")  # type: ignore[no-untyped-call]
            first = np.eye(len(self.groups))[place]
        if self.clusters is None:
            return first
        cluster = self.clusters.predict(scaled(X, self.scale))
        return np.concatenate([first, np.eye(self.clusters.n_clusters)[cluster]], axis=1)


def scaled(X: Any, scale: Floats | None) -> Any:
    """Return the features in units of their spread, sparse if X is."""
    if scale is None:
        return X
    inverse: Any = sparse.diags_array(1.0 / scale)
    return X @ inverse if sparse.issparse(X) else X / scale


@dataclass(frozen=True, eq=False)
class Mixture:
    """A randomised classifier: with probability `shares[t]` the t-th plug-in classifier.

    A plug-in classifier with the coefficients ``alpha``, of shape (2, L), calls a row positive if
    ``W_1 p > W_0 (1 - p)``, where ``W_i = sum_l alpha_i^l phi^l`` and p is the probability that it
    is positive.

    Examples
    --------
    >>> import numpy as np
    >>> start = Mixture.start(1)
    >>> mixed = start.mixed(np.array([[0.0], [1.0]]), 0.25)
    >>> mixed.probabilities(np.array([0.2, 0.8]), np.ones((2, 1))).tolist()
    [0.25, 1.0]
    """

    shares: Floats
    alphas: Floats

    @classmethod
    def start(cls, size: int) -> Mixture:
        """Return the classifier that predicts the more probable class."""
        return cls(np.ones(1), np.ones((1, 2, size)))

    def mixed(self, alpha: Floats, share: float) -> Mixture:
        """Return the mixture with this share of one more classifier."""
        shares = np.append((1.0 - share) * self.shares, share)
        return Mixture(shares, np.concatenate([self.alphas, alpha[np.newaxis]]))

    def probabilities(self, p: Floats, phi: Floats) -> Floats:
        """Return the probability that each row is called positive."""
        against, favour = np.moveaxis(self.alphas, 1, 0) @ phi.T  # (T, n) each
        return np.asarray(self.shares @ (favour * p > against * (1.0 - p)))
