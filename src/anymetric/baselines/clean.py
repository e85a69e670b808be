"""Clean rows: logistic regressions trained on, or weighted towards, the validation rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines._base import COUNT, POSITIVE, grid
from anymetric.baselines._fits import GRID, CrossFit, folds, logistic
from anymetric.baselines._trials import Trials
from anymetric.baselines.logistic import LogisticBaseline, TunedThreshold
from anymetric.data import Data
from anymetric.models import Linear, Model
from anymetric.problem import Problem
from anymetric.solution import Status

Floats = NDArray[np.float64]


class ValidationLogistic(LogisticBaseline):
    """Logistic regression with a tuned threshold, trained on the validation rows alone.

    C and the threshold are chosen on the same rows, out-of-fold: each row is scored by a
    model that was trained without its fold. `validation_score_` is the metric of those scores;
    the model itself is trained on all the rows.

    Parameters
    ----------
    folds : int, default=5
    metric, C, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `LogisticBaseline`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(600, weights=[0.8], random_state=0)
    >>> clf = ValidationLogistic("f1", random_state=0)
    >>> clf.fit(X[:300], -y[:300], X_val=X[300:], y_val=-y[300:]).score(X[300:], -y[300:]) > 0.5
    True
    """

    _parameter_constraints = LogisticBaseline._parameter_constraints | {"folds": [COUNT]}

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        C: float | Sequence[float] | None = None,
        folds: int = 5,
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
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.folds = folds

    def _sample(self, problem: Problem) -> Data:
        """Return the rows to train on, the validation rows first."""
        return problem.valid

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem = trials.problem
        data, n = self._sample(problem), len(problem.valid)
        model = self._model(data)  # type: ignore[no-untyped-call]
        strata = self._strata(problem.valid)  # type: ignore[no-untyped-call]
        fold = folds(strata, min(self.folds, n), rng)
        fit = CrossFit(model, data, np.arange(n), fold)
        values, theta = grid(self.C, GRID), None
        limit = trials.share(len(values))
        for C in values:
            theta, scores = fit.at(C, theta)
            trials.at_best(scores, moved(theta, model, problem.model), limit, C=C)
        return Status.COMPLETED


class BothLogistic(ValidationLogistic):
    """Logistic regression with a tuned threshold, trained on training and validation rows together.

    As in `ValidationLogistic`, C and the threshold are chosen by scores of models that have not
    seen the row: each validation fold is left out in turn, the training rows never.

    Parameters
    ----------
    metric, C, folds, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `ValidationLogistic`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(600, weights=[0.8], random_state=0)
    >>> clf = BothLogistic("f1", random_state=0)
    >>> clf.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:]).validation_score_ > 0.5
    True
    """

    def _sample(self, problem: Problem) -> Data:
        # Few rows are used for training and validation: they must not count twice.
        same = problem.valid is problem.train
        return problem.valid if same else problem.valid.followed_by(problem.train)


class DomainWeighted(TunedThreshold):
    """Logistic regression with a tuned threshold on importance-weighted training rows.

    A logistic regression separates validation from training rows; a training row weighs as many
    times more as validation rows are more frequent there: ``p(x | valid) / p(x | train)``.

    Parameters
    ----------
    clip : float, default=20.0
        No row weighs more than this, or less than its inverse, before the weights are
        scaled to keep their sum.
    domain_C : float, default=1.0
        C of the classifier of domains.
    metric, C, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `LogisticBaseline`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(600, weights=[0.8], random_state=0)
    >>> clf = DomainWeighted("f1", random_state=0)
    >>> clf.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:]).validation_score_ > 0.5
    True
    """

    _parameter_constraints = LogisticBaseline._parameter_constraints | {
        "clip": [POSITIVE],
        "domain_C": [POSITIVE],
    }

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        C: float | Sequence[float] | None = None,
        clip: float = 20.0,
        domain_C: float = 1.0,
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
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.clip = clip
        self.domain_C = domain_C

    def _rows(self, problem: Problem) -> Floats:
        train = problem.train
        if problem.valid is train:
            return train.weights
        ratio = density_ratio(problem.model, train, problem.valid, self.domain_C)
        bound = max(self.clip, 1.0 / self.clip)
        rows = train.weights * np.clip(ratio, 1.0 / bound, bound)
        return np.asarray(rows * train.weights.sum() / rows.sum())


def density_ratio(model: Model, train: Data, valid: Data, C: float = 1.0) -> Floats:
    """Return ``p(x | valid) / p(x | train)`` on the training rows, by a logistic regression.

    Examples
    --------
    >>> import numpy as np
    >>> train = Data(np.array([[0.0], [0.0], [1.0]]), np.ones(3))
    >>> valid = Data(np.array([[0.0], [1.0], [1.0]]), np.ones(3))
    >>> density_ratio(Linear(), train, valid, C=1e6).round(3).tolist()
    [0.5, 0.5, 2.0]
    """
    both = train.followed_by(valid)
    domain = np.concatenate([-np.ones(len(train)), np.ones(len(valid))])
    theta = logistic(model, Data(both.X, domain, both.weights), C)
    odds = np.exp(np.clip(model.scores(train.X, theta), -50.0, 50.0))
    return np.asarray(odds * train.weights.sum() / valid.weights.sum())


def moved(theta: Floats, old: Linear, new: Model) -> Floats:
    """Return the same linear function in another model's parameters.

    Examples
    --------
    >>> import numpy as np
    >>> moved(np.array([1.0, 0.0]), Linear(scale=np.array([2.0])), Linear()).tolist()
    [0.5, 0.0]
    """
    if not isinstance(new, Linear):
        raise TypeError(f"A linear model is needed; got {new!r}.")
    weights, offset = old.raw(theta)
    return new.parameters(weights, float(offset))
