"""Rows: the arguments of `fit`, checked once and turned into Data."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, validate_data

from anymetric.auto.constants import FEWEST_ROWS
from anymetric.data import Data
from anymetric.estimators._columns import check_known, metadata_columns
from anymetric.estimators._families import categories_of, category_columns, coded
from anymetric.estimators._holdout import TOO_FEW, hold_out
from anymetric.metrics.exchange import ROW

FLOATS = [np.float64, np.float32]
# Squares of larger numbers, and their sums, overflow.
LARGEST = 1e140


class TakesRows:
    """Check the training and the validation rows; the estimators define what y means.

    They define `_encode` (the training targets as numbers; it may learn from them),
    `_encode_valid` (the same code for other rows), `_check_target` and `_strata`.
    """

    # Whether every stratum must have rows on both sides of the hold-out.
    _strata_count = True

    def _given(self, X, y, sample_weight, side, **named):
        """Check the training rows; rows of weight zero are left out."""
        X, y = validate_data(
            self,
            self._table(X, first=True),
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            ensure_min_samples=2,
            ensure_all_finite=self._finite(),
            multi_output=self._several(y),
        )
        check_magnitudes(X, "X")
        if np.asarray(y).dtype.kind == "f":
            check_magnitudes(y, "y")
        y = self._encode(y)
        columns = self._numbered(X, metadata_columns(X, side, **named))
        weights = checked_weights(sample_weight, X)
        check_magnitudes(weights, "sample_weight")
        data = Data(as_matrix(X), y, weights, columns)
        kept = np.flatnonzero(weights > 0)
        if len(kept) < 2:
            raise ValueError(
                f"Found {len(kept)} sample(s) of positive weight while a minimum of 2 is required "
                f"by {type(self).__name__}."
            )
        self._given_rows = len(data), kept
        data = data if len(kept) == len(data) else data.take(kept)
        self._check_target(data)
        return data

    def _given_valid(self, X_val, y_val, sample_weight_val, side_val, groups_val, train):
        """Check the validation rows against the training rows."""
        if X_val is None or y_val is None:
            given, absent = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
            raise ValueError(f"X_val and y_val go together: {given} was given, {absent} was not.")
        with prefixed_errors("The validation rows X_val and y_val"):
            X, y = validate_data(
                self,
                self._table(X_val),
                y_val,
                reset=False,
                accept_sparse="csr",
                dtype=FLOATS,
                ensure_all_finite=self._finite(),
                multi_output=self._several(y_val),
            )
            y = self._encode_valid(y)
        columns = self._numbered(X, metadata_columns(X, side_val, "_val", groups=groups_val))
        check_known(train.side, columns)
        with prefixed_errors("sample_weight_val"):
            weights = checked_weights(sample_weight_val, X)
        kept = np.flatnonzero(weights > 0)
        self.validation_ = f"{len(kept)} validation rows were given."
        data = Data(as_matrix(X), y, weights, columns)
        self._given_validation = len(data), kept
        return data if len(kept) == len(data) else data.take(kept)

    def _numbered(self, X, columns):
        """Return the columns with row numbers, where the metric is a program or a person."""
        inner = getattr(self.metric_, "inner", self.metric_)
        if not getattr(inner, "takes_all", False):
            return columns
        return {ROW: np.arange(X.shape[0]), **columns}

    def _several(self, y):
        """Return whether y is a table, with a column for each of several targets."""
        return False

    def _finite(self):
        """Return what may not be in X: as scikit-learn calls it."""
        return "allow-nan" if self._reads_missing() else True

    def _table(self, X, first=False):
        """Return X with a data frame's categories as numbers, where the model reads them."""
        if first:
            self._categories, self._category_at = {}, []
            if self._reads_missing():
                named = category_columns(X)
                self._categories = {name: categories_of(X[name]) for name in named}
                self._category_at = [list(X.columns).index(name) for name in named]
        known = getattr(self, "_categories", {})
        return coded(X, known) if known and hasattr(X, "columns") else X

    def _cross_fitted(self, data):
        """Use all rows for training and, out-of-fold, for validation."""
        self.validation_ = (
            f"No validation data was given: the {len(data)} rows are cross-validated, each scored "
            "out-of-fold."
        )
        if len(data) < FEWEST_ROWS:
            self.validation_ = (
                f"No validation data was given, and {len(data)} rows {TOO_FEW} be "
                "cross-validated: they are used for training and validation."
            )
        return data, data

    def _held_out(self, data, rng):
        """Hold out validation rows, or use all rows twice if they are few."""
        train, valid, self.validation_ = hold_out(
            self._strata(data), self.validation_fraction, rng, every=self._strata_count
        )
        if len(valid) == len(data):
            return data, data
        self._given_rows = self._given_rows[0], self._given_rows[1][train]
        return data.take(train), data.take(valid)


def check_magnitudes(values, name):
    """Refuse numbers whose squares overflow, and missing values in a sparse matrix.

    Examples
    --------
    >>> check_magnitudes(np.array([1e300]), "X")
    Traceback (most recent call last):
    ...
    ValueError: X holds values as large as 1e+300, whose squares overflow: rescale it.
    """
    held = held_by(values)
    if sparse.issparse(values) and has_missing(values):
        raise ValueError(
            f"{name} is sparse and contains NaN: missing values are read in dense tables only."
        )
    largest = max(np.nanmax(held, initial=0.0), -np.nanmin(held, initial=0.0))
    if float(largest) > LARGEST:
        raise ValueError(
            f"{name} holds values as large as {largest:.0e}, whose squares overflow: rescale it."
        )


def held_by(values):
    """Return the numbers that an array holds; of a sparse one, those that it stores."""
    return values.data if sparse.issparse(values) else np.asarray(values)


def has_missing(values):
    """Return whether NaN is among the numbers."""
    return bool(np.isnan(held_by(values)).any())


def checked_weights(sample_weight, X):
    """Return a weight for each row, none below zero and not all zero; ones if there are none.

    Examples
    --------
    >>> checked_weights(None, np.zeros((2, 1))).tolist()
    [1.0, 1.0]
    """
    return _check_sample_weight(
        sample_weight,
        X,
        dtype=np.float64,
        ensure_non_negative=True,
        allow_all_zero_weights=False,
    )


@contextmanager
def prefixed_errors(what):
    """Prefix the message of a ValueError.

    Examples
    --------
    >>> with prefixed_errors("X_val"):
    ...     raise ValueError("Input contains NaN.")
    Traceback (most recent call last):
    ValueError: X_val: Input contains NaN.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error


def as_matrix(X):
    """Return a sparse X as csr_array, with indices as short as they can be; a dense one as it is.

    Entries given twice are one: their sum.

    Examples
    --------
    >>> from scipy import sparse
    >>> one = np.array([0])
    >>> as_matrix(sparse.coo_array((np.ones(1), (one, one)), shape=(1, 2))).indices.dtype.name
    'int32'
    """
    if not sparse.issparse(X):
        return X
    X = sparse.csr_array(X)
    if X.indices.dtype != np.int32 and max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:
        short = (one.astype(np.int32) for one in (X.indices, X.indptr))
        X = sparse.csr_array((X.data, *short), shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def as_target(y):
    """Return a sparse y as it is, any other as an array; one column is as good as none.

    Examples
    --------
    >>> as_target([[1], [0]]).tolist()
    [1, 0]
    """
    if sparse.issparse(y):
        return y
    y = np.asarray(y)
    return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y


def real(y):
    """Return targets as real, finite numbers.

    Examples
    --------
    >>> real([True, False]).tolist()
    [1.0, 0.0]
    >>> real(["high", "low"])
    Traceback (most recent call last):
    ValueError: y must hold numbers; got 'high' among others.
    """
    try:
        numbers = np.asarray(y).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers; got {str(y[0])!r} among others.") from error
    if not np.all(np.isfinite(numbers)):
        raise ValueError("y contains NaN or infinity.")
    return numbers
