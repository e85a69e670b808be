"""Queries: the column of which rows are ranked against each other."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anymetric import starts
from anymetric.auto.families.ranking import QueryRows, few_queries, minimised
from anymetric.blocks import Queries
from anymetric.estimators._columns import checked, items
from anymetric.estimators._holdout import TOO_FEW, none_left
from anymetric.estimators._rows import as_target
from anymetric.metrics import as_metric, by_query
from anymetric.metrics.functions import graded

# Ridge of the models to start from, in units of one row.
STRENGTH = 30.0


class TakesQueries:
    """Take ``query`` beside ``groups``: queries are never split between training and validation.

    The queries become the metadata column ``query``, and y as it is the column ``relevance``.
    """

    _given_rows: tuple

    def fit(
        self,
        X,
        y,
        *,
        sample_weight=None,
        groups=None,
        query=None,
        side=None,
        source=None,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
        groups_val=None,
        query_val=None,
        side_val=None,
        **metadata,
    ):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
            Relevance: grades, or relevant and not.
        query : array-like of shape (n,), optional
            Which query each row belongs to; rows of a query need not be neighbours.
        sample_weight, groups, side, source : optional
            As in `MetricClassifier`. A query weighs as much as its rows do on average.
        X_val, y_val, sample_weight_val, groups_val, side_val : optional
            As in `MetricClassifier`.
        query_val : array-like, optional
            The queries of the validation rows, taken as different from the training queries
            whatever their names. Without X_val, whole queries are cross-validated or held out.

        Returns
        -------
        self
        """
        if (query is None) != (query_val is None) and not (X_val is None and query_val is None):
            given, absent = ("query", "query_val") if query_val is None else ("query_val", "query")
            raise ValueError(
                f"query and query_val go together: {given} was given, {absent} was not."
            )
        return super().fit(
            X,
            y,
            sample_weight=sample_weight,
            groups=groups,
            side=with_query(side, query, X),
            source=source,
            X_val=X_val,
            y_val=y_val,
            sample_weight_val=sample_weight_val,
            groups_val=groups_val,
            side_val=with_query(side_val, query_val, X_val, "_val"),
            **metadata,
        )

    def score(
        self, X, y=None, sample_weight=None, *, groups=None, query=None, side=None, **metadata
    ) -> float:
        """Return the metric itself, in its own direction.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight, groups, query, side : optional
            As in `fit`.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        side = self._with_relevance(with_query(side, query, X), y)
        return super().score(X, y, sample_weight, groups=groups, side=side, **metadata)

    def diagnose(
        self,
        X,
        y,
        *,
        sample_weight=None,
        groups=None,
        query=None,
        side=None,
        source=None,
        comparisons=(),
    ):
        """Recommend this model or the baseline, and say how the surrogates explain the metric.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to probe on: validation rows, or any the model has not seen.
        y : array-like of shape (n,)
        sample_weight, groups, query, side, source : optional
            As in `fit`.
        comparisons : sequence of Comparison, optional
            As in `MetricClassifier`.

        Returns
        -------
        Diagnosis
            Print it.
        """
        check_is_fitted(self)
        side = self._with_relevance(with_query(side, query, X), y)
        given = {"sample_weight": sample_weight, "groups": groups, "side": side, "source": source}
        return super().diagnose(X, y, **given, comparisons=comparisons)

    def _given(self, X, y, sample_weight, side, **named):
        if has_query(side) and isinstance(self.metric, str):
            self.metric_ = by_query(as_metric(self.metric))
        if "relevance" not in dict(items(side, "side")):
            self.metric_ = graded(self.metric_, as_target(y).dtype)
        return super()._given(X, y, sample_weight, self._with_relevance(side, y), **named)

    def _with_relevance(self, side, y):
        return with_relevance(side, y, always="relevance" in self.metric_.needs)

    def _given_valid(self, X_val, y_val, sample_weight_val, side_val, groups_val, train):
        side = self._with_relevance(side_val, y_val)
        return super()._given_valid(X_val, y_val, sample_weight_val, side, groups_val, train)

    def _cross_fitted(self, data):
        if "query" not in data.side:
            return super()._cross_fitted(data)
        count = len(Queries.of(data.side["query"]))
        how = "are cross-validated, each scored out-of-fold."
        if few_queries(data):
            how = f"{TOO_FEW} be cross-validated: they are used for training and validation."
        self.validation_ = f"No validation data was given: the {count} queries {how}"
        return data, data

    def _held_out(self, data, rng):
        if "query" not in data.side:
            return super()._held_out(data, rng)
        queries = Queries.of(data.side["query"])
        count = max(round(self.validation_fraction * len(queries)), 1)
        if few_queries(data):
            self.validation_ = (
                f"No validation data was given, and {len(queries)} queries are too few to hold "
                "some out: the training queries are used for validation."
            )
            return data, data
        if count == len(queries):
            raise none_left(self.validation_fraction, len(queries), "queries")
        held = np.isin(queries.member, rng.permutation(len(queries))[:count])
        train, valid = np.flatnonzero(~held), np.flatnonzero(held)
        self.validation_ = (
            f"No validation data was given: {count} of {len(queries)} queries were held out."
        )
        self._given_rows = self._given_rows[0], self._given_rows[1][train]
        return data.take(train), data.take(valid)


def with_query(side, query, X, suffix=""):
    """Return the metadata with the queries among them.

    Examples
    --------
    >>> with_query({"amount": [1, 2]}, ["a", "b"], [[0.0], [1.0]])["query"].tolist()
    ['a', 'b']
    """
    if query is None:
        return side
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    columns = dict(items(side, f"side{suffix}"))
    if "query" in columns:
        raise ValueError(f"query{suffix} was given, and side{suffix} has a column 'query' too.")
    return {**columns, "query": checked(query, f"query{suffix}", n)}


def with_relevance(side, y, always=False):
    """Return the metadata with y as relevance, where there are queries and y is numeric.

    Examples
    --------
    >>> with_relevance({"query": [1, 1]}, [0, 2])["relevance"].tolist()
    [0.0, 2.0]
    """
    if y is None or not (always or has_query(side)):
        return side
    columns = dict(items(side, "side"))
    try:
        grades = np.asarray(y).astype(np.float64).ravel()
    except (TypeError, ValueError):  # the check of y raises a better error
        return side
    return {"relevance": grades, **columns}


def has_query(side):
    """Return whether the metadata has queries.

    Examples
    --------
    >>> has_query(None), has_query({"query": [1]})
    (False, True)
    """
    return side is not None and "query" in dict(items(side, "side"))


def starts_by_query(problem):
    """Return the minimisers of the first surrogate, and of all in equal parts.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.problem import Problem
    >>> from anymetric.surrogates import Pairwise
    >>> side = {"query": np.zeros(2)}
    >>> data = Data(np.array([[1.0], [0.0]]), np.array([1.0, -1.0]), side=side)
    >>> problem = Problem(data, [Pairwise(), Pairwise("hinge")], as_metric("map"))
    >>> [bool(theta[0] > 0.0) for theta in starts_by_query(problem)]
    [True, True]
    """
    units = QueryRows(problem, np.zeros(len(problem.valid), dtype=np.intp)).units
    K = len(problem.names)
    first, all_ = np.eye(K)[0], np.full(K, 1.0 / K)
    theta = starts.plain(problem)
    return [minimised(problem, w / units, STRENGTH, theta) for w in (first, all_)]
