"""Cuts: where a ranked sample is cut in a sweep, if there are too many places to look at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]
# Costs closer than this are the same.
EQUAL = 1e-12


def kept(cuts: Ints, places: Ints, most: int) -> Ints:
    """Return no more cuts than so many: even in rank or, if there are places, half of them there.

    Parameters
    ----------
    cuts : array of int, rising
        How many rows are before each.
    places : array of int
        Where it matters: beside the rows of a rare class.
    most : int

    Examples
    --------
    >>> import numpy as np
    >>> kept(np.arange(101), np.array([3, 5]), 8).tolist()
    [0, 3, 5, 33, 67, 100]
    """
    if len(cuts) <= most:
        return cuts
    if len(places) == 0:
        return cuts[spaced(len(cuts), most)]
    near = different(cuts[np.searchsorted(cuts, places)])
    near = near[spaced(len(near), most // 2)]
    even = cuts[spaced(len(cuts), most // 2)]
    return different(np.sort(np.concatenate([even, near])))


def spaced(count: int, most: int) -> Ints:
    """Return so many of the places 0 to count - 1, even and different.

    Examples
    --------
    >>> spaced(9, 3).tolist(), spaced(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.linspace(0, count - 1, min(count, most)).round().astype(np.intp)


def different(rising: Ints) -> Ints:
    """Return sorted numbers without those that repeat the one before.

    Examples
    --------
    >>> import numpy as np
    >>> different(np.array([1, 1, 2, 5, 5])).tolist()
    [1, 2, 5]
    """
    return rising[np.diff(rising, prepend=-1) > 0]


def lowest(costs: NDArray[np.float64]) -> int:
    """Return where costs are lowest; of several places that are, the middle one.

    A threshold in the midst of a stretch of others as good is safer than one at its end.

    Examples
    --------
    >>> import numpy as np
    >>> lowest(np.array([1.0, 0.0, 0.0, 0.0, 1.0])), lowest(np.array([2.0, 1.0]))
    (2, 1)
    """
    places = np.flatnonzero(costs <= costs.min() + EQUAL)
    return int(places[len(places) // 2])
