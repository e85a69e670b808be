"""Trust: how far training rows may help to place the threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.cuts import lowest
from anymetric.auto.jury import DecisionJury, fitting, leaps, replicate_weights
from anymetric.auto.likely import doubled
from anymetric.auto.pool import FOLDS, concentration
from anymetric.data import Data, Floats
from anymetric.metrics import DecisionMetric

Floats64 = NDArray[np.float64]
# From full trust down to none: the last is as good as the judging rows alone.
LEVELS_OF_TRUST = (1.0, 0.3, 0.1, 1e-9)
# More training rows than this would say no more about a threshold.
MOST_ROWS = 200_000
# Trust is withdrawn where its cost is this many errors above the lowest: those of the difference
# and of the metric itself, for thresholds were placed by the very rows that now judge them.
SURE = 1.25
# A cost may leap if it differs by so many of its errors between thresholds that samples cannot tell
# apart. So many samples are drawn then, to see whether it does.
LEAP, DRAWS = 0.75, 100


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
    data: Data  # the judging rows, then the training rows: every so many of them
    fold: NDArray[np.intp]
    step: int = 1

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
        step = 1 + len(train) // MOST_ROWS
        if step > 1:
            train, domain = (
                replace(train, X=np.zeros((len(train), 0))).take(np.arange(0, len(train), step)),
                step * domain[::step],
            )
        names = [name for name in valid.side if name in train.side]
        side = {name: np.concatenate([valid.side[name], train.side[name]]) for name in names}
        y = np.concatenate([valid.y, train.y])
        weights = np.concatenate([valid.weights, train.weights * domain])
        return cls(metric, Data(np.zeros((len(y), 0)), y, weights, side), fold, step)

    def juries(self) -> Iterator[DecisionJury]:
        """Yield a jury at every level of trust, its replicates the rows without each fold."""
        others = np.ones(len(self.data) - len(self.fold))
        kept = np.stack([np.append(self.fold != k, others) for k in range(FOLDS)], axis=1)
        for trust in LEVELS_OF_TRUST:
            yield DecisionJury.build(self.metric, self._at(trust), kept)

    def place(self, train: Floats, valid: Floats64, jury: DecisionJury) -> tuple[float, float]:
        """Return the shift for these scores, and the trust that it took.

        The most trust whose cross-validated cost is not above the lowest by more than the
        replicates can tell.
        """
        scores = self.scores(train, valid)
        shifts, judged = [], []
        for pooled in self.juries():
            levels, costs = pooled.curve(scores)
            best = np.array([lowest(column) for column in costs.T])
            shifts.append(float(levels[best[0]]))
            judged.append(jury.judge(valid + levels[best[1:]][self.fold]).replicates)
        means = [j.mean() for j in judged]
        least = judged[int(np.argmin(means))]
        for trust, shift, costs in zip(LEVELS_OF_TRUST[:-1], shifts, judged, strict=False):
            if not worse(costs, least, SURE, self.resolution):
                return settled(self._at(trust), scores, shift, jury, self.resolution), trust
        # A shift tuned on the judging rows alone is what the candidates already have.
        alone = self.data.take(np.arange(len(self.fold)))
        return settled(alone, valid, 0.0, jury, self.resolution), 0.0

    @property
    def resolution(self) -> float:
        """What a single row of the rarer class is worth among the judging rows, in a rate."""
        positive = int(np.count_nonzero(self.data.y[: len(self.fold)] > 0.0))
        return 1.0 / max(min(positive, len(self.fold) - positive), 1)

    def scores(self, train: Floats, valid: Floats64) -> Floats64:
        """Return the scores of the rows that are here, of those of all rows."""
        return np.concatenate([valid, self.thinned(train)])

    def thinned(self, train: Floats) -> Floats64:
        """Return the scores of the training rows that are here."""
        return train[:: self.step].astype(np.float64, copy=False)

    def trainers(self) -> DecisionJury:
        """Return a jury of the training rows alone, without replicates."""
        rows = self.data.take(np.arange(len(self.fold), len(self.data)))
        return DecisionJury.build(self.metric, rows, np.ones((len(rows), 1)))

    def jury(self, trust: float, replicates: int, rng: np.random.Generator) -> DecisionJury:
        """Return a jury of both samples at one level of trust, with replicates of them."""
        weights = replicate_weights(len(self.data), replicates, rng)
        return DecisionJury.build(self.metric, self._at(trust), weights)

    def _at(self, trust: float) -> Data:
        """Return the rows with the training rows' weights times the trust."""
        weights = self.data.weights.copy()
        weights[len(self.fold) :] *= trust
        return Data(self.data.X, self.data.y, weights, self.data.side)


def settled(
    data: Data, scores: Floats64, shift: float, jury: DecisionJury, resolution: float = 0.0
) -> float:
    """Return the best shift by likely labels, or the one given, and steady it.

    Other columns than groups may tell more of a label than its score does: there labels count as
    they are.

    Parameters
    ----------
    data : Data
        The judging rows first; others may follow.
    scores : array of shape (n,)
        Of all these rows.
    shift : float
        Where the labels themselves would have it.
    jury : DecisionJury
        Of the judging rows.
    resolution : float
        As in `doubt`.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=400)
    >>> rows = Data(np.zeros((400, 0)), np.where(scores + rng.logistic(size=400) > 0.0, 1.0, -1.0))
    >>> jury = DecisionJury.build(as_metric("error"), rows, rng.standard_exponential((400, 20)))
    >>> abs(settled(rows, scores, 0.2, jury)) < 0.15
    True
    """
    return steadied(data, scores, smoothed(data, scores, shift, jury, resolution), jury)


def smoothed(
    data: Data, scores: Floats64, shift: float, jury: DecisionJury, resolution: float
) -> float:
    """Return the best shift by likely labels, or the one given if the judging rows say so."""
    needs = set(jury.metric.needs)
    twice = None if needs - {"groups"} else doubled(data, scores, "groups" if needs else None)
    if twice is None:
        return shift
    likely = DecisionJury.build(jury.metric, twice, np.ones((len(twice), 0)))
    levels, costs = likely.curve(np.tile(scores, 2))
    quiet = float(levels[lowest(costs[:, 0])])
    valid = scores[: len(jury.y)]
    if far_apart(valid + quiet > 0.0, valid + shift > 0.0):
        return shift
    new, old = (jury.judge(valid + one).replicates for one in (quiet, shift))
    return shift if worse(new, old, SURE, resolution) else quiet


def steadied(data: Data, scores: Floats64, shift: float, jury: DecisionJury) -> float:
    """Return a shift that is best on average over samples as small as the judging rows.

    Where a cost leaps beyond a limit, as of how many may be flagged, the best shift for many rows
    lies just before it, and every other sample of a few goes beyond. Where it does not, as for
    most metrics, the shift stays as it is.

    Parameters
    ----------
    data, scores, shift, jury
        As in `settled`.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics.counts import CountMetric
    >>> class Limited(CountMetric):
    ...     name, greater_is_better = "limited", False
    ...
    ...     def rate(self, counts):
    ...         return -counts.recall + 20.0 * np.maximum(counts.selection - 0.2, 0.0)
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=2000)
    >>> rows = Data(np.zeros((2000, 0)), np.where(scores + rng.normal(size=2000) > 0.0, 1.0, -1.0))
    >>> weights = rng.standard_exponential((200, 20))
    >>> jury = DecisionJury.build(Limited(), rows.take(np.arange(200)), weights)
    >>> at = -float(np.quantile(scores, 0.8))
    >>> steadied(rows, scores, at, jury) < at - 0.05
    True
    """
    valid = scores[: len(jury.y)]
    shifts, costs = DecisionJury.build(jury.metric, data, np.ones((len(data), 0))).curve(scores)
    edge = float(shifts[lowest(costs[:, 0])])
    if not may_leap(valid, shifts, costs[:, 0], edge, jury):
        return shift
    rng = np.random.default_rng(len(data))
    shape = len(valid) * concentration(data.weights, np.ones(len(data)))
    weights = rng.gamma(shape, 1.0 / shape, (len(data), fitting(len(data), DRAWS)))
    drawn = DecisionJury.build(jury.metric, data, weights)
    if not leaps(drawn.judge(scores + edge)):
        return shift
    levels, costs = drawn.curve(scores)
    return float(levels[lowest(costs[:, 1:].mean(axis=1))])


def may_leap(
    valid: Floats64, shifts: Floats64, costs: Floats64, edge: float, jury: DecisionJury
) -> bool:
    """Return whether costs differ much among shifts that the judging rows cannot tell apart."""
    above = np.searchsorted(np.sort(valid), -np.append(shifts, edge), side="right")
    shares = 1.0 - above / len(valid)
    error = np.sqrt(shares[-1] * (1.0 - shares[-1]) / len(valid))
    near = costs[np.abs(shares[:-1] - shares[-1]) <= 2.0 * error]
    noise = float(jury.judge(valid + edge).replicates.std())
    return len(near) > 0 and float(np.ptp(near)) > LEAP * noise


def far_apart(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Return whether one flags, or spares, more than twice as many rows as the other.

    Where few rows at an end would be best, as for precision, likely labels know no end.

    Examples
    --------
    >>> import numpy as np
    >>> flags = np.arange(10)
    >>> far_apart(flags < 1, flags < 3), far_apart(flags < 4, flags < 5)
    (True, False)
    """
    counts = np.array([[np.sum(one), np.sum(~one)], [np.sum(other), np.sum(~other)]])
    return bool(np.any(counts.max(axis=0) > 2.0 * counts.min(axis=0)))


def worse(costs: Floats64, others: Floats64, errors: float, resolution: float = 0.0) -> bool:
    """Return whether costs are above others by more than so many errors.

    Examples
    --------
    >>> import numpy as np
    >>> others = np.array([0.1, 0.2])
    >>> worse(others + 0.03, others, 1.0), worse(others + 0.3, others, 1.0)
    (False, True)
    """
    return doubt(costs, others, resolution) > errors


def doubt(costs: Floats64, others: Floats64, resolution: float = 0.0) -> float:
    """Return how many errors costs are above others, both replicates of the same rows.

    The error is that of their difference and that of the metric itself, and no less than the
    resolution: where three rows are all right, the replicates see no error at all.

    Examples
    --------
    >>> import numpy as np
    >>> round(doubt(np.array([0.6, 0.8]), np.array([0.1, 0.3])), 6)
    5.0
    """
    excess = costs - others
    error = max(float(np.hypot(excess.std(), others.std())), resolution, np.finfo(float).tiny)
    return float(excess.mean()) / error
