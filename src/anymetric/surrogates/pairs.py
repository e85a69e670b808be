"""Pairs: rows of one query of which one is more relevant, and losses of their margins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.blocks import Queries
from anymetric.data import Data, Floats
from anymetric.losses import MarginLoss
from anymetric.metrics.ranked import QUERY
from anymetric.surrogates.base import MatrixSlopes
from anymetric.surrogates.ranking import full_rows

# Pairs worked on at once, and the most that are held: 1 GB of places and weights.
CHUNK = 1 << 16
MOST_PAIRS = 1 << 26
# So many factors 1 + exp(margin) are multiplied before the logarithm; margins within the reach
# keep the product finite: 16 * 40 is below 709.
FACTORS, REACH = 16, 40.0


@dataclass(frozen=True, eq=False)
class BoundPairs:
    """A loss of pairs on fixed rows: one pass over the list of pairs, a chunk at a time."""

    loss: MarginLoss
    better: NDArray[np.int32]
    worse: NDArray[np.int32]
    weights: NDArray[np.float64]
    n: int

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the mean loss of the pairs."""
        total = np.zeros(scores.shape[1:])
        for part in self._chunks(scores.size // max(len(scores), 1)):
            margins = scores[self.better[part]] - scores[self.worse[part]]
            total += self.weights[part] @ self.loss.value(margins)
        return np.asarray(total[..., np.newaxis], dtype=np.float64)

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Push the better row of a pair up by as much as the worse one down."""
        return self.local(scores)[1].slopes

    def local(self, scores: Floats) -> tuple[NDArray[np.float64], MatrixSlopes]:
        """Return the mean loss and its derivatives, from one pass."""
        row, total = np.zeros(self.n), 0.0
        for part in self._chunks(1):
            margins = scores[self.better[part]] - scores[self.worse[part]]
            total += float(self.weights[part] @ self.loss.value(margins))
            row += self._pushes(part, self.weights[part] * self.loss.slope(margins))
        return np.array([total]), MatrixSlopes(full_rows(row[np.newaxis, :]))

    def _pushes(self, part: slice, up: Floats) -> NDArray[np.float64]:
        """Return by row what pairs push their better rows up and their worse ones down."""
        better, worse = self.better[part], self.worse[part]
        ups, downs = (np.bincount(rows, up, self.n) for rows in (better, worse))
        return np.asarray(ups - downs, dtype=np.float64)

    def _chunks(self, columns: int) -> list[slice]:
        # Adding up whole columns costs as much as so many pairs: no chunk is smaller.
        width = max(CHUNK // max(columns, 1), 256 if columns > 1 else 4 * self.n)
        return [slice(first, first + width) for first in range(0, len(self.better), width)]


@dataclass(frozen=True, eq=False)
class BoundLogisticPairs(BoundPairs):
    """The logistic loss of pairs: a power of e a row, and a logarithm for many pairs at a time.

    ``sum_j log(1 + e^(f_j - f_i))`` is the logarithm of a product, whose factors need no power of
    e of their own.
    """

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """Where runs of at most `FACTORS` pairs with one better row and one weight begin."""
        new = np.ones(len(self.better), dtype=bool)
        new[1:] = (np.diff(self.better) != 0) | (np.diff(self.weights) != 0.0)
        place = np.arange(len(new))
        inside = place - np.maximum.accumulate(np.where(new, place, 0))
        return np.flatnonzero(inside % FACTORS == 0)

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the mean loss of the pairs."""
        powers = self._powers(scores)
        if powers is None:
            return super().values(scores)
        total = np.zeros(scores.shape[1:])
        for part, starts in self._runs(max(CHUNK // max(powers[0][0].size, 1), 16 * FACTORS)):
            factors = self._odds(powers, part)
            factors += 1.0
            total += self._logarithms(factors, starts)
        return np.asarray(total[..., np.newaxis], dtype=np.float64)

    def local(self, scores: Floats) -> tuple[NDArray[np.float64], MatrixSlopes]:
        """Return the mean loss and its derivatives, from one pass."""
        powers = self._powers(scores)
        if powers is None:
            return super().local(scores)
        row, total = np.zeros(self.n), 0.0
        for part, starts in self._runs(max(CHUNK, 4 * self.n)):
            odds = self._odds(powers, part)
            factors = 1.0 + odds
            total += float(self._logarithms(factors, starts))
            odds /= factors
            odds *= self.weights[part]
            row -= self._pushes(part, odds)
        return np.array([total]), MatrixSlopes(full_rows(row[np.newaxis, :]))

    def _runs(self, pairs: int) -> Iterator[tuple[slice, NDArray[np.intp]]]:
        """Yield whole groups of about so many pairs: which pairs, and where the groups begin."""
        ends = np.append(self.groups, len(self.better))
        count = max(pairs // FACTORS, 1)
        for first in range(0, len(self.groups), count):
            starts = ends[first : first + count + 1]
            yield slice(starts[0], starts[-1]), starts[:-1]

    def _odds(self, powers: tuple[Floats, Floats], part: slice) -> Floats:
        up, down = powers
        odds = up[self.worse[part]]
        odds *= down[self.better[part]]
        return odds

    def _logarithms(self, factors: Floats, starts: NDArray[np.intp]) -> Floats:
        """Return the weighted sum of the logarithms of each group's product."""
        products = np.multiply.reduceat(factors, starts - starts[0], axis=0)
        return np.asarray(self.weights[starts] @ np.log(products))

    def _powers(self, scores: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return e to the scores and to minus the scores; None if they reach too far."""
        low, high = scores.min(axis=0), scores.max(axis=0)
        if not np.all(high - low <= REACH):
            return None
        centred = np.asarray(scores - 0.5 * (low + high), dtype=np.float64)
        return np.exp(centred), np.exp(-centred)


def pairs(
    data: Data, grades: NDArray[np.float64], name: str
) -> tuple[NDArray[np.int32], NDArray[np.int32], Queries]:
    """Return the better and the worse row of every pair within a query, and the queries.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.ones(3), side={"query": np.zeros(3)})
    >>> better, worse, _ = pairs(data, np.array([0.0, 2.0, 1.0]), "pairwise")
    >>> list(zip(better.tolist(), worse.tolist()))
    [(1, 2), (1, 0), (2, 0)]
    """
    queries = Queries.of(data.column(QUERY))
    told_apart(queries, grades, name)
    order = np.lexsort((-grades, queries.member))
    query, grade = queries.member[order], grades[order]
    end = np.append(queries.start[1:], len(order))[query]
    # Below a row stand the rows of its query after the run of its own grade.
    change = np.flatnonzero((np.diff(query) != 0) | (np.diff(grade) != 0)) + 1
    run = np.searchsorted(change, np.arange(len(order)), side="right")
    below = np.append(change, len(order))[run]
    counts = end - below
    total = int(counts.sum())
    if total > MOST_PAIRS:
        raise ValueError(
            f"Surrogate {name!r} compares {total:,} pairs within {len(queries)} queries; at most "
            f"{MOST_PAIRS:,} fit. Use Softmax(), or give rows of more and shorter queries."
        )
    inside = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    place = order.astype(np.int32)
    return np.repeat(place, counts), place[np.repeat(below, counts) + inside], queries


def told_apart(queries: Queries, grades: NDArray[np.float64], name: str) -> NDArray[np.bool_]:
    """Return which queries have rows of different relevance; that none has is an error.

    Examples
    --------
    >>> import numpy as np
    >>> told_apart(Queries.of(np.array([1, 1, 2])), np.array([0.0, 1.0, 1.0]), "any").tolist()
    [True, False]
    """
    ranked = grades[queries.order]
    highest = np.maximum.reduceat(ranked, queries.start)
    kept = np.asarray(highest > np.minimum.reduceat(ranked, queries.start))
    if not kept.any():
        raise ValueError(
            f"Surrogate {name!r} compares rows of a query; none of the {len(queries)} queries has "
            "rows of different relevance. Give such queries, or another column as `query`."
        )
    return kept
