"""Metrics of the top of the ranking: precision among the k best rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric
from anymetric.metrics.cells import Cells
from anymetric.metrics.curves import Curve, downhill
from anymetric.metrics.ranking import BoundRanking, RankingMetric
from anymetric.metrics.rows import Rows


class TopMetric(RankingMetric):
    """Precision among the best rows by score.

    Rows that tie for the last places share them: the value is the mean over all orders of the
    tied rows, so that a constant score earns the base rate and no lucky one. With weights, the
    top holds as much weight as k rows of average weight, the last of them counted in part.
    """

    requires: tuple[str, ...] = ()

    @abstractmethod
    def depth(self, rows: Rows) -> float:
        """Return how much weight the top holds."""

    def _bind(self, rows: Rows) -> BoundMetric:
        bound = super()._bind(rows)
        return BoundTop(self, rows) if rows.unweighted else bound

    def from_curve(self, curve: Curve, rows: Rows) -> NDArray[np.float64]:
        """Return precision at the depth, a run that straddles it counted in part."""
        depth = self.depth(rows)
        above = curve.tp_before + curve.fp_before
        run = curve.tp + curve.fp - above
        share = np.clip((depth - above) / np.where(run > 0.0, run, 1.0), 0.0, 1.0)
        return curve.total(share * (curve.tp - curve.tp_before)) / depth


@dataclass(frozen=True, eq=False)
class BoundTop(BoundRanking):
    """Without weights, the k-th best score is enough: a selection instead of a sort."""

    metric: TopMetric

    @cached_property
    def cells(self) -> Cells:
        """Negatives and positives."""
        return Cells(self.rows.positive.astype(np.intp), self.rows.weights, 2)

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        depth = self.metric.depth(self.rows)
        level = np.concatenate([np.zeros(0), *map(self._level, downhill(scores))])
        above = self.cells.sums(scores > level)
        tied = self.cells.sums(scores >= level) - above
        share = (depth - above.sum(axis=1)) / np.maximum(tied.sum(axis=1), 1.0)
        return np.where(np.isnan(level), np.nan, (above[:, 1] + share * tied[:, 1]) / depth)

    def _level(self, keys: NDArray[np.float64]) -> NDArray[np.float64]:
        place = round(self.metric.depth(self.rows)) - 1
        level = -np.partition(keys, place, axis=1)[:, place]
        return np.where(np.isnan(keys.max(axis=1)), np.nan, level)


@dataclass(frozen=True)
class PrecisionAtK(TopMetric):
    """Share of positives among the k rows with the highest scores.

    Parameters
    ----------
    k : int
        No more than there are rows.

    Examples
    --------
    >>> import numpy as np
    >>> bound = PrecisionAtK(2).bind(np.array([1.0, -1.0, 1.0, -1.0]))
    >>> bound.values(np.array([[4, 0], [3, 0], [2, 0], [1, 0]])).tolist()
    [0.5, 0.5]
    """

    k: int = 10

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1; got {self.k}.")

    @property
    def name(self) -> str:
        """``precision@10``..."""
        return f"precision@{self.k}"

    def depth(self, rows: Rows) -> float:
        """Return the weight of k rows."""
        return self.k * float(rows.weights.mean())

    def _bind(self, rows: Rows) -> BoundMetric:
        if self.k > len(rows):
            raise ValueError(
                f"Metric {self.name!r} reads the top {self.k} rows; got {len(rows)} in all. "
                "Give more rows, or a smaller k."
            )
        return super()._bind(rows)


@dataclass(frozen=True)
class PrecisionAtFraction(TopMetric):
    """Share of positives among the best-scored fraction of the rows: ``k = int(fraction n)``.

    Parameters
    ----------
    fraction : float
        Above 0, up to 1; the top holds one row at the least.

    Examples
    --------
    >>> import numpy as np
    >>> metric = PrecisionAtFraction(0.5)
    >>> metric.name, float(metric.bind(np.array([1.0, 1.0, -1.0, 1.0])).values(np.arange(4)))
    ('precision@50%', 0.5)
    """

    fraction: float = 0.01

    def __post_init__(self) -> None:
        if not 0.0 < self.fraction <= 1.0:
            raise ValueError(f"fraction must be in (0, 1]; got {self.fraction}.")

    @property
    def name(self) -> str:
        """``precision@1%``..."""
        return f"precision@{100.0 * self.fraction:g}%"

    def depth(self, rows: Rows) -> float:
        """Return the weight of the rows at the top: of one at the least."""
        # 0.29 * 100 is a little under 29, and must be 29 all the same.
        k = max(int(self.fraction * len(rows) * (1.0 + 1e-12)), 1)
        return k * float(rows.weights.mean())


@dataclass(frozen=True)
class BreakEven(TopMetric):
    """Precision among as many rows as there are positives: there it equals recall (PRBEP).

    Examples
    --------
    >>> import numpy as np
    >>> float(BreakEven().bind(np.array([1.0, -1.0, 1.0, -1.0])).values(np.array([4, 3, 2, 1])))
    0.5
    """

    name = "prbep"
    requires = ("positives",)

    def depth(self, rows: Rows) -> float:
        """Return the weight of the positives."""
        return rows.positives
