"""Jury: the rows that judge, and replicates of them that tell how far to trust the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import (
    BoundMetric,
    DecisionMetric,
    FunctionMetric,
    Metric,
    Rows,
    ScorerMetric,
)

Floats64 = NDArray[np.float64]
# Replicates of a very large sample are fewer: their weights must fit in memory, and it needs fewer.
MOST_WEIGHTS = 1 << 24
FEWEST_REPLICATES = 20
# With so many thresholds or more, some are kept for a closer look around the best.
REFINED = 12
# Thresholds looked at in a sweep with replicates: finer than any replicate can tell apart.
LEVELS = 256


@dataclass(frozen=True, eq=False)
class Judgement:
    """A score vector with its best shift: what it costs, in all and in each replicate.

    Examples
    --------
    >>> import numpy as np
    >>> Judgement(0.5, 0.2, np.array([0.1, 0.3])).cost
    0.2
    """

    shift: float
    cost: float
    replicates: Floats64


class Jury(Protocol):
    """Judges score vectors on fixed rows, with replicates."""

    @property
    def price(self) -> int:
        """Metric calls that one `judge` makes."""
        ...

    def tune(self, scores: Floats64) -> Judgement:
        """Return the best shift of the scores, if the metric has a threshold, and its costs."""
        ...

    def judge(self, scores: Floats64) -> Judgement:
        """Return the costs of the scores as they are."""
        ...


def replicate_weights(n: int, count: int, rng: np.random.Generator) -> Floats64:
    """Return ``(n, count)`` exponential weights of mean one: the Bayesian bootstrap.

    No row ever weighs nothing, so that no replicate loses a rare class or group. Of a very large
    sample there are fewer than asked.

    Examples
    --------
    >>> import numpy as np
    >>> bool((replicate_weights(5, 2, np.random.default_rng(0)) > 0).all())
    True
    """
    return rng.standard_exponential((n, min(count, max(FEWEST_REPLICATES, MOST_WEIGHTS // n))))


@dataclass(frozen=True, eq=False)
class DecisionJury:
    """A jury for metrics of counts: all thresholds and all replicates from one sort.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> jury = DecisionJury.build(as_metric("error"), data, np.ones((4, 2)))
    >>> tuned = jury.tune(np.array([2.0, 1.0, 4.0, 0.0]))
    >>> tuned.shift, tuned.cost
    (-1.5, 0.0)
    """

    metric: DecisionMetric
    cell: NDArray[np.intp]
    size: int
    weights: Floats64  # (n, 1 + B): the rows themselves first, then the replicates
    kept: Floats64  # (1 + B, ...)

    @classmethod
    def build(cls, metric: DecisionMetric, data: Data, replicates: Floats64) -> DecisionJury:
        """Bind the metric to the rows and to every replicate of them."""
        columns = [data.weights, *(data.weights * r for r in replicates.T)]
        groups = {
            name: np.unique(column, return_inverse=True)[1] if column.dtype.kind in "OU" else column
            for name, column in data.side.items()
        }
        bound = [metric.cells(Rows(data.y, weights, groups)) for weights in columns]
        cells = bound[0][0]
        weights = np.stack([c.weights for c, _ in bound], axis=1)
        return cls(metric, cells.cell, cells.size, weights, np.stack([kept for _, kept in bound]))

    def curve(self, scores: Floats64) -> tuple[Floats64, Floats64]:
        """Return shifts ``(t,)`` and their costs ``(t, 1 + B)``."""
        n = len(scores)
        order = np.argsort(-scores, kind="stable")
        ranked = scores[order]
        distinct = np.flatnonzero(ranked[1:] < ranked[:-1]) + 1
        cuts = np.concatenate(([0], distinct, [n]))
        if len(cuts) > LEVELS:
            cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, LEVELS).round().astype(int))]
        above = np.concatenate(([ranked[0] + 1.0], ranked))[cuts]
        below = np.concatenate((ranked, [ranked[-1] - 1.0]))[cuts]
        bins = np.searchsorted(cuts, np.arange(n), side="right") - 1
        place = bins * self.size + self.cell[order]
        gather = sparse.csr_array(
            (np.ones(n), (place, order)), shape=((len(cuts) - 1) * self.size, n)
        )
        steps = np.asarray(gather @ self.weights).reshape(len(cuts) - 1, self.size, -1)
        flagged = np.zeros((len(cuts), *steps.shape[1:]))
        np.cumsum(steps, axis=0, out=flagged[1:])
        sums = np.moveaxis(flagged, 1, -1)  # (t, 1 + B, cells)
        costs = self.metric.cost(self.metric.from_sums(sums, self.kept))
        return -0.5 * (above + below), np.asarray(costs)

    def tune(self, scores: Floats64) -> Judgement:
        """Take the shift that is best on average over the replicates."""
        shifts, costs = self.curve(scores)
        best = int(np.argmin(costs[:, 1:].mean(axis=1) if costs.shape[1] > 1 else costs[:, 0]))
        return Judgement(float(shifts[best]), float(costs[best, 0]), costs[best, 1:])

    def judge(self, scores: Floats64) -> Judgement:
        """Judge the decisions as they are."""
        flagged = np.flatnonzero(scores > 0.0)
        place = sparse.csr_array(
            (np.ones(len(flagged)), (self.cell[flagged], flagged)),
            shape=(self.size, len(scores)),
        )
        sums = np.asarray(place @ self.weights).T
        costs = self.metric.cost(self.metric.from_sums(sums, self.kept))
        return Judgement(0.0, float(costs[0]), np.asarray(costs[1:]))


@dataclass(frozen=True, eq=False)
class CountedJury:
    """A decision jury whose looks are counted: one for a score vector, all thresholds included."""

    inner: DecisionJury
    ledger: Ledger
    price: int = 1

    def tune(self, scores: Floats64) -> Judgement:
        """Count one look, and tune."""
        self.ledger.count(1)
        return self.inner.tune(scores)

    def judge(self, scores: Floats64) -> Judgement:
        """Count one look, and judge the scores as they are."""
        self.ledger.count(self.price)
        return self.inner.judge(scores)


@dataclass(frozen=True, eq=False)
class CallingJury:
    """A jury for any metric: one call for every score vector, threshold and replicate.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> data = Data(np.array([[1.0], [2.0], [0.0]]), np.array([1.0, 1.0, -1.0]))
    >>> ledger = Ledger(Problem(data, "logistic", as_metric("roc_auc")))
    >>> CallingJury.build(ledger, np.ones((3, 2))).judge(np.array([1.0, 2.0, 0.0])).cost
    0.0
    """

    ledger: Ledger
    replicates: list[tuple[NDArray[np.intp] | None, BoundMetric]]
    thresholds: int = 24

    @property
    def price(self) -> int:
        """One call for the rows, one for each replicate."""
        return 1 + len(self.replicates)

    @classmethod
    def build(cls, ledger: Ledger, weights: Floats64, thresholds: int = 24) -> CallingJury:
        """Bind the metric to each replicate: by weights, or by rows where it takes none."""
        problem = ledger.problem
        counted = isinstance(problem.metric, FunctionMetric | ScorerMetric)
        bound = [
            bind_replicate(problem.metric, problem.valid, w, counted, problem.labels)
            for w in weights.T
        ]
        return cls(ledger, [pair for pair in bound if pair is not None], thresholds)

    def tune(self, scores: Floats64) -> Judgement:
        """Look at evenly spaced thresholds, then closer around the best."""
        model = self.ledger.problem.model
        if not self.ledger.problem.metric.decides or not getattr(model, "intercept", True):
            return self.judge(scores)
        shifts = self._shifts(scores)
        best = self._lowest(scores, shifts)
        shift = float(shifts[best])
        if self.thresholds >= REFINED:
            beside = shifts[max(best - 1, 0)], shifts[min(best + 1, len(shifts) - 1)]
            closer = np.append(np.linspace(*beside, 10)[1:-1], shift)
            shift = float(closer[self._lowest(scores, closer)])
        judged = self.judge(scores + shift)
        return Judgement(shift, judged.cost, judged.replicates)

    def _shifts(self, scores: Floats64) -> Floats64:
        """Return shifts that flag evenly spread shares of the rows, and about the base rate.

        None flags nobody or everybody: many a metric is undefined there.
        """
        rate = float(np.mean(self.ledger.problem.valid.y > 0.0))
        spread = max(self.thresholds - 3, 1)
        shares = [*np.linspace(0.0, 1.0, spread + 2)[1:-1], *(rate * np.array([0.5, 1.0, 2.0]))]
        shifts = np.append(-np.quantile(scores, 1.0 - np.clip(shares, 0.0, 1.0)), 0.0)
        return np.array(
            [s for s in np.unique(shifts) if 0 < np.sum(scores + s > 0) < len(scores)] or [0.0]
        )

    def _lowest(self, scores: Floats64, shifts: Floats64) -> int:
        judge = self.ledger.problem.judge
        return int(np.argmin(self.ledger.ask(judge, scores[:, np.newaxis] + shifts)))

    def judge(self, scores: Floats64) -> Judgement:
        """Ask the metric for the rows and for each replicate."""
        cost = float(self.ledger.ask(self.ledger.problem.judge, scores))
        costs = [
            float(self.ledger.ask(bound, scores if rows is None else scores[rows]))
            for rows, bound in self.replicates
        ]
        return Judgement(0.0, cost, np.array(costs))


def bind_replicate(
    metric: Metric,
    data: Data,
    weights: Floats64,
    counted: bool,
    labels: tuple[object, object] | None,
) -> tuple[NDArray[np.intp] | None, BoundMetric] | None:
    """Bind a metric to one replicate; None if the replicate lacks what the metric needs."""
    if not counted:
        w = data.weights * weights
        return None, metric.bind(data.y, weights=w, side=data.side, labels=labels, X=data.X)
    # A function knows no weights: rows are drawn in proportion to them.
    edges = np.cumsum(weights) / weights.sum()
    rows = np.searchsorted(edges, (np.arange(len(data)) + 0.5) / len(data)).astype(np.intp)
    side = {name: column[rows] for name, column in data.side.items()}
    X = data.X[rows] if reads_features(metric) else None
    try:
        return rows, metric.bind(data.y[rows], side=side, labels=labels, X=X)
    except ValueError:
        return None


def reads_features(metric: Metric) -> bool:
    """Return whether a user's metric asks for X itself, which a replicate must then copy.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> reads_features(as_metric(lambda y_true, y_pred, X: 0.0, greater_is_better=True))
    True
    """
    return isinstance(metric, FunctionMetric) and "X" in (*metric.asks, *metric.takes)
