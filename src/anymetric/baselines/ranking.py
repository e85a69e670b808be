"""LambdaRank: LightGBM's own objective for rankings, the reference within queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from anymetric.blocks import Queries
from anymetric.estimators._columns import items
from anymetric.models.trees import Trees, lightgbm, plain_matrix

Floats = NDArray[np.float64]
# More grades than LightGBM has gains for are cut to so many.
GRADES = 31


class LambdaRank(BaseEstimator):  # type: ignore[misc]
    """LightGBM's lambdarank, stopped early by a fifth of the queries.

    Parameters
    ----------
    metric : Metric, optional
        Not read: the objective is NDCG.
    trees : int, default=500
        At most so many.
    learning_rate : float, default=0.05
    leaves : int, default=31
    patience : int, default=30
    random_state : int, default=0

    Attributes
    ----------
    model_ : Trees

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.normal(size=(400, 3)), np.repeat(np.arange(40), 10)
    >>> y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.5).astype(int)
    >>> ranker = LambdaRank(trees=30).fit(X, y, side={"query": query})
    >>> bool(np.corrcoef(ranker.decision_function(X), X[:, 0])[0, 1] > 0.5)
    True
    """

    def __init__(
        self,
        metric: Any = None,
        *,
        trees: int = 500,
        learning_rate: float = 0.05,
        leaves: int = 31,
        patience: int = 30,
        max_metric_calls: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.metric = metric
        self.trees = trees
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.patience = patience
        self.max_metric_calls = max_metric_calls
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        side: Any = None,
        groups: Any = None,
        source: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        side_val: Any = None,
        groups_val: Any = None,
    ) -> LambdaRank:
        """Fit to queries, which `side` names; grades are its ``relevance``, or y itself.

        Parameters
        ----------
        X, y, side, X_val, y_val, side_val
            As in `MetricRanker`: validation rows, where they are given, stop the training.
        groups, source, groups_val : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        query, grades = queries_of(y, side)
        rng = np.random.default_rng(self.random_state)
        if X_val is None:
            out = rng.permutation(len(query)) < max(len(query) // 5, 1)
            held = out[query.member]
            parts = [(X[~held], grades[~held], query.member[~held])]
            parts.append((X[held], grades[held], query.member[held]))
        else:
            other, told = queries_of(y_val, side_val)
            X_val = validate_data(self, X_val, accept_sparse="csr", dtype=np.float64, reset=False)
            parts = [(X, grades, query.member), (X_val, told, other.member)]
        self.n_metric_calls_ = 0
        self.model_ = self._grown(parts, (X, grades, query.member), X_val is None)
        return self

    def _grown(self, parts: list[Any], whole: Any, again: bool) -> Trees:
        """Return the trees that the second part asks for, grown `again` on all rows."""
        gbm = lightgbm()
        settings = {"objective": "lambdarank", "learning_rate": self.learning_rate}
        settings |= {"num_leaves": self.leaves, "num_threads": 1, "seed": self.random_state or 0}
        settings |= {"deterministic": True, "verbosity": -1}
        train, valid = (dataset(gbm, *part) for part in parts)
        stop = [gbm.early_stopping(self.patience, first_metric_only=True, verbose=False)]
        first = gbm.train(settings, train, self.trees, valid_sets=[valid], callbacks=stop)
        if not again:
            return Trees(first.model_to_string(num_iteration=first.best_iteration))
        grown = gbm.train(settings, dataset(gbm, *whole), max(first.best_iteration, 1))
        return Trees(grown.model_to_string())

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: higher ones come first.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self, "model_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(self.model_.scores(X), dtype=np.float64)


def queries_of(y: Any, side: Any) -> tuple[Queries, Floats]:
    """Return the queries of rows, and their grades as whole numbers from zero.

    Examples
    --------
    >>> queries_of([0, 1], {"query": np.array(["a", "a"])})[1].tolist()
    [0, 1]
    """
    columns = dict(items(side, "side"))  # type: ignore[no-untyped-call]
    if "query" not in columns:
        raise ValueError("LambdaRank needs the query of every row: give side={'query': ...}.")
    values = np.unique(np.asarray(columns.get("relevance", y)), return_inverse=True)[1]
    grades = values * min(GRADES, values.max() + 1) // (values.max() + 1)
    return Queries.of(np.asarray(columns["query"])), grades


def dataset(gbm: Any, X: Any, grades: Any, member: NDArray[np.intp]) -> Any:
    """Return rows as LightGBM has rankings: those of a query together."""
    order = np.argsort(member, kind="stable")
    sizes = np.unique(member[order], return_counts=True)[1]
    return gbm.Dataset(plain_matrix(X[order]), grades[order], group=sizes)
