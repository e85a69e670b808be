"""MetricRegressor: a regression trained for any metric."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from anymetric import starts
from anymetric.auto import Auto
from anymetric.auto.constants import FEWEST_ROWS
from anymetric.auto.judges.calls import PLENTY
from anymetric.auto.records import LINEAR
from anymetric.data import quantiles
from anymetric.estimators._learned import warn_if_dominated
from anymetric.estimators._rows import real
from anymetric.estimators._shell import MetricEstimator
from anymetric.estimators._units import InUnit, LogUnit, Unit, given, least_of, unit_of
from anymetric.ledger import Ledger
from anymetric.losses import Huber, Loss, Lp, MarginLoss, as_loss
from anymetric.metrics import Limited, MetricError
from anymetric.metrics.decisions import DecisionMetric
from anymetric.metrics.labelled import LabelMetric
from anymetric.metrics.ranking import RankingMetric
from anymetric.solution import Interrupted, Status
from anymetric.surrogates import Sliced, Slices, Surrogate, lp_family

# Powers of the default surrogates, from nearly absolute errors to sharp ones (Example 2).
POWERS = (1.1, 1.5, 2.0, 4.0)

# Outliers count no more than an error of a fifth of the residual spread.
ROBUST = Huber(0.2)

# The least ratio of high to low targets at which logarithms are tried, and the share of the
# bootstrap resamples on which they must cost less: large targets can make the standard error of
# the improvement as large as itself, where every resample agrees.
SPAN, SURE = 3.0, 0.93

# Logarithms are given up where their first trees cost more than those of the targets themselves by
# this part.
BEHIND = 0.03

# Numbers have less noise than labels, and take more and larger trees.
TREES = {"trees": 2000, "leaves": 31}

# An improvement smaller than this share of the cost of a constant is rounding.
NOTHING = 1e-8


class MetricRegressor(RegressorMixin, MetricEstimator):
    """A regression trained for the metric you care about.

    The surrogates are ``|f - y|^p`` for several p (Example 2 of the paper): how much outliers
    count is learned from the metric on the validation rows. They see y centred and scaled by the
    residuals of least squares without gross outliers, so that the unit of y does not matter; the
    metric sees y and the predictions as they are. For asymmetric losses, such as the pinball loss,
    all candidates are shifted, and asymmetric training losses are tried. Where y is not negative
    and spans several times its low values, models of its logarithm are tried too, and selected on
    the validation rows.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric, default="r2"
    model : "auto", "linear", "boosted" or a family, default="auto"
        As in `MetricClassifier`, but trees are more and larger: ``Boosted(2000, leaves=31)``.
    link : "auto", "identity" or "log", default="auto"
        What the model predicts: y itself, or its logarithm (predictions are then its exponential,
        and never negative). ``auto`` evaluates both where y spans several times its low values,
        with twice as many calls of the metric, and takes the logarithm where it is better beyond
        noise, or where the metric fails without. Only the identity is tried by methods other than
        the default, without an intercept, without standardisation, and where calls are few.
    surrogates : "auto", builder, loss, name or list, default="auto"
        ``auto``: the l_p family for p = 1.1, 1.5, 2 and 4. For the descents: ``method="auto"``
        chooses among losses of its own, which `weights_` names.
    standardize : bool, default=True
        Standardise the features, and scale y for the surrogates as described above. With False
        both are used as given: a loss with a scale of its own, such as ``Huber(delta)``, then has
        it in the unit of y.
    method, subject_to, greater_is_better, starts, fit_intercept, use_validation, \
validation_fraction, max_metric_calls, max_seconds, on_error, n_repeats, ledger, n_jobs, \
verbose, random_state
        As in `MetricClassifier`.

    Attributes
    ----------
    link_ : "identity" or "log"
        What the model below predicts.
    coef_, intercept_ : array of shape (d,) and float
        For a linear model: predictions are ``X @ coef_ + intercept_``, or ``exp`` of it.
    model_ : Scorer
        The model itself, unless ``model="linear"``; with the logarithm, predictions are ``exp`` of
        its scores.
    weights_, surrogates_, row_shares_, history_, status_, cost_, validation_score_, \
validation_, summary_, n_metric_calls_, constraints_
        As in `MetricClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(300, 5, noise=5.0, random_state=0)
    >>> reg = MetricRegressor("median_absolute_error", random_state=0).fit(X, y)
    >>> reg.validation_score_ < 5.0
    True

    For multiplicative effects the logarithm is selected:

    >>> reg = MetricRegressor("mean_absolute_error", random_state=0).fit(X, np.exp(0.01 * y))
    >>> reg.link_
    'log'
    """

    # The mixin's own score would come first.
    score = MetricEstimator.score
    _strata_count = False

    _trees = TREES
    _parameter_constraints: ClassVar[dict] = {
        **MetricEstimator._parameter_constraints,
        "link": [StrOptions({"auto", "identity", "log"})],
    }

    def __init__(
        self,
        metric: Any = "r2",
        *,
        model: Any = "auto",
        link: Any = "auto",
        surrogates: Any = "auto",
        method: Any = "auto",
        subject_to: Any = None,
        greater_is_better: bool | None = None,
        starts: Any = 0,
        standardize: Any = True,
        fit_intercept: bool = True,
        use_validation: Any = "auto",
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        max_seconds: float | None = None,
        on_error: Any = "skip",
        n_repeats: Any = "auto",
        ledger: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.link = link
        super().__init__(
            metric,
            model=model,
            surrogates=surrogates,
            method=method,
            subject_to=subject_to,
            greater_is_better=greater_is_better,
            starts=starts,
            standardize=standardize,
            fit_intercept=fit_intercept,
            use_validation=use_validation,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            max_seconds=max_seconds,
            on_error=on_error,
            n_repeats=n_repeats,
            ledger=ledger,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )

    def predict(self, X) -> np.ndarray:
        """Return the predictions.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._scores(X)

    def _encode(self, y):
        return self._encode_valid(y)

    def _check_target(self, data):
        self.link_ = "log" if self.link == "log" else "identity"
        if self.link_ == "log" and not (data.y.min() >= 0.0 and data.y.max() > 0.0):
            raise ValueError(
                f"link='log' is for targets of zero or more; got {data.y.min():g} among others."
            )

    def _encode_valid(self, y):
        return real(y)

    def _strata(self, data):
        return data.y

    def _labels(self):
        return None

    def _default_surrogates(self, metric, train):
        return lp_family(POWERS)

    def _problem(self, metric, train, valid, link=None):
        for part in metric.parts if isinstance(metric, Limited) else (metric,):
            check_numbers(part, valid.y)
        if isinstance(metric, Limited):  # errors of large targets are large
            metric = replace(metric, jump=max(1.0, float(np.abs(valid.y).max()) ** 2) * metric.jump)
        if not (isinstance(self.surrogates, str) and self.surrogates == "auto"):
            check_residual(self.surrogates)
        unit = self._unit(train, link or self.link_)
        if unit is None:
            return super()._problem(metric, train, valid)
        small = unit.small(train)
        small_valid = small if valid is train else unit.small(valid)
        return super()._problem(InUnit(metric, unit), small, small_valid)

    def _published(self):
        """Return None: the paper has no regression."""
        return None

    def _unit(self, train, link):
        """Return the unit that targets are trained in; None if they are left as they are."""
        if not self.standardize:
            return LogUnit(least=least_of(train)) if link == "log" else None
        readable = train
        if self._reads_missing():
            readable = replace(train, X=self._readable(train.X))
        kind = LogUnit if link == "log" else Unit
        return kind.of(readable, self._linear(readable))

    def _ran(self, method, ledger, begun, rng, watch):
        if not self._may_be_logs(method, ledger.problem):
            return super()._ran(method, ledger, begun, rng, watch)
        again = deepcopy(rng)
        try:
            plain = super()._ran(method, ledger, begun, rng, watch)
        except MetricError as error:  # perhaps for negative predictions, which exp never gives
            enough = ledger.left >= ledger.calls
            found = self._logs_ran(method, ledger, again, watch, error.best) if enough else None
            if found is None:
                raise
            return found
        if (
            plain.status is not Status.SELECTED
            or plain.resampled_costs is None
            or ledger.left < PLENTY
        ):
            return plain
        watched = UntilBehind.of(plain, watch)
        other = self._logs_ran(method, ledger, again, watched, plain)
        plain = replace(plain, calls=ledger.calls)
        if other is None or other.resampled_costs is None:
            return plain
        gain = plain.resampled_costs - other.resampled_costs
        found = other if float(np.mean(gain > 0.0)) >= SURE else plain
        if watched.behind:  # nobody but us has stopped it
            found = replace(found, status=plain.status)
        costs = {"identity": plain.cost, "log": other.cost}
        return replace(found, summary=replace(found.summary, link_costs=costs))

    def _may_be_logs(self, method, problem):
        """Return whether a model of the logarithms may be better, and can be compared."""
        free = self.link == "auto" and self.standardize and self.fit_intercept
        comparable = isinstance(method, Auto) and len(problem.valid) >= FEWEST_ROWS
        return free and comparable and all(spans(given(d)) for d in (problem.train, problem.valid))

    def _logs_ran(self, method, ledger, rng, watch, best):
        """Run the method with the logarithms; None if the metric fails.

        The seed is that of the first run, so that the bootstrap resamples are the same.
        """
        logs = Ledger(self._in_logs(ledger.problem), ledger.rest, ledger.n_jobs)
        try:
            found = method.run(logs, [], rng, watch)
        except MetricError:
            return None
        except Interrupted:
            raise Interrupted(best) from None
        finally:
            ledger.calls += logs.calls
        return replace(found, calls=ledger.calls, summary=replace(found.summary, link="log"))

    def _in_logs(self, problem):
        """Return the same problem for the logarithms of the targets."""
        train = given(problem.train)
        valid = train if problem.valid is problem.train else given(problem.valid)
        return self._problem(self._goal(), train, valid, "log")

    def _unpack(self, problem, solution):
        if solution.summary.link == "log":
            self.link_, problem = "log", self._in_logs(problem)
        super()._unpack(problem, solution)
        if solution.held_out is not None:
            predicted = unit_of(problem.metric).large(solution.held_out[:, 0])
            warn_if_dominated(self.metric_, given(problem.valid), predicted)

    def _scores(self, X):
        scores = super()._scores(X)
        return LogUnit().large(scores) if self.link_ == "log" else scores

    def _run(self, problem, rng):
        solution = super()._run(problem, rng)
        if solution.scorer is not None:
            return solution
        if min(iteration.cost for iteration in solution.iterations) < solution.cost:
            return solution  # not chosen by its cost
        if self.max_metric_calls is not None and solution.calls >= self.max_metric_calls:
            return solution
        most = None if self.max_metric_calls is None else self.max_metric_calls - solution.calls
        ledger = Ledger(problem, most, self.n_jobs)
        try:
            constant = abs(ledger.cost(np.zeros(len(problem.valid))))
        except MetricError:  # a correlation, for instance, is undefined there
            constant = np.inf
        solution = replace(solution, calls=solution.calls + ledger.calls)
        return earliest(solution, NOTHING * constant) if np.isfinite(constant) else solution

    def _in_units(self, problem, scorer):
        unit = unit_of(problem.metric)
        return scorer.times(unit.spread).moved(unit.center)

    def _coefficients(self, problem, theta):
        return unit_of(problem.metric).large_model(*super()._coefficients(problem, theta))

    def _parameters(self, problem, given):
        weights, offset = (given[:-1], given[-1]) if self.fit_intercept else (given, 0.0)
        model = unit_of(problem.metric).small_model(weights, float(offset))
        return problem.model.parameters(*model)

    def _plainest(self, problem):
        return starts.plain(problem, "squared")

    def _plain_starts(self, ledger):
        losses = ("squared", ROBUST, Lp(POWERS[0]))
        return [starts.plain(ledger.problem, loss) for loss in losses]

    def _set_coefficients(self, weights, offset):
        self.coef_ = weights
        self.intercept_ = offset


@dataclass
class UntilBehind:
    """A callback that ends a run whose first trees are clearly behind those of another run."""

    first: float | None
    watch: Any
    behind: bool = False

    @classmethod
    def of(cls, plain, watch):
        """Compare with the first trees of a run, if it has any."""
        costs = (one.cost for one in plain.iterations if one.family not in ("", LINEAR))
        return cls(next(costs, None), watch)

    def __call__(self, iteration):
        """Pass the iteration on; return whether to end."""
        if self.watch is not None and self.watch(iteration):
            return True
        if self.first is not None and iteration.family not in ("", LINEAR):
            self.behind = iteration.cost > self.first + BEHIND * abs(self.first)
            self.first = None
        return self.behind


def spans(data):
    """Return whether targets are not negative, and span enough for a model of their logarithms.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> X = np.zeros((100, 1))
    >>> spans(Data(X, np.arange(100.0))), spans(Data(X, 1000.0 + np.arange(100.0)))
    (True, False)
    """
    if not (data.y.min() >= 0.0 and data.y.max() > 0.0):
        return False
    low, high = np.maximum(quantiles(data.y, (0.1, 0.9), data.weights), least_of(data))
    return bool(high > SPAN * low)


def earliest(solution, slack):
    """Return the solution with the first iteration that costs no more than the best and `slack`.

    Where rows are fitted exactly, costs differ by rounding only: the plain model is kept.
    """
    first = next(
        iteration for iteration in solution.iterations if iteration.cost <= solution.cost + slack
    )
    return replace(solution, best=first)


def check_numbers(metric, y):
    """Refuse a metric of classes where the targets are numbers.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> check_numbers(as_metric("accuracy"), np.array([0.5, 2.0]))
    Traceback (most recent call last):
    ...
    ValueError: The metric 'accuracy' is of classes, and MetricRegressor predicts numbers: take
    MetricClassifier, or a metric such as 'r2' or 'mean_absolute_error'.
    """
    if np.all(np.abs(y) == 1.0) or not isinstance(
        metric, DecisionMetric | LabelMetric | RankingMetric
    ):
        return
    kind, other = "classes", "MetricClassifier"
    if isinstance(metric, RankingMetric):
        kind, other = "an order of two classes", "MetricRanker or MetricClassifier"
    raise ValueError(
        f"The metric {metric.name!r} is of {kind}, and MetricRegressor predicts numbers: take "
        f"{other}, or a metric such as 'r2' or 'mean_absolute_error'."
    )


def check_residual(surrogates):
    """Refuse losses of the margin and slices by class: numbers have neither.

    Examples
    --------
    >>> check_residual(["squared", Lp(1.5)])
    >>> check_residual("hinge")
    Traceback (most recent call last):
    ...
    ValueError: MetricRegressor got the surrogate 'hinge', a loss of the margin between two classes.
    ...
    """
    if isinstance(surrogates, str | Loss):
        surrogates = Sliced(surrogates)
    if isinstance(surrogates, Slices | Sliced):
        refuse_classes(surrogates)
    elif not isinstance(surrogates, Surrogate) and np.iterable(surrogates):
        for part in surrogates:
            check_residual(part)


def refuse_classes(slices):
    """Raise an error where a loss or a slice needs classes."""
    loss = as_loss(slices.loss)
    by = slices.by if isinstance(slices, Slices) else [column for column, _ in slices.where]
    wrong = "a loss of the margin between two classes" if isinstance(loss, MarginLoss) else None
    if "class" in by:
        wrong = "which has a slice for each class"
    if wrong is not None:
        raise ValueError(
            f"MetricRegressor got the surrogate {loss.name!r}, {wrong}. Numbers have "
            "none: take 'squared', 'absolute', 'huber', Lp(1.5) or lp_family(), of all rows or by "
            "per_group(...) and per_source(...)."
        )
