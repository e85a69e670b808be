"""Record: what a fitted estimator keeps of its learned loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anymetric.exports.weights import RowWeights

if TYPE_CHECKING:
    from anymetric.exports.loss import Parts, TargetUnit


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights by cell, losses by share, and the unit of numbers."""

    weights: RowWeights
    losses: Parts
    unit: TargetUnit | None = None
