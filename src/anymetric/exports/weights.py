"""Weights: the learned weight of a row by its class, group and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anymetric.data import Columns

Floats64 = NDArray[np.float64]
# Columns of metadata that have cells of their own, in this order.
COLUMNS = ("groups", "source")
Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class RowWeights:
    """The learned loss as weights of new rows: the mean weight of their class, group and source.

    `sample_weight_` has the weight of every training row itself. Part of it may come from features
    (the density ratio of validation to training rows) or from amounts, which new rows do not get:
    `explained` says how much of the training rows' weights the cells account for.

    Parameters
    ----------
    cells : mapping from (class, group, source) to float
        Mean weight of the training rows of each cell; None stands for all values. Weights have
        mean one over the training rows.
    validation : mapping from (class, group, source) to float
        The same for the validation rows, where these trained too.
    explained : float
        Share of the variance of the training rows' weights that the cells explain, 0 to 1.

    Examples
    --------
    >>> weights = RowWeights({(0, None, None): 0.5, (1, None, None): 2.0, (1, "b", None): 3.0})
    >>> weights([0, 1, 1], groups=["b", "a", "b"]).tolist()
    [0.5, 2.0, 3.0]
    """

    cells: Mapping[Key, float]
    validation: Mapping[Key, float] = field(default_factory=dict)
    explained: float = 1.0

    # Files of skops have no keys that are tuples: both mappings are stored as lists of pairs.
    def __getstate__(self) -> dict[str, Any]:
        pairs = {name: list(getattr(self, name).items()) for name in ("cells", "validation")}
        return {**pairs, "explained": self.explained}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in ("cells", "validation"):
            pairs = {tuple(key): value for key, value in state[name]}
            object.__setattr__(self, name, pairs)
        object.__setattr__(self, "explained", state["explained"])

    def __call__(
        self,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        source: ArrayLike | None = None,
        validation: bool = False,
    ) -> Floats64:
        """Return the weight of every row.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels as in `fit`; numbers have no classes, and count alike.
        groups, source : array-like of shape (n,), optional
            A value that fit never saw counts as all values together.
        validation : bool
            Whether these are clean rows, such as the validation rows of `fit`.
        """
        cells = self.validation if validation and self.validation else self.cells
        if not cells:
            return np.zeros(len(np.asarray(y)))
        numbers = any(key[0] is None for key in cells)
        n = len(np.asarray(y))
        kinds, kind = kinds_of(None if numbers else np.asarray(y), groups, source, n)
        return np.array([nearest(cells, key) for key in kinds])[kind]

    @property
    def by_class(self) -> dict[Any, float]:
        """The mean weight of each class; of training rows where any trained."""
        cells = self.cells or self.validation
        return {key[0]: value for key, value in cells.items() if key[1:] == (None, None)}


def nearest(cells: Mapping[Key, float], key: Key) -> float:
    """Return the weight of a cell, or of the smallest known one that contains it.

    Examples
    --------
    >>> nearest({(1, None, None): 2.0}, (1, "new group", "new source"))
    2.0
    """
    label, group, source = key
    for wanted in (key, (label, group, None), (label, None, source), (label, None, None)):
        if wanted in cells:
            return cells[wanted]
    if (None, None, None) in cells:
        return cells[None, None, None]
    known = [one for one in {key[0]: None for key in cells} if one is not None]
    raise ValueError(f"The label {label!r} was never seen in training, which had {known}.")


def kinds_of(
    y: NDArray[Any] | None, groups: ArrayLike | None, source: ArrayLike | None, n: int | None = None
) -> tuple[list[Key], NDArray[np.intp]]:
    """Return the cells that occur, and which of them each row is in; None stands for all values.

    Examples
    --------
    >>> kinds, kind = kinds_of(np.array([1, 0, 1]), None, None)
    >>> kinds, kind.tolist()
    ([(0, None, None), (1, None, None)], [1, 0, 1])
    """
    n = len(y) if y is not None else n or 0
    columns, code = [], np.zeros(n, dtype=np.intp)
    for name, given in zip(("y", *COLUMNS), (y, groups, source), strict=True):
        values, own = [None], np.zeros(n, dtype=np.intp)
        if given is not None:
            if len(np.asarray(given)) != n:
                raise ValueError(f"{name} has {len(np.asarray(given))} rows, y has {n}.")
            found, own = np.unique(np.asarray(given), return_inverse=True)
            values = found.tolist()
        columns.append(values)
        code = code * len(values) + own
    present, kind = np.unique(code, return_inverse=True)
    shape = [len(values) for values in columns]
    places = np.unravel_index(present, shape)
    keys = [
        tuple(c[k] for c, k in zip(columns, at, strict=True)) for at in zip(*places, strict=True)
    ]
    return keys, kind


def cells_of(labels: NDArray[Any] | None, weights: Floats64, side: Columns) -> dict[Key, float]:
    """Return the mean weight of every class, alone and with every group and source.

    Parameters
    ----------
    labels : array of shape (n,) or None
        None where targets are numbers.
    weights : array of shape (n,)
    side : mapping from name to array of shape (n,)

    Examples
    --------
    >>> side = {"groups": np.array(["a", "b"])}
    >>> sorted(cells_of(np.array([1, 1]), np.array([1.0, 3.0]), side).items(), key=str)
    [((1, 'a', None), 1.0), ((1, 'b', None), 3.0), ((1, None, None), 2.0)]
    """
    found: dict[Key, float] = {}
    groups, source = (side.get(name) for name in COLUMNS)
    for g in (None, groups):
        for s in (None, source):
            kinds, kind = kinds_of(labels, g, s, len(weights))
            means = np.bincount(kind, weights) / np.bincount(kind)
            found |= dict(zip(kinds, means.tolist(), strict=True))
    return found


def explained_by(weights: Floats64, means: Floats64) -> float:
    """Return the share of the variance of weights that their cells' means explain.

    Examples
    --------
    >>> explained_by(np.array([1.0, 1.0, 3.0]), np.array([1.0, 1.0, 3.0]))
    1.0
    """
    total = float(np.var(weights))
    return 1.0 if total <= 1e-15 else float(1.0 - np.mean((weights - means) ** 2) / total)


def row_weights(
    labels: NDArray[Any] | None,
    weights: Floats64 | None,
    side: Columns,
    validation: tuple[NDArray[Any] | None, Floats64, Columns] | None = None,
) -> RowWeights:
    """Return the table of learned weights of training rows, and of validation rows that trained.

    Examples
    --------
    >>> row_weights(np.array(["no", "yes"]), np.array([0.5, 1.5]), {}).by_class
    {'no': 0.5, 'yes': 1.5}
    """
    clean = {} if validation is None else cells_of(*validation)
    if weights is None:
        return RowWeights({}, clean)
    cells = cells_of(labels, weights, side)
    kinds, kind = kinds_of(labels, side.get("groups"), side.get("source"), len(weights))
    means = np.array([cells[key] for key in kinds])[kind]
    return RowWeights(cells, clean, explained_by(weights, means))
