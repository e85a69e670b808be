"""Queries: metrics by query, which are judged on resamples of whole queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anymetric.auto.judges.base import Bools, Floats64, Ints, Judge
from anymetric.auto.judges.bootstrap import Resample, bootstrap_weights
from anymetric.blocks import Queries
from anymetric.ledger import Ledger
from anymetric.metrics import BoundMetric, BoundQueries
from anymetric.metrics.ranked import QUERY
from anymetric.problem import Problem


@dataclass(frozen=True, eq=False)
class QueriesJudge(Judge):
    """A judge for metrics by query: one evaluation gives every query's value, hence all resamples.

    Attributes
    ----------
    ledger : Ledger
    bound : BoundQueries
    shares : array of shape (Q, B)
        Of each query in each resample.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> side = {"query": np.array([0, 0, 1, 1])}
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]), side=side)
    >>> ledger = Ledger(Problem(data, "hinge", as_metric("mrr")))
    >>> judge = QueriesJudge(ledger, ledger.problem.judge, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> judge.evaluate(np.array([[2.0], [1.0], [1.0], [2.0]])).tolist()
    [0.25, 0.0, 0.5]
    """

    ledger: Ledger
    bound: BoundQueries
    shares: Floats64

    @classmethod
    def of(
        cls, ledger: Ledger, bound: BoundQueries, count: int, rng: np.random.Generator
    ) -> QueriesJudge:
        """Draw a weight for each query in each resample."""
        shares = bound.weights[:, np.newaxis] * bootstrap_weights(len(bound.queries), count, rng)
        return cls(ledger, bound, shares / shares.sum(axis=0))

    @property
    def left(self) -> float:
        """How many more evaluations there are."""
        return self.ledger.left

    def evaluate(self, scores: Floats64) -> Floats64:
        """Return the costs; one call."""
        cost = self.ledger.ask(self.bound, scores[:, 0])
        resampled = self.bound.per_query(scores[:, 0]) @ self.shares
        return np.append(cost, self.bound.metric.cost(resampled))

    def sweep(
        self, scores: Floats64, output: int = 0, moving: Bools | None = None
    ) -> tuple[Floats64, Floats64]:
        """Return the scores as they are: an order within queries has no threshold."""
        return np.zeros(1), self.evaluate(scores)[np.newaxis]

    def varies(self, scores: Floats64) -> bool:
        """Return False: there is no threshold."""
        return False


def drawn_queries(problem: Problem, rng: np.random.Generator) -> tuple[Ints, BoundMetric] | None:
    """Bind the metric to as many queries, drawn with replacement; None if it refuses."""
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


def query_resamples(problem: Problem, count: int, rng: np.random.Generator) -> list[Resample]:
    """Return resamples of whole queries for a metric that must be called."""
    found = (drawn_queries(problem, rng) for _ in range(count))
    return [one for one in found if one is not None]
