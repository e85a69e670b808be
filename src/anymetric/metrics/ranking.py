"""Ranking metrics: what stands at the top when the rows are sorted by score."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.counts import ratio
from anymetric.metrics.curves import Curve, downhill
from anymetric.metrics.rows import Rows


class RankingMetric(Metric):
    """A metric of the order of the rows alone; tied rows count alike.

    Examples
    --------
    >>> import numpy as np
    >>> class BestPrecision(RankingMetric):
    ...     name, ceiling = "best_precision", 1.0
    ...
    ...     def from_curve(self, curve, rows):
    ...         return curve.largest(curve.tp / (curve.tp + curve.fp))
    >>> float(BestPrecision().bind(np.array([-1.0, 1.0, 1.0, -1.0])).values(np.array([4, 3, 2, 1])))
    0.6666666666666666
    """

    greater_is_better = True
    requires: tuple[str, ...] = ("positives",)

    def _bind(self, rows: Rows) -> BoundMetric:
        self._check_classes(rows.y)
        for class_ in self.requires:
            if getattr(rows, class_) <= 0.0:
                raise ValueError(
                    f"Metric {self.name!r} needs {class_}; none of the {len(rows)} rows is one. "
                    "Give more rows, or another metric."
                )
        return BoundRanking(self, rows)

    @abstractmethod
    def from_curve(self, curve: Curve, rows: Rows) -> NDArray[np.float64]:
        """Return the values ``(m,)`` of m rankings."""


@dataclass(frozen=True, eq=False)
class BoundRanking(BoundMetric):
    """A ranking metric on fixed rows: a sort for each probe, in blocks of probes."""

    metric: RankingMetric

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(0), *map(self._block, downhill(scores))])

    def _block(self, keys: NDArray[np.float64]) -> NDArray[np.float64]:
        curve = Curve.of(keys, self.rows.positive, self.rows.weights)
        values = self.metric.from_curve(curve, self.rows)
        return np.where(np.isnan(keys.max(axis=1)), np.nan, values)


@dataclass(frozen=True)
class RocAuc(RankingMetric):
    """Area under the ROC curve: how often a positive stands above a negative, ties half.

    Examples
    --------
    >>> import numpy as np
    >>> float(RocAuc().bind(np.array([1.0, -1.0, 1.0, -1.0])).values(np.array([3, 2, 2, 1])))
    0.875
    """

    name = "roc_auc"
    requires = ("positives", "negatives")

    def from_curve(self, curve: Curve, rows: Rows) -> NDArray[np.float64]:
        """Return the area by trapezia, one for each run of tied scores."""
        strips = (curve.fp - curve.fp_before) * (curve.tp + curve.tp_before)
        return curve.total(strips) / (2.0 * rows.positives * rows.negatives)


@dataclass(frozen=True)
class AveragePrecision(RankingMetric):
    """Precision averaged over recall: ``sum_i (R_i - R_{i-1}) P_i``, ties in one step.

    Examples
    --------
    >>> import numpy as np
    >>> bound = AveragePrecision().bind(np.array([1.0, -1.0, 1.0, -1.0]))
    >>> round(float(bound.values(np.array([4, 3, 2, 1]))), 4)
    0.8333
    """

    name = "average_precision"

    def from_curve(self, curve: Curve, rows: Rows) -> NDArray[np.float64]:
        """Return the sum over runs of tied scores."""
        precision = ratio(curve.tp, curve.tp + curve.fp)
        return curve.total((curve.tp - curve.tp_before) * precision) / rows.positives


@dataclass(frozen=True)
class RecallAtPrecision(RankingMetric):
    """The highest recall of a threshold with at least this precision; 0 if there is none.

    Parameters
    ----------
    precision : float
        Above 0, up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> bound = RecallAtPrecision(0.75).bind(np.array([1.0, -1.0, 1.0, 1.0, -1.0]))
    >>> float(bound.values(np.array([5, 4, 3, 2, 1])))
    1.0
    """

    precision: float = 0.9

    def __post_init__(self) -> None:
        if not 0.0 < self.precision <= 1.0:
            raise ValueError(f"precision must be in (0, 1]; got {self.precision}.")

    @property
    def name(self) -> str:
        """``recall_at_precision_0.9``..."""
        return f"recall_at_precision_{self.precision:g}"

    def from_curve(self, curve: Curve, rows: Rows) -> NDArray[np.float64]:
        """Return the largest recall where the precision is high enough."""
        enough = ratio(curve.tp, curve.tp + curve.fp) >= self.precision
        return curve.largest(np.where(enough, curve.tp, 0.0)) / rows.positives
