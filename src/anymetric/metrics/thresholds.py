"""Thresholds: every place where shifting the scores changes a decision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats

# With fewer thresholds the ends, where no row or every row is flagged, are left out.
FEW = 12


@dataclass(frozen=True, eq=False)
class Sweep:
    """A metric at every threshold: the shift added to the scores, its value, its cost.

    Attributes
    ----------
    shifts, values, costs : arrays of shape (t,)

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("error").bind(np.array([-1.0, 1.0, 1.0]))
    >>> sweep = bound.sweep(np.array([0.0, 2.0, 4.0]))
    >>> sweep.shifts.tolist(), sweep.values.round(2).tolist()
    ([-5.0, -3.0, -1.0, 1.0], [0.67, 0.33, 0.0, 0.33])
    >>> float(sweep.shifts[sweep.best])
    -1.0
    """

    shifts: NDArray[np.float64]
    values: NDArray[np.float64]
    costs: NDArray[np.float64]

    @property
    def best(self) -> int:
        """The place of the lowest cost; among equals, of the smallest shift."""
        lowest = np.flatnonzero(self.costs == self.costs.min())
        return int(lowest[np.argmin(np.abs(self.shifts[lowest]))])


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The rows best first, and t ways to cut them.

    Attributes
    ----------
    order : array of shape (n,)
        Rows by falling score.
    flagged : array of shape (t,)
        How many rows of `order` are above zero after each shift: from none to all.
    shifts : array of shape (t,)
        What to add to the scores.

    Examples
    --------
    >>> import numpy as np
    >>> cuts = Thresholds.of(np.array([1.0, 3.0, 1.0]))
    >>> cuts.flagged.tolist(), cuts.shifts.tolist()
    ([0, 1, 3], [-4.0, -2.0, 0.0])
    """

    order: NDArray[np.intp]
    flagged: NDArray[np.intp]
    shifts: NDArray[np.float64]

    @classmethod
    def of(cls, scores: Floats, limit: int | None = None) -> Thresholds:
        """Return all thresholds between distinct scores, and one beyond either end."""
        if scores.ndim != 1 or not np.all(np.isfinite(scores)) or not scores.size:
            raise ValueError(
                f"A sweep needs finite scores of shape (n,); got shape {scores.shape}, "
                f"{int(np.sum(~np.isfinite(scores)))} of them not finite."
            )
        doubles = scores.astype(np.float64)
        order = np.argsort(-doubles)
        ranked = doubles[order]
        cuts = np.flatnonzero(ranked[1:] < ranked[:-1])
        beyond = max(1.0, 1e-6 * np.abs(ranked[[0, -1]]).max())
        levels = np.concatenate(
            ([ranked[0] + beyond], _between(ranked[cuts], ranked[cuts + 1]), [ranked[-1] - beyond])
        )
        flagged = np.concatenate(([0], cuts + 1, [len(scores)]))
        kept = _spread(len(levels), limit)
        return cls(order, flagged[kept], 0.0 - levels[kept])


def called_shifts(scores: Floats, limit: int | None = None) -> NDArray[np.float64]:
    """Return shifts for a metric that is called for each of them, the lowest first.

    With a low limit, one of them is zero and the others are evenly spaced in rank, without the ends
    where no row or every row is flagged.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.arange(-5.0, 3.0)
    >>> called_shifts(scores, 1).tolist(), called_shifts(scores, 3).tolist()
    ([0.0], [-0.5, 0.0, 3.5])
    """
    every = Thresholds.of(scores).shifts
    if limit is None or not 0 < limit < min(FEW, len(every)):
        return every[_spread(len(every), limit)]
    inner = every[1:-1]
    places = (np.arange(limit - 1) + 0.5) * (len(inner) / max(limit - 1, 1))
    return np.unique(np.append(inner[places.astype(np.intp)], 0.0))


def _between(high: NDArray[np.float64], low: NDArray[np.float64]) -> NDArray[np.float64]:
    # Next to each other in floating point, a midpoint may round up to `high`, which must stay
    # strictly above the level.
    middle = np.maximum(0.5 * high + 0.5 * low, low)
    return np.where(middle < high, middle, low)


def _spread(count: int, limit: int | None) -> NDArray[np.intp]:
    if limit is None or limit >= count:
        return np.arange(count)
    if limit < 1:
        raise ValueError(f"A sweep needs at least one threshold; got limit={limit}.")
    places = np.linspace(0, count - 1, limit) if limit > 1 else np.array([count // 2])
    return places.round().astype(np.intp)
