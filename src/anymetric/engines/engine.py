"""Engine: profiles and their derivatives from parameters, over rows prepared once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Floats, Matrix, Sparse
from anymetric.engines.merging import Merged, bits, membership, merge
from anymetric.engines.tables import SMALL
from anymetric.models import Model
from anymetric.models.products import row_block
from anymetric.surrogates import Profiler, Slopes
from anymetric.surrogates.profiler import on_top
from anymetric.surrogates.sums import BoundSlices

# Rows by parameter vectors of a block: a megabyte of doubles, which the cache holds.
BLOCK = 1 << 17
# Parameter vectors of a block: enough for the products to be at their fastest.
WIDTH = 256
# Scores held at once where a surrogate must see all rows: 32 MB of doubles.
HELD = 1 << 22


@dataclass(frozen=True, eq=False)
class Local:
    """What is known at one parameter vector: the profile, and on demand its derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.models import Linear
    >>> from anymetric.surrogates import bind
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> here = Engine.build(Linear(), data.X, bind("hinge", data)).at(np.zeros(2))
    >>> here.profile.tolist(), here.jacobian().tolist()
    ([1.0], [[-1.0, 0.0]])
    >>> here.gradient(np.array([3.0])).tolist()
    [-3.0, 0.0]
    """

    engine: Engine
    theta: NDArray[np.float64]
    profile: NDArray[np.float64]
    slopes: Slopes

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ``(p,)`` gradient of the profile's sum by these weights."""
        return self.engine.pullback(self.theta, self.slopes.mixed(weights))

    def jacobian(self) -> NDArray[np.float64]:
        """Return the ``(K, p)`` derivatives of the profile."""
        return self.engine.pullback(self.theta, self.slopes.matrix())


@dataclass(frozen=True, eq=False)
class Engine:
    """A model and surrogates on rows that are cheap to sum over.

    Parameters
    ----------
    model : Model
    X : array or csr_array
    profiler : Profiler
        Bound to the rows of X.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.models import Linear
    >>> from anymetric.surrogates import bind
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> engine = Engine.build(Linear(), data.X, bind("hinge", data))
    >>> engine.profile(np.array([[1.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.0], [1.0]]
    """

    model: Model
    X: Matrix
    profiler: Profiler

    @classmethod
    def build(cls, model: Model, X: Matrix, profiler: Profiler) -> Engine:
        """Merge rows that are equal in features, target and slices, where that pays."""
        slices = [part for part in profiler.parts if isinstance(part, BoundSlices)]
        if len(slices) < len(profiler.parts) or X.shape[0] * X.shape[1] <= SMALL:
            return cls(model, X, profiler)
        shares = on_top([part.shares for part in slices])
        found = merge(X, np.column_stack([membership(shares), bits(slices[0].y)]))
        if found is None:
            return cls(model, X, profiler)
        parts = tuple(merged_slices(part, found) for part in slices)
        return cls(model, X[found.kept], replace(profiler, parts=parts))

    @cached_property
    def by_rows(self) -> bool:
        """Whether every surrogate is a sum over rows, so that blocks of them can be added up."""
        return all(isinstance(part, BoundSlices) for part in self.profiler.parts)

    def profile(self, thetas: NDArray[Any]) -> NDArray[np.float64]:
        """Return the profile ``(K,)`` of one theta, ``(m, K)`` of ``(m, p)``."""
        if thetas.ndim == 1:
            return self.profiler.values(self.model.scores(self.X, thetas))
        width = WIDTH if self.by_rows else max(HELD // self.X.shape[0], 1)
        parts = [thetas[start : start + width] for start in range(0, len(thetas), width)]
        return np.concatenate([self.along(part) for part in parts])

    def along(
        self, basis: NDArray[Any], mix: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the profiles ``(m, K)`` of the basis' score vectors, or of mixtures of them.

        Parameters
        ----------
        basis : array of shape (b, p)
        mix : array of shape (b, m), optional
            Each column is a combination of the scores of the basis.
        """
        count = len(basis) if mix is None else mix.shape[1]
        if not self.by_rows:
            return self._unblocked(basis, mix, count)
        total = np.zeros((len(self.profiler), count))
        for start, block in self.blocks(count):
            scores = mixed_scores(self.model, block, basis, mix)
            total += np.concatenate([part.sums(scores, start) for part in self._slices])
        return np.ascontiguousarray(total[self.profiler.order].T)

    def blocks(self, count: int) -> Iterator[tuple[int, Matrix]]:
        """Yield rows whose scores for so many parameter vectors fit the cache, and their start."""
        n, rows = self.X.shape[0], max(BLOCK // max(count, 1), 64)
        for start in range(0, n, rows):
            yield start, row_block(self.X, start, min(start + rows, n))

    def _unblocked(
        self, basis: NDArray[Any], mix: NDArray[np.float64] | None, count: int
    ) -> NDArray[np.float64]:
        """Return the profiles of surrogates that must see all rows at once."""
        scores = self.model.scores(self.X, basis)
        if mix is None:
            return self.profiler.values(scores)
        mix, width = mix.astype(scores.dtype, copy=False), max(HELD // self.X.shape[0], 1)
        parts = (scores @ mix[:, start : start + width] for start in range(0, count, width))
        return np.concatenate([self.profiler.values(part) for part in parts])

    @cached_property
    def _slices(self) -> list[BoundSlices]:
        return [part for part in self.profiler.parts if isinstance(part, BoundSlices)]

    def at(self, theta: NDArray[np.float64]) -> Local:
        """Return the profile at theta, with its derivatives in reach."""
        profile, slopes = self.profiler.local(self.model.scores(self.X, theta))
        return Local(self, theta, profile, slopes)

    def pullback(self, theta: NDArray[np.float64], slopes: Floats | Sparse) -> NDArray[np.float64]:
        """Turn gradients by the scores of these rows into gradients by parameters."""
        return self.model.pullback(self.X, theta, slopes)


def mixed_scores(
    model: Model, X: Matrix, basis: NDArray[Any], mix: NDArray[np.float64] | None
) -> Floats:
    """Return ``(n, m)`` scores: those of a basis of parameters, or mixtures of them.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear
    >>> mixed_scores(Linear(), np.ones((1, 1)), np.eye(2), np.ones((2, 1))).tolist()
    [[2.0]]
    """
    scores = model.scores(X, basis)
    return scores if mix is None else scores @ mix.astype(scores.dtype, copy=False)


def merged_slices(slices: BoundSlices, found: Merged) -> BoundSlices:
    """Return the slices on the rows that are kept, each with the shares of all it stands for."""
    S = slices.shares
    slice_ = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    placed = (S.data, (slice_, found.group[S.indices]))
    shares = sparse.csr_array(placed, shape=(S.shape[0], len(found.kept)))
    return replace(slices, y=slices.y[found.kept], shares=shares)
