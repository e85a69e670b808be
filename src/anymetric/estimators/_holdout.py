"""Hold-out: which rows judge when the user gives no validation data."""

from __future__ import annotations

import math

import numpy as np

# Fewer rows than this cannot both train and judge.
FEWEST_ROWS = 50
FEWEST_IN_STRATUM = 5


def hold_out(strata, fraction, rng, *, every=True):
    """Return train rows, judging rows and a sentence that says what was done.

    Parameters
    ----------
    strata : array of shape (n,)
        Rows are held out evenly from each value: classes, or classes by group. Of a continuous
        target, neighbours are dealt out in turn.
    fraction : float
        Share of the rows that judge.
    rng : numpy Generator
    every : bool
        Every stratum must be on both sides: rows of one too small to share both train and judge.

    Examples
    --------
    >>> import numpy as np
    >>> train, judge, note = hold_out(np.repeat([0, 1], 50), 0.2, np.random.default_rng(0))
    >>> len(train), len(judge), note
    (80, 20, 'No validation data was given: 20 of 100 rows were held out to judge, stratified.')
    """
    n = len(strata)
    if n < FEWEST_ROWS:
        note = (
            f"No validation data was given, and {n} rows are too few to hold some out: the "
            "training rows judge."
        )
        return np.arange(n), np.arange(n), note
    if min(fraction, 1.0 - fraction) * n < 1.0 - 1e-9:
        raise none_left(fraction, n, "rows")
    _, member, counts = np.unique(strata, return_inverse=True, return_counts=True)
    order = rng.permutation(n)
    order = order[np.argsort(member[order], kind="stable")]
    # One row in 1/fraction along the strata: each gives its share, up to one row.
    judges = np.zeros(n, dtype=bool)
    judges[order[(np.arange(n) * fraction + rng.random()) % 1.0 < fraction]] = True
    note = f"No validation data was given: {int(judges.sum())} of {n} rows were held out to judge"
    both = every & (counts[member] < fewest(fraction))
    shared = f"; {int(both.sum())} rows of small strata both train and judge" if both.any() else ""
    judge, train = np.flatnonzero(judges | both), np.flatnonzero(~judges | both)
    return train, judge, f"{note}, stratified{shared}."


def none_left(fraction, count, what):
    """Return the error of a share that leaves nothing on one side of the hold-out.

    Examples
    --------
    >>> raise none_left(0.001, 60, "rows")
    Traceback (most recent call last):
    ...
    ValueError: validation_fraction=0.001 of 60 rows leaves none to judge: give a share between
    0.0167 and 0.983, or X_val and y_val.
    """
    return ValueError(
        f"validation_fraction={fraction:g} of {count} {what} leaves none to "
        f"{'judge' if fraction < 0.5 else 'train'}: give a share between {1 / count:.3g} and "
        f"{1 - 1 / count:.3g}, or X_val and y_val."
    )


def fewest(fraction):
    """Return the rows that a stratum needs to be sure of one on either side.

    Examples
    --------
    >>> fewest(0.2), fewest(0.1)
    (5, 10)
    """
    return max(FEWEST_IN_STRATUM, math.ceil(1.0 / min(fraction, 1.0 - fraction) - 1e-9))
