"""Count metrics: formulas in true and false positives and negatives."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.cells import Cells
from anymetric.metrics.decisions import DecisionMetric
from anymetric.metrics.rows import Rows

ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Counts:
    """Weights of the four outcomes, each of shape ``(..., G)``: one for each group.

    Attributes
    ----------
    tp, fp, fn, tn : arrays of shape (..., G)
        True and false positives, false and true negatives.

    Examples
    --------
    >>> import numpy as np
    >>> counts = Counts(*np.array([[3.0, 1.0], [1.0, 0.0], [2.0, 1.0], [4.0, 2.0]]))
    >>> counts.pooled.tp.item(), counts.recall.tolist()
    (4.0, [0.6, 0.5])
    """

    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    fn: NDArray[np.float64]
    tn: NDArray[np.float64]

    @property
    def pooled(self) -> Counts:
        """All groups together, of shape ``(...)``."""
        every = (self.tp, self.fp, self.fn, self.tn)
        if self.tp.shape[-1] == 1:  # nothing to add up
            return Counts(*(x[..., 0] for x in every))
        return Counts(*(x.sum(axis=-1) for x in every))

    @property
    def total(self) -> NDArray[np.float64]:
        """The weight of all rows."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def recall(self) -> NDArray[np.float64]:
        """True-positive rate: flagged among positives."""
        return ratio(self.tp, self.tp + self.fn)

    @property
    def fallout(self) -> NDArray[np.float64]:
        """False-positive rate: flagged among negatives."""
        return ratio(self.fp, self.fp + self.tn)

    @property
    def selection(self) -> NDArray[np.float64]:
        """Flagged among all."""
        return ratio(self.tp + self.fp, self.total)


def ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``top / bottom``, and 0 where both vanish.

    Examples
    --------
    >>> import numpy as np
    >>> ratio(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, 0.0]
    """
    zeros = np.zeros_like(top, dtype=np.float64)  # laid out like the others
    return np.asarray(np.divide(top, bottom, out=zeros, where=bottom > 0.0))


class CountMetric(DecisionMetric):
    """A metric of counts: subclasses give `rate`, elementwise, and say which classes it needs.

    Attributes
    ----------
    requires : tuple of {"negatives", "positives"}
        Classes without which the formula has no meaning.
    groups : str or None
        The metadata column that splits the counts; None counts all rows together.

    Examples
    --------
    >>> import numpy as np
    >>> class Jaccard(CountMetric):
    ...     name, greater_is_better = "jaccard", True
    ...
    ...     def rate(self, counts):
    ...         return ratio(counts.tp, counts.tp + counts.fp + counts.fn)
    >>> float(Jaccard().bind(np.array([1.0, 1.0, -1.0, -1.0])).values(np.array([1, 0, 1, 0])))
    0.3333333333333333
    """

    additive = True
    requires: tuple[str, ...] = ()
    groups: str | None = None

    @abstractmethod
    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return the formula for counts of any shape, elementwise."""

    def from_counts(self, counts: Counts) -> NDArray[np.float64]:
        """Return values ``(...)`` of counts ``(..., G)``."""
        return self.rate(counts.pooled)

    def check(self, totals: NDArray[np.float64], names: NDArray[np.generic]) -> None:
        """Raise if a class that the formula needs is missing; `totals` is ``(G, 2)``."""
        require(self, self.requires, totals.sum(axis=0, keepdims=True), ["all rows"])

    def cells(self, rows: Rows) -> tuple[Cells, NDArray[np.float64]]:
        """Return one cell for each group and class, and the cells' totals."""
        column = np.zeros(len(rows)) if self.groups is None else rows.side[self.groups]
        names, group = numbered(column, rows.weights > 0.0)
        cells = Cells(2 * group + rows.positive, rows.weights, 2 * len(names))
        self.check(cells.totals.reshape(-1, 2), names)
        return cells, cells.totals

    def from_sums(
        self, sums: NDArray[np.float64], kept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return values of the weights flagged in each cell."""
        # Summed in another order, a cell flagged in full may miss its total by rounding.
        missed = np.asarray(kept - sums)
        np.copyto(missed, 0.0, where=missed <= ROUNDING * kept)
        return self.from_counts(
            Counts(tp=sums[..., 1::2], fp=sums[..., ::2], fn=missed[..., 1::2], tn=missed[..., ::2])
        )


def require(
    metric: CountMetric, classes: tuple[str, ...], totals: NDArray[np.float64], where: list[str]
) -> None:
    """Raise if one of `classes` has no weight in a row of `totals`, ``(G, 2)``."""
    for class_ in classes:
        weight = totals[:, ("negatives", "positives").index(class_)]
        if not np.all(weight > 0.0):
            raise ValueError(
                f"Metric {metric.name!r} needs {class_}; there are none in "
                f"{where[int(np.argmin(weight))]}. Give more rows, or another metric."
            )


def numbered(
    column: NDArray[np.generic], counts: NDArray[np.bool_]
) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    """Return the groups' names, and each row's place among them.

    A group whose rows all weigh nothing is not there: its rows go to any group, unseen.

    Examples
    --------
    >>> names, place = numbered(np.array(["b", "a", "c"]), np.array([True, True, False]))
    >>> names.tolist(), place.tolist()
    (['a', 'b'], [1, 0, 0])
    """
    if column.dtype == object:
        column = column.astype(str)
    names, place = np.unique(column[counts], return_inverse=True)
    group = np.zeros(len(column), dtype=np.intp)
    group[counts] = place
    return names, group
