"""Logistic regression, and the thresholds and class weights that are tuned around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines._base import FOLDS, POSITIVE, BaselineClassifier, grid
from anymetric.baselines._fits import GRID, balanced, logistic, out_of_fold
from anymetric.baselines._trials import Trials
from anymetric.problem import Problem
from anymetric.solution import Status

CONSTRAINTS = BaselineClassifier._parameter_constraints | {
    "C": [POSITIVE, "array-like", None],
    "n_splits": [FOLDS, None],
}


class LogisticBaseline(BaselineClassifier):
    """Logistic regression at its own threshold; the metric chooses only C.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric, default="accuracy"
    C : float, list of floats or None
        Inverse of the l2 regularisation, as in scikit-learn; the best of several on the
        validation rows. None tries 0.001, 0.01, 0.1, 1 and 10.
    n_splits : int or None
        Where no validation rows are given: choose by out-of-fold scores of the training rows, in
        so many folds, and train on all of them. None holds some of them out.
    greater_is_better, standardize, fit_intercept, validation_fraction, max_metric_calls, \
random_state
        As in `MetricClassifier`.

    Attributes
    ----------
    coef_, intercept_, classes_, history_, status_, cost_, validation_score_, validation_, \
n_metric_calls_
        As in `MetricClassifier`. A ready-made metric sees all thresholds in one call, the user's
        own is called for each.
    summary_ : Summary
        What was `chosen`: `C`, and for methods that tune a threshold `shift`; all that was
        `tried`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> clf = LogisticBaseline("f1", random_state=0).fit(X, y)
    >>> clf.n_metric_calls_, round(clf.validation_score_, 3)
    (5, 0.375)
    """

    _parameter_constraints = CONSTRAINTS

    # Whether the threshold is tuned too.
    _shifts = False

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        C: float | Sequence[float] | None = None,
        n_splits: int | None = None,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            metric,
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.C = C
        self.n_splits = n_splits

    def _rows(self, problem: Problem) -> NDArray[np.float64]:
        """Return the training rows' weights."""
        return problem.train.weights

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem, theta = trials.problem, None
        rows = self._rows(problem)
        values, fold = grid(self.C, GRID), self._folds(problem, rng)
        limit = trials.share(len(values))
        for C in values:
            theta = logistic(problem.model, problem.train, C, rows, theta)
            scores = trials.scores(theta)
            if fold is not None:
                scores = out_of_fold(problem.model, problem.train, C, rows, fold, theta)
            scores = self._moved(problem, scores)
            if self._shifts:
                trials.at_best(scores, theta, limit, C=C)
            else:
                trials.judge(theta, scores, C=C)
        return Status.COMPLETED

    def _moved(self, problem: Problem, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores that decide, of scores of the validation rows."""
        return scores


class TunedThreshold(LogisticBaseline):
    """Logistic regression, then the threshold that is best on the validation rows.

    C and threshold are chosen together. All midpoints between neighbouring scores are tried; among
    equally good shifts the smallest is taken. Where the metric reads scores and no decisions, there
    is no threshold and this is `LogisticBaseline`. (The paper calls it post-shift.)

    Parameters
    ----------
    metric, C, n_splits, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `LogisticBaseline`, as are the attributes.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> clf = TunedThreshold("f1", random_state=0).fit(X, y)
    >>> sorted(clf.summary_.chosen), clf.validation_score_ > 0.5
    (['C', 'shift'], True)
    """

    _shifts = True


class BalancedLogistic(LogisticBaseline):
    """Logistic regression with both classes of equal weight; a tuned threshold if set.

    Parameters
    ----------
    tune_threshold : bool, default=False
        Tune the threshold on the validation rows too.
    metric, C, n_splits, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `LogisticBaseline`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> BalancedLogistic("gmean", random_state=0).fit(X, y).validation_score_ > 0.7
    True
    """

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        C: float | Sequence[float] | None = None,
        tune_threshold: bool = False,
        n_splits: int | None = None,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            metric,
            C=C,
            n_splits=n_splits,
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.tune_threshold = tune_threshold

    _parameter_constraints = CONSTRAINTS | {"tune_threshold": ["boolean"]}

    @property
    def _shifts(self) -> bool:  # type: ignore[override]
        return self.tune_threshold

    def _rows(self, problem: Problem) -> NDArray[np.float64]:
        return balanced(problem.train)


class ClassWeightSearch(BaselineClassifier):
    """Logistic regressions with many ratios of the class weights, each at its own threshold.

    Parameters
    ----------
    ratios : list of floats or None
        What all positives weigh together, as a multiple of all negatives. None tries 21 values
        from 0.01 to 100, evenly in the logarithm.
    C : float, default=1.0
    metric, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `LogisticBaseline`.

    Attributes
    ----------
    summary_ : Summary
        The `ratio` that was `chosen`, and all that were `tried`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> clf = ClassWeightSearch("f1", random_state=0).fit(X, y)
    >>> len(clf.summary_.tried), round(clf.validation_score_, 3)
    (21, 0.476)
    """

    _parameter_constraints = CONSTRAINTS | {"C": [POSITIVE], "ratios": ["array-like", None]}

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        ratios: Sequence[float] | None = None,
        C: float = 1.0,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            metric,
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.ratios = ratios
        self.C = C

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem, theta = trials.problem, None
        for ratio in grid(self.ratios, np.logspace(-2.0, 2.0, 21).tolist()):
            rows = balanced(problem.train, ratio)
            theta = logistic(problem.model, problem.train, self.C, rows, theta)
            trials.judge(theta, ratio=ratio)
        return Status.COMPLETED
