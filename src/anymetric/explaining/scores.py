"""Scores: what a metric reads that is given scores or numbers, not decisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.asking import Asker

Floats64 = NDArray[np.float64]
SAME = 1e-7


def only_signs(asker: Asker, scores: Floats64) -> bool | None:
    """Return whether the signs of scores ``(n,)`` are all that is read; None if it is not known."""
    asked = np.column_stack([scores, np.where(scores > 0.0, 1.0, -1.0)])
    first, second = asker.of_scores(asked)
    return None if np.isnan(first + second) else bool(close(first, second))


def scores_read(asker: Asker, scores: Floats64) -> str:
    """Return what a metric of scores ``(n,)`` reads of them, in words."""
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    even = np.sort(scores)[ranks] ** 3 / max(float(np.abs(scores).max()), 1e-12) ** 2
    asked = np.column_stack([scores, 3.0 * scores, even])
    value, scaled, bent = asker.of_scores(asked)
    again = asker.of_scores(asked[:, :1], 1)[0]
    if np.isnan(value + scaled + bent + again):
        return "it has no answer for some scores."
    if not close(value, again):
        return "its answers to the same question vary: it is noise, or has some."
    if close(value, scaled) and close(value, bent):
        return (
            "it is given scores and reads their order: its value stays the same when they are "
            "stretched or bent, and not when only their signs are left."
        )
    return "it is given scores and reads their sizes: its value changes when they are stretched."


def close(first: float, second: float) -> bool:
    """Return whether two answers are the same."""
    return bool(abs(first - second) <= SAME * max(abs(first), abs(second), 1e-12))
