"""Threshold transfer: training rows help to place the threshold, as far as they are trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import DOUBTED, TRUSTED
from anymetric.auto.covariate_shift import label_ratio
from anymetric.auto.decisions.thresholds import lowest
from anymetric.auto.judges.bootstrap import affordable_resamples
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.sample import Sample, effective
from anymetric.data import Data
from anymetric.metrics import DecisionMetric

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# More training rows than this would say no more about a threshold.
MOST_ROWS = 200_000
# Resamples as small as the validation rows, over which a threshold must be best on average.
DRAWS = 50


@dataclass(frozen=True, eq=False)
class PooledRows:
    """Validation rows with training rows beside them, weighted by how alike they are.

    A few hundred validation rows place a threshold badly; thousands of training rows that look
    like them place it well, if their labels can be trusted. Whether they can is cross-validated on
    the validation rows.

    Attributes
    ----------
    metric : DecisionMetric
    data : Data
        Validation rows, then training rows: every so many of them.
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
    >>> shift, trust = pooled.placed((scores[:300], scores[300:]), judge)
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
        """Weight the training rows by how much they, and their labels, look like the others.

        Parameters
        ----------
        metric : DecisionMetric
        sample : Sample
        scores : pair of arrays of shape (n,)
            Of one model, on training and on validation rows.
        """
        train, valid = sample.train, sample.valid
        likeness = np.ones(len(train)) if sample.likeness is None else sample.likeness
        like = Data(np.zeros((len(train), 0)), train.y, train.weights * likeness)
        weights = like.weights * label_ratio(like, valid, scores)
        step = 1 + len(train) // MOST_ROWS
        names = [name for name in valid.side if name in train.side]
        side = {name: np.append(valid.side[name], train.side[name][::step]) for name in names}
        y = np.append(valid.y, train.y[::step])
        joined = np.append(valid.weights, step * weights[::step])
        return cls(metric, Data(np.zeros((len(y), 0)), y, joined, side), sample.fold, step)

    def placed(self, scores: tuple[Floats64, Floats64], judge: CountsJudge) -> tuple[float, float]:
        """Return the shift for scores of training and validation rows, and the weight it took.

        The most weight of the training rows whose cross-validated cost is not above the lowest by
        more than the resamples can tell; zero is as good as the validation rows alone.
        """
        valid, both = scores[1], self.scores(scores)
        levels = (*TRUSTED, 1e-9)
        costs = []
        for trust in levels:
            shifts = self._by_fold(both, trust)
            costs.append(judge.evaluate((valid + shifts[self.fold])[:, np.newaxis])[1:])
        least = costs[int(np.argmin([one.mean() for one in costs]))]
        for trust, own in zip(TRUSTED, costs, strict=False):
            if not worse(own, least, DOUBTED, self._resolution):
                return self._best_shift(both, trust), trust
        return 0.0, 0.0

    def scores(self, scores: tuple[Floats64, Floats64]) -> Floats64:
        """Return the scores of the rows that are here: validation rows first."""
        return np.append(scores[1], scores[0][:: self.step])

    @property
    def _resolution(self) -> float:
        """What one validation row of the rarer class is worth in a rate."""
        positive = int(np.count_nonzero(self.data.y[: len(self.fold)] > 0.0))
        return 1.0 / max(min(positive, len(self.fold) - positive), 1)

    def _by_fold(self, scores: Floats64, trust: float) -> Floats64:
        """Return the best shift without each fold of the validation rows."""
        count = int(self.fold.max()) + 1
        kept = np.ones((len(self.data), count))
        for k in range(count):
            kept[: len(self.fold)][self.fold == k, k] = 0.0
        judge = CountsJudge.of(self.metric, self._at(trust), kept)
        shifts, costs = judge.sweep(scores[:, np.newaxis])
        return np.array([shifts[lowest(column)] for column in costs.T[1:]])

    def _best_shift(self, scores: Floats64, trust: float) -> float:
        """Return the shift that is best on average over samples as small as the validation rows.

        Where a cost leaps beyond a limit, the best shift for many rows lies just before it, and
        every other sample of a few goes beyond.
        """
        data = self._at(trust)
        rng = np.random.default_rng(len(data))
        shape = min(len(self.fold) / max(effective(data.weights), 1.0), 1.0)
        count = affordable_resamples(len(data), DRAWS)
        weights = rng.gamma(shape, 1.0 / shape, (len(data), count))
        shifts, costs = CountsJudge.of(self.metric, data, weights).sweep(scores[:, np.newaxis])
        return float(shifts[lowest(costs[:, 1:].mean(axis=1))])

    def _at(self, trust: float) -> Data:
        weights = self.data.weights.copy()
        weights[len(self.fold) :] *= trust
        return replace(self.data, weights=weights)


def worse(costs: Floats64, others: Floats64, errors: float, resolution: float = 0.0) -> bool:
    """Return whether costs are above others, on the same resamples, by more than so many errors.

    The error is that of their difference and that of the metric itself, for thresholds were placed
    by the very rows that judge them; and no less than the resolution: where three rows are all
    right, the resamples see no error at all.

    Examples
    --------
    >>> others = np.array([0.1, 0.2])
    >>> worse(others + 0.03, others, 1.0), worse(others + 0.3, others, 1.0)
    (False, True)
    """
    excess = costs - others
    error = max(float(np.hypot(excess.std(), others.std())), resolution, np.finfo(float).tiny)
    return float(excess.mean()) > errors * error
