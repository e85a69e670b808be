"""F-measures as formulas: the parts that a relaxation or a game of rates is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.data import Data
from anymetric.metrics import FBeta, MacroByGroup, Metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FMeasures:
    """The F-measure of each group of rows, the rows of a group weighing one together.

    Parameters
    ----------
    positives, negatives : csr_array of shape (G, n)
        Row weights by group and class.
    square : float
        ``beta^2``.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, -1.0, -1.0]))
    >>> FMeasures.of(FBeta(), data).share.tolist()
    [0.25]
    """

    positives: sparse.csr_array
    negatives: sparse.csr_array
    square: float

    @classmethod
    def of(cls, metric: Metric, data: Data, caller: str = "This method") -> FMeasures:
        """Return the parts of an F-measure, of all rows or by group.

        A group without positives is left out: its F-measure is zero whatever is predicted.
        """
        column, rate = None, metric
        if isinstance(metric, MacroByGroup):
            column, rate = metric.groups, metric.of
        if not isinstance(rate, FBeta):
            raise ValueError(
                f"{caller} is made for F-measures such as 'f1' and 'group_mean_f1'; the metric "
                f"is {metric.name!r}."
            )
        positive = data.y > 0.0
        group = np.zeros(len(data)) if column is None else data.column(column)
        shares = [np.where(group == name, data.weights, 0.0) for name in np.unique(group)]
        told = [share / share.sum() for share in shares if (share * positive).any()]
        if not told:
            raise ValueError(f"{caller} needs positives among the training rows; it got none.")
        positives = sparse.csr_array(np.where(positive, told, 0.0))
        return cls(positives, sparse.csr_array(np.where(positive, 0.0, told)), rate.beta**2)

    def __len__(self) -> int:
        return int(self.positives.shape[0])

    @property
    def share(self) -> Floats:
        """The share of positives in each group."""
        return np.asarray(self.positives.sum(axis=1), dtype=np.float64)
