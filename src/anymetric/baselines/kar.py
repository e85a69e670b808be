"""KarRanker: the average precision@k surrogate of Kar, Narasimhan and Jain (2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines._adagrad import adagrad
from anymetric.baselines._base import COUNT, POSITIVE, Baseline, grid
from anymetric.baselines._trials import Trials
from anymetric.estimators import MetricRanker
from anymetric.solution import Status
from anymetric.surrogates import AveragePrecisionAtK

STEPS = (0.01, 0.1, 1.0)


class KarRanker(Baseline, MetricRanker):
    """Minimise the average precision@k surrogate by Adagrad; keep the best iterate by validation.

    Parameters
    ----------
    metric : str, function, scikit-learn scorer or Metric, default="prbep"
        The metric that selects the iterate.
    k : int or None
        At most the number of relevant training rows; None takes all of them: the precision-recall
        break-even point.
    step : float, list of floats or None
        Adagrad's step, the best of several on the validation rows. None tries 0.01, 0.1 and 1.
    iterations : int, default=250
    greater_is_better, standardize, fit_intercept, validation_fraction, max_metric_calls, \
random_state
        As in `MetricRanker`. Rows are counted: weights other than zero and one are refused.

    Attributes
    ----------
    coef_, intercept_, history_, status_, cost_, validation_score_, validation_, n_metric_calls_
        As in `MetricRanker`.
    summary_ : Summary
        The `step` and the `iteration` that were `chosen`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> KarRanker("prbep", random_state=0).fit(X, y).validation_score_ > 0.5
    True
    """

    _parameter_constraints = MetricRanker._parameter_constraints | {
        "k": [COUNT, None],
        "step": [POSITIVE, "array-like", None],
        "iterations": [COUNT],
    }

    def __init__(
        self,
        metric: Any = "prbep",
        *,
        k: int | None = None,
        step: float | Sequence[float] | None = None,
        iterations: int = 250,
        greater_is_better: bool | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        validation_fraction: float = 0.2,
        max_metric_calls: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.k = k
        self.step = step
        self.iterations = iterations
        self.greater_is_better = greater_is_better
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.validation_fraction = validation_fraction
        self.max_metric_calls = max_metric_calls
        self.random_state = random_state

    @property
    def surrogates(self) -> Any:  # type: ignore[override]
        """The one surrogate that is minimised."""
        return AveragePrecisionAtK(self.k)

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem = trials.problem

        def gradient(theta: NDArray[np.float64]) -> NDArray[np.float64]:
            slopes = problem.profiler.slopes(problem.scores(theta))
            return np.asarray(problem.model.pullback(problem.train.X, theta, slopes)[0])

        for step in grid(self.step, STEPS):
            path = adagrad(gradient, np.zeros(problem.size), step, self.iterations)
            trials.best_of(path, step=step)
        return Status.COMPLETED
