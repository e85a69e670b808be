"""LightGBMThreshold: boosted trees and a tuned threshold, the reference outside linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from anymetric.baselines._base import COUNT, POSITIVE, BaselineClassifier
from anymetric.baselines._trials import Trials
from anymetric.data import Data
from anymetric.models.trees import lightgbm
from anymetric.problem import Problem
from anymetric.solution import Solution, Status

Floats = NDArray[np.float64]


class LightGBMThreshold(BaselineClassifier):
    """Boosted trees, stopped early by the validation rows, then the threshold that is best there.

    The model is not linear: there is no `coef_`.

    Parameters
    ----------
    trees : int, default=1000
        At most so many; the logistic loss on the validation rows says when to stop.
    learning_rate : float, default=0.05
    leaves : int, default=31
    patience : int, default=30
        Trees without a lower loss before the end.
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
        self.n_jobs = n_jobs
        self.greater_is_better = greater_is_better
        self.validation_fraction = validation_fraction
        self.max_metric_calls = max_metric_calls
        self.random_state = random_state

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        gbm = lightgbm()
        problem = trials.problem
        train = self._dataset(gbm, problem.train)
        valid = self._dataset(gbm, problem.valid, reference=train)
        settings = {
            "objective": "binary",
            "learning_rate": self.learning_rate,
            "num_leaves": self.leaves,
            "num_threads": self.n_jobs,
            "seed": int(rng.integers(2**31)),
            "deterministic": True,
            "verbosity": -1,
        }
        stop = gbm.early_stopping(self.patience, verbose=False)
        booster = gbm.train(settings, train, self.trees, valid_sets=[valid], callbacks=[stop])
        none, kept = np.zeros(0), {"trees": booster.best_iteration, "booster": booster}
        trials.at_best(raw_scores(booster, problem.valid.X), none, profile=none, **kept)
        return Status.COMPLETED

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


def raw_scores(booster: Any, X: Any) -> Floats:
    """Return the trees' log-odds."""
    return np.asarray(booster.predict(plain_matrix(X), raw_score=True), dtype=np.float64)


def plain_matrix(X: Any) -> Any:
    """Return a sparse X in the older form that lightgbm knows.

    Examples
    --------
    >>> import numpy as np
    >>> type(plain_matrix(sparse.csr_array(np.eye(2)))).__name__
    'csr_matrix'
    """
    older: Any = sparse.csr_matrix
    return older(X) if sparse.issparse(X) else X
