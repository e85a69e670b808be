"""Learned metric: a formula that is being learned, in the place of the metric that it learns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.judges.formula import Formula
from anymetric.auto.judges.partition import Partition
from anymetric.metrics import DecisionMetric, Rows
from anymetric.metrics.cells import Cells
from anymetric.metrics.counts import ratio

Floats64 = NDArray[np.float64]
# Of a sweep with resamples, only so many of the thresholds that are best for all rows count.
PROMISING = 24


@dataclass(frozen=True, eq=False)
class LearnedMetric(DecisionMetric):
    """A metric of decisions by a formula that is being learned: a cost, lower is better.

    The classes and groups are as large as where it was learned, whatever rows it is bound to.

    Attributes
    ----------
    name : str
    partition : Partition
    formula : Formula
    ends : bool
        Whether flagging nobody, or everybody, has an answer.
    """

    name: str
    partition: Partition
    formula: Formula
    ends: bool = True

    greater_is_better = False
    additive = True

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns by which rows are parted."""
        return self.partition.columns

    def cells(self, rows: Rows) -> tuple[Cells, Floats64]:
        """Return the cells, and one more for rows whose cell is not known."""
        cells = Cells(self.partition.of(rows.y, rows.side), rows.weights, len(self.partition) + 1)
        return cells, cells.totals

    def from_sums(self, sums: Floats64, kept: Floats64) -> Floats64:
        """Return likely costs of the weights flagged in each cell.

        Of a sweep with resamples ``(t, 1 + B, cells)``, thresholds that promise nothing on the
        rows themselves, which come first, cost infinitely much.
        """
        shares = ratio(sums[..., :-1], np.broadcast_to(kept[..., :-1], sums[..., :-1].shape))
        if shares.ndim < 3 or len(shares) <= PROMISING:
            return self._costs(shares)
        costs = np.full(shares.shape[:-1], np.inf)
        costs[:, 0] = self._costs(shares[:, 0])
        first = np.argsort(costs[:, 0], kind="stable")[:PROMISING]
        costs[first] = self._costs(shares[first])
        return costs

    def _costs(self, shares: Floats64) -> Floats64:
        flat = np.clip(shares, 0.0, 1.0).reshape(-1, shares.shape[-1])
        costs = self.formula.costs(flat)
        if not self.ends:
            costs[np.all(flat == 0.0, axis=1) | np.all(flat == 1.0, axis=1)] = np.inf
        return costs.reshape(shares.shape[:-1])
