"""Defaults: the surrogates that a table asks for when the user names none."""

from __future__ import annotations

from anymetric.surrogates import PrecisionAtRecall, Slices


def default_slices(train, loss="logistic"):
    """Return the loss per class, by group and source where those columns are there.

    Combinations without rows are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> [s.name for s in default_slices(data)]
    ['logistic[class=-1]', 'logistic[class=+1]']
    """
    by = ("class", *(name for name in ("groups", "source") if name in train.side))
    every = Slices(loss, by).expand(train)
    return [slice_ for slice_ in every if slice_.chosen(train).any()]


def default_ranking():
    """Return the paper's three quantile surrogates and the logistic loss per class.

    Examples
    --------
    >>> len(default_ranking())
    4
    """
    return [
        *(PrecisionAtRecall(recall) for recall in (0.25, 0.5, 0.75)),
        Slices("logistic", ("class",)),
    ]
