"""Settings: validation of the parameters of gradient estimators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any


def positive(name: str, value: Any) -> None:
    """Refuse a setting that is not a positive, finite number.

    Examples
    --------
    >>> positive("sigma", -1.0)
    Traceback (most recent call last):
    ValueError: sigma must be positive and finite; got -1.0.
    """
    real(name, value)
    if not 0.0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite; got {value!r}.")


def not_negative(name: str, value: Any) -> None:
    """Refuse a setting that is below zero or not finite; None is allowed.

    Examples
    --------
    >>> not_negative("truncation", None)
    >>> not_negative("ridge", -1.0)
    Traceback (most recent call last):
    ValueError: ridge must be zero or more, and finite; got -1.0.
    """
    if value is None:
        return
    real(name, value)
    if not 0.0 <= value < math.inf:
        raise ValueError(f"{name} must be zero or more, and finite; got {value!r}.")


def whole(name: str, value: Any) -> None:
    """Refuse a setting that is not a whole number of at least one.

    Examples
    --------
    >>> whole("m", 2.5)
    Traceback (most recent call last):
    TypeError: m must be a whole number; got 2.5.
    """
    if not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number; got {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be positive; got {value!r}.")


def real(name: str, value: Any) -> None:
    """Refuse a setting that is no number.

    Examples
    --------
    >>> real("sigma", "0.1")
    Traceback (most recent call last):
    TypeError: sigma must be a number; got '0.1'.
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; got {value!r}.")


def rows_and_places(batch: Any, coordinates: Any) -> None:
    """Refuse a batch without rows, and coordinates that are no list of places.

    Examples
    --------
    >>> rows_and_places(None, (0, 2))
    >>> rows_and_places(None, [])
    Traceback (most recent call last):
    ValueError: coordinates must name one place or more, counted from 0; got none. Leave them ...
    """
    if batch is not None:
        whole("batch", batch)
    if coordinates is None:
        return
    if not all(isinstance(place, Integral) for place in coordinates):
        raise TypeError(f"coordinates must be whole numbers; got {list(coordinates)}.")
    if len(coordinates) == 0:
        raise ValueError(
            "coordinates must name one place or more, counted from 0; got none. Leave them out "
            "to perturb all."
        )


def places(coordinates: Sequence[int], size: int, what: str) -> list[int]:
    """Return the coordinates; refuse those beyond the `size` that there are.

    Examples
    --------
    >>> places((0, 99), 3, "surrogates")
    Traceback (most recent call last):
    ValueError: coordinates must lie between 0 and 2, there being 3 surrogates; got [99].
    """
    beyond = [int(place) for place in coordinates if not 0 <= place < size]
    if beyond:
        raise ValueError(
            f"coordinates must lie between 0 and {size - 1}, there being {size} {what}; got "
            f"{beyond}."
        )
    return list(coordinates)
