"""Learned: counts predicted by a Gaussian process, where no formula fits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.judges.formula import Formula
from anymetric.auto.judges.shapes import Shapes
from anymetric.explaining.sample import Sample

Floats64 = NDArray[np.float64]
# More cells than this ask for more answers than there are.
MOST_CELLS = 12
# An answer is predicted well within this part of its size, or of the mean size of all; so many
# answers must be.
CLOSE, MANY = 0.02, 0.9


@dataclass(frozen=True, eq=False)
class Learned:
    """What a Gaussian process predicts of counts of two classes.

    Attributes
    ----------
    formula : Formula
    there : boolean array of shape (G, C)
        The cells that have rows.
    close : float
        The share of the answers that all others predict to within 2 %.
    """

    formula: Formula
    there: NDArray[np.bool_]
    close: float = field(default=0.0)

    size = 99

    def values(self, counts: Floats64) -> Floats64:
        """Return the likely values."""
        shares = counts[:, 0, ..., 1][:, self.there] / self.formula.sizes
        return self.formula.costs(shares)

    def text(self) -> str:
        """Return what it is."""
        return "a function of counts that no known formula fits"

    @property
    def known(self) -> bool:
        """Whether it predicts well enough to be believed."""
        return self.close >= MANY


def learned(sample: Sample) -> Learned | None:
    """Return a Gaussian process through all answers; None of many classes or cells."""
    cells = sample.cells
    there = cells.sizes > 0
    if len(cells.classes) != 2 or there.sum() > MOST_CELLS or len(sample) < 8:
        return None
    group, positive = np.nonzero(there)
    sizes = cells.sizes[there]
    formula = Formula(sizes, Shapes(positive == 1, group, sizes), sample.noise)
    flagged = np.rint(sample.counts[:, 0, ..., 1][:, there]).astype(np.intp)
    formula.tell(flagged, sample.values)
    values = np.array([*formula.answers.values()])
    missed = np.abs(formula._missed()[0])
    return Learned(formula, there, float(np.mean(missed <= margin(values) + 2.0 * sample.noise)))


def margin(values: Floats64) -> Floats64:
    """Return 2 % of each value, or of the mean size of all.

    Examples
    --------
    >>> margin(np.array([1.0, -3.0])).tolist()
    [0.04, 0.06]
    """
    return np.asarray(CLOSE * np.maximum(np.abs(values), np.abs(values).mean()))
