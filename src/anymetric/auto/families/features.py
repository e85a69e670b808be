"""Features: rows as linear models read them, with missing values, categories, outliers treated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.auto.sample import Sample
from anymetric.data import Data, Matrix, stacked
from anymetric.engines.tables import lighter
from anymetric.models import Linear, LinearScorer
from anymetric.models.rotation import Rotation
from anymetric.models.tables import Plain

Floats64 = NDArray[np.float64]
# A sparse table with a larger share of entries than this is slow to square.
HEAVY = 0.18
# A sparser table is not rotated: its own products are as fast.
SPARSE = 0.02


@dataclass(frozen=True, eq=False)
class Features:
    """How the features of a linear model are made, and the scale that its ridge sees.

    Attributes
    ----------
    model : Linear
        Standardised, if set.
    reader : Plain or None
        Fills missing values, encodes categories, clips outliers; None where not needed.
    rotation : Rotation or None
        Where columns outnumber rows: the span of the rows, in which models are trained.
    """

    model: Linear
    reader: Plain | None = None
    rotation: Rotation | None = None

    @classmethod
    def of(
        cls,
        sample: Sample,
        *,
        categorical: tuple[int, ...] = (),
        standardize: bool = True,
        intercept: bool = True,
        rotate: bool = True,
    ) -> Features:
        """Learn them from the rows of both samples; scales from those that train first."""
        X = sample.stock.X if sample.single else stacked(sample.train.X, sample.valid.X)
        reader = Plain.of(X, categorical)
        reader = None if reader is None or reader.idle else reader
        stock = sample.stock
        table = stock.X if reader is None else reader.table(stock.X)
        model = Linear(intercept)
        if standardize:
            model = Linear.standardised(table, stock.weights, intercept=intercept)
        if not rotate or len(sample.train) + len(sample.valid) >= table.shape[1]:
            return cls(model, reader)
        both = stacked(sample.train.X, sample.valid.X) if len(sample.train) else sample.valid.X
        thin = sparse.issparse(both) and both.nnz < SPARSE * both.shape[0] * both.shape[1]
        if thin:
            return cls(model, reader)
        rotation = Rotation.of(model, both if reader is None else reader.table(both))
        return cls(model if rotation is None else Linear(intercept), reader, rotation)

    def read(self, sample: Sample) -> Sample:
        """Return the rows with these features, in the form in which products are fastest."""
        if self.rotation is not None:
            n = len(sample.train)
            return sample.with_features(self.rotation.table[:n], self.rotation.table[n:])
        train, valid = (self._table(data) for data in (sample.train, sample.valid))
        if sparse.issparse(train) != sparse.issparse(valid) or heavy(train) or heavy(valid):
            train, valid = sample.train.X, sample.valid.X
            if self.reader is not None:
                train, valid = (self.reader.table(X) for X in (train, valid))
        return sample.with_features(train, valid)

    def scorer(self, theta: Floats64) -> LinearScorer:
        """Return a model of the features as they were given; theta may be ``(C, p)``."""
        if self.rotation is not None:
            found = [self.rotation.weights(one) for one in np.atleast_2d(theta)]
            weights, offset = np.stack([w for w, _ in found]), np.array([b for _, b in found])
            if theta.ndim == 1:
                weights, offset = weights[0], offset[0]
        else:
            weights, offset = self.model.raw(theta)
        return LinearScorer(weights, offset if theta.ndim > 1 else float(offset), self.reader)

    def _table(self, data: Data) -> Matrix:
        X = data.X if self.reader is None else self.reader.table(data.X)
        return lighter(X) if len(data) else X


def heavy(X: Matrix) -> bool:
    """Return whether a sparse table has so many entries that its Hessian is slow.

    Examples
    --------
    >>> heavy(sparse.csr_array(np.eye(3))), heavy(sparse.csr_array(np.eye(10)))
    (True, False)
    """
    return bool(sparse.issparse(X) and X.nnz > HEAVY * X.shape[0] * X.shape[1])
