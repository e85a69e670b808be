"""Metrics by query: how well each query's rows are ordered, averaged over the queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.blocks import Block
from anymetric.metrics.base import Metric
from anymetric.metrics.ranked import QueryMetric, Ranked, relevance
from anymetric.metrics.ranking import AveragePrecision
from anymetric.metrics.rows import Rows
from anymetric.metrics.top import PrecisionAtK

# Two to the power of more than this is no grade.
HIGHEST_GRADE = 30.0


@dataclass(frozen=True)
class NDCG(QueryMetric):
    """Discounted gain of the first k places over the best there can be.

    ``sum_i gain_i / log2(1 + i)``, with the gain ``2^relevance - 1``. Rows that tie share the
    places that they tie for, as in scikit-learn's `ndcg_score`.

    Parameters
    ----------
    k : int or None
        Places that count; None: all.
    gain : {"exponential", "linear"}
        ``linear``: the relevance itself.

    Examples
    --------
    >>> import numpy as np
    >>> side = {"query": np.zeros(3), "relevance": np.array([2.0, 0.0, 1.0])}
    >>> bound = NDCG(2).bind(np.array([1.0, -1.0, 1.0]), side=side)
    >>> bound.values(np.array([[3, 1], [1, 3], [2, 2]])).round(4).tolist()
    [1.0, 0.1738]
    """

    k: int | None = 10
    gain: Literal["exponential", "linear"] = "exponential"

    def __post_init__(self) -> None:
        _check_depth(self.k)
        if self.gain not in ("exponential", "linear"):
            raise ValueError(f"gain must be 'exponential' or 'linear'; got {self.gain!r}.")

    @property
    def name(self) -> str:
        """``ndcg@10``, or ``ndcg`` if all places count."""
        return _at("ndcg", self.k)

    def gains(self, rows: Rows) -> NDArray[np.float64]:
        """Return ``2^relevance - 1``, or the relevance."""
        grades = relevance(rows)
        if np.any(grades < 0.0):
            raise ValueError(
                f"Metric {self.name!r} needs relevance of 0 or more; got {grades.min():g}."
            )
        if self.gain == "exponential" and np.any(grades > HIGHEST_GRADE):
            raise ValueError(
                f"Metric {self.name!r} has gains of 2^relevance - 1; got a relevance of "
                f'{grades.max():g}. Give grades, or NDCG({self.k}, gain="linear").'
            )
        return np.exp2(grades) - 1.0 if self.gain == "exponential" else grades

    def ideal(self, gain: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the discounted gain of the best order."""
        return -np.sort(-gain, axis=-1) @ self._discount(gain.shape[-1])

    def of_ranking(
        self, ranked: Ranked, block: Block, ideal: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the share of the best."""
        return np.asarray(ranked.gain @ self._discount(ranked.gain.shape[-1]) / ideal)

    def _discount(self, L: int) -> NDArray[np.float64]:
        place = np.arange(1, L + 1)
        return np.where(place <= (self.k or L), 1.0 / np.log2(1.0 + place), 0.0)


@dataclass(frozen=True)
class QueryPrecisionAtK(QueryMetric):
    """Share of relevant rows among the first k of each query, or among all of a shorter one.

    Rows that tie share the places that they tie for.

    Parameters
    ----------
    k : int
    relevant : float, optional
        The lowest relevance that counts; by default positive rows do.

    Examples
    --------
    >>> import numpy as np
    >>> query = np.array([1, 1, 1, 2])
    >>> bound = QueryPrecisionAtK(2).bind(np.array([1.0, -1.0, 1.0, 1.0]), side={"query": query})
    >>> float(bound.values(np.array([3.0, 2.0, 1.0, 0.0])))
    0.75
    """

    k: int = 10
    relevant: float | None = None

    def __post_init__(self) -> None:
        _check_depth(self.k)

    @property
    def name(self) -> str:
        """``query_precision@10``..."""
        return f"query_precision@{self.k}"

    def of_ranking(
        self, ranked: Ranked, block: Block, ideal: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the share in the first places."""
        top = np.minimum(block.real.sum(axis=-1), self.k)
        return np.asarray(ranked.gain[..., : self.k].sum(axis=-1) / top)


@dataclass(frozen=True)
class ReciprocalRank(QueryMetric):
    """One over the place of the first relevant row; rows that tie stand in their worst order.

    Parameters
    ----------
    k : int or None
        A first relevant row beyond this place earns nothing; None: every place counts.
    relevant : float, optional
        The lowest relevance that counts; by default positive rows do.

    Examples
    --------
    >>> import numpy as np
    >>> bound = ReciprocalRank().bind(np.array([-1.0, 1.0]), side={"query": np.zeros(2)})
    >>> bound.values(np.array([[2, 1, 0], [1, 2, 0]])).tolist()
    [0.5, 1.0, 0.5]
    """

    k: int | None = None
    relevant: float | None = None

    def __post_init__(self) -> None:
        _check_depth(self.k)

    @property
    def name(self) -> str:
        """``mrr``, or ``mrr@10``."""
        return _at("mrr", self.k)

    def of_ranking(
        self, ranked: Ranked, block: Block, ideal: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return one over the place of the first gain, behind others that tie with it."""
        first = np.argmax(ranked.gain > 0.0, axis=-1)[..., np.newaxis]
        last, gain = (np.take_along_axis(x, first, -1)[..., 0] for x in (ranked.last, ranked.gain))
        place = last + 1 - np.rint(gain * (last - first[..., 0]))
        return np.where(place <= (self.k or place.max(initial=1.0)), 1.0 / place, 0.0)


@dataclass(frozen=True)
class QueryAveragePrecision(QueryMetric):
    """Mean average precision: precision at the place of each relevant row, averaged.

    Rows that tie all stand at their last place, as in scikit-learn's `average_precision_score`.

    Parameters
    ----------
    relevant : float, optional
        The lowest relevance that counts; by default positive rows do.

    Examples
    --------
    >>> import numpy as np
    >>> side = {"query": np.zeros(3)}
    >>> bound = QueryAveragePrecision().bind(np.array([1.0, -1.0, 1.0]), side=side)
    >>> round(float(bound.values(np.array([3, 2, 1]))), 4)
    0.8333
    """

    relevant: float | None = None

    name = "map"

    def of_ranking(
        self, ranked: Ranked, block: Block, ideal: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the mean over relevant rows of the precision down to each."""
        found = np.take_along_axis(np.cumsum(ranked.gain, axis=-1), ranked.last - 1, axis=-1)
        return np.asarray((ranked.gain * found / ranked.last).sum(axis=-1) / ideal)


def by_query(metric: Metric) -> Metric:
    """Return the twin of a metric that is taken query by query, or the metric if it has none.

    Parameters
    ----------
    metric : Metric

    Examples
    --------
    >>> by_query(PrecisionAtK(5)).name, by_query(AveragePrecision()).name
    ('query_precision@5', 'map')
    """
    if isinstance(metric, PrecisionAtK):
        return QueryPrecisionAtK(metric.k)
    return QueryAveragePrecision() if isinstance(metric, AveragePrecision) else metric


def _at(name: str, k: int | None) -> str:
    return name if k is None else f"{name}@{k}"


def _check_depth(k: int | None) -> None:
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1; got {k}.")
