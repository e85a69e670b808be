"""GenRates: sums of ratios of rates as a game of three players (Narasimhan et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.baselines._base import POSITIVE
from anymetric.baselines._fmeasures import FMeasures
from anymetric.baselines.relaxed import RelaxedFM
from anymetric.problem import Problem

Floats = NDArray[np.float64]


class GenRates(RelaxedFM):
    """Maximise an F-measure as a game between a model, slack variables and multipliers.

    The cost of a group is a ratio of rates, ``1 - F = n / d`` with ``n = beta^2 FN + FP`` and
    ``d = (1 + beta^2) P - FN + FP``. Each numerator and each denominator gets a slack variable,
    and the constraints ``n <= xi``, ``zeta <= d`` get multipliers. The model takes Adagrad steps
    on the Lagrangian with hinge bounds in the place of the rates; the multipliers climb it with
    the rates themselves; the slack variables answer best. The best iterate by validation is kept.

    Parameters
    ----------
    metric : str or Metric, default="f1"
        An F-measure, or its mean over groups.
    step : float, list of floats or None
        The model's step, the best of several on the validation rows. None tries the paper's.
    multiplier_step : float, default=0.5
        One takes the multipliers at once to where the present rates would hold them.
    iterations : int, default=250
    greater_is_better, standardize, fit_intercept, validation_fraction, max_metric_calls, \
random_state
        As in `MetricClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> GenRates("f1", random_state=0).fit(X, y).validation_score_ > 0.5
    True
    """

    _parameter_constraints = RelaxedFM._parameter_constraints | {"multiplier_step": [POSITIVE]}

    def __init__(
        self,
        metric: Any = "f1",
        *,
        step: float | Sequence[float] | None = None,
        multiplier_step: float = 0.5,
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
            step=step,
            iterations=iterations,
            greater_is_better=greater_is_better,
            standardize=standardize,
            fit_intercept=fit_intercept,
            validation_fraction=validation_fraction,
            max_metric_calls=max_metric_calls,
            random_state=random_state,
        )
        self.multiplier_step = multiplier_step

    def _gradient(self, measures: FMeasures, problem: Problem) -> Callable[[Floats], Floats]:
        game = RatioGame(measures)
        multipliers: list[Floats] = []

        def gradient(theta: Floats) -> Floats:
            scores = np.asarray(problem.scores(theta), dtype=np.float64)
            rates = game.rates(scores)
            last = multipliers[-1] if multipliers else game.start(rates)
            multipliers.append(game.ascend(last, rates, self.multiplier_step))
            _, slopes = game.lagrangian(multipliers[-1], scores)
            return problem.model.pullback(problem.train.X, theta, slopes)

        return gradient


@dataclass(frozen=True, eq=False)
class RatioGame:
    """The three players' moves; pairs are numerators over denominators, of shape ``(2, G)``.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import FBeta
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> game = RatioGame(FMeasures.of(FBeta(), data))
    >>> top, bottom = game.rates(np.array([1.0, -1.0, 1.0, -1.0]))
    >>> (1.0 - top / bottom).tolist()
    [0.5]
    """

    measures: FMeasures

    @property
    def box(self) -> tuple[Floats, Floats]:
        """The least and the greatest that numerators and denominators can be."""
        share, square = self.measures.share, self.measures.square
        least = np.stack([np.zeros_like(share), max(square, 0.1) * share])
        return least, np.stack([square * share + 1.0 - share, square * share + 1.0])

    def rates(self, scores: Floats) -> Floats:
        """Return the true numerators and denominators."""
        flagged = scores > 0.0
        fn = self.measures.positives @ (~flagged).astype(np.float64)
        fp = self.measures.negatives @ flagged.astype(np.float64)
        square, least = self.measures.square, self.box[0][1]
        bottom = (1.0 + square) * self.measures.share - fn + fp
        return np.stack([square * fn + fp, np.maximum(bottom, least)])

    def start(self, rates: Floats) -> Floats:
        """Return the multipliers that suit these rates: the slopes of ``n / d``, signs aside."""
        top, bottom = rates
        return np.stack([1.0 / bottom, top / bottom**2])

    def slack(self, multipliers: Floats, rates: Floats) -> Floats:
        """Return the slack variables' best answer.

        A ratio is not convex, and an answer to it would jump between the corners of the box. The
        slack player answers instead to the convex function ``(c n^2 + 1 / (c d^2)) / 2``, which is
        nowhere below ``n / d`` and touches it at the present rates if ``c = 1 / (n d)``.
        """
        up, down = multipliers
        c = 1.0 / np.maximum(rates[0] * rates[1], 1e-9)
        answer = np.stack([up / c, (np.maximum(down, 1e-12) * c) ** (-1.0 / 3.0)])
        return np.asarray(np.clip(answer, *self.box))

    def ascend(self, multipliers: Floats, rates: Floats, step: float) -> Floats:
        """Return the multipliers after a step up the Lagrangian with the true rates."""
        excess = (rates - self.slack(multipliers, rates)) * np.array([[1.0], [-1.0]])
        top, bottom = np.maximum(rates, 1e-9)
        # The inverse curvature of the dual at its top for these rates: a step of one leads there.
        scale = np.stack([1.0 / (top * bottom), 3.0 * top / bottom**3])
        least, most = self.box[0][1], self.box[1][0]
        steepest = np.stack([1.0 / least, most / least**2])
        return np.asarray(np.clip(multipliers + step * scale * excess, 0.0, steepest))

    def lagrangian(self, multipliers: Floats, scores: Floats) -> tuple[float, Floats]:
        """Return the model's part of the Lagrangian with hinge bounds, and its slopes.

        What FN and FP cost in all is added up first, and then bounded: from above where the cost
        is positive, from below where it is negative.
        """
        measures, size = self.measures, len(self.measures)
        up, down = multipliers
        missed, alarm = measures.square * up + down, up - down
        over, under = np.maximum(1.0 + scores, 0.0), np.maximum(1.0 - scores, 0.0)
        fn = missed @ (measures.positives @ under)
        fp = np.maximum(alarm, 0.0) @ (measures.negatives @ over)
        fp += np.maximum(-alarm, 0.0) @ (measures.negatives @ (under - 1.0))
        slopes = (np.maximum(alarm, 0.0) @ measures.negatives) * (scores > -1.0)
        pulled = missed @ measures.positives + np.maximum(-alarm, 0.0) @ measures.negatives
        return float(fn + fp) / size, np.asarray((slopes - pulled * (scores < 1.0)) / size)
