"""LightGBMThreshold: boosted trees and a tuned threshold, the reference outside linear models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from anymetric.baselines._base import COUNT, FOLDS, POSITIVE, BaselineClassifier
from anymetric.baselines._trials import Trials
from anymetric.data import Data
from anymetric.models.trees import lightgbm, plain_matrix, raw_scores
from anymetric.problem import Problem
from anymetric.solution import Solution, Status

Floats = NDArray[np.float64]


class LightGBMThreshold(BaselineClassifier):
    """LightGBM, stopped early by the validation rows, then the threshold that is best there.

    The model is not linear: there is no `coef_`.

    Parameters
    ----------
    trees : int, default=1000
        At most so many; the logistic loss on the validation rows says when to stop.
    learning_rate : float, default=0.05
    leaves : int, default=31
    patience : int, default=30
        Trees without a lower loss before the end.
    n_splits : int or None
        Where no validation rows are given: choose the number of trees and the threshold by
        out-of-fold scores of the training rows, in so many folds, and train on all of them. None
        holds some of them out.
    n_jobs : int, default=1
    metric, greater_is_better, validation_fraction, max_metric_calls, random_state
        As in `MetricClassifier`.

    Attributes
    ----------
    booster_ : lightgbm.Booster
    shift_ : float
        What is added to its raw scores.

    Examples
    --------
    >>> LightGBMThreshold("f1", trees=50, random_state=0)
    LightGBMThreshold(metric='f1', random_state=0, trees=50)
    """

    _parameter_constraints = BaselineClassifier._parameter_constraints | {
        "trees": [COUNT],
        "learning_rate": [POSITIVE],
        "leaves": [COUNT],
        "patience": [COUNT],
        "n_splits": [FOLDS, None],
        "n_jobs": [COUNT],
    }

    # Settings that the base class reads for a linear model.
    standardize = False
    fit_intercept = True

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        trees: int = 1000,
        learning_rate: float = 0.05,
        leaves: int = 31,
        patience: int = 30,
        n_splits: int | None = None,
        n_jobs: int = 1,
        greater_is_better: bool | None = None,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.trees = trees
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.patience = patience
        self.n_splits = n_splits
        self.n_jobs = n_jobs
        self.greater_is_better = greater_is_better
        self.validation_fraction = validation_fraction
        self.max_metric_calls = max_metric_calls
        self.random_state = random_state

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem = trials.problem
        data, fold = self._rows(problem, rng)
        grow = partial(self._grown, seed=int(rng.integers(2**31)))
        if fold is None:
            booster = grow(data, problem.valid)
            scores = raw_scores(booster, problem.valid.X)
            count = booster.best_iteration
        else:
            scores, count = cross_fitted(grow, data, fold)
            booster = grow(data, None, count)
        none, kept = np.zeros(0), {"trees": count, "booster": booster}
        trials.at_best(self._moved(problem, scores), none, profile=none, **kept)
        return Status.COMPLETED

    def _rows(
        self, problem: Problem, rng: np.random.Generator
    ) -> tuple[Data, NDArray[np.intp] | None]:
        """Return the rows to train on, and the fold of each where they validate too."""
        return problem.train, self._folds(problem, rng)

    def _moved(self, problem: Problem, scores: Floats) -> Floats:
        """Return the scores that decide, of scores of the validation rows."""
        return scores

    def _grown(self, data: Data, valid: Data | None, count: int = 0, *, seed: int) -> Any:
        """Return a booster of `count` trees, or of as many as the validation rows ask for."""
        gbm = lightgbm()
        train = self._dataset(gbm, data)
        settings = {
            "objective": "binary",
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "num_threads": self.n_jobs,
            "seed": seed,
            "deterministic": True,
            "verbosity": -1,
        }
        if valid is None:
            return gbm.train(settings, train, count)
        watched = [self._dataset(gbm, valid, reference=train)]
        stop = [gbm.early_stopping(self.patience, verbose=False)]
        return gbm.train(settings, train, self.trees, valid_sets=watched, callbacks=stop)

    def _dataset(self, gbm: Any, data: Data, reference: Any = None) -> Any:
        label = (data.y > 0.0).astype(np.float64)
        return gbm.Dataset(plain_matrix(data.X), label, weight=data.weights, reference=reference)

    def _unpack(self, problem: Problem, solution: Solution) -> None:
        self._report(problem, solution)
        chosen = solution.summary.chosen
        if "booster" in chosen:  # not there if the metric failed at once
            self.booster_ = chosen["booster"]
            self.shift_ = chosen["shift"]

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "booster_")
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def _scores(self, X: Any) -> Floats:
        X = self._checked(X)
        return np.asarray(raw_scores(self.booster_, X) + self.shift_)


class ValidationLightGBM(LightGBMThreshold):
    """LightGBM with a tuned threshold, trained on the validation rows alone.

    The number of trees and the threshold are chosen by out-of-fold scores of those rows.

    Parameters
    ----------
    n_splits : int, default=5
    metric, trees, learning_rate, leaves, patience, n_jobs, greater_is_better, \
validation_fraction, max_metric_calls, random_state
        As in `LightGBMThreshold`, as are the attributes.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(600, weights=[0.8], random_state=0)
    >>> clf = ValidationLightGBM("f1", random_state=0)
    >>> clf.fit(X[:300], 1 - y[:300], X_val=X[300:], y_val=y[300:]).score(X[300:], y[300:]) > 0.5
    True
    """

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        trees: int = 1000,
        learning_rate: float = 0.05,
        leaves: int = 31,
        patience: int = 30,
        n_splits: int = 5,
        n_jobs: int = 1,
        greater_is_better: bool | None = None,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            metric,
            trees=trees,
            learning_rate=learning_rate,
            leaves=leaves,
            patience=patience,
            n_splits=n_splits,
            n_jobs=n_jobs,
            greater_is_better=greater_is_better,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )

    def _rows(
        self, problem: Problem, rng: np.random.Generator
    ) -> tuple[Data, NDArray[np.intp] | None]:
        clean = problem.valid
        return clean, self._folds(replace(problem, train=clean, valid=clean), rng)


def cross_fitted(
    grow: Callable[..., Any], data: Data, fold: NDArray[np.intp]
) -> tuple[Floats, int]:
    """Return out-of-fold scores with the number of trees that suits all folds, and that number."""
    parts = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
    boosters = [grow(data.take(rest), data.take(held)) for rest, held in parts]
    count = max(int(np.median([booster.best_iteration for booster in boosters])), 1)
    scores = np.empty(len(fold))
    for booster, (_, held) in zip(boosters, parts, strict=True):
        scores[held] = raw_scores(booster, data.X[held], count)
    return scores, count
