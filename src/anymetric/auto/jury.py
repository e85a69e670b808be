"""Jury: the rows that judge, and replicates of them that tell how far to trust the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.auto.cuts import kept, lowest
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import (
    BoundMetric,
    DecisionMetric,
    Metric,
    Rows,
)

Floats64 = NDArray[np.float64]
# A replicate: which rows were drawn, or None if they are all there and weighted; and the metric.
Drawn = tuple[NDArray[np.intp] | None, BoundMetric]
# Replicates of a very large sample are fewer: their weights must fit in memory, and it needs fewer.
MOST_WEIGHTS = 1 << 22
FEWEST_REPLICATES = 20
# Thresholds looked at in a sweep with replicates: finer than any replicate can tell apart, and
# beside the rows of a rare class.
LEVELS, RARE = 256, 1 / 16
# Rounds over the groups, each with a threshold of its own, and by how many errors of the gain
# moving one must pay.
ROUNDS, WORTH = 3, 0.5
# By how many errors the replicates must cost more on average where a cost leaps.
CLEARLY = 3.0


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


def leaps(told: Judgement) -> bool:
    """Return whether replicates cost more on average than the rows themselves, beyond chance.

    So it is where a cost leaps beyond a limit just here: half of the replicates go beyond it.

    Examples
    --------
    >>> import numpy as np
    >>> level, edge = np.array([0.1, 0.3] * 20), np.array([0.2, 5.0] * 20)
    >>> leaps(Judgement(0.0, 0.2, level)), leaps(Judgement(0.0, 0.2, edge))
    (False, True)
    """
    costs = told.replicates
    if len(costs) < 2:
        return False
    return bool(costs.mean() - told.cost > CLEARLY * costs.std() / np.sqrt(len(costs)))


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
    return rng.standard_exponential((n, fitting(n, count)))


def fitting(n: int, count: int) -> int:
    """Return how many replicates of so many rows fit in memory, of those that are wanted.

    Examples
    --------
    >>> fitting(1000, 100), fitting(100_000, 100), fitting(10_000_000, 100)
    (100, 41, 20)
    """
    return min(count, max(FEWEST_REPLICATES, MOST_WEIGHTS // n))


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
    y: Floats64
    cell: NDArray[np.intp]
    size: int
    weights: Floats64  # (n, 1 + B): the rows themselves first, then the replicates
    totals: Floats64  # (1 + B, ...)
    moves: bool = True  # whether `tune` may move the threshold

    @classmethod
    def build(cls, metric: DecisionMetric, data: Data, replicates: Floats64) -> DecisionJury:
        """Bind the metric to the rows and to every replicate of them."""
        if metric.additive:
            cells, _ = metric.cells(Rows(data.y, data.weights, data.side))
            weights = np.empty((len(data), 1 + replicates.shape[1]))
            weights[:, 0] = data.weights
            np.multiply(replicates, data.weights[:, np.newaxis], out=weights[:, 1:])
            member = sparse.csr_array(
                (np.ones(len(data)), (cells.cell, np.arange(len(data)))), (cells.size, len(data))
            )
            totals = np.asarray(member @ weights).T
            return cls(metric, data.y, cells.cell, cells.size, weights, totals)
        groups = {
            name: np.unique(column, return_inverse=True)[1] if column.dtype.kind in "OU" else column
            for name, column in data.side.items()
        }
        cells, total = metric.cells(Rows(data.y, data.weights, groups))
        others = [metric.cells(Rows(data.y, data.weights * r, groups)) for r in replicates.T]
        weights = np.stack([cells.weights, *(c.weights for c, _ in others)], axis=1)
        totals = np.stack([total, *(t for _, t in others)])
        return cls(metric, data.y, cells.cell, cells.size, weights, totals)

    def curve(
        self, scores: Floats64, moving: NDArray[np.bool_] | None = None
    ) -> tuple[Floats64, Floats64]:
        """Return shifts ``(t,)`` and their costs ``(t, 1 + B)``; of some rows, if they are named.

        The others stay as they are.
        """
        shifts, sums = self.swept(scores, moving)
        return shifts, np.asarray(self.metric.cost(self.metric.from_sums(sums, self.totals)))

    def swept(
        self, scores: Floats64, moving: NDArray[np.bool_] | None = None
    ) -> tuple[Floats64, Floats64]:
        """Return shifts ``(t,)`` and the weights flagged in each cell, ``(t, 1 + B, cells)``.

        As in `curve`.
        """
        rows = np.arange(len(scores)) if moving is None else np.flatnonzero(moving)
        order = rows[np.argsort(-scores[rows], kind="stable")]
        n, ranked = len(rows), scores[order]
        distinct = np.flatnonzero(ranked[1:] < ranked[:-1]) + 1
        cuts = kept(np.concatenate(([0], distinct, [n])), beside_rare(self.y[order]), LEVELS)
        above = np.concatenate(([ranked[0] + 1.0], ranked))[cuts]
        below = np.concatenate((ranked, [ranked[-1] - 1.0]))[cuts]
        bins = np.searchsorted(cuts, np.arange(n), side="right") - 1
        place = bins * self.size + self.cell[order]
        gather = sparse.csr_array(
            (np.ones(n), (place, order)), shape=((len(cuts) - 1) * self.size, len(scores))
        )
        steps = np.asarray(gather @ self.weights).reshape(len(cuts) - 1, self.size, -1)
        flagged = np.zeros((len(cuts), *steps.shape[1:]))
        np.cumsum(steps, axis=0, out=flagged[1:])
        if moving is not None:
            flagged += self._flagged((scores > 0.0) & ~moving)
        return -0.5 * (above + below), np.moveaxis(flagged, 1, -1)

    def tune(self, scores: Floats64) -> Judgement:
        """Take the shift that is best on average over the replicates."""
        if not self.moves:
            return self.judge(scores)
        shifts, costs = self.curve(scores)
        best = lowest(costs[:, 1:].mean(axis=1) if costs.shape[1] > 1 else costs[:, 0])
        return Judgement(float(shifts[best]), float(costs[best, 0]), costs[best, 1:])

    def judge(self, scores: Floats64) -> Judgement:
        """Judge the decisions as they are."""
        costs = self.metric.cost(self.metric.from_sums(self._flagged(scores > 0.0).T, self.totals))
        return Judgement(0.0, float(costs[0]), np.asarray(costs[1:]))

    def apart(self, scores: Floats64, member: NDArray[np.intp], count: int) -> Floats64:
        """Return what each group adds to its rows' scores, beyond the best shift of all rows.

        Group after group is swept while the others stay. One is moved only if that pays beyond
        what the replicates can tell: a threshold of few rows is mostly noise.

        Examples
        --------
        >>> import numpy as np
        >>> from anymetric.metrics import as_metric
        >>> rows = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
        >>> jury = DecisionJury.build(as_metric("error"), rows, np.ones((4, 2)))
        >>> member = np.array([0, 0, 1, 1])
        >>> jury.apart(np.array([2.0, 1.0, 5.0, 4.0]), member, 2).tolist()
        [0.0, -3.0]
        """
        if not self.moves or count < 2:
            return np.zeros(count)
        common = self.tune(scores)
        shifts, told = np.full(count, common.shift), common.replicates
        for _ in range(ROUNDS):
            before = shifts.copy()
            for group in range(count):
                moving = member == group
                if not np.any(moving):
                    continue
                levels, costs = self.curve(scores + np.where(moving, 0.0, shifts[member]), moving)
                best = lowest(costs[:, 1:].mean(axis=1))
                gain = told - costs[best, 1:]
                if gain.mean() > WORTH * gain.std():
                    shifts[group], told = levels[best], costs[best, 1:]
            if np.array_equal(before, shifts):
                break
        return shifts - common.shift

    def _flagged(self, rows: NDArray[np.bool_]) -> Floats64:
        """Return the weight of some rows in each cell, ``(cells, 1 + B)``."""
        chosen = np.flatnonzero(rows)
        place = sparse.csr_array(
            (np.ones(len(chosen)), (self.cell[chosen], chosen)), shape=(self.size, len(rows))
        )
        return np.asarray(place @ self.weights)


def beside_rare(ranked: Floats64) -> NDArray[np.intp]:
    """Return where the rows of a rare class end, or begin if they are the negatives.

    Where a hit more never harms, the best cut is at such a place. Nothing where no class is rare:
    there even cuts pass few rows of either.

    Examples
    --------
    >>> import numpy as np
    >>> beside_rare(np.repeat([1.0, -1.0], [1, 99])).tolist()
    [1]
    >>> beside_rare(np.repeat([1.0, -1.0], [99, 1])).tolist()
    [99]
    >>> beside_rare(np.repeat([1.0, -1.0], [50, 50])).tolist()
    []
    """
    positive = ranked > 0.0
    share = np.mean(positive)
    if share < RARE:
        return np.flatnonzero(positive) + 1
    return np.flatnonzero(~positive) if share > 1.0 - RARE else np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class CountedJury:
    """A decision jury whose looks are counted: one for a score vector, all thresholds included."""

    inner: DecisionJury
    ledger: Ledger
    price: int = 1
    brief: bool = False

    @property
    def left(self) -> float:
        """How many more looks there are."""
        return self.ledger.left

    def varies(self, scores: Floats64) -> bool:
        """Return whether some threshold of the scores changes the cost."""
        return self.inner.moves and bool(np.ptp(self.inner.curve(scores)[1][:, 0]) > 0.0)

    def tune(self, scores: Floats64) -> Judgement:
        """Count one look, and tune."""
        self.ledger.count(1)
        return self.inner.tune(scores)

    def judge(self, scores: Floats64) -> Judgement:
        """Count one look, and judge the scores as they are."""
        self.ledger.count(self.price)
        return self.inner.judge(scores)

    def apart(self, scores: Floats64, member: NDArray[np.intp], count: int) -> Floats64:
        """Return what each group adds to its rows' scores: part of the look that comes next."""
        return self.inner.apart(scores, member, count)

    def noted(self) -> dict[str, float]:
        """Return what is to be noted of the verdicts beside themselves."""
        return {}

    def mistaken(self, scores: Floats64) -> bool:
        """Return whether the verdict on the scores may be wrong: never, it is counted."""
        return False

    def steadied(self, scores: Floats64) -> float:
        """Return by how much a shift must stay clear of a leap: it was placed so already."""
        return 0.0

    def heard(self, judged: list[Any]) -> list[Any]:
        """Return the candidates as they are: they have replicates."""
        return judged

    def probe(self, scores: Floats64) -> float:
        """Count one look, and return the mean cost over the replicates at the best threshold."""
        return float(self.tune(scores).replicates.mean())


def bind_replicate(
    metric: Metric, data: Data, weights: Floats64, labels: Sequence[object] | None
) -> Drawn | None:
    """Bind a metric to one replicate; None if the replicate lacks what the metric needs."""
    if metric.black_box:
        return bind_drawn(metric, data, weights, labels)
    w = data.weights * weights
    return None, metric.bind(data.y, weights=w, side=data.side, labels=labels, X=data.X)


def bind_drawn(
    metric: Metric, data: Data, weights: Floats64, labels: Sequence[object] | None
) -> Drawn | None:
    """Draw rows in proportion to a replicate's weights, and bind the metric; None if it refuses.

    Features are copied only for a metric that reads them.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> rows, bound = bind_drawn(as_metric("error"), data, np.array([1.0, 1.0, 2.0, 4.0]), None)
    >>> rows.tolist(), bound.rows.y.tolist()
    ([0, 2, 3, 3], [1.0, 1.0, -1.0, -1.0])
    """
    edges = np.cumsum(weights) / weights.sum()
    rows = np.searchsorted(edges, (np.arange(len(data)) + 0.5) / len(data)).astype(np.intp)
    return bind_rows(metric, data, rows, labels)


def bind_rows(
    metric: Metric, data: Data, rows: NDArray[np.intp], labels: Sequence[object] | None
) -> tuple[NDArray[np.intp], BoundMetric] | None:
    """Bind a metric to some of the rows; None if it refuses.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, 1.0]))
    >>> bind_rows(as_metric("error"), data, np.array([0, 1]), None)[1].rows.y.tolist()
    [1.0, -1.0]
    """
    side = {name: column[rows] for name, column in data.side.items()}
    X = data.X[rows] if metric.reads_features else None
    try:
        bound = metric.bind(data.y[rows], weights=data.weights[rows], side=side, labels=labels, X=X)
    except ValueError:
        return None
    return rows, bound


def telling_draws(pairs: Sequence[Drawn | None], data: Data, labels: object) -> list[Drawn]:
    """Return the replicates that a metric took, those that lack a class of a group left out.

    There many a metric of the user's fails. Where most of them do, as with classes of a row or
    two, they are kept all the same; so are those of numbers, whose labels are None.
    """
    bound = [pair for pair in pairs if pair is not None]
    if labels is None:
        return bound
    sound = [(rows, one) for rows, one in bound if rows is None or not loses(data, rows)]
    return sound if 2 * len(sound) >= len(bound) else bound


def loses(data: Data, rows: NDArray[np.intp]) -> bool:
    """Return whether a draw of the rows lacks a class, or a class of a group, that they have.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, -1.0]))
    >>> loses(data, np.array([0, 2, 2])), loses(data, np.array([1, 2, 2]))
    (False, True)
    """
    cell = cells(data)
    return len(np.unique(cell[rows])) < len(np.unique(cell))


def cells(data: Data) -> NDArray[np.intp]:
    """Return the number of each row's class or, where there are groups, of both.

    Examples
    --------
    >>> import numpy as np
    >>> side = {"groups": np.array(["n", "s", "s"])}
    >>> cells(Data(np.zeros((3, 1)), np.array([-1.0, -1.0, 1.0]), side=side)).tolist()
    [0, 1, 3]
    """
    cell = np.unique(data.y, return_inverse=True)[1]
    if "groups" in data.side:
        group = np.unique(data.side["groups"].astype(str), return_inverse=True)[1]
        cell = cell * (int(group.max()) + 1) + group
    return cell
