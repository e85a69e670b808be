"""Ensemble: the weighted sum of several models' scores, again a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Matrix
from anymetric.models.base import Scorer
from anymetric.models.tables import Plain

Floats64 = NDArray[np.float64]
# Rows that are scored at a time.
ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """A linear model that reads rows as they are given.

    Parameters
    ----------
    weights : array of shape (d,) or (C, d)
    offset : float or array of shape (C,)
    plain : Plain, optional
        Imputes missing values, encodes categories and clips outliers first.

    Examples
    --------
    >>> import numpy as np
    >>> LinearScorer(np.array([2.0]), 1.0).scores(np.array([[3.0]])).tolist()
    [7.0]
    """

    weights: Floats64
    offset: float | Floats64
    plain: Plain | None = None

    def scores(self, X: Matrix) -> Floats64:
        """Return the scores."""
        if sparse.issparse(X) or X.shape[0] <= ROWS:
            return self._scores(X)
        # Of single precision, or to be filled, a table would be copied: that of some rows is small.
        blocks = range(0, X.shape[0], ROWS)
        return np.concatenate([self._scores(X[start : start + ROWS]) for start in blocks])

    def _scores(self, X: Matrix) -> Floats64:
        table = X if self.plain is None else self.plain.table(X)
        return np.asarray(table @ self.weights.T + self.offset, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The weighted sum of members' scores, and an offset.

    Parameters
    ----------
    members : tuple of Scorer
    weights : tuple of float
    offset : float or array of shape (C,)

    Examples
    --------
    >>> import numpy as np
    >>> one, two = LinearScorer(np.array([1.0]), 0.0), LinearScorer(np.array([-1.0]), 2.0)
    >>> Ensemble((one, two), (0.75, 0.25), 0.5).scores(np.array([[4.0]])).tolist()
    [3.0]
    """

    members: tuple[Scorer, ...]
    weights: tuple[float, ...]
    offset: float | Floats64 = 0.0

    @classmethod
    def of(
        cls,
        members: Sequence[Scorer],
        weights: Sequence[float],
        offset: float | Floats64 = 0.0,
    ) -> Ensemble:
        """Leave out members without weight, merge linear ones, and open other ensembles."""
        kept = []
        for member, weight in zip(members, weights, strict=True):
            if weight != 0.0 and isinstance(member, Ensemble):
                inner = zip(member.members, member.weights, strict=True)
                kept += [(m, float(weight * w)) for m, w in inner]
                offset = offset + weight * member.offset
            elif weight != 0.0:
                kept.append((member, float(weight)))
        linear = [(m, w) for m, w in kept if isinstance(m, LinearScorer)]
        others = [(m, w) for m, w in kept if not isinstance(m, LinearScorer)]
        if linear:
            summed = np.asarray(sum(w * m.weights for m, w in linear))
            first = replace(
                linear[0][0], weights=summed, offset=sum(w * m.offset for m, w in linear)
            )
            others.append((first, 1.0))
        return cls(tuple(m for m, _ in others), tuple(w for _, w in others), offset)

    def moved(self, shift: float | Floats64) -> Ensemble:
        """Return the ensemble with a shift added to its scores."""
        return replace(self, offset=self.offset + shift)

    def times(self, factor: float) -> Ensemble:
        """Return the ensemble with its scores multiplied."""
        weights = tuple(factor * w for w in self.weights)
        return replace(self, weights=weights, offset=factor * self.offset)

    def scores(self, X: Matrix) -> Floats64:
        """Return the weighted sum of the members' scores."""
        total = sum(w * m.scores(X) for m, w in zip(self.members, self.weights, strict=True))
        return np.asarray(total + self.offset, dtype=np.float64)


def single_linear(scorer: Scorer) -> tuple[Floats64, float | Floats64] | None:
    """Return weights and offset where an ensemble is one linear model of the rows as they are.

    Outliers may be clipped first; for all other rows the weights describe the model.

    Examples
    --------
    >>> import numpy as np
    >>> weights, offset = single_linear(Ensemble((LinearScorer(np.ones(2), 1.0),), (2.0,), 0.5))
    >>> weights.tolist(), offset
    ([2.0, 2.0], 2.5)
    """
    if not isinstance(scorer, Ensemble) or len(scorer.members) != 1:
        return None
    only, weight = scorer.members[0], scorer.weights[0]
    if not isinstance(only, LinearScorer):
        return None
    if only.plain is not None and (len(only.plain.with_missing) or only.plain.categories):
        return None
    offset = weight * only.offset + scorer.offset
    return weight * only.weights, float(offset) if np.ndim(offset) == 0 else offset
