"""RegressionBaseline: the strongest simple models for numbers, each shifted to suit the metric."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from anymetric.baselines import _lines as lines
from anymetric.baselines._fits import folds
from anymetric.data import Data, Matrix
from anymetric.estimators import MetricRegressor
from anymetric.estimators._columns import metadata_columns
from anymetric.metrics import Metric, as_metric
from anymetric.models import Scorer
from anymetric.models.ensemble import single_linear

Floats = NDArray[np.float64]
KINDS = ("constant", "ridge", "quantile", "log ridge", "lightgbm")
# Shifts that are tried: none, and these quantiles of the residuals.
LEVELS = np.linspace(0.02, 0.98, 49)


class RegressionBaseline(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A simple model for numbers, with a constant added that is tuned to the metric.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric, default="r2"
    kind : {"constant", "ridge", "quantile", "log ridge", "lightgbm"}, default="ridge"
        One number for all rows; ridge regression; the line of a quantile (that of the metric, or
        the median); ridge regression of the logarithms of positive targets; LightGBM, with the
        objective of a quantile where the metric is one.
    rows : {"train", "validation"}, default="train"
        Which rows train: the validation rows alone where "validation".
    n_splits : int, default=5
        Folds of the training rows: without validation rows, out-of-fold predictions tune the
        constant.
    greater_is_better : bool, optional
    max_metric_calls : int, optional
        At most so many constants are tried.
    random_state : int, default=0

    Attributes
    ----------
    coef_, intercept_ : array of shape (d,) and float
        Where the model is a line.
    model_ : Scorer
    link_ : {"identity", "log"}
    shift_ : float
        The constant, which is in the model already.
    validation_score_, n_metric_calls_, validation_
        As in `MetricRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(300, 5, noise=20.0, random_state=0)
    >>> reg = RegressionBaseline("pinball_0.9", kind="quantile").fit(X, y)
    >>> float(np.mean(y <= reg.predict(X)).round(1))
    0.9
    """

    def __init__(
        self,
        metric: Any = "r2",
        *,
        kind: str = "ridge",
        rows: str = "train",
        n_splits: int = 5,
        greater_is_better: bool | None = None,
        max_metric_calls: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.metric = metric
        self.kind = kind
        self.rows = rows
        self.n_splits = n_splits
        self.greater_is_better = greater_is_better
        self.max_metric_calls = max_metric_calls
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        side: Any = None,
        source: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups_val: Any = None,
        side_val: Any = None,
    ) -> RegressionBaseline:
        """Fit the model, then the constant.

        Parameters
        ----------
        X, y, groups, side, source, X_val, y_val, groups_val, side_val
            As in `MetricRegressor`; sources are not read.

        Returns
        -------
        self
        """
        if self.kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}; got {self.kind!r}.")
        X, y = self._rows_of(X, y, reset=True)
        self.metric_ = as_metric(self.metric, greater_is_better=self.greater_is_better)
        train = Data(X, y, side=metadata_columns(X, side, groups=groups))  # type: ignore[no-untyped-call]
        said = MetricRegressor()
        if X_val is None:
            said._cross_fitted(train)  # type: ignore[no-untyped-call]
            self.validation_, valid = said.validation_, train
        else:
            X_val, y_val = self._rows_of(X_val, y_val)
            columns = metadata_columns(X_val, side_val, groups=groups_val)  # type: ignore[no-untyped-call]
            valid = Data(X_val, y_val, side=columns)
            self.validation_ = f"{len(valid)} validation rows were given."
        self._fit(valid if self.rows == "validation" else train, valid)
        return self

    def _rows_of(self, X: Any, y: Any, reset: bool = False) -> tuple[Matrix, Floats]:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return X, np.asarray(y, dtype=np.float64)

    def _fit(self, train: Data, valid: Data) -> None:
        """Fit to the training rows; tune the constant on rows that were not fitted."""
        self.link_ = "log" if self.kind == "log ridge" else "identity"
        learn, targets = self._learner(), train.y
        if self.link_ == "log":
            if train.y.min() <= 0.0:
                raise ValueError("log ridge is for positive targets.")
            targets = np.log(train.y)
        scorer = learn(train.X, targets)
        if valid is train:
            scores = self._out_of_fold(learn, train, targets)
        else:
            scores = np.asarray(scorer.scores(valid.X))
        self.shift_, cost = self._tuned(scores, valid)
        self.validation_score_ = float(self.metric_.value(cost))
        self.model_ = lines.moved(scorer, self.shift_)
        linear = single_linear(self.model_)
        if linear is not None:
            self.coef_, self.intercept_ = linear

    def _learner(self) -> lines.Learn:
        if self.kind == "quantile":
            return partial(lines.quantile_line, level=lines.level_of(self.metric_) or 0.5)
        if self.kind == "lightgbm":
            return lines.Boosting.of(self.metric_, int(self.random_state or 0))
        return lines.constant if self.kind == "constant" else lines.ridge

    def _out_of_fold(self, learn: lines.Learn, train: Data, targets: Floats) -> Floats:
        rng = np.random.default_rng(self.random_state)
        ranks = np.argsort(np.argsort(train.y)) * 10 // max(len(train.y), 1)
        fold = folds(ranks, min(self.n_splits, len(train)), rng)
        scores = np.empty(len(fold))
        for k in np.unique(fold):
            held, rest = fold == k, fold != k
            scores[held] = learn(train.X[rest], targets[rest]).scores(train.X[held])
        return scores

    def _tuned(self, scores: Floats, valid: Data) -> tuple[float, float]:
        """Return the constant of the least cost, and that cost."""
        log = self.link_ == "log"
        off = (np.log(np.maximum(valid.y, 1e-12)) if log else valid.y) - scores
        mean = float(off.mean())
        shifts = np.array([0.0 if self.kind != "constant" else mean, *np.quantile(off, LEVELS)])
        if self.max_metric_calls is not None and len(shifts) > self.max_metric_calls:
            places = np.linspace(1, len(shifts) - 1, max(self.max_metric_calls - 1, 0))
            shifts = shifts[np.append(0, places.round()).astype(int)]
        tried = scores[:, np.newaxis] + shifts
        bound = bind(self.metric_, valid)
        costs = self.metric_.cost(np.asarray(bound.values(np.exp(tried) if log else tried)))
        self.n_metric_calls_ = len(shifts)
        best = int(np.nanargmin(costs)) if np.isfinite(costs).any() else 0
        return float(shifts[best]), float(costs[best])

    def predict(self, X: Any) -> Floats:
        """Return the predictions.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self, "model_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = np.asarray(self.model_.scores(X), dtype=np.float64)
        return np.exp(scores) if self.link_ == "log" else scores

    model_: Scorer


def bind(metric: Metric, rows: Data) -> Any:
    """Bind a metric to rows of numbers."""
    X = rows.X if metric.reads_features else None
    return metric.bind(rows.y, weights=rows.weights, side=rows.side, X=X)
