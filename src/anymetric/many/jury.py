"""Jury: verdicts on tables of scores, with offsets that are judged on rows that did not tune."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.auto.pool import FOLDS
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.many.confusions import tally_for
from anymetric.many.offsets import LabelTally, Tally, tuned
from anymetric.metrics import Classes, ConfusionMetric, LabelMetric, Metric, Rows
from anymetric.metrics.confusion import reads_margins
from anymetric.metrics.labelled import LabelCountMetric, LabelRowMetric

Floats64 = NDArray[np.float64]
# Parts of the tuned offsets that are tried: none, half, all.
PARTS = (0.0, 0.5, 1.0)
# Offsets are tuned on no more rows than this, evenly spread over the classes.
TUNED = 8000


@dataclass(frozen=True, eq=False)
class Told:
    """A verdict: offsets for the classes, what the scores cost with them, and honest scores.

    Attributes
    ----------
    offsets : array of shape (C,)
    cost : float
    replicates : array of shape (B,)
    scores : array of shape (n, C)
        With offsets added that were tuned on other rows.
    """

    offsets: Floats64
    cost: float
    replicates: Floats64
    scores: Floats64

    @property
    def mean(self) -> float:
        """The mean cost over the replicates and the rows themselves."""
        return float(np.mean(np.append(self.replicates, self.cost)))


@dataclass(frozen=True, eq=False)
class Counting:
    """The formula of a metric of counts, on the rows and on every replicate at once."""

    metric: Metric
    classes: Classes
    y: NDArray[np.intp]
    group: NDArray[np.intp]
    groups: int
    weights: Floats64  # (n, 1 + B): the rows themselves first

    @classmethod
    def build(cls, metric: Metric, data: Data, classes: Classes, replicates: Floats64) -> Counting:
        """Bind the metric to the rows and to every replicate of them."""
        group, groups = np.zeros(len(data), dtype=np.intp), 1
        if isinstance(metric, ConfusionMetric):
            group, groups = metric.grouped(Rows(data.y, data.weights, data.side))
        weights = np.column_stack([data.weights, replicates * data.weights[:, np.newaxis]])
        return cls(metric, classes, data.y.astype(np.intp), group, groups, weights)

    def costs(self, scores: Floats64) -> Floats64:
        """Return the cost on the rows, then on each replicate."""
        metric = self.metric
        if isinstance(metric, ConfusionMetric):
            return np.asarray(metric.cost(self._decided(metric, np.argmax(scores, axis=1))))
        given, true = scores > 0.0, self.classes.table[self.y]
        if isinstance(metric, LabelRowMetric):
            counts = (x.sum(axis=1).astype(np.float64) for x in (given & true, true, given))
            each = metric.of_rows(*counts)
            return np.asarray(metric.cost(each @ self.weights / self.weights.sum(axis=0)))
        assert isinstance(metric, LabelCountMetric)
        sums = [self.weights.T @ x for x in (given & true, true, given)]
        total = self.weights.sum(axis=0)[:, np.newaxis]
        return np.asarray(metric.cost(metric.of_counts(sums[0], sums[1], sums[2], total)))

    def _decided(self, metric: ConfusionMetric, decided: NDArray[np.intp]) -> Floats64:
        """Return the values of decisions; whole matrices are built only where they are read."""
        C = len(self.classes)
        if not reads_margins(metric):
            return metric.of_groups(self._sums((self.group * C + self.y) * C + decided, C, C))
        pairs = self._sums(2 * (self.group * C + decided) + (self.y == decided), C, 2)
        return metric.of_group_margins(pairs[..., 1], self._true, pairs.sum(axis=-1))

    @cached_property
    def _true(self) -> Floats64:
        C = len(self.classes)
        return self._sums(self.group * C + self.y, C)

    def _sums(self, cell: NDArray[np.intp], *shape: int) -> Floats64:
        """Return the weights in each cell, of the rows and each replicate: (1 + B, G, *shape)."""
        n, size = len(self.y), self.groups * math.prod(shape)
        member = sparse.csr_array((np.ones(n), (cell, np.arange(n))), shape=(size, n))
        return np.asarray(member @ self.weights).T.reshape(-1, self.groups, *shape)

    def tally(self) -> Tally:
        """Return the metric on the rows themselves, for sweeps."""
        weights = self.weights[:, 0]
        if isinstance(self.metric, ConfusionMetric):
            C = len(self.classes)
            kind = tally_for(self.metric)
            return kind(self.metric, self.y, self.group, self.groups, C, weights)
        assert isinstance(self.metric, LabelMetric)
        return LabelTally(self.metric, self.classes.table[self.y], weights)


@dataclass(frozen=True, eq=False)
class CountingJury:
    """A jury for metrics of counts: a score table is one look, all its offsets included.

    Offsets are tuned without each fold of the rows in turn and judged on that fold: those that
    only fit the noise of the rows do not win. What is kept is their mean over the folds.
    """

    counting: Counting
    fold: NDArray[np.intp]
    ledger: Ledger
    moves: bool = True
    price: int = 1
    brief: bool = False

    def tune(self, scores: Floats64) -> Told:
        """Judge parts of the offsets that other rows ask for, and take the best on average."""
        self.ledger.count(1)
        if not self.moves:
            return self._told(scores, np.zeros(scores.shape[1]))
        own, mean = self.honest_offsets(scores)
        told = [self._told(scores + part * own, part * mean) for part in PARTS]
        return min(told, key=lambda one: one.mean)

    def honest_offsets(self, scores: Floats64) -> tuple[Floats64, Floats64]:
        """Return offsets for each row by the other folds, ``(n, C)``, and their mean ``(C,)``."""
        tally = self.counting.tally()
        own, found = np.zeros_like(scores), []
        for k in range(FOLDS):
            others = some(np.flatnonzero(self.fold != k), self.counting.y)
            offsets = tuned(tally.take(others), scores[others])
            if self.counting.classes.exclusive:
                offsets = offsets - offsets.mean()
            own[self.fold == k] = offsets
            found.append(offsets)
        return own, np.mean(found, axis=0)

    def judge(self, scores: Floats64) -> Told:
        """Count one look, and judge the scores as they are."""
        self.ledger.count(self.price)
        return self._told(scores, np.zeros(scores.shape[1]))

    def probe(self, scores: Floats64) -> float:
        """Count one look, and return the mean cost over the replicates."""
        return self.judge(scores).mean

    def _told(self, scores: Floats64, offsets: Floats64) -> Told:
        costs = self.counting.costs(scores)
        return Told(offsets, float(costs[0]), costs[1:], scores)


def some(rows: NDArray[np.intp], y: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return no more than `TUNED` of the rows, the classes in the same shares.

    Examples
    --------
    >>> import numpy as np
    >>> len(some(np.arange(20_000), np.zeros(20_000, dtype=int)))
    6667
    """
    step = -(-len(rows) // TUNED)
    if step == 1:
        return rows
    return np.sort(rows[np.argsort(y[rows], kind="stable")][::step])
