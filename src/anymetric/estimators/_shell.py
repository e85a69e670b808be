"""Shell: what the three estimators share. It validates, builds a problem, unpacks a solution."""

from __future__ import annotations

import numbers
import sys
import warnings

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from anymetric.data import Data
from anymetric.descent import Descent
from anymetric.estimators._columns import check_known, side_columns
from anymetric.estimators._holdout import hold_out
from anymetric.estimators._progress import Progress
from anymetric.gradients import LinearInterpolation, Subspace
from anymetric.ledger import Ledger
from anymetric.metrics import MetricError, as_metric
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.projections import LBFGS, Adagrad
from anymetric.tuning import Tuned

# Beyond this the surrogates tell nearly the same story twice.
COLLINEAR = 1e6

METHODS = {
    "descent": lambda n_jobs: Descent(
        turns=30, step=0.5, decay=0.5, gradient=Subspace(), projection=LBFGS()
    ),
    "paper": lambda n_jobs: Tuned(
        Descent(gradient=LinearInterpolation(), projection=Adagrad()), n_jobs=n_jobs
    ),
}


class MetricEstimator(CallbackSupportMixin, BaseEstimator):
    """Fit a linear model for a metric: the part that does not depend on the kind of target."""

    _parameter_constraints: dict = {
        "metric": "no_validation",
        "surrogates": "no_validation",
        "method": "no_validation",
        "greater_is_better": ["boolean", None],
        "starts": [Interval(numbers.Integral, 0, None, closed="left"), "array-like"],
        "standardize": ["boolean"],
        "fit_intercept": ["boolean"],
        "validation_fraction": [Interval(numbers.Real, 0.0, 1.0, closed="neither")],
        "max_metric_calls": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "n_jobs": [numbers.Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        metric,
        *,
        surrogates="auto",
        method="descent",
        greater_is_better=None,
        starts=0,
        standardize=True,
        fit_intercept=True,
        validation_fraction=0.2,
        max_metric_calls=None,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        self.metric = metric
        self.surrogates = surrogates
        self.method = method
        self.greater_is_better = greater_is_better
        self.starts = starts
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.validation_fraction = validation_fraction
        self.max_metric_calls = max_metric_calls
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X,
        y,
        *,
        sample_weight=None,
        groups=None,
        side=None,
        source=None,
        X_val=None,
        y_val=None,
        groups_val=None,
        side_val=None,
    ):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        groups, source : array-like of shape (n,), optional
            Groups that the metric or the surrogates speak of; where each row comes from.
        side : dict of columns or data frame, optional
            Further columns that the metric takes by name.
        X_val, y_val, groups_val, side_val : optional
            The rows that judge. Without them some training rows are held out, evenly from each
            class, and `validation_` says so.

        Returns
        -------
        self
        """
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31, size=4))
        metric = as_metric(self.metric, greater_is_better=self.greater_is_better)
        given = self._given(X, y, sample_weight, side, groups=groups, source=source)
        if X_val is None and y_val is None:
            if groups_val is not None or side_val is not None:
                raise ValueError("groups_val or side_val was given without X_val and y_val.")
            train, valid = self._held_out(given, rng)
        else:
            train = given
            valid = self._given_valid(X_val, y_val, side_val, groups_val, given)
        problem = self._problem(metric, train, valid)
        try:
            solution = self._run(problem, rng)
        except MetricError as error:
            if error.best is not None:
                self._unpack(problem, error.best)
                error.best = self
            raise
        self._unpack(problem, solution)
        return self

    def _run(self, problem, rng):
        """Run the method: the one step that another way of training replaces."""
        starts = self._starts(problem, rng)
        method = self._method()
        progress = Progress(self, method, len(starts))
        try:
            return method.run(Ledger(problem, self.max_metric_calls), starts, rng, progress.watch)
        finally:
            progress.close()

    def _given(self, X, y, sample_weight, side, **named):
        """Check the training rows; rows of weight zero are left out."""
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=False
        )
        y = self._encode(y)
        columns = side_columns(X, side, **named)
        weights = _check_sample_weight(
            sample_weight,
            X,
            dtype=np.float64,
            ensure_non_negative=True,
            allow_all_zero_weights=False,
        )
        data = Data(as_matrix(X), y, weights, columns)
        kept = np.flatnonzero(weights > 0)
        data = data if len(kept) == len(data) else data.take(kept)
        self._check_target(data)
        return data

    def _given_valid(self, X_val, y_val, side_val, groups_val, train):
        """Check the validation rows against the training rows."""
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val go together; only one of them was given.")
        X, y = validate_data(
            self, X_val, y_val, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        columns = side_columns(X, side_val, "_val", groups=groups_val)
        check_known(train.side, columns)
        self.validation_ = f"{len(y)} validation rows were given."
        return Data(as_matrix(X), self._encode_valid(y), None, columns)

    def _held_out(self, data, rng):
        """Split the training rows in two, or use them twice if they are few."""
        train, judge, self.validation_ = hold_out(self._strata(data), self.validation_fraction, rng)
        if len(judge) == len(data):
            return data, data
        return data.take(train), data.take(judge)

    def _problem(self, metric, train, valid):
        """Build the problem and bind it, so that every mismatch is told before any work."""
        missing = [name for name in metric.needs if name not in valid.side]
        if missing:
            raise ValueError(
                f"The metric {metric.name!r} needs the column(s) {', '.join(missing)} on the rows "
                f"that judge; columns given: {', '.join(sorted(valid.side)) or 'none'}. Give "
                "groups= (and groups_val=), or side= (and side_val=) with columns of these names."
            )
        surrogates = self.surrogates
        if isinstance(surrogates, str) and surrogates == "auto":
            surrogates = self._default_surrogates(metric, train)
        model = Linear(self.fit_intercept)
        if self.standardize:
            model = Linear.standardised(train.X, train.weights, intercept=self.fit_intercept)
        problem = Problem(train, surrogates, metric, valid, model, self._labels())
        _ = problem.profiler, problem.judge
        return problem

    def _starts(self, problem, rng):
        """Return the first models: plain ones, the user's or random ones."""
        starts = self._plain_starts(problem)
        if isinstance(self.starts, numbers.Integral):
            return starts + [rng.standard_normal(problem.size) for _ in range(self.starts)]
        given = np.atleast_2d(np.asarray(self.starts, dtype=np.float64))
        if given.shape[1] != problem.size:
            raise ValueError(
                f"Each of `starts` must have {problem.size} parameters (weights, then the "
                f"intercept); got {given.shape[1]}."
            )
        return [problem.model.parameters(*split(theta, self.fit_intercept)) for theta in given]

    def _method(self):
        """Return the part that runs the problem."""
        if isinstance(self.method, str):
            if self.method not in METHODS:
                raise ValueError(
                    f"method must be one of {sorted(METHODS)}, or a part such as Descent(...); "
                    f"got {self.method!r}."
                )
            return METHODS[self.method](self.n_jobs)
        if not hasattr(self.method, "run"):
            raise TypeError(
                f"method must be a name or a part with a `run` method; got {self.method!r}."
            )
        return self.method

    def _unpack(self, problem, solution):
        """Write the fitted attributes."""
        weights, offset = problem.model.raw(solution.theta)
        self._set_coefficients(weights, float(offset))
        self.metric_ = problem.metric
        self.cost_ = solution.cost
        self.validation_score_ = float(problem.metric.value(solution.cost))
        self.status_ = solution.status
        self.history_ = solution.history
        self.surrogate_names_ = list(problem.names)
        self.weights_ = self._learned(problem, solution)
        self.settings_ = solution.settings
        self.n_metric_calls_ = solution.calls
        self._warn_if_collinear(solution)

    def _learned(self, problem, solution):
        """Return what each surrogate counted for at the model that was kept, summing to one."""
        weights = solution.best.weights
        if weights is None:  # a starting model: every row counted alike
            shares = [np.sum(problem.train.weights * (row != 0)) for row in dense_rows(problem)]
            weights = np.array(shares) / np.sum(shares)
        return dict(zip(problem.names, weights.tolist(), strict=True))

    def _warn_if_collinear(self, solution):
        conditions = [t.estimate.condition for t in solution.turns if t.estimate is not None]
        if conditions and np.median(conditions) > COLLINEAR:
            warnings.warn(
                f"The surrogates are nearly collinear: the probes' condition number has the median "
                f"{np.median(conditions):.1e}. Drop one of {self.surrogate_names_}, or merge them.",
                UserWarning,
                stacklevel=4,
            )

    def _scores(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        product = X @ self.coef_.ravel() + np.float64(np.ravel(self.intercept_)[0])
        return np.asarray(product, dtype=np.float64)

    def score(self, X, y, sample_weight=None, *, groups=None, side=None):
        """Return the metric itself, in its own direction.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight, groups, side : optional
            As in `fit`.

        Returns
        -------
        float
        """
        scores = self._scores(X)
        warn_if_maximised(self.metric_)
        columns = side_columns(scores[:, np.newaxis], side, groups=groups)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, scores, ensure_non_negative=True)
        y = self._encode_valid(np.asarray(y))
        bound = self.metric_.bind(y, weights=weights, side=columns, labels=self._labels(), X=X)
        return float(bound.values(scores))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def as_matrix(X):
    """Return a sparse X as csr_array, a dense one as it is."""
    return sparse.csr_array(X) if sparse.issparse(X) else X


def split(theta, intercept):
    """Return weights and intercept of a parameter vector on X as it is."""
    return (theta[:-1], float(theta[-1])) if intercept else (theta, 0.0)


def dense_rows(problem):
    """Return, for each surrogate, a row with the slopes of the training scores at zero."""
    slopes = problem.profiler.slopes(np.zeros(len(problem.train)))
    return [slopes[[k]].toarray().ravel() for k in range(slopes.shape[0])]


def warn_if_maximised(metric):
    """Warn when scikit-learn's search would maximise a metric that is better when lower."""
    caller = sys._getframe(2).f_code.co_filename
    if not metric.greater_is_better and caller.endswith("_scorer.py"):
        warnings.warn(
            f"A search maximises `score`, but {metric.name!r} is better when lower. Pass "
            "scoring=anymetric.scorer(metric) to the search.",
            UserWarning,
            stacklevel=3,
        )
