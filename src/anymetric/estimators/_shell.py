"""Shell: what the three estimators share. It validates, builds a problem, unpacks a solution."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from os import PathLike
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from anymetric import starts
from anymetric.auto import Auto
from anymetric.auto.records import LINEAR
from anymetric.data import Data
from anymetric.descent import Descent
from anymetric.diagnosis import around_scores, diagnose
from anymetric.errors import warn
from anymetric.estimators._certificates import (
    by_order,
    certified,
    claims_of,
    plain_goal,
    set_apart,
    warn_if_uncertain,
)
from anymetric.estimators._columns import items, reads, rule_columns, side_columns
from anymetric.estimators._families import descent_over, families, reads_gaps, with_categories
from anymetric.estimators._learned import (
    learned_weights,
    readers,
    row_shares,
    tree_gains,
    warn_if_clipped,
    warn_if_collinear,
    warn_if_flat,
    warn_if_large,
    warn_if_skipped,
    warn_if_unread,
)
from anymetric.estimators._ledger import recording, seeds
from anymetric.estimators._limits import goal_of, trade_off, values_on, warn_if_broken
from anymetric.estimators._notebook import ShowsRun
from anymetric.estimators._progress import Progress
from anymetric.estimators._rows import (
    FLOATS,
    TakesRows,
    as_matrix,
    as_target,
    checked_weights,
    has_gaps,
    telling,
)
from anymetric.estimators._scorer import warn_if_maximised, warn_if_unweighed, weighed
from anymetric.estimators._units import unit_of
from anymetric.gradients import LinearInterpolation, Subspace
from anymetric.history import History
from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.losses import Sigmoid
from anymetric.method import check_method
from anymetric.metrics import LimitValue, MetricError, as_metric
from anymetric.metrics.evaluations import current
from anymetric.metrics.faults import FaultPolicy, TooManyFailures
from anymetric.metrics.functions import GIVEN
from anymetric.models import Linear
from anymetric.models.ensemble import single_linear
from anymetric.models.tables import Plain
from anymetric.notebook import NotebookDescent
from anymetric.problem import Problem
from anymetric.projections import LBFGS, Adagrad, GaussNewton
from anymetric.recorded import Waiting, waiting
from anymetric.rules import TopRule
from anymetric.solution import Interrupted, Solution, Status, Turn
from anymetric.store import Store
from anymetric.threads import one_thread
from anymetric.tuning import FMEASURE_SIGMAS, FMEASURE_STEPS, Tuned

METHODS = {
    "auto": lambda n_jobs: Auto(),
    "descent": lambda n_jobs: Descent(
        turns=60,
        step=0.1,
        gradient=Subspace(),
        projection=GaussNewton(iterations=10, otherwise=LBFGS(iterations=30)),
        decay=0.3,
        normalised=True,
    ),
    "paper": lambda n_jobs: Tuned(
        Descent(gradient=LinearInterpolation(), projection=Adagrad()), n_jobs=n_jobs
    ),
    "notebook": lambda n_jobs: NotebookDescent(),
}
# Methods that are run as their authors ran them, and their loss by class and group.
PUBLISHED = {"paper": "hinge", "notebook": Sigmoid(1.5)}


class MetricEstimator(ShowsRun, TakesRows, CallbackSupportMixin, BaseEstimator):
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

    # On a busy machine threads wait for each other far longer than they work; one never waits.
    @one_thread()
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
        sample_weight_val=None,
        groups_val=None,
        side_val=None,
        **metadata,
    ):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            A weight of two is a row twice; where no weight reaches one, only their ratios count.
        groups, source : array-like of shape (n,), optional
            Groups that the metric or the surrogates speak of; where each row comes from.
        side : dict of columns or data frame, optional
            Further columns that the metric takes by name. In a search, a data frame: it can be
            split.
        X_val, y_val, sample_weight_val, groups_val, side_val : optional
            The validation rows. Without them all rows are cross-validated, each scored by a model
            that it did not train (``method="auto"``), or some are held out, evenly from each class;
            `validation_` says which.
        metadata : columns by name
            Columns that the metric reads, as in `side`: ``fit(X, y, amount=amount)``. Metadata
            routing brings them by themselves, to `score` too.

        Returns
        -------
        self
        """
        side = self._with_named(side, metadata)
        rows = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups, "side": side}
        judges = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        judges |= {"groups_val": groups_val, "side_val": side_val}
        with recording(self, {**rows, "source": source, **judges}):
            return self._fit_rows(**rows, source=source, **judges)

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
    ):
        rng = np.random.default_rng(seeds(self.random_state))
        self.metric_ = as_metric(self.metric, greater_is_better=self.greater_is_better)
        given = self._given(X, y, sample_weight, side, groups=groups, source=source)
        if X_val is None and y_val is None:
            if any(one is not None for one in (sample_weight_val, groups_val, side_val)):
                raise ValueError(
                    "sample_weight_val, groups_val or side_val was given without X_val and y_val."
                )
            method = self._method()
            cross_fits = method is not None and method.cross_fits
            train, valid = self._by_turns(given) if cross_fits else self._held_out(given, rng)
        else:
            train = given
            valid = self._given_valid(X_val, y_val, sample_weight_val, side_val, groups_val, given)
        self.__dict__.pop("certificates_", None)
        certifying = None
        if claims_of(self._goal()):
            train, certifying = self._set_apart(given, valid, rng)
            valid = train
        self._read_groups(train, valid)
        problem = self._problem(self._goal(), train, valid)
        warn_if_unweighed(self.metric_, valid.weights)
        try:
            solution = self._run(problem, rng)
        except MetricError as error:
            if error.best is None and has_gaps(problem.train.X):
                raise  # a plain line cannot read gaps
            self._unpack(problem, error.best or self._unjudged(problem, error.call or 0))
            if isinstance(error, TooManyFailures):
                self.status_ = Status.FAULTS
                self._unpack_conduct(str(error))
                warn(f"{error} {Status.FAULTS.value}")
                return self
            error.best = self
            raise
        except (Interrupted, Waiting) as stop:
            best = getattr(stop, "best", None)
            known = waiting(stop) or current().conduct.answered
            if best is None and known and not has_gaps(problem.train.X):
                status = Status.FAILED if waiting(stop) else Status.STOPPED
                best = replace(self._unjudged(problem, 0), status=status)
            if best is not None:
                self._unpack(problem, best)
                stop.best = self
            raise
        if certifying is not None:
            solution = self._certify(problem, solution, certifying, rng)
        self._unpack(problem, solution)
        self._unpack_conduct()
        warn_if_skipped(current().conduct)
        return self

    def _unpack_conduct(self, failure=None):
        """Write how the evaluations went."""
        conduct = current().conduct
        self.summary_ = replace(
            self.summary_,
            metric_noise=conduct.noise,
            skipped=conduct.skipped,
            failure=failure or conduct.failure,
        )

    def _set_apart(self, given, valid, rng):
        """Return the rows that train and choose, cross-fitted, and those that certify."""
        method = self._method()
        if method is None or not method.cross_fits:
            raise ValueError(
                "A limit with a confidence needs a method that cross-fits the training rows, so "
                f"that validation rows choose nothing: method='auto'; got {self.method!r} with "
                f"use_validation={self.use_validation}."
            )
        if valid is not given:
            train, apart = given, valid
        else:
            rows, held = set_apart(self._strata(given), self.validation_fraction, rng)
            self._given_rows = self._given_rows[0], self._given_rows[1][rows]
            train, apart = given.take(rows), given.take(held)
        self.validation_ = (
            f"{len(apart)} rows certify and chose nothing; the {len(train)} training rows are "
            "cross-validated, each scored by a model that it did not train."
        )
        return train, apart

    def _certify(self, problem, solution, rows, rng):
        """Let rows that chose nothing certify; return the solution at the threshold that holds."""
        goal = self._goal()
        asked = claims_of(goal), plain_goal(goal), rows, self._labels()
        if by_order(goal):
            order = replace(problem, metric=as_metric("average_precision"))
            found, certificates = certified(order, self._run(order, rng), *asked)
            if all(one.certified for one in certificates):
                self.certificates_ = certificates
                return replace(found, best=solution.best, rule=solution.rule)
            certificates = certified(problem, solution, *asked)[1]
            self.certificates_ = tuple(replace(one, certified=False) for one in certificates)
        else:
            solution, self.certificates_ = certified(problem, solution, *asked)
        warn_if_uncertain(self.certificates_)
        return solution

    @property
    def certificate_(self):
        """The certificate of the limit that asked for a confidence; print it.

        Of several, the first that does not hold, or the first.
        """
        found = self.__dict__.get("certificates_")
        if not found:
            raise AttributeError(
                "certificate_ is there after fit with a limit that has a confidence: "
                "subject_to=at_least('precision', 0.8, confidence=0.9)."
            )
        return min(found, key=lambda one: one.certified)

    def _goal(self):
        """Return the metric to train for: with its limits, if there are any."""
        return goal_of(self.metric_, getattr(self, "subject_to", None), self._meant_limit)

    def _meant_limit(self, metric):
        """Return what a limited metric means for the target that there is."""
        return metric

    def _read_groups(self, train, valid):
        """Find out whether groups can be read off the features, where limits speak of them."""

    def _run(self, problem, rng):
        """Run the method: the one step that another way of training replaces."""
        method = self._method()
        ledger = Ledger(problem, self.max_metric_calls, self.n_jobs)
        begun = self._starts(ledger, rng) if method.takes_starts else []
        progress = Progress(self, method, len(begun), ledger)
        solution = None
        try:
            solution = self._ran(method, ledger, begun, rng, progress.watch)
        except BudgetSpent as error:
            name = type(method).__name__
            said = f"{name} asked for more evaluations than max_metric_calls allows: {error}"
            raise ValueError(said) from error
        finally:
            progress.close(solution)
        return solution

    def _ran(self, method, ledger, begun, rng, watch):
        """Let the method run; who has two problems to choose between lets it run twice."""
        return method.run(ledger, begun, rng, watch)

    def _problem(self, metric, train, valid):
        """Build the problem and bind it, so that every mismatch is told before any work."""
        missing = [name for name in metric.needs if name not in (*valid.side, *GIVEN)]
        if missing:
            by_name = "groups= (and groups_val=)"
            if "query" in missing:
                by_name = "query= (and query_val=) to MetricRanker"
            raise ValueError(
                f"The metric {metric.name!r} needs the column(s) {', '.join(missing)} on the rows "
                f"that judge; columns given: {', '.join(sorted(valid.side)) or 'none'}. Give "
                f"{by_name}, or side= (and side_val=) with columns of these names."
            )
        surrogates = self.surrogates
        if isinstance(surrogates, str) and surrogates == "auto":
            surrogates = self._default_surrogates(metric, train)
        surrogates = self._meant(surrogates, train)
        problem = Problem(train, surrogates, metric, valid, self._model(train), self._labels())
        _ = problem.profiler
        with telling(f"The {len(valid)} rows that judge"):
            _ = problem.judge
        return problem

    def _meant(self, surrogates, train):
        """Return what the user's surrogates mean for the target that there is."""
        return surrogates

    def _model(self, train):
        """Return the model family, its parameters in standardised features if asked."""
        if families(self._families())[0] or (self._reads_gaps() and self._has_gaps(train.X)):
            return Linear(self.fit_intercept)  # its parameters are not asked for
        return self._linear(train)

    def _has_gaps(self, X):
        """Return whether X has missing values or categories."""
        values = X.data if sparse.issparse(X) else X
        return bool(self._category_places()) or bool(np.isnan(np.min(values, initial=0.0)))

    def _linear(self, train):
        if not self._standardized():
            if self.standardize == "auto":
                warn_if_large(train.X, self.method)
            return Linear(self.fit_intercept)
        return Linear.standardised(train.X, train.weights, intercept=self.fit_intercept)

    def _standardized(self):
        """Return whether parameters are those of standardised features."""
        return self.standardize is True or (self.standardize == "auto" and not self._published())

    def _published(self):
        """Return the loss of a method that is run as its authors ran it; None of any other."""
        method = getattr(self, "method", None)
        return PUBLISHED.get(method) if isinstance(method, str) else None

    def _starts(self, ledger, rng):
        """Return the first models: plain ones and random ones, or the user's."""
        problem = ledger.problem
        if isinstance(self.starts, numbers.Integral):
            plain = [np.zeros(problem.size)] if self._published() else self._plain_starts(ledger)
            return plain + starts.scattered(problem, self.starts, rng)
        given = np.atleast_2d(np.asarray(self.starts, dtype=np.float64))
        if given.shape[1] != problem.size or not np.all(np.isfinite(given)):
            raise ValueError(
                f"Each of `starts` must be {problem.size} finite parameters (weights, then the "
                f"intercept if there is one); got an array of shape {given.shape}."
            )
        return [self._parameters(problem, theta) for theta in given]

    def _method(self):
        """Return the part that runs the problem."""
        if not hasattr(self, "method"):  # another way of training, which overrides `_run`
            return None
        if isinstance(self.method, str):
            if self.method not in METHODS:
                raise ValueError(
                    f"method must be one of {sorted(METHODS)}, or a part such as Descent(...); "
                    f"got {self.method!r}."
                )
            method = METHODS[self.method](self.n_jobs)
            if isinstance(method, Tuned):
                steps, sigmas = self._paper_grid
                method = replace(method, steps=steps, sigmas=sigmas)
        else:
            method = check_method(self.method)
        if isinstance(method, Auto):
            return self._over_families(method)
        name = self.method if isinstance(self.method, str) else type(method).__name__
        return descent_over(families(self._families())[0], method, name)

    def _families(self):
        """Return what `model` means: ``auto`` is lines for all methods but the default."""
        model = getattr(self, "model", LINEAR)
        lines_only = isinstance(model, str) and model == "auto" and not self._by_default()
        return LINEAR if lines_only else model

    def _by_default(self):
        """Return whether the default method trains."""
        method = getattr(self, "method", None)
        return isinstance(method, Auto) or (isinstance(method, str) and method == "auto")

    def _reads_gaps(self):
        """Return whether missing values and categories are read: by the default's lines, too."""
        model = self._families()
        lines = isinstance(model, str) and model == LINEAR
        return self._by_default() if lines else reads_gaps(model)

    def _over_families(self, auto):
        """Return the default method for the families that `model` names."""
        own = {
            name: getattr(self, name)
            for name, default in (("use_validation", "auto"), ("max_seconds", None))
            if getattr(self, name, default) != default
        }
        places = tuple(self._category_places())
        learners, linear = families(self._families())
        return replace(
            auto,
            learners=auto.learners or tuple(with_categories(one, places) for one in learners),
            linear=linear and auto.linear,
            categorical=places,
            standardize=self._standardized(),
            **own,
        )

    def _category_places(self):
        """Return the columns that a data frame calls categories."""
        return list(getattr(self, "_category_at", ()))

    def _readable(self, X):
        """Return X as a linear model reads it: without gaps and categories."""
        plain = Plain.of(X, tuple(self._category_places()))
        return X if plain is None or plain.idle else plain.table(X)

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

    def _unjudged(self, problem, calls):
        """Return a plain model that the metric never answered for: better than none."""
        theta = self._plainest(problem)
        here = Probe(theta, problem.profile(theta), math.nan)
        turn = Turn(0, 0, here, here.profile, calls=calls)
        return Solution(turn, Status.FAILED, (turn,), calls)

    def _unpack(self, problem, solution):
        """Write the fitted attributes."""
        self._unpack_model(problem, solution)
        self.cost_ = solution.cost
        self.validation_score_ = float(problem.metric.value(solution.cost))
        self._unpack_limits(problem, solution)
        self.status_ = solution.status
        self.history_ = History(solution.history, problem.names)
        self.surrogates_ = problem.names
        self.weights_ = solution.worth or learned_weights(problem, solution.best)
        self.row_shares_ = row_shares(problem, self.weights_)
        self.summary_ = solution.summary
        self.__dict__.pop("decision_rule_", None)
        if solution.rule is not None:
            self.decision_rule_ = solution.rule
        self.n_metric_calls_ = solution.calls
        self._unpack_rows(problem, solution)
        own = not (isinstance(self.surrogates, str) and self.surrogates == "auto")
        if solution.scorer is None and own:  # nobody is to mend what he did not choose
            warn_if_collinear(problem, solution.theta)
        if own:
            warn_if_unread(problem, self._method())
        warn_if_flat(self, solution)
        warn_if_clipped(self)

    def _unpack_limits(self, problem, solution):
        """Write what came of the limits; the cost and the score are then the objective's."""
        for name in ("constraints_", "trade_off_"):
            self.__dict__.pop(name, None)
        rows, scores = solution.out_of_fold or (problem.valid, None)
        if scores is None and solution.scorer is None:
            scores = problem.judged(solution.theta)
        found = None if scores is None else values_on(replace(problem, valid=rows), scores)
        if found is not None:
            self.validation_score_, self.constraints_ = found
            self.cost_ = float(self.metric_.cost(self.validation_score_))
            table = trade_off(replace(problem, valid=rows), scores)
            if table is not None:
                self.trade_off_ = table
            warn_if_broken(self.constraints_)

    def _unpack_model(self, problem, solution):
        """Write the coefficients of a linear answer, or the model itself; sometimes both."""
        for name in ("coef_", "intercept_", "model_"):
            self.__dict__.pop(name, None)
        if solution.scorer is None:
            weights, offset = self._coefficients(problem, solution.theta)
            self._set_coefficients(weights, float(offset))
            return
        scorer = self._in_units(problem, solution.scorer)
        linear = single_linear(scorer)
        if linear is not None:
            self._set_coefficients(*linear)
        if linear is None or families(self._families())[0] or readers(scorer):
            self.model_ = scorer

    def _in_units(self, problem, scorer):
        """Return the scorer in the units of y."""
        return scorer

    def _unpack_rows(self, problem, solution):
        """Write the learned loss as `sample_weight` and `class_weight` for other learners."""
        n, kept = self.__dict__.pop("_given_rows", (0, None))
        judges = self.__dict__.pop("_given_judges", (0, None))
        for name in ("sample_weight_", "sample_weight_val_", "class_weight_"):
            self.__dict__.pop(name, None)
        if solution.judges is not None and judges[1] is not None:
            alone = solution.rows is None or kept is None
            self.sample_weight_val_ = np.zeros(judges[0])
            unit = len(judges[1]) if alone else len(kept)
            self.sample_weight_val_[judges[1]] = unit * solution.judges
        if solution.rows is None or kept is None:
            return
        learned = np.zeros(n)
        learned[kept] = solution.rows * len(kept) / solution.rows.sum()
        self.sample_weight_ = learned
        codes = self._codes()
        if codes is not None:
            shares = [learned[kept][problem.train.y == code].mean() for code in codes]
            labels = self.classes_.tolist() if len(codes) > 2 else self._labels()
            self.class_weight_ = dict(zip(labels, map(float, shares), strict=True))

    def _codes(self):
        """Return the codes of the classes, in order; None where there are none."""
        return None

    def _checked(self, X):
        check_is_fitted(self, "n_metric_calls_")
        return validate_data(
            self,
            self._table(X),
            accept_sparse="csr",
            dtype=FLOATS,
            reset=False,
            ensure_all_finite=self._finite(),
        )

    def _scores(self, X):
        if hasattr(self, "model_"):
            return self.model_.scores(as_matrix(self._checked(X)))
        product = self._checked(X) @ self.coef_.ravel() + np.ravel(self.intercept_)[0]
        return np.asarray(product, dtype=np.float64)

    def _told_scores(self, X, groups=None, side=None):
        """Return the scores of rows; a decision rule may read metadata of theirs."""
        scores, rule = self._scores(X), getattr(self, "decision_rule_", None)
        if rule is None or isinstance(rule, TopRule):  # a top is of all rows given together
            return scores
        return rule.moved(scores, rule_columns(rule, scores, groups, side, type(self).__name__))

    def _judged_scores(self, X, groups, side):
        """Return the scores that the metric reads."""
        return self._told_scores(X, groups, side)

    def score(self, X, y, sample_weight=None, *, groups=None, side=None, **metadata) -> float:
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
        warn_if_maximised(self.metric_)
        side = self._with_named(side, metadata)
        return self._valued(self.metric_, X, y, sample_weight, groups, side)

    def _with_named(self, side, metadata):
        """Return the side columns with those that were given by name."""
        given = {name: column for name, column in metadata.items() if column is not None}
        if not given:
            return side
        read = reads(self.metric)
        for name in given:
            if name not in read:
                raise TypeError(
                    f"{type(self).__name__} got an unexpected argument {name!r}: the metric reads "
                    f"the columns {', '.join(read) or 'none'}."
                )
        return {**dict(items(side, "side")), **given}

    def set_params(self, **params):
        """Set parameters; those of a model within are ``model__name``.

        Parameters
        ----------
        params : by name

        Returns
        -------
        self
        """
        nested = [name for name in params if name.startswith("model__")]
        model = params.get("model", getattr(self, "model", None))
        if nested and isinstance(model, str):
            raise ValueError(
                f"{nested[0]}: model={model!r} is a name, which has no parameters to set. Give the "
                "model itself: model=Boosted(...), or model=Reweighted(estimator), whose "
                "parameters are model__estimator__name."
            )
        return super().set_params(**params)

    @property
    def feature_importances_(self):
        """How much each feature lowered the loss of the trees, summing to one (see `model_`).

        Only where the model holds LightGBM's trees; a line that it also holds is not counted.
        Importances for the metric itself: `sklearn.inspection.permutation_importance`.
        """
        gains = tree_gains(self.__dict__.get("model_"))
        if gains is None:
            raise AttributeError("feature_importances_ is there only where the model has trees.")
        return gains

    def _get_metadata_request(self):
        requests = super()._get_metadata_request()
        for name in reads(self.metric):
            for method in (requests.fit, requests.score):
                method.add_request(param=name, alias=True)
        return requests

    def constraint_values(self, X, y, sample_weight=None, *, groups=None, side=None):
        """Return every limit of `subject_to`, and what these rows say of it.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight, groups, side : optional
            As in `fit`.

        Returns
        -------
        tuple of LimitValue
        """
        limits = [one.limit for one in getattr(self, "constraints_", ())]
        given = X, y, sample_weight, groups, side
        return tuple(LimitValue(one, self._valued(one.metric, *given)) for one in limits)

    def _valued(self, metric, X, y, sample_weight, groups, side):
        """Return a metric of the predictions on rows."""
        scores = self._judged_scores(X, groups, side)
        check_consistent_length(X, y)
        y, scores, weights, columns, X = weighed(
            metric,
            self._encode_valid(as_target(y)),
            scores,
            None if sample_weight is None else checked_weights(sample_weight, scores),
            side_columns(scores, side, groups=groups),
            as_matrix(self._checked(X)),
        )
        bound = metric.bind(y, weights=weights, side=columns, labels=self._labels(), X=X)
        return float(bound.values(scores))

    def diagnose(self, X, y, *, sample_weight=None, groups=None, side=None, source=None):
        """Say how well the surrogates explain the metric, whether training paid, what to do.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to probe on: validation rows, or any the model has not seen.
        y : array-like of shape (n,)
        sample_weight, groups, side, source : optional
            As in `fit`.

        Returns
        -------
        Diagnosis
            Print it.
        """
        moved = bool(getattr(getattr(self, "decision_rule_", None), "needs", ()))
        known = hasattr(self, "model_") or moved
        scores = self._told_scores(X, groups, side) if known else None
        X = self._checked(X)
        y = self._encode_valid(as_target(y))
        columns = side_columns(X, side, groups=groups, source=source)
        data = Data(as_matrix(X), y, checked_weights(sample_weight, X), columns)
        problem = self._problem(self.metric_, data, data)
        if scores is not None:
            return self._diagnose_scores(problem, scores)
        theta = self._fitted()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        return diagnose(problem, self._parameters(problem, theta), self.summary_, rng)

    def _diagnose_scores(self, problem, scores):
        """Probe around the scores of a model that has more to it than parameters."""
        scores = unit_of(problem.metric).small_scores(scores)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        return diagnose(*around_scores(problem, scores), self.summary_, rng)

    def __getstate__(self):
        # By name: skops writes an Enum's member, and cannot read it again.
        state = super().__getstate__()
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
        tags.input_tags.allow_nan = self._reads_gaps()
        tags.target_tags.required = True
        return tags
