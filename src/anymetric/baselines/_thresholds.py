"""Shifts: the threshold that suits a metric best, for all rows or for each group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics import BoundMetric, Sweep

Floats = NDArray[np.float64]
Look: TypeAlias = Callable[[Floats], Sweep]


def tune_threshold(
    bound: BoundMetric, scores: NDArray[Any], limit: int | None = None
) -> tuple[float, float]:
    """Return the best shift to add to the scores, and the metric's value there.

    All midpoints between neighbouring scores are tried, and one threshold beyond either end.
    Among equally good shifts the smallest is taken. A metric that reads the scores themselves has
    no threshold: its shift is zero.

    Parameters
    ----------
    bound : BoundMetric
    scores : array of shape (n,)
    limit : int, optional
        Maximum number of thresholds, evenly spaced in rank.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("f1").bind(np.array([-1.0, 1.0, 1.0]))
    >>> tune_threshold(bound, np.array([1.0, 3.0, 5.0]))
    (-2.0, 1.0)
    """
    swept = sweep(bound, scores, limit)
    return float(swept.shifts[swept.best]), float(swept.values[swept.best])


def sweep(bound: BoundMetric, scores: NDArray[Any], limit: int | None = None) -> Sweep:
    """Return the metric at every threshold, or at the scores as they are if it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("roc_auc").bind(np.array([-1.0, 1.0]))
    >>> sweep(bound, np.array([1.0, 3.0])).shifts.tolist()
    [0.0]
    """
    if bound.metric.decides:
        return bound.sweep(scores, limit)
    values = np.atleast_1d(bound.values(scores))
    return Sweep(np.zeros(1), values, bound.metric.cost(values))


def tune_group_thresholds(
    bound: BoundMetric,
    scores: NDArray[Any],
    groups: NDArray[Any],
    rng: np.random.Generator,
    *,
    restarts: int = 3,
) -> tuple[dict[Any, float], float]:
    """Return one shift for each group, and the metric's value with them.

    Group after group is swept exactly while the others stay, from the best common shift and from
    random ones, until nothing improves. Where the metric separates over the groups, as a mean over
    groups does, the first pass finds the best there is.

    Parameters
    ----------
    bound : BoundMetric
    scores : array of shape (n,)
    groups : array of shape (n,)
    rng : Generator
        Draws the random starts.
    restarts : int
        Random starts beside the best common shift.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> bound = as_metric("group_mean_f1").bind(
    ...     np.array([-1.0, 1.0, -1.0, 1.0]), side={"groups": groups}
    ... )
    >>> rng = np.random.default_rng(0)
    >>> tune_group_thresholds(bound, np.array([1.0, 3.0, 5.0, 9.0]), groups, rng)
    ({'a': -2.0, 'b': -7.0}, 1.0)
    """
    names, member = np.unique(groups, return_inverse=True)

    def look(shifted: Floats) -> Sweep:
        return sweep(bound, shifted)

    scores = np.asarray(scores, dtype=np.float64)
    shifts, cost = coordinate_search(look, scores, member, rng, restarts)
    found = dict(zip(names.tolist(), shifts.tolist(), strict=True))
    return found, float(bound.metric.value(cost))


def coordinate_search(
    look: Look, scores: Floats, member: NDArray[np.intp], rng: np.random.Generator, restarts: int
) -> tuple[Floats, float]:
    """Return the best shifts ``(G,)`` over all starts, and their cost.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("error").bind(np.array([-1.0, 1.0, 1.0]))
    >>> member = np.array([0, 0, 1])
    >>> rng = np.random.default_rng(0)
    >>> coordinate_search(bound.sweep, np.array([1.0, 3.0, -1.0]), member, rng, 0)[1]
    0.0
    """
    return min(searches(look, scores, member, rng, restarts), key=lambda reached: reached[1])


def searches(
    look: Look, scores: Floats, member: NDArray[np.intp], rng: np.random.Generator, restarts: int
) -> Iterator[tuple[Floats, float]]:
    """Yield shifts ``(G,)`` and their cost: the best common one, and all that each start reaches.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> bound = as_metric("error").bind(np.array([-1.0, 1.0, 1.0]))
    >>> member, rng = np.array([0, 0, 1]), np.random.default_rng(0)
    >>> found = searches(bound.sweep, np.array([1.0, 3.0, -1.0]), member, rng, 0)
    >>> [round(cost, 2) for _, cost in found]
    [0.33, 0.0]
    """
    common = look(scores)
    size = int(member.max()) + 1
    best = np.full(size, common.shifts[common.best])
    cost = float(common.costs[common.best])
    yield best, cost
    if len(common.shifts) == 1:  # no threshold, or all scores equal up to rounding
        return
    starts = [(best, cost)]
    for _ in range(restarts):
        drawn = [-rng.choice(scores[member == group]) for group in range(size)]
        starts.append((np.array(drawn), np.inf))
    for start in starts:
        yield from search_once(look, scores, member, *start)


def search_once(
    look: Look, scores: Floats, member: NDArray[np.intp], shifts: Floats, cost: float
) -> Iterator[tuple[Floats, float]]:
    """Sweep one group after the other until a whole round improves nothing; yield what does."""
    shifts = shifts.copy()
    improved = True
    while improved:
        improved = False
        for group in range(len(shifts)):
            flagged = scores + shifts[member] > 0.0
            shift, lower = one_group(look, scores, member == group, flagged)
            if lower < cost:
                shifts[group], cost, improved = shift, lower, True
                yield shifts.copy(), cost


def one_group(
    look: Look, scores: Floats, moving: NDArray[np.bool_], flagged: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return the best shift of the moving rows while all others stay as they are flagged."""
    own = scores[moving]
    beyond = 2.0 * max(1.0, float(np.abs(own).max()) * 1e-6)
    high, low = float(own.max()) + beyond, float(own.min()) - beyond
    # The rows that stay lie beyond every threshold that separates moving rows.
    swept = look(np.where(moving, scores, np.where(flagged, high, low)))
    inside = (-high < swept.shifts) & (swept.shifts < -low)
    kept = Sweep(swept.shifts[inside], swept.values[inside], swept.costs[inside])
    if not inside.any():
        return 0.0, np.inf
    return float(kept.shifts[kept.best]), float(kept.costs[kept.best])
