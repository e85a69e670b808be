"""Scores: rules that move scores which are read as they are: log-odds and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.decisions.thresholds import NoRule
from anymetric.auto.judges.base import Judge
from anymetric.auto.records import Assessment
from anymetric.data import Data, quantiles
from anymetric.losses import as_loss
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, minimise

Floats64 = NDArray[np.float64]
# Quantiles of the residuals by which predictions are moved; the gain that the first move must have,
# in standard errors or, where there are none, as a part of the cost.
QUANTILES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
LEANS, PLAINLY = 2.0, 0.1


@dataclass(frozen=True, eq=False)
class SigmoidCalibration:
    """Slope and offset that make scores log-odds, for metrics that read probabilities.

    A ridge makes scores small, and class weights move them. A function may have a cut of its own:
    where scores as they are cost less, they stay.

    Attributes
    ----------
    data : Data
        The validation rows.
    intercept : bool

    Examples
    --------
    >>> from anymetric.auto.judges.calls import CallsJudge
    >>> from anymetric.auto.task import Task
    >>> from anymetric.ledger import Ledger
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> score = np.linspace(-3.0, 3.0, 400)
    >>> y = np.where(np.random.default_rng(0).logistic(size=400) < score, 1.0, -1.0)
    >>> rows = Data(score[:, np.newaxis], y)
    >>> ledger = Ledger(Problem(rows, "logistic", as_metric("neg_log_loss"), labels=(0, 1)))
    >>> judge = CallsJudge.of(ledger, Task((0, 1)), np.ones((400, 2)))
    >>> found = SigmoidCalibration(rows).assess(0.1 * score[:, np.newaxis], judge)
    >>> 8.0 < found.scale < 12.0
    True
    """

    data: Data
    intercept: bool = True

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Fit the line by a logistic regression on the scores."""
        plain = NoRule().assess(scores, judge)
        slope, offset = fitted_line(scores[:, 0], self.data.y, self.data.weights, "logistic")
        if not slope > 0.0 or judge.left < judge.price:
            return plain
        offset = offset if self.intercept else 0.0
        sized = NoRule().assess(slope * scores + offset, judge)
        sized = replace(sized, scale=slope, offsets=np.array([offset]))
        return sized if sized.mean <= plain.mean else plain


@dataclass(frozen=True, eq=False)
class Bias:
    """A constant added to numeric predictions, where the metric is asymmetric beyond noise.

    Attributes
    ----------
    data : Data
        The validation rows.

    Examples
    --------
    >>> from anymetric.auto.judges.base import Judge
    >>> class Pinball(Judge):
    ...     def evaluate(self, scores):
    ...         short = rows.y - scores[:, 0]
    ...         return np.repeat(np.mean(np.maximum(9.0 * short, -short)), 3)
    >>> rows = Data(np.zeros((100, 1)), np.linspace(0.0, 1.0, 100))
    >>> Bias(rows).assess(np.full((100, 1), 0.5), Pinball()).offsets.round(1).tolist()
    [0.4]
    """

    data: Data

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Try quantiles of the residuals."""
        plain = NoRule().assess(scores, judge)
        residuals = self.data.y - scores[:, 0]
        shifts = np.asarray(quantiles(residuals, QUANTILES, self.data.weights), dtype=np.float64)
        best = plain
        for shift in shifts[[1, -2]] if plain.cost > 0.0 else ():
            best = self._better(scores, float(shift), best, judge)
        if best is plain:
            return plain
        side = shifts[shifts * best.offsets[0] > 0.0]
        for shift in side:
            best = self._better(scores, float(shift), best, judge)
        return best

    def _better(self, scores: Floats64, shift: float, best: Assessment, judge: Judge) -> Assessment:
        if judge.left < judge.price:
            return best
        moved = replace(NoRule().assess(scores + shift, judge), offsets=np.array([shift]))
        if not np.isfinite(moved.cost):  # off to one side it may have no answer
            return best
        if not np.isfinite(best.cost):
            return moved
        first = best.offsets[0] == 0.0
        if len(moved.resampled) == 0:
            return moved if moved.cost < best.cost - first * PLAINLY * abs(best.cost) else best
        gain, error = moved.gain(best)
        return moved if gain > (LEANS * error if first else 0.0) else best


def fitted_line(scores: Floats64, y: Floats64, rows: Floats64, loss: str) -> tuple[float, float]:
    """Return slope and offset that bring scores to the scale of these rows' targets.

    Examples
    --------
    >>> x = np.arange(9.0)
    >>> slope, offset = fitted_line(x, 3.0 * x + 1.0, np.ones(9), "squared")
    >>> round(slope, 2), round(offset, 2)
    (3.0, 1.0)
    """
    data = Data(scores[:, np.newaxis], y)
    model = Linear.standardised(data.X, rows)
    weights, offset = model.raw(minimise(WeightedLoss(model, data, as_loss(loss), rows, 1e-4)))
    return float(weights[0]), float(offset)
