"""Stored: rows in files or on other machines, of which a fit reads a sample, then all in passes."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from anymetric.auto import Auto
from anymetric.auto.constants import SCREENED
from anymetric.auto.screening import in_order, many, sampled
from anymetric.data import Data
from anymetric.engines.distributed import DaskCollection, OnDask, client_of, is_collection
from anymetric.engines.rows import ReadRows, Shard
from anymetric.engines.works import Counts
from anymetric.estimators._columns import metadata_columns
from anymetric.estimators._ledger import seeds
from anymetric.estimators._rows import FLOATS, as_matrix, check_magnitudes
from anymetric.metrics import DecisionMetric

NAMED = ("groups", "source")
# What an estimator learned of the rows before its first pass over all of them.
LEARNED = ("classes_", "n_features_in_", "_categories", "_category_at", "_classes", "metric_")


def is_stored(X):
    """Return whether these are stored rows: `ParquetRows`, or a Dask collection.

    Examples
    --------
    >>> is_stored(np.zeros((2, 1)))
    False
    """
    return is_collection(X) or (
        hasattr(X, "parts") and hasattr(X, "take") and not hasattr(X, "shape")
    )


def source_of(given, client):
    """Return arguments of `fit` as one source of rows, and what is left of them."""
    X = given.pop("X")
    if not is_collection(X):
        return X if client is None else OnDask(X, client), given
    client = client_of(client)
    columns = {name: given.pop(name, None) for name in NAMED}
    columns |= given.pop("side", None) or {}
    side = {name: column for name, column in columns.items() if column is not None}
    weights = given.pop("sample_weight", None)
    return OnDask(DaskCollection(X, given.pop("y"), client, weights, side), client), given


class TakesStored:
    """Fit rows that need not fit in memory."""

    # Whether a pass over other rows reads y as the sample does.
    _reads_stored = False

    def _fit_stored(self, given, validation):
        """Compare candidates on a sample, and fit the selected ones to all rows."""
        client = given.pop("client", None)
        source, given = source_of(given, client)
        named = sorted(name for name, value in given.items() if value is not None)
        if named:
            raise ValueError(
                f"{type(source).__name__} names the columns of y and of the metadata itself; got "
                f"{', '.join(named)} beside it."
            )
        rng = np.random.default_rng(seeds(self.random_state))
        n = len(source)
        some = sampled(n, rng, SCREENED if many(n) else n)
        if many(n):
            self._check_stored(source)
            self._stored = source
        rows, validation = rows_of(source, some), dict(validation)
        if is_stored(validation["X_val"]):
            beside = {name.removesuffix("_val"): one for name, one in validation.items()}
            own, _ = source_of(beside, client)
            count = len(own)
            picked = sampled(count, rng, SCREENED if many(max(n, count)) else count)
            found = rows_of(own, picked)
            found.pop("source")
            validation |= {f"{name}_val": column for name, column in found.items()}
        try:
            self._fit_given(rows, validation, rng)
        finally:
            self.__dict__.pop("_stored", None)
        if self.summary_.rows:
            self.validation_ += f" Candidates were compared on {len(some):,} of the {n:,} rows."
        return self

    def _score_stored(self, given):
        """Return the metric over stored rows: their counts are as good as the rows."""
        client = given.pop("client", None)
        source, _ = source_of(given, client)
        known = isinstance(self.metric_, DecisionMetric) and not self.metric_.needs
        if not known or getattr(self.decision_rule_, "needs", ()):
            raise ValueError(
                f"The metric {self.metric_.name!r} on stored rows needs more than counts of two "
                "classes: give a sample of them in memory."
            )
        (found,) = self._rows_over(source).sums(
            Counts(Scores(nameless(self)), np.array([-np.inf, 0.0]))
        )
        flagged = found[:, 1]
        weights = np.concatenate([found[:, 0] - flagged, flagged])
        y, scores = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-1.0, -1.0, 1.0, 1.0])
        some = weights > 0.0
        bound = self.metric_.bind(y[some], weights=weights[some], labels=self._labels())
        return float(bound.values(scores[some]))

    def _rows_over(self, source):
        """Return the rows of a source, read as the sample was."""
        found = source.rows if isinstance(source, OnDask) else partial(ReadRows, source)
        return found(reader(self))

    def _given(self, *args, **named):
        data = super()._given(*args, **named)
        # A sample has the order in memory that one of a table in memory has: even its rounding.
        return in_order(data) if "_stored" in self.__dict__ else data

    def _given_valid(self, *args):
        data = super()._given_valid(*args)
        return in_order(data) if "_stored" in self.__dict__ else data

    def _check_stored(self, source):
        """Refuse what has no passes over stored rows."""
        if not self._reads_stored or not isinstance(self._method(), Auto):
            raise ValueError(
                f"{type(self).__name__}(method={getattr(self, 'method', None)!r}) does not train "
                f"on the {len(source):,} rows of {type(source).__name__}: MetricClassifier with "
                "method='auto' does. Or give a sample of them in memory."
            )

    def _over_stored(self, method):
        """Return the method, for all stored rows if there are any."""
        source = self.__dict__.get("_stored")
        return method if source is None else replace(method, rows=self._rows_over(source))


@dataclass(frozen=True, eq=False)
class Scores:
    """The decision values of a fitted estimator, as a scorer.

    Examples
    --------
    >>> class Sums:
    ...     def _scores(self, X):
    ...         return X.sum(axis=1)
    >>> Scores(Sums()).scores(np.ones((1, 2))).tolist()
    [2.0]
    """

    estimator: object

    def scores(self, X):
        """Return one score for each row."""
        return self.estimator._scores(X)


def nameless(estimator):
    """Return an estimator that takes features without names; shards have them in order."""
    own = copy.copy(estimator)
    own.__dict__.pop("feature_names_in_", None)
    return own


def rows_of(source, numbers):
    """Return some stored rows as arguments of `fit`."""
    found = source.take(numbers)
    side = {name: column for name, column in found.side.items() if name not in NAMED}
    named = {name: found.side.get(name) for name in NAMED}
    X = source.named(found.X) if hasattr(source, "named") else found.X
    weights = {"sample_weight": found.weights, "side": side or None}
    return {"X": X, "y": found.y, **weights, **named}


@dataclass(frozen=True, eq=False)
class Reader:
    """Turns stored rows into checked ones, as an estimator read its sample.

    Attributes
    ----------
    estimator : MetricEstimator
        What it knew after the sample was checked.
    """

    estimator: object

    def __call__(self, shard: Shard) -> Data:
        """Check the rows of a shard."""
        own = self.estimator
        X = own._table(shard.X)
        X = np.asarray(X, dtype=np.float64) if hasattr(X, "columns") else X
        X, y = validate_data(
            own,
            X,
            shard.y,
            reset=False,
            accept_sparse="csr",
            dtype=FLOATS,
            ensure_all_finite=own._finite(),
        )
        check_magnitudes(X, "X")
        named = {name: shard.side.get(name) for name in NAMED}
        side = {name: column for name, column in shard.side.items() if name not in NAMED}
        weights = _check_sample_weight(shard.weights, X, dtype=np.float64, ensure_non_negative=True)
        columns = metadata_columns(X, side, **named)
        return Data(as_matrix(X), own._encode_valid(y), weights, columns)


def reader(estimator):
    """Return what reads further rows as this estimator read its sample."""
    kept = {*estimator.get_params(deep=False), *LEARNED}
    own = copy.copy(estimator)
    own.__dict__ = {name: value for name, value in vars(estimator).items() if name in kept}
    own.ledger = None
    return Reader(own)
