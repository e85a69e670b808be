"""Trust: how far training rows may help to place the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.jury import DecisionJury, replicate_weights
from anymetric.auto.pool import FOLDS
from anymetric.data import Data
from anymetric.metrics import DecisionMetric

Floats64 = NDArray[np.float64]
# From full trust down to none: the last is as good as the judging rows alone.
LEVELS_OF_TRUST = (1.0, 0.3, 0.1, 1e-9)
# Trust is withdrawn where its cost is this many standard errors above the lowest.
SURE = 1.0


@dataclass(frozen=True, eq=False)
class Bench:
    """The judging rows with training rows beside them, weighted by how alike they are.

    A few hundred judging rows place a threshold badly; thousands of training rows that look like
    them place it well, if their labels can be trusted. Whether they can is cross-validated on
    the judging rows.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    >>> rows = Data((y + rng.normal(size=400))[:, np.newaxis], y)
    >>> train, valid = rows.take(np.arange(300)), rows.take(np.arange(300, 400))
    >>> bench = Bench.build(as_metric("error"), train, valid, np.ones(300), np.arange(100) % 5)
    >>> jury = DecisionJury.build(as_metric("error"), valid, np.ones((100, 2)))
    >>> shift, trust = bench.place(train.X[:, 0], valid.X[:, 0], jury)
    >>> abs(shift) < 0.5
    True
    """

    metric: DecisionMetric
    data: Data  # the judging rows, then the training rows
    fold: NDArray[np.intp]

    @classmethod
    def build(
        cls,
        metric: DecisionMetric,
        train: Data,
        valid: Data,
        domain: Floats64,
        fold: NDArray[np.intp],
    ) -> Bench:
        """Stack the rows, the training rows weighted by how alike they are."""
        names = [name for name in valid.side if name in train.side]
        side = {name: np.concatenate([valid.side[name], train.side[name]]) for name in names}
        y = np.concatenate([valid.y, train.y])
        weights = np.concatenate([valid.weights, train.weights * domain])
        return cls(metric, Data(np.zeros((len(y), 0)), y, weights, side), fold)

    @cached_property
    def juries(self) -> list[tuple[float, DecisionJury]]:
        """A jury at every level of trust, its replicates the rows without each fold."""
        others = np.ones(len(self.data) - len(self.fold))
        kept = np.stack([np.append(self.fold != k, others) for k in range(FOLDS)], axis=1)
        return [
            (trust, DecisionJury.build(self.metric, self._at(trust), kept))
            for trust in LEVELS_OF_TRUST
        ]

    def place(self, train: Floats64, valid: Floats64, jury: DecisionJury) -> tuple[float, float]:
        """Return the shift for these scores, and the trust that it took.

        The most trust whose cross-validated cost is not above the lowest by more than the
        replicates can tell.
        """
        scores = np.concatenate([valid, train])
        shifts, judged = [], []
        for _, pooled in self.juries:
            levels, costs = pooled.curve(scores)
            best = np.argmin(costs, axis=0)
            shifts.append(float(levels[best[0]]))
            judged.append(jury.judge(valid + levels[best[1:]][self.fold]).replicates)
        means = [j.mean() for j in judged]
        lowest = judged[int(np.argmin(means))]
        for (trust, _), shift, costs in zip(self.juries[:-1], shifts, judged, strict=False):
            excess = costs - lowest
            if excess.mean() <= SURE * excess.std():
                return shift, trust
        # A shift tuned on the judging rows alone is what the candidates already have.
        return 0.0, 0.0

    def jury(self, trust: float, replicates: int, rng: np.random.Generator) -> DecisionJury:
        """Return a jury of both samples at one level of trust, with replicates of them."""
        weights = replicate_weights(len(self.data), replicates, rng)
        return DecisionJury.build(self.metric, self._at(trust), weights)

    def _at(self, trust: float) -> Data:
        """Return the rows with the training rows' weights times the trust."""
        weights = self.data.weights.copy()
        weights[len(self.fold) :] *= trust
        return Data(self.data.X, self.data.y, weights, self.data.side)
