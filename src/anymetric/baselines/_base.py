"""Base: the interface of every baseline. A baseline defines only which models it tries."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from anymetric.auto.constants import FEWEST_ROWS
from anymetric.baselines._fits import folds
from anymetric.baselines._trials import Trials
from anymetric.blocks import Queries
from anymetric.estimators import MetricClassifier
from anymetric.history import History
from anymetric.ledger import BudgetSpent
from anymetric.metrics import Limited
from anymetric.metrics.ranked import QUERY
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, keeping
from anymetric.summary import plain

# What scikit-learn checks such parameters for.
POSITIVE = Interval(numbers.Real, 0.0, None, closed="neither")
COUNT = Interval(numbers.Integral, 1, None, closed="left")
FOLDS = Interval(numbers.Integral, 2, None, closed="left")
COUNT_OR_NONE = Interval(numbers.Integral, 0, None, closed="left")


class Baseline:
    """What the comparison methods share: they try models and keep the best by validation cost."""

    # The shell binds surrogates: here they only fill the history's profile.
    surrogates = "logistic"

    if TYPE_CHECKING:
        max_metric_calls: int | None

        def _set_coefficients(self, weights: NDArray[np.float64], offset: float) -> None: ...

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        """Try models; return why no more were tried."""
        raise NotImplementedError

    def _run(self, problem: Problem, rng: np.random.Generator) -> Solution:
        trials = Trials(problem, self.max_metric_calls)
        with keeping(lambda cut: trials.solution(cut) if trials.iterations else None):
            try:
                return trials.solution(self._try(trials, rng))
            except BudgetSpent:
                return trials.solution(Status.BUDGET)

    def _unpack(self, problem: Problem, solution: Solution) -> None:
        weights, offset = problem.model.raw(solution.theta)  # type: ignore[attr-defined]
        self._set_coefficients(weights, float(offset) + solution.summary.chosen.get("shift", 0.0))
        self._report(problem, solution)

    def _keep_record(self, *given: Any) -> None:
        """Keep nothing: what a metric values is read from runs of the default."""

    def _report(self, problem: Problem, solution: Solution) -> None:
        goal = problem.metric
        if isinstance(goal, Limited):  # models that satisfy the limits cost what the objective does
            kept = solution.cost < goal.jump
            self.cost_ = solution.cost if kept else np.nan
            self.validation_score_ = float(goal.of.value(self.cost_))
        else:
            self.cost_ = solution.cost
            self.validation_score_ = float(goal.value(solution.cost))
        self.status_ = solution.status
        self.history_ = History(solution.history, problem.names)
        summary = solution.summary
        self.summary_ = replace(summary, chosen=plain(summary.chosen))
        self.n_metric_calls_ = solution.calls


class BaselineClassifier(Baseline, MetricClassifier):
    """A comparison method for binary classification.

    Parameters
    ----------
    metric, greater_is_better, standardize, fit_intercept, validation_fraction, \
max_metric_calls, random_state
        As in `MetricClassifier`.
    """

    _takes_many = False
    _calibrates = False
    # Folds of the training rows where no validation rows are given; None holds some out.
    n_splits: int | None = None

    def __init__(
        self,
        metric: Any = "accuracy",
        *,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.greater_is_better = greater_is_better
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.validation_fraction = validation_fraction
        self.max_metric_calls = max_metric_calls
        self.random_state = random_state

    def _held_out(self, data: Any, rng: np.random.Generator) -> Any:
        if self.n_splits is None:
            return super()._held_out(data, rng)  # type: ignore[no-untyped-call]
        return self._cross_fitted(data)  # type: ignore[no-untyped-call]

    def _folds(self, problem: Problem, rng: np.random.Generator) -> NDArray[np.intp] | None:
        """Return the fold of each training row; None where other rows validate."""
        if self.n_splits is None or problem.valid is not problem.train:
            return None
        if len(problem.train) < FEWEST_ROWS:
            return None
        if QUERY in problem.train.side:  # rows of a query stay together
            queries = Queries.of(problem.train.side[QUERY])
            return np.asarray(rng.permutation(len(queries)) % self.n_splits)[queries.member]
        return folds(self._strata(problem.train), self.n_splits, rng)  # type: ignore[no-untyped-call]


def grid(given: float | Sequence[float] | None, default: Sequence[float]) -> list[float]:
    """Return the values to try: the default's, one, or the user's own, from small to large.

    Examples
    --------
    >>> grid(None, (0.1, 1.0)), grid(2.0, (0.1, 1.0)), grid([3.0, 1.0], ())
    ([0.1, 1.0], [2.0], [1.0, 3.0])
    """
    values = np.atleast_1d(np.asarray(default if given is None else given, dtype=np.float64))
    if values.ndim != 1 or not len(values) or not np.all((values > 0.0) & np.isfinite(values)):
        raise ValueError(f"One positive number or a list of them is needed; got {given!r}.")
    return sorted(values.tolist())
