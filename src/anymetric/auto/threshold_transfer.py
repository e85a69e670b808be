"""Threshold transfer: threshold tuning with training rows, weighted by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import MOST_ERRORS, TRAINING_WEIGHTS
from anymetric.auto.covariate_shift import label_ratio
from anymetric.auto.decisions.thresholds import lowest
from anymetric.auto.judges.bootstrap import affordable_resamples
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.sample import Sample, effective
from anymetric.data import Data
from anymetric.metrics import DecisionMetric

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# More training rows than this do not improve a threshold.
MOST_ROWS = 200_000
# Resamples as small as the validation rows, over which a threshold must be best on average.
DRAWS = 50


@dataclass(frozen=True, eq=False)
class PooledRows:
    """Validation rows pooled with training rows, which are weighted by density ratios.

    A threshold tuned on a few hundred validation rows is noisy; thousands of training rows reduce
    the noise, if their labels are reliable, which is cross-validated on the validation rows.

    Attributes
    ----------
    metric : DecisionMetric
    data : Data
        Validation rows, then training rows, thinned by `step`.
    fold : array of shape (n_valid,)
    step : int

    Examples
    --------
    >>> from anymetric.auto.task import Task
    >>> from anymetric.metrics import as_metric
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    >>> scores = y + rng.normal(size=400)
    >>> rows = Data(scores[:, np.newaxis], y)
    >>> train, valid = rows.take(np.arange(300)), rows.take(np.arange(300, 400))
    >>> sample = Sample(Task((0, 1)), train, valid, np.arange(100) % 5, np.ones(300))
    >>> pooled = PooledRows.of(as_metric("error"), sample, (scores[:300], scores[300:]))
    >>> judge = CountsJudge.of(as_metric("error"), valid, rng.standard_exponential((100, 20)))
    >>> shift, weight = pooled.placed((scores[:300], scores[300:]), judge)
    >>> abs(shift) < 0.5
    True
    """

    metric: DecisionMetric
    data: Data
    fold: Ints
    step: int = 1

    @classmethod
    def of(
        cls, metric: DecisionMetric, sample: Sample, scores: tuple[Floats64, Floats64]
    ) -> PooledRows:
        """Weight the training rows by the density ratios of features and labels.

        Parameters
        ----------
        metric : DecisionMetric
        sample : Sample
        scores : pair of arrays of shape (n,)
            Of one model, on training and on validation rows.
        """
        train, valid = sample.train, sample.valid
        ratio = np.ones(len(train)) if sample.density_ratio is None else sample.density_ratio
        like = Data(np.zeros((len(train), 0)), train.y, train.weights * ratio)
        weights = like.weights * label_ratio(like, valid, scores)
        step = 1 + len(train) // MOST_ROWS
        names = [name for name in valid.side if name in train.side]
        side = {name: np.append(valid.side[name], train.side[name][::step]) for name in names}
        y = np.append(valid.y, train.y[::step])
        joined = np.append(valid.weights, step * weights[::step])
        return cls(metric, Data(np.zeros((len(y), 0)), y, joined, side), sample.fold, step)

    def placed(self, scores: tuple[Floats64, Floats64], judge: CountsJudge) -> tuple[float, float]:
        """Return the shift for scores of training and validation rows, and the training-row weight.

        The largest weight whose cross-validated cost is not above the lowest beyond noise; zero
        stands for validation rows alone.
        """
        valid, both = scores[1], self.scores(scores)
        levels = (*TRAINING_WEIGHTS, 1e-9)
        costs = []
        for weight in levels:
            shifts = self._by_fold(both, weight)
            costs.append(judge.evaluate((valid + shifts[self.fold])[:, np.newaxis])[1:])
        least = costs[int(np.argmin([one.mean() for one in costs]))]
        for weight, own in zip(TRAINING_WEIGHTS, costs, strict=False):
            if not worse(own, least, MOST_ERRORS, self._resolution):
                return self._best_shift(both, weight), weight
        return 0.0, 0.0

    def scores(self, scores: tuple[Floats64, Floats64]) -> Floats64:
        """Return the scores of the pooled rows: validation rows first."""
        return np.append(scores[1], scores[0][:: self.step])

    @property
    def _resolution(self) -> float:
        """The change of a rate by one validation row of the rarer class."""
        positive = int(np.count_nonzero(self.data.y[: len(self.fold)] > 0.0))
        return 1.0 / max(min(positive, len(self.fold) - positive), 1)

    def _by_fold(self, scores: Floats64, weight: float) -> Floats64:
        """Return the best shift without each fold of the validation rows."""
        count = int(self.fold.max()) + 1
        kept = np.ones((len(self.data), count))
        for k in range(count):
            kept[: len(self.fold)][self.fold == k, k] = 0.0
        judge = CountsJudge.of(self.metric, self._at(weight), kept)
        shifts, costs = judge.sweep(scores[:, np.newaxis])
        return np.array([shifts[lowest(column)] for column in costs.T[1:]])

    def _best_shift(self, scores: Floats64, weight: float) -> float:
        """Return the shift that is best on average over samples as small as the validation rows.

        Where a cost is discontinuous at a limit, the best shift for many rows lies just before the
        limit, and half of the small samples would violate it.
        """
        data = self._at(weight)
        rng = np.random.default_rng(len(data))
        shape = min(len(self.fold) / max(effective(data.weights), 1.0), 1.0)
        count = affordable_resamples(len(data), DRAWS)
        weights = rng.gamma(shape, 1.0 / shape, (len(data), count))
        shifts, costs = CountsJudge.of(self.metric, data, weights).sweep(scores[:, np.newaxis])
        return float(shifts[lowest(costs[:, 1:].mean(axis=1))])

    def _at(self, weight: float) -> Data:
        weights = self.data.weights.copy()
        weights[len(self.fold) :] *= weight
        return replace(self.data, weights=weights)


def worse(costs: Floats64, others: Floats64, errors: float, resolution: float = 0.0) -> bool:
    """Return whether costs are above others, on the same resamples, by more than so many errors.

    The error combines that of the difference and that of the metric itself, since thresholds are
    tuned and evaluated on the same rows; it is no less than the resolution, since resamples of
    few correct rows have no variance.

    Examples
    --------
    >>> others = np.array([0.1, 0.2])
    >>> worse(others + 0.03, others, 1.0), worse(others + 0.3, others, 1.0)
    (False, True)
    """
    excess = costs - others
    error = max(float(np.hypot(excess.std(), others.std())), resolution, np.finfo(float).tiny)
    return float(excess.mean()) > errors * error
