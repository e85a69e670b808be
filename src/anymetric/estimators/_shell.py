"""Shell: the base of the three estimators. It validates, builds a problem, unpacks a solution."""

from __future__ import annotations

import numbers
from dataclasses import replace
from os import PathLike
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import Interval, StrOptions

from anymetric.engines.rows import RowsLost
from anymetric.errors import warn
from anymetric.estimators._certificates import claims_of
from anymetric.estimators._certifying import Certifies
from anymetric.estimators._explained import ExplainsMetric
from anymetric.estimators._exports import Exports
from anymetric.estimators._learned import warn_if_skipped
from anymetric.estimators._ledger import recording, seeds
from anymetric.estimators._limits import goal_of
from anymetric.estimators._methods import ChoosesMethod
from anymetric.estimators._mlflow import tracked
from anymetric.estimators._notebook import ShowsRun
from anymetric.estimators._progress import Progress
from anymetric.estimators._rows import (
    TakesRows,
    has_missing,
    prefixed_errors,
)
from anymetric.estimators._scorer import warn_if_unweighed
from anymetric.estimators._scoring import ScoresRows
from anymetric.estimators._stored import TakesStored, is_stored
from anymetric.estimators._suspects import TRANSIENT, FindsSuspects
from anymetric.estimators._unpacked import Unpacks
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.metrics import MetricError, as_metric
from anymetric.metrics.evaluations import current
from anymetric.metrics.faults import FaultPolicy, TooManyFailures
from anymetric.metrics.functions import GIVEN
from anymetric.problem import Problem
from anymetric.recorded import Waiting, waiting
from anymetric.solution import Interrupted, Status
from anymetric.store import Store
from anymetric.threads import one_thread
from anymetric.tuning import FMEASURE_SIGMAS, FMEASURE_STEPS


class MetricEstimator(
    ShowsRun,
    TakesStored,
    TakesRows,
    ChoosesMethod,
    Unpacks,
    ScoresRows,
    Exports,
    ExplainsMetric,
    FindsSuspects,
    Certifies,
    CallbackSupportMixin,
    BaseEstimator,
):
    """Fit a linear model for a metric: the part that does not depend on the kind of target."""

    _parameter_constraints: ClassVar[dict] = {
        "metric": "no_validation",
        "model": "no_validation",
        "surrogates": "no_validation",
        "method": "no_validation",
        "subject_to": "no_validation",
        "greater_is_better": ["boolean", None],
        "starts": [Interval(numbers.Integral, 0, None, closed="left"), "array-like"],
        "standardize": ["boolean", StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "use_validation": ["boolean", StrOptions({"auto"})],
        "validation_fraction": [Interval(numbers.Real, 0.0, 1.0, closed="neither")],
        "max_metric_calls": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "max_seconds": [Interval(numbers.Real, 0.0, None, closed="neither"), None],
        "on_error": [StrOptions({"skip", "raise"}), FaultPolicy],
        "n_repeats": [Interval(numbers.Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "ledger": [str, PathLike, Store, None],
        "n_jobs": [numbers.Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    # The appendix has a grid of its own for rankings.
    _paper_grid = FMEASURE_STEPS, FMEASURE_SIGMAS

    def __init__(
        self,
        metric,
        *,
        model="auto",
        surrogates="auto",
        method="auto",
        subject_to=None,
        greater_is_better=None,
        starts=0,
        standardize="auto",
        fit_intercept=True,
        use_validation="auto",
        validation_fraction=0.2,
        max_metric_calls=None,
        max_seconds=None,
        on_error="skip",
        n_repeats="auto",
        ledger=None,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ) -> None:
        self.metric = metric
        self.model = model
        self.surrogates = surrogates
        self.method = method
        self.subject_to = subject_to
        self.greater_is_better = greater_is_better
        self.starts = starts
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.use_validation = use_validation
        self.validation_fraction = validation_fraction
        self.max_metric_calls = max_metric_calls
        self.max_seconds = max_seconds
        self.on_error = on_error
        self.n_repeats = n_repeats
        self.ledger = ledger
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # One thread: on a busy machine several spend most of their time waiting for each other.
    @one_thread()
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X,
        y=None,
        *,
        sample_weight=None,
        groups=None,
        side=None,
        source=None,
        X_val=None,
        y_val=None,
        sample_weight_val=None,
        groups_val=None,
        side_val=None,
        **metadata,
    ):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), ParquetRows, Dask array or data frame
            `ParquetRows` names the columns of y, the weights and the metadata itself. Dask
            collections stay on their cluster, and so does what ``client=`` reads (by default, the
            current client reads collections, and this process files).
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A weight of two is a row twice; where no weight reaches one, only their ratios count.
        groups, source : array-like of shape (n,), optional
            Groups that the metric or the surrogates refer to; the source of each row.
        side : dict of columns or data frame, optional
            Metadata that the metric takes by name. In a search, a data frame, which can be
            split.
        X_val, y_val, sample_weight_val, groups_val, side_val : optional
            The validation rows. Without them all rows are cross-validated, each scored
            out-of-fold (``method="auto"``), or some are held out, stratified by class;
            `validation_` says which.
        metadata : columns by name
            Columns that the metric reads, as in `side`: ``fit(X, y, amount=amount)``. Metadata
            routing passes them too, to `fit` and `score`.

        Returns
        -------
        self
        """
        rows = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups, "source": source}
        validation = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        validation |= {"groups_val": groups_val, "side_val": side_val}
        self.__dict__.pop("_stored", None)
        with tracked(self):
            if is_stored(X):
                return self._fit_stored({**rows, "side": side, **metadata}, validation)
            metadata.pop("client", None)
            rows["side"] = self._with_named(side, metadata)
            return self._fit_given(rows, validation)

    def _fit_given(self, rows, validation, rng=None):
        """Fit rows in memory."""
        with recording(self, {**rows, **validation}):
            return self._fit_rows(**rows, **validation, rng=rng)

    def _fit_rows(
        self,
        X,
        y,
        sample_weight,
        groups,
        side,
        source,
        X_val,
        y_val,
        sample_weight_val,
        groups_val,
        side_val,
        rng=None,
    ):
        rng = np.random.default_rng(seeds(self.random_state)) if rng is None else rng
        self.metric_ = as_metric(self.metric, greater_is_better=self.greater_is_better)
        given = self._given(X, y, sample_weight, side, groups=groups, source=source)
        rows = self._given_rows
        if X_val is None and y_val is None:
            if any(one is not None for one in (sample_weight_val, groups_val, side_val)):
                raise ValueError(
                    "sample_weight_val, groups_val or side_val was given without X_val and y_val."
                )
            method = self._method()
            cross_fits = method is not None and method.cross_fits
            train, valid = self._cross_fitted(given) if cross_fits else self._held_out(given, rng)
        else:
            train = given
            valid = self._given_valid(X_val, y_val, sample_weight_val, side_val, groups_val, given)
        self._keep_rows(X, rows, given, valid if X_val is not None else None)
        self.__dict__.pop("certificates_", None)
        certifying = None
        if claims_of(self._goal()):
            train, certifying = self._split_certifying(given, valid, rng)
            valid = train
        self._read_groups(train, valid)
        problem = self._problem(self._goal(), train, valid)
        warn_if_unweighed(self.metric_, valid.weights)
        solution = self._solved(problem, rng)
        if solution is None:
            return self
        if certifying is not None:
            solution = self._certify(problem, solution, certifying, rng)
        self._unpack(problem, solution)
        self._keep_record(problem, solution)
        self._unpack_conduct()
        warn_if_skipped(current().conduct)
        return self

    def _solved(self, problem, rng):
        """Run the method; what ends it leaves the best model so far, None if that is all."""
        try:
            with self._listening(problem):
                return self._run(problem, rng)
        except MetricError as error:
            if error.best is None and has_missing(problem.train.X):
                raise  # a plain linear model cannot read missing values
            self._unpack(problem, error.best or self._unevaluated(problem, error.call or 0))
            if isinstance(error, TooManyFailures):
                self.status_ = Status.FAULTS
                self._unpack_conduct(str(error))
                warn(f"{error} {Status.FAULTS.value}")
                return None
            error.best = self
            raise
        except RowsLost as lost:
            if lost.best is not None:
                self._unpack(problem, lost.best)
                lost.best = self
            raise
        except (Interrupted, Waiting) as stop:
            best = getattr(stop, "best", None)
            answered = waiting(stop) or current().conduct.answered
            if best is None and answered and not has_missing(problem.train.X):
                status = Status.FAILED if waiting(stop) else Status.STOPPED
                best = replace(self._unevaluated(problem, 0), status=status)
            if best is not None:
                self._unpack(problem, best)
                stop.best = self
            raise

    def _unpack_conduct(self, failure=None):
        """Write the noise and the failures of the evaluations."""
        conduct = current().conduct
        self.summary_ = replace(
            self.summary_,
            metric_noise=conduct.noise,
            skipped=conduct.skipped,
            failure=failure or conduct.failure,
        )

    def _goal(self):
        """Return the metric to train for: with its limits, if there are any."""
        return goal_of(self.metric_, getattr(self, "subject_to", None), self._meant_limit)

    def _meant_limit(self, metric):
        """Return what a limited metric means for the target that there is."""
        return metric

    def _read_groups(self, train, valid):
        """Find out whether groups can be read off the features, where limits are about them."""

    def _run(self, problem, rng):
        """Run the method; subclasses may override this step alone."""
        method = self._over_stored(self._method())
        ledger = Ledger(problem, self.max_metric_calls, self.n_jobs)
        begun = self._starts(ledger, rng) if method.takes_starts else []
        progress = Progress(self, method, len(begun), ledger)
        solution = None
        try:
            solution = self._ran(method, ledger, begun, rng, progress.watch)
        except BudgetSpent as error:
            name = type(method).__name__
            raise ValueError(
                f"{name} needs more evaluations than max_metric_calls allows: {error}"
            ) from error
        finally:
            progress.close(solution)
        return solution

    def _ran(self, method, ledger, begun, rng, watch):
        """Run the method once; a subclass may run it on two problems."""
        return method.run(ledger, begun, rng, watch)

    def _problem(self, metric, train, valid):
        """Build the problem and bind it, so that every mismatch raises before any work."""
        missing = [name for name in metric.needs if name not in (*valid.side, *GIVEN)]
        if missing:
            by_name = "groups= (and groups_val=)"
            if "query" in missing:
                by_name = "query= (and query_val=) to MetricRanker"
            raise ValueError(
                f"The metric {metric.name!r} needs the column(s) {', '.join(missing)} on the "
                f"validation rows; columns given: {', '.join(sorted(valid.side)) or 'none'}. Give "
                f"{by_name}, or side= (and side_val=) with columns of these names."
            )
        surrogates = self.surrogates
        if isinstance(surrogates, str) and surrogates == "auto":
            surrogates = self._default_surrogates(metric, train)
        surrogates = self._meant(surrogates, train)
        problem = Problem(train, surrogates, metric, valid, self._model(train), self._labels())
        _ = problem.profiler
        with prefixed_errors(f"The {len(valid)} validation rows"):
            _ = problem.judge
        return problem

    def _meant(self, surrogates, train):
        """Return what the user's surrogates mean for the target that there is."""
        return surrogates

    def _coefficients(self, problem, theta):
        """Return weights and intercept on X and y as they are."""
        return problem.model.raw(theta)

    def _parameters(self, problem, given):
        """Return theta of weights, then the intercept, on X and y as they are."""
        weights, offset = (given[:-1], given[-1]) if self.fit_intercept else (given, 0.0)
        return problem.model.parameters(weights, float(offset))

    def _fitted(self):
        """Return the fitted weights, then the intercept, on X and y as they are."""
        return np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_.ravel()

    def __getstate__(self):
        # By name: skops writes an Enum's member, and cannot read it again.
        state = super().__getstate__()
        state = {name: value for name, value in state.items() if name not in TRANSIENT}
        status = state.get("status_")
        return {**state, "status_": status.name} if isinstance(status, Status) else state

    def __setstate__(self, state):
        status = state.get("status_")
        if isinstance(status, str):
            state = {**state, "status_": Status[status]}
        super().__setstate__(state)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._reads_missing()
        tags.target_tags.required = True
        return tags
