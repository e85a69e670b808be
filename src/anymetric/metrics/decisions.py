"""Decision metrics: functions of what is flagged in each cell of the rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, Metric
from anymetric.metrics.cells import Cells
from anymetric.metrics.rows import Rows
from anymetric.metrics.thresholds import Sweep, Thresholds


class DecisionMetric(Metric):
    """A metric that reads weights summed over the rows predicted positive, cell by cell.

    A subclass gives the cells, whatever it must remember of the rows, and the formula.

    Attributes
    ----------
    additive : bool
        True if it depends on the weight of each cell only, so that bootstrap resamples
        need no cells of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics.cells import Cells
    >>> class Alarms(DecisionMetric):
    ...     name, greater_is_better = "alarms", False
    ...
    ...     def cells(self, rows):
    ...         return Cells(np.zeros(len(rows), int), rows.weights, 1), np.zeros(0)
    ...
    ...     def from_sums(self, sums, kept):
    ...         return sums[..., 0]
    >>> float(Alarms().bind(np.array([1.0, -1.0, -1.0])).values(np.array([1.0, 1.0, -1.0])))
    2.0
    """

    decides = True
    additive: bool = False

    def _bind(self, rows: Rows) -> BoundMetric:
        self._check_classes(rows.y)
        cells, kept = self.cells(rows)
        return BoundDecisions(self, rows, cells, kept)

    @abstractmethod
    def cells(self, rows: Rows) -> tuple[Cells, NDArray[np.float64]]:
        """Return the cells of these rows, and what `from_sums` must know besides."""

    @abstractmethod
    def from_sums(
        self, sums: NDArray[np.float64], kept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return values ``(...)`` from the weights flagged in each cell, ``(..., cells)``."""


@dataclass(frozen=True, eq=False)
class BoundDecisions(BoundMetric):
    """A decision metric on fixed rows: one comparison, one sum over cells, one formula."""

    metric: DecisionMetric
    cells: Cells
    kept: NDArray[np.float64]

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        return self.metric.from_sums(self.cells.sums(scores > 0.0), self.kept)

    def sweep(self, scores: Floats, limit: int | None = None) -> Sweep:
        """Return the metric at every threshold: one sort, one running sum."""
        cuts = Thresholds.of(self._checked(scores, (1,)), limit)
        values = self.metric.from_sums(self.cells.swept(cuts), self.kept)
        return Sweep(cuts.shifts, values, self.metric.cost(values))
