"""RelaxedFM: the F-measure with every indicator replaced by its hinge bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines._adagrad import adagrad
from anymetric.baselines._base import COUNT, POSITIVE, BaselineClassifier, grid
from anymetric.baselines._fmeasures import FMeasures
from anymetric.baselines._trials import Trials
from anymetric.problem import Problem
from anymetric.solution import Status
from anymetric.tuning import FMEASURE_STEPS

Floats = NDArray[np.float64]


class RelaxedFM(BaselineClassifier):
    """Maximise an F-measure in which hinge losses bound the true and false positives.

    With ``h(z) = max(0, 1 - z)``, the sum over positives of ``1 - h(f)`` is at most TP, and the
    sum over negatives of ``h(-f)`` at least FP. Adagrad climbs the F-measure of these sums, by
    group where the metric is a mean over groups; the best iterate by validation is kept (section
    6.2 of the paper).

    Parameters
    ----------
    metric : str or Metric, default="f1"
        An F-measure, or its mean over groups.
    step : float, list of floats or None
        Adagrad's step, the best of several on the validation rows. None tries the paper's.
    iterations : int, default=250
    greater_is_better, standardize, fit_intercept, validation_fraction, max_metric_calls, \
random_state
        As in `MetricClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> RelaxedFM("f1", random_state=0).fit(X, y).validation_score_ > 0.5
    True
    """

    _parameter_constraints = BaselineClassifier._parameter_constraints | {
        "step": [POSITIVE, "array-like", None],
        "iterations": [COUNT],
    }

    def __init__(
        self,
        metric: Any = "f1",
        *,
        step: float | Sequence[float] | None = None,
        iterations: int = 250,
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
        self.step = step
        self.iterations = iterations

    def _try(self, trials: Trials, rng: np.random.Generator) -> Status:
        problem = trials.problem
        measures = FMeasures.of(problem.metric, problem.train, type(self).__name__)
        for step in grid(self.step, FMEASURE_STEPS):
            gradient = self._gradient(measures, problem)
            path = adagrad(gradient, np.zeros(problem.size), step, self.iterations)
            trials.best_of(path, step=step)
        return Status.COMPLETED

    def _gradient(self, measures: FMeasures, problem: Problem) -> Callable[[Floats], Floats]:
        """Return the function from parameters to the gradient that Adagrad goes down."""

        def gradient(theta: Floats) -> Floats:
            scores = np.asarray(problem.scores(theta), dtype=np.float64)
            _, slopes = relaxed(measures, scores)
            return -problem.model.pullback(problem.train.X, theta, slopes)

        return gradient


def relaxed(measures: FMeasures, scores: Floats) -> tuple[float, Floats]:
    """Return the relaxed F-measure, averaged over the groups, and its slopes by the scores.

    ``(1 + beta^2) TP / (beta^2 P + TP + FP)``. The true denominator is never below
    ``beta^2 P``; where the bound of TP is so negative that the relaxed one would be, it is held
    there.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import FBeta
    >>> measures = FMeasures.of(FBeta(), Data(np.zeros((2, 1)), np.array([1.0, -1.0])))
    >>> relaxed(measures, np.array([0.5, -0.5]))[0]
    0.5
    """
    tp = measures.positives @ (1.0 - np.maximum(1.0 - scores, 0.0))
    fp = measures.negatives @ np.maximum(1.0 + scores, 0.0)
    floor = max(measures.square, 0.1) * measures.share
    bottom = measures.square * measures.share + tp + fp
    free = bottom > floor
    bottom = np.maximum(bottom, floor)
    values = (1.0 + measures.square) * tp / bottom
    fall = np.where(free, values / bottom, 0.0)
    rise = (1.0 + measures.square) / bottom - fall
    size = len(measures)
    slopes = (rise @ measures.positives) * (scores < 1.0)
    slopes = slopes - (fall @ measures.negatives) * (scores > -1.0)
    return float(values.mean()), np.asarray(slopes / size)
