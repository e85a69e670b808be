"""Hold-out: the validation rows where the user gives none."""

from __future__ import annotations

import math

import numpy as np

# With fewer rows than this none are held out.
FEWEST_ROWS = 50
FEWEST_IN_STRATUM = 5
# What `validation_` says where the rows that train are the validation rows too.
TOO_FEW = "are too few to"


def hold_out(strata, fraction, rng, *, every=True):
    """Return training rows, validation rows and a sentence that describes the split.

    Parameters
    ----------
    strata : array of shape (n,)
        Rows are held out evenly from each value: classes, or classes by group. Of a continuous
        target, neighbours are split alternately.
    fraction : float
        Share of the rows held out for validation.
    rng : numpy Generator
    every : bool
        Every stratum must be on both sides: the rows of very small ones are used on both.

    Examples
    --------
    >>> import numpy as np
    >>> train, valid, note = hold_out(np.repeat([0, 1], 50), 0.2, np.random.default_rng(0))
    >>> len(train), len(valid), note
    (80, 20, 'No validation data was given: 20 of 100 rows were held out, stratified.')
    """
    n = len(strata)
    if n < FEWEST_ROWS:
        note = (
            f"No validation data was given, and {n} rows {TOO_FEW} hold some out: the "
            "training rows are used for validation."
        )
        return np.arange(n), np.arange(n), note
    if min(fraction, 1.0 - fraction) * n < 1.0 - 1e-9:
        raise none_left(fraction, n, "rows")
    _, member, counts = np.unique(strata, return_inverse=True, return_counts=True)
    order = rng.permutation(n)
    order = order[np.argsort(member[order], kind="stable")]
    # One row in 1/fraction along the strata: each gives its share, up to one row.
    held = np.zeros(n, dtype=bool)
    held[order[(np.arange(n) * fraction + rng.random()) % 1.0 < fraction]] = True
    note = f"No validation data was given: {int(held.sum())} of {n} rows were held out"
    both = every & (counts[member] < fewest(fraction))
    shared = f"; {int(both.sum())} rows of small strata are used for both" if both.any() else ""
    valid, train = np.flatnonzero(held | both), np.flatnonzero(~held | both)
    return train, valid, f"{note}, stratified{shared}."


def none_left(fraction, count, what):
    """Return the error for a fraction that leaves one side of the hold-out empty.

    Examples
    --------
    >>> raise none_left(0.001, 60, "rows")
    Traceback (most recent call last):
    ...
    ValueError: validation_fraction=0.001 of 60 rows leaves none for validation: give a share
    between 0.0167 and 0.983, or X_val and y_val.
    """
    return ValueError(
        f"validation_fraction={fraction:g} of {count} {what} leaves none for "
        f"{'validation' if fraction < 0.5 else 'training'}: give a share between "
        f"{1 / count:.3g} and {1 - 1 / count:.3g}, or X_val and y_val."
    )


def fewest(fraction):
    """Return the number of rows a stratum needs to have one on either side.

    Examples
    --------
    >>> fewest(0.2), fewest(0.1)
    (5, 10)
    """
    return max(FEWEST_IN_STRATUM, math.ceil(1.0 / min(fraction, 1.0 - fraction) - 1e-9))
