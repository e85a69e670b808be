"""Splits: rows for training, validation and test in the paper's proportions."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets.dataset import Dataset

Rows = NDArray[np.intp]

# Shares of validation and test; training has the rest (sections 6.2 and 6.3).
_SHARES = {"classification": (2 / 9, 1 / 3), "ranking": (0.2, 0.2)}


class Split(NamedTuple):
    """Row numbers of the three parts, each in rising order.

    Attributes
    ----------
    train, validation, test : array of int

    Examples
    --------
    >>> [part.size for part in split(900, random_state=0)]
    [400, 200, 300]
    """

    train: Rows
    validation: Rows
    test: Rows


def split(
    dataset_or_n: Dataset | int,
    *,
    kind: Literal["classification", "ranking"] = "classification",
    random_state: int | np.random.Generator,
    stratify: bool | NDArray[Any] | None = None,
) -> Split:
    """Split rows at random: 4/9 : 2/9 : 1/3, or 60 : 20 : 20 for ranking.

    Parameters
    ----------
    dataset_or_n : Dataset or int
        What to split, or its number of rows.
    kind : {"classification", "ranking"}
        The paper's proportions for the task.
    random_state : int or Generator
    stratify : bool or array of shape (n,), optional
        True: every part has the same share of positives (a Dataset is needed); an array: the
        same share of each of its values. Counts of two classes are right to within two rows.

    Examples
    --------
    >>> parts = split(10, kind="ranking", random_state=0)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (6, 2, 2)
    """
    if kind not in _SHARES:
        raise ValueError(f"kind must be one of {sorted(_SHARES)}; got {kind!r}.")
    n = len(dataset_or_n) if isinstance(dataset_or_n, Dataset) else int(dataset_or_n)
    strata = _strata(dataset_or_n, n, stratify)
    order = _stratified_order(strata, np.random.default_rng(random_state))
    validation, test = (round(share * n) for share in _SHARES[kind])
    first, second = n - validation - test, n - test
    return Split(*(np.sort(part) for part in np.split(order, [first, second])))


def _strata(given: Dataset | int, n: int, stratify: bool | NDArray[Any] | None) -> NDArray[np.intp]:
    if stratify is None or stratify is False:
        return np.zeros(n, dtype=np.intp)
    if stratify is True:
        if not isinstance(given, Dataset):
            raise ValueError("stratify=True needs a Dataset; got a number of rows. Pass labels.")
        stratify = given.y
    labels = np.asarray(stratify)
    if labels.shape != (n,):
        raise ValueError(f"stratify must have one value for each of {n} rows; got {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1]


def _stratified_order(strata: NDArray[np.intp], rng: np.random.Generator) -> Rows:
    # A row's place is its random rank within its stratum over the stratum's size:
    # in this order every run of rows has all strata in proportion.
    place = np.empty(strata.size)
    for stratum in range(int(strata.max(initial=0)) + 1):
        rows = np.flatnonzero(strata == stratum)
        place[rows] = (rng.permutation(rows.size) + rng.random()) / max(rows.size, 1)
    return np.argsort(place, kind="stable")
