"""Juries of queries: whole queries judge, and replicates weigh or draw whole queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import CALLS, affordable
from anymetric.auto.jury import Judgement, replicate_weights
from anymetric.blocks import Queries
from anymetric.ledger import Ledger
from anymetric.metrics import BoundMetric, BoundQueries
from anymetric.metrics.ranked import QUERY
from anymetric.problem import Problem

Floats64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QueryJury:
    """A jury for metrics by query: one look gives every query's value, hence all replicates.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.data import Data
    >>> side = {"query": np.array([0, 0, 1, 1])}
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]), side=side)
    >>> ledger = Ledger(Problem(data, "hinge", as_metric("mrr")))
    >>> jury = QueryJury(ledger, ledger.problem.judge, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> jury.judge(np.array([2.0, 1.0, 1.0, 2.0])).replicates.tolist()
    [0.0, 0.5]
    """

    ledger: Ledger
    bound: BoundQueries
    shares: Floats64  # (Q, B): of each query in each replicate
    price: int = 1

    @classmethod
    def build(
        cls, ledger: Ledger, bound: BoundQueries, count: int, rng: np.random.Generator
    ) -> QueryJury:
        """Draw a weight for each query in each replicate."""
        shares = bound.weights[:, np.newaxis] * replicate_weights(len(bound.queries), count, rng)
        return cls(ledger, bound, shares / shares.sum(axis=0))

    def tune(self, scores: Floats64) -> Judgement:
        """Judge: there is no threshold."""
        return self.judge(scores)

    def judge(self, scores: Floats64) -> Judgement:
        """Count one look, and judge."""
        cost = float(self.ledger.ask(self.bound, scores))
        replicates = self.bound.per_query(scores) @ self.shares
        return Judgement(0.0, cost, np.asarray(self.bound.metric.cost(replicates)))


def calling_jury(ledger: Ledger, rng: np.random.Generator) -> CallingJury:
    """Return a jury for any other metric: its replicates are whole queries drawn anew."""
    thresholds, count = affordable(ledger.max_calls)
    drawn = [redrawn(ledger.problem, rng) for _ in range(count)]
    brief = (thresholds, count) != CALLS
    return CallingJury(ledger, [pair for pair in drawn if pair is not None], thresholds, brief)


def redrawn(
    problem: Problem, rng: np.random.Generator
) -> tuple[NDArray[np.intp], BoundMetric] | None:
    """Bind the metric to as many queries, drawn with replacement; None if it cannot be bound."""
    data, labels = problem.valid, problem.labels
    queries = list(Queries.of(data.column(QUERY)))
    chosen = [queries[q] for q in rng.integers(len(queries), size=len(queries))]
    rows = np.concatenate(chosen)
    side = {name: column[rows] for name, column in data.side.items()}
    side[QUERY] = np.repeat(np.arange(len(chosen)), [len(part) for part in chosen])
    weights = data.weights[rows]
    try:
        return rows, problem.metric.bind(data.y[rows], weights=weights, side=side, labels=labels)
    except ValueError:
        return None
