"""Surrogates by query: losses of the order within each query, averaged over the queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.blocks import Queries
from anymetric.data import Data, Floats
from anymetric.losses import Logistic, MarginLoss, as_loss
from anymetric.metrics.queries import HIGHEST_GRADE
from anymetric.metrics.ranked import QUERY, relevance
from anymetric.surrogates.lists import BoundLists, PrecisionLists, RecallLists, tables
from anymetric.surrogates.pairs import BoundLogisticPairs, BoundPairs, pairs, told_apart
from anymetric.surrogates.ranking import AveragePrecisionAtK, PrecisionAtRecall, full_rows


class ByQueryPart:
    """What surrogates by query share: the columns that they need."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The column of queries; ``relevance`` is read where it is there."""
        return (QUERY,)


@dataclass(frozen=True)
class Pairwise(ByQueryPart):
    """A margin loss of ``f_i - f_j`` over pairs of one query in which i is the more relevant.

    The mean over the pairs of a query, then over the queries. A constant added to all scores of a
    query changes nothing.

    Parameters
    ----------
    loss : MarginLoss or str
        ``"logistic"``, ``"hinge"`` or any other.
    gains : bool
        Weigh a pair by how much its gains ``2^relevance - 1`` differ.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, -1.0]), side={"query": np.zeros(3)})
    >>> Pairwise("hinge").bind(data).values(np.array([1.0, 0.5, -1.0])).tolist()
    [0.25]
    """

    loss: MarginLoss | str = "logistic"
    gains: bool = False

    def __post_init__(self) -> None:
        if not isinstance(as_loss(self.loss), MarginLoss):
            raise ValueError(f"Pairwise needs a loss of margins; got {as_loss(self.loss).name!r}.")

    @property
    def name(self) -> str:
        """``pairwise_logistic``, with ``[gains]`` if pairs are weighed."""
        return f"pairwise_{as_loss(self.loss).name}{'[gains]' if self.gains else ''}"

    def bind(self, data: Data) -> BoundPairs:
        """Fix the rows and list the pairs."""
        grades = relevance(data)
        better, worse, queries = pairs(data, grades, self.name)
        weights = np.ones(len(better))
        if self.gains:
            gain = gains(grades)
            weights = gain[better] - gain[worse]
        mass = np.bincount(queries.member[better], weights, minlength=len(queries))
        share = query_shares(queries, data.weights, mass > 0.0)
        weights *= (share / np.where(mass > 0.0, mass, 1.0))[queries.member[better]]
        loss = as_loss(self.loss)
        assert isinstance(loss, MarginLoss)
        kind = BoundLogisticPairs if isinstance(loss, Logistic) else BoundPairs
        return kind(loss, better, worse, weights, len(data))


@dataclass(frozen=True)
class Softmax(ByQueryPart):
    """ListNet: how far the softmax of a query's scores is from its gains, each summing to one.

    ``sum_i t_i log(t_i / softmax(f)_i)`` with ``t_i`` the share of row i in the query's gains
    ``2^relevance - 1`` (Cao et al. 2007, top-one probabilities), averaged over the queries.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]), side={"query": np.zeros(2)})
    >>> Softmax().bind(data).values(np.array([np.log(3.0), 0.0])).round(6).tolist()
    [0.287682]
    """

    @property
    def name(self) -> str:
        """``softmax``."""
        return "softmax"

    def bind(self, data: Data) -> BoundSoftmax:
        """Fix the rows, sorted by query."""
        grades = relevance(data)
        queries = Queries.of(data.column(QUERY))
        kept = told_apart(queries, grades, self.name)
        gain = gains(grades)
        total = np.bincount(queries.member, gain, minlength=len(queries))
        target = gain / np.where(total > 0.0, total, 1.0)[queries.member]
        share = query_shares(queries, data.weights, kept)
        order = queries.order
        inside = np.log(np.where(target > 0.0, target, 1.0)) * target
        constant = float(share[queries.member] @ inside)
        return BoundSoftmax(
            order, queries.start, queries.member[order], target[order], share, constant
        )


@dataclass(frozen=True, eq=False)
class BoundSoftmax:
    """`Softmax` on fixed rows."""

    order: NDArray[np.intp]
    start: NDArray[np.intp]
    member: NDArray[np.intp]
    target: NDArray[np.float64]
    share: NDArray[np.float64]
    constant: float

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the mean divergence."""
        _, sums, centred = self._exponentials(scores)
        aimed = (self.target * self.share[self.member]) @ centred
        return np.asarray(self.constant + self.share @ np.log(sums) - aimed)[..., np.newaxis]

    def slopes(self, scores: Floats) -> sparse.csr_array:
        """Push scores by how far their softmax is from its target."""
        powers, sums, _ = self._exponentials(scores)
        row = np.empty(len(self.order))
        row[self.order] = self.share[self.member] * (powers / sums[self.member] - self.target)
        return full_rows(row[np.newaxis, :])

    def _exponentials(
        self, scores: Floats
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return powers of e by row, their sums by query, and scores below each query's best."""
        ranked = np.asarray(scores, dtype=np.float64)[self.order]
        centred = ranked - np.maximum.reduceat(ranked, self.start)[self.member]
        powers = np.exp(centred)
        return powers, np.add.reduceat(powers, self.start), centred


@dataclass(frozen=True)
class ByQuery(ByQueryPart):
    """A surrogate of two classes, taken within each query and averaged over the queries.

    Parameters
    ----------
    inner : PrecisionAtRecall or AveragePrecisionAtK
        A k above the relevant rows of a query is
        taken to be that many. Row weights count as the query's mean.
    relevant : float, optional
        The lowest relevance of a positive row; by default the target's own classes.

    Examples
    --------
    >>> import numpy as np
    >>> query = np.array([1, 1, 2, 2])
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]), side={"query": query})
    >>> surrogate = ByQuery(AveragePrecisionAtK(5))
    >>> surrogate.name, surrogate.bind(data).values(np.array([2.0, 0.0, 0.0, 2.0])).tolist()
    ('average_precision@5 by query', [1.5])
    """

    inner: AveragePrecisionAtK | PrecisionAtRecall
    relevant: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.inner, AveragePrecisionAtK | PrecisionAtRecall):
            raise TypeError(
                "ByQuery takes AveragePrecisionAtK(...) or PrecisionAtRecall(...); got "
                f"{self.inner!r}. Pairwise and Softmax are by query of themselves."
            )

    @property
    def name(self) -> str:
        """The inner name, by query."""
        above = "" if self.relevant is None else f", relevance>={self.relevant:g}"
        return f"{self.inner.name} by query{above}"

    def bind(self, data: Data) -> BoundLists:
        """Fix the rows of the queries that have both classes."""
        y = data.y
        if self.relevant is not None:
            y = np.where(relevance(data) >= self.relevant, 1.0, -1.0)
        queries = Queries.of(data.column(QUERY))
        kept = told_apart(queries, (y > 0.0).astype(np.float64), self.name)
        share = query_shares(queries, data.weights, kept)
        made = tables(queries, y > 0.0, share)
        if isinstance(self.inner, AveragePrecisionAtK):
            return PrecisionLists(made, len(data), self.inner.k)
        return RecallLists(made, len(data), self.inner.recall, self.inner.smoothing)


def gains(grades: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``2^relevance - 1``; relevance below zero is counted from its smallest value.

    Numbers above 30 are no grades but counts or amounts: these are gains as they are.

    Examples
    --------
    >>> import numpy as np
    >>> gains(np.array([0.0, 3.0])).tolist(), gains(np.array([0.0, 500.0])).tolist()
    ([0.0, 7.0], [0.0, 500.0])
    """
    raised = grades - min(float(grades.min()), 0.0)
    return raised if raised.max() > HIGHEST_GRADE else np.exp2(raised) - 1.0


def query_shares(
    queries: Queries, weights: NDArray[np.float64], kept: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return what each query weighs, summing to one: its rows' mean weight, 0 if it is not kept.

    Examples
    --------
    >>> import numpy as np
    >>> queries = Queries.of(np.array([1, 1, 2]))
    >>> query_shares(queries, np.array([1.0, 2.0, 0.5]), np.array([True, True])).tolist()
    [0.75, 0.25]
    """
    mass: Any = queries.mean(weights) * kept
    return np.asarray(mass / mass.sum(), dtype=np.float64)
