"""Slices: a loss averaged over the rows of a class, a group, a source, or any rows at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data
from anymetric.losses import Loss, Lp, as_loss
from anymetric.surrogates.sums import BoundSlices

Rows: TypeAlias = Callable[[Data], NDArray[Any]]


@dataclass(frozen=True)
class Sliced:
    """A loss averaged over the rows where metadata columns have given values.

    Parameters
    ----------
    loss : Loss or str
    where : mapping from column to value, as a tuple of pairs
        ``class`` is the target itself: -1.0 or +1.0. Empty: all rows.
    rows : function from Data to a boolean mask, optional
        For slices that no column describes.
    label : str, optional
        The name shown; made from the rest by default.

    Examples
    --------
    >>> Sliced("hinge", where=(("class", 1.0), ("groups", "F"))).name
    'hinge[class=+1, groups=F]'
    >>> Sliced("logistic", rows=lambda data: data.y > 0, label="positives").name
    'positives'
    """

    loss: Loss | str
    where: tuple[tuple[str, Any], ...] = ()
    rows: Rows | None = None
    label: str | None = None

    @property
    def name(self) -> str:
        """The label, or the loss with its slice."""
        if self.label is not None:
            return self.label
        pairs = ", ".join(f"{column}={shown(value, column)}" for column, value in self.where)
        return f"{as_loss(self.loss).name}[{pairs or 'all'}]"

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that the slice reads."""
        return tuple(column for column, _ in self.where if column != "class")

    def chosen(self, data: Data) -> NDArray[np.bool_]:
        """Return which rows belong to the slice; none may."""
        chosen = np.ones(len(data), dtype=bool)
        for column, value in self.where:
            chosen &= data.column(column) == value
        if self.rows is not None:
            chosen &= self._described(data)
        return chosen

    def mask(self, data: Data) -> NDArray[np.bool_]:
        """Return which rows the slice selects; an empty slice is an error."""
        chosen = self.chosen(data)
        if not np.any(chosen & (data.weights > 0)):
            raise ValueError(self._empty(data))
        return chosen

    def bind(self, data: Data) -> BoundSlices:
        """Fix the rows."""
        return BoundSlices(as_loss(self.loss), data.y, shares([self], data))

    def _described(self, data: Data) -> NDArray[np.bool_]:
        mask = np.asarray(self.rows(data))  # type: ignore[misc]
        if mask.shape != (len(data),):
            raise ValueError(
                f"Surrogate {self.name!r}: rows= must return True or False for each of the "
                f"{len(data)} rows; got an array of shape {mask.shape}."
            )
        return mask.astype(bool)

    def _empty(self, data: Data) -> str:
        columns = [column for column, _ in self.where]
        seen = {c: [shown(v, c) for v in np.unique(data.column(c))] for c in columns}
        values = "; ".join(f"{column} seen: {', '.join(v)}" for column, v in seen.items())
        return (
            f"Surrogate {self.name!r} selects no rows of positive weight among {len(data)}"
            f"{'; ' + values if values else ''}. Drop it, or give rows of that slice."
        )


@dataclass(frozen=True)
class Slices:
    """One surrogate for every combination of values of the columns: per class, group, source.

    Parameters
    ----------
    loss : Loss or str
    by : tuple of str
        Columns: ``class`` is the target; ``groups``, ``source`` and others are metadata.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(
    ...     np.zeros((4, 1)),
    ...     np.array([1.0, -1.0, 1.0, -1.0]),
    ...     side={"groups": np.array(["a", "a", "b", "b"])},
    ... )
    >>> [s.name for s in Slices("hinge", by=("class", "groups")).expand(data)][:2]
    ['hinge[class=-1, groups=a]', 'hinge[class=-1, groups=b]']
    """

    loss: Loss | str
    by: tuple[str, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The metadata columns among `by`."""
        return tuple(column for column in self.by if column != "class")

    def expand(self, data: Data) -> list[Sliced]:
        """Return a `Sliced` for each combination; one without rows is an error in `Sliced`."""
        values = [np.unique(data.column(column)).tolist() for column in self.by]
        return [
            Sliced(self.loss, tuple(zip(self.by, combination, strict=True)))
            for combination in product(*values)
        ]


def per_class(loss: Loss | str = "hinge") -> Slices:
    """Return one surrogate per class: the paper's choice for rates and F-measures.

    Parameters
    ----------
    loss : Loss or str
        What is averaged over each slice: a loss, or its name.

    Examples
    --------
    >>> per_class("hinge").by
    ('class',)
    """
    return Slices(loss, ("class",))


def per_group(loss: Loss | str = "hinge") -> Slices:
    """Return one surrogate per group.

    Parameters
    ----------
    loss : Loss or str
        What is averaged over each slice: a loss, or its name.

    Examples
    --------
    >>> per_group().needs
    ('groups',)
    """
    return Slices(loss, ("groups",))


def per_class_and_group(loss: Loss | str = "hinge") -> Slices:
    """Return one surrogate per class and group: section 6.2 of the paper.

    Parameters
    ----------
    loss : Loss or str
        What is averaged over each slice: a loss, or its name.

    Examples
    --------
    >>> per_class_and_group().by
    ('class', 'groups')
    """
    return Slices(loss, ("class", "groups"))


def per_source(loss: Loss | str = "hinge") -> Slices:
    """Return one surrogate per source of rows.

    Parameters
    ----------
    loss : Loss or str
        What is averaged over each slice: a loss, or its name.

    Examples
    --------
    >>> per_source("logistic").needs
    ('source',)
    """
    return Slices(loss, ("source",))


def per_class_group_and_source(loss: Loss | str = "hinge") -> Slices:
    """Return one surrogate per class, group and source.

    Parameters
    ----------
    loss : Loss or str
        What is averaged over each slice: a loss, or its name.

    Examples
    --------
    >>> per_class_group_and_source().by
    ('class', 'groups', 'source')
    """
    return Slices(loss, ("class", "groups", "source"))


def lp_family(powers: Sequence[float] = (1.2, 1.5, 2.0, 3.0)) -> list[Sliced]:
    """Return ``|f - y|^p`` over all rows, for each p: Example 2 of the paper.

    Parameters
    ----------
    powers : sequence of float
        Each above 1.

    Examples
    --------
    >>> [s.name for s in lp_family((1.5, 2.0))]
    ['lp(1.5)[all]', 'lp(2)[all]']
    """
    return [Sliced(Lp(p)) for p in powers]


def shares(surrogates: Sequence[Sliced], data: Data) -> sparse.csr_array:
    """Return the ``(k, n)`` matrix whose rows average over each slice, weights included."""
    rows = []
    for surrogate in surrogates:
        weight = np.where(surrogate.mask(data), data.weights, 0.0)
        rows.append(sparse.csr_array((weight / weight.sum())[np.newaxis, :]))
    return sparse.csr_array(sparse.vstack(rows, format="csr"))


def shown(value: Any, column: str = "class") -> str:
    """Return a slice value as the user wrote it; classes as -1 and +1.

    Examples
    --------
    >>> shown(1.0), shown(0.0, "groups"), shown("Female", "groups")
    ('+1', '0.0', 'Female')
    """
    return f"{value:+g}" if isinstance(value, float) and column == "class" else str(value)
