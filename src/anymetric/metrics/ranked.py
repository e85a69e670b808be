"""Ranked: rows of each query in the order of their scores, and what a metric by query is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.blocks import Block, Queries
from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.curves import BLOCK
from anymetric.metrics.rows import Rows

# The metadata columns that metrics and surrogates by query read.
QUERY, RELEVANCE = "query", "relevance"


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows of some queries in the order of their scores, the best first.

    Attributes
    ----------
    gain : array of shape (..., q, L)
        What each place earns: the mean over rows that tie for it, 0 in the padding.
    last : array of shape (..., q, L)
        The last place, from 1, of the run of tied rows that a place belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> ranked = Ranked.of(np.array([[-2.0, -3.0, -2.0]]), np.array([[1.0, 5.0, 0.0]]))
    >>> ranked.gain.tolist(), ranked.last.tolist()
    ([[5.0, 0.5, 0.5]], [[1, 3, 3]])
    """

    gain: NDArray[np.float64]
    last: NDArray[np.intp]

    @classmethod
    def of(cls, keys: NDArray[np.float64], gain: NDArray[np.float64]) -> Ranked:
        """Sort keys ``(..., q, L)`` along the last axis, lowest first, gains ``(q, L)`` along."""
        order = np.argsort(keys, axis=-1)
        gain = np.take_along_axis(np.broadcast_to(gain, keys.shape), order, axis=-1)
        keys = np.take_along_axis(keys, order, axis=-1)
        place = np.broadcast_to(np.arange(1, keys.shape[-1] + 1), keys.shape)
        # Padding has infinite keys: equal to each other, and to no score.
        tied = (keys[..., 1:] == keys[..., :-1]) & np.isfinite(keys[..., 1:])
        return cls(*_tie_averaged(gain, tied)) if tied.any() else cls(gain, place)


def _tie_averaged(
    gain: NDArray[np.float64], tied: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Share gains evenly over runs of tied places; return them with each run's last place."""
    L = gain.shape[-1]
    place = np.arange(1, L + 1)
    edge = np.zeros((*tied.shape[:-1], 1), dtype=bool)
    ends = np.where(np.concatenate([tied, edge], axis=-1), L, place)
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    begins = np.where(np.concatenate([edge, tied], axis=-1), 0, place)
    first = np.maximum.accumulate(begins, axis=-1)
    running = np.concatenate([np.zeros((*gain.shape[:-1], 1)), np.cumsum(gain, axis=-1)], axis=-1)
    total = np.take_along_axis(running, last, -1) - np.take_along_axis(running, first - 1, -1)
    return total / (last - first + 1), last


class QueryMetric(Metric):
    """The mean over queries of a number for each query's ranking.

    A query in which no row is relevant says nothing of any ranking, and is left out. A query
    weighs as much as its rows do on average; rows without weight are not there. Relevance is the
    metadata column ``relevance`` if there is one, else 1 for positive rows and 0 for others.

    Examples
    --------
    >>> import numpy as np
    >>> class TopHit(QueryMetric):
    ...     name = "top_hit"
    ...
    ...     def of_ranking(self, ranked, block, ideal):
    ...         return ranked.gain[..., 0]
    >>> query = np.array([7, 7, 8, 8])
    >>> bound = TopHit().bind(np.array([1.0, -1.0, -1.0, 1.0]), side={"query": query})
    >>> bound.per_query(np.array([2.0, 1.0, 2.0, 1.0])).tolist()
    [1.0, 0.0]
    """

    greater_is_better = True
    needs = (QUERY,)
    relevant: float | None = None

    def gains(self, rows: Rows) -> NDArray[np.float64]:
        """Return what each row earns: 1 if it is relevant, else 0."""
        if self.relevant is None:
            return rows.positive.astype(np.float64)
        return (relevance(rows) >= self.relevant).astype(np.float64)

    def ideal(self, gain: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the best order of gains ``(q, L)``, 0 in the padding, is measured by."""
        return np.asarray(gain.sum(axis=-1))

    @abstractmethod
    def of_ranking(
        self, ranked: Ranked, block: Block, ideal: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return values ``(..., q)`` of rankings ``(..., q, L)``."""

    def _bind(self, rows: Rows) -> BoundMetric:
        alive = np.flatnonzero(rows.weights > 0.0)
        queries = Queries.of(rows.side[QUERY][alive])
        gain = self.gains(rows)[alive]
        relevant = queries.any(gain > 0.0)
        if not relevant.any():
            raise ValueError(
                f"Metric {self.name!r} needs relevant rows; none of the {len(queries)} queries "
                "has one. Give more queries, or another metric."
            )
        return BoundQueries(self, rows, alive, queries, gain, relevant)


@dataclass(frozen=True, eq=False)
class BoundQueries(BoundMetric):
    """A metric by query on fixed rows: each query is sorted by itself, many at a time.

    Attributes
    ----------
    metric : QueryMetric
    rows : Rows
    alive : array of int
        The rows that weigh anything.
    queries : Queries
        The Q queries of those rows.
    gain : array of the shape of `alive`
        What each of them earns.
    relevant : boolean array of shape (Q,)
        Which queries have a relevant row.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> query = np.array(["a", "a", "b", "b"])
    >>> bound = as_metric("mrr").bind(np.array([1.0, -1.0, -1.0, 1.0]), side={"query": query})
    >>> bound.per_query(np.array([2.0, 1.0, 2.0, 1.0])).tolist()
    [1.0, 0.5]
    """

    metric: QueryMetric
    alive: NDArray[np.intp]
    queries: Queries
    gain: NDArray[np.float64]
    relevant: NDArray[np.bool_]

    def per_query(self, scores: Floats) -> NDArray[np.float64]:
        """Return the value of every query, ``(Q,)`` or ``(Q, m)``; 0 where it says nothing."""
        scores = self._checked(scores, (1, 2))
        columns = (scores if scores.ndim == 2 else scores[:, np.newaxis])[self.alive]
        values = np.zeros((len(self.queries), columns.shape[1]))
        for block, gain, ideal in self._tables:
            for part in _columns(columns.shape[1], block.rows.size):
                keys = np.where(block.real, -columns[:, part].T[:, block.rows], np.inf)
                ranked = Ranked.of(keys.astype(np.float64, copy=False), gain)
                values[block.queries, part] = self.metric.of_ranking(ranked, block, ideal).T
        return values.reshape(-1, *scores.shape[1:])

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """What each query weighs, summing to one."""
        weights = self.queries.mean(self.rows.weights[self.alive]) * self.relevant
        return np.asarray(weights / weights.sum())

    @cached_property
    def _tables(self) -> list[tuple[Block, NDArray[np.float64], NDArray[np.float64]]]:
        blocks = self.queries.blocks(self.relevant)
        gains = [block.of(self.gain, 0.0) for block in blocks]
        return [(b, gain, self.metric.ideal(gain)) for b, gain in zip(blocks, gains, strict=True)]

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        values = self.weights @ self.per_query(scores)
        return np.where(np.isnan(scores).any(axis=0), np.nan, values)


def relevance(rows: Any) -> NDArray[np.float64]:
    """Return the relevance of rows or data: a column of that name, or 1 for positive rows.

    Parameters
    ----------
    rows : Rows or Data

    Examples
    --------
    >>> import numpy as np
    >>> relevance(Rows(np.array([1.0, -1.0]), np.ones(2))).tolist()
    [1.0, 0.0]
    """
    if RELEVANCE in rows.side:
        return np.asarray(rows.side[RELEVANCE], dtype=np.float64)
    return np.asarray(rows.y > 0.0, dtype=np.float64)


def _columns(m: int, size: int) -> Iterator[slice]:
    width = max(BLOCK // max(size, 1), 1)
    return (slice(start, start + width) for start in range(0, m, width))
