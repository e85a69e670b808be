"""Hold-out: which rows judge when the user gives no validation data."""

from __future__ import annotations

import numpy as np

# Fewer rows than this cannot both train and judge.
FEWEST_ROWS = 50
FEWEST_PER_CLASS = 5


def hold_out(strata, fraction, rng):
    """Return train rows, judging rows and a sentence that says what was done.

    Parameters
    ----------
    strata : array of shape (n,)
        Rows are held out evenly from each value: classes, or classes by group.
    fraction : float
        Share of the rows that judge.
    rng : numpy Generator

    Examples
    --------
    >>> import numpy as np
    >>> train, judge, note = hold_out(np.repeat([0, 1], 50), 0.2, np.random.default_rng(0))
    >>> len(train), len(judge), note
    (80, 20, 'No validation data was given: 20 of 100 rows were held out to judge, stratified.')
    """
    n = len(strata)
    values, member, counts = np.unique(strata, return_inverse=True, return_counts=True)
    if n < FEWEST_ROWS or (len(values) < n / 2 and counts.min() < FEWEST_PER_CLASS):
        note = (
            f"No validation data was given, and {n} rows (fewest in a stratum: {counts.min()}) "
            "are too few to hold some out: the training rows judge."
        )
        return np.arange(n), np.arange(n), note
    # Continuous targets: sorted neighbours are dealt out in turn.
    order = rng.permutation(n)
    order = order[np.argsort(member[order], kind="stable")]
    every = (np.arange(n) * fraction + rng.random()) % 1.0 < fraction
    judge = np.sort(order[every])
    train = np.sort(order[~every])
    note = f"No validation data was given: {len(judge)} of {n} rows were held out to judge, stratified."
    return train, judge, note
