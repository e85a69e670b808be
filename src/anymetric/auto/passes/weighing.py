"""Weighing: the weights of a `Weighting` for any rows, with what it learned from a sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import MOST_LIKE
from anymetric.auto.covariate_shift import log_ratio
from anymetric.auto.records import Weighting
from anymetric.auto.sample import CLUSTERED, Sample, between
from anymetric.auto.task import TINY
from anymetric.data import TARGET, Data, quantiles
from anymetric.models import Linear

Floats64 = NDArray[np.float64]
SIGNS = (-1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Weighing:
    """The weights of rows before and, with `factors`, after classes are balanced.

    Attributes
    ----------
    weighting : Weighting
    model : Linear
        The features that the density ratio sees.
    ratio : array of shape (p,), optional
        Parameters of the logarithm of the density ratio.
    mean : float
        Of the amounts.
    half : (array of shape (d,), float), optional
        The direction between two clusters, and where the second begins.
    least : float
        Targets count as no smaller than this; zero where weights are not relative to them.
    factors : pair of float
        Of the two classes.

    Examples
    --------
    >>> rows = Data(np.zeros((3, 1)), np.array([-1.0, -1.0, 1.0]))
    >>> plain = Weighing(Weighting("all", balance=1.0), Linear())
    >>> plain.balanced(np.array([2.0, 1.0]))(rows).tolist()
    [0.5, 0.5, 1.0]
    """

    weighting: Weighting
    model: Linear
    ratio: Floats64 | None = None
    mean: float = 1.0
    half: tuple[Floats64, float] | None = None
    least: float = 0.0
    factors: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def of(cls, sample: Sample, weighting: Weighting, model: Linear) -> Weighing:
        """Learn what the weighting needs to know from a sample, as a linear model reads it."""
        data, found = sample.stock, cls(weighting, model)
        if weighting.importance and weighting.rows != "all":
            found = replace(found, ratio=log_ratio(model, sample.train, sample.valid))
        if weighting.amounts is not None:
            amounts = np.asarray(data.side[weighting.amounts[0]], dtype=np.float64)
            found = replace(found, mean=float(np.average(amounts, weights=data.weights)))
        if weighting.half is not None:
            own = np.flatnonzero(data.y == weighting.half[0])
            found = replace(found, half=between(data.X[own[:: 1 + len(own) // CLUSTERED]]))
        return replace(found, least=least_of(data)) if weighting.relative else found

    def balanced(self, sums: Floats64) -> Weighing:
        """Balance the classes, whose rows weigh this much in all."""
        scale = np.maximum(sums, TINY) ** self.weighting.balance
        return replace(self, factors=(1.0 / float(scale[0]), 1.0 / float(scale[1])))

    def __call__(self, data: Data) -> Floats64:
        """Return the weights of rows, as a linear model reads them."""
        rows, weighting = data.weights.copy(), self.weighting
        if self.ratio is not None:
            log = np.asarray(self.model.scores(data.X, self.ratio), dtype=np.float64)
            rows *= np.exp(np.clip(log, -20.0, np.log(MOST_LIKE))) ** weighting.importance
        if weighting.only is not None:
            column, value, chosen = weighting.only
            rows[(data.side[column] == value) != chosen] = 0.0
        if weighting.amounts is not None:
            column, sign = weighting.amounts
            own = np.ones(len(data), dtype=bool) if sign == 0 else data.y == sign
            rows[own] *= np.asarray(data.side[column], dtype=np.float64)[own] / self.mean
        for y, group, factor in weighting.cells:
            rows[(data.y == y) & (data.side["groups"] == group)] *= factor
        if weighting.half is not None and self.half is not None:
            second = data.X @ self.half[0] > self.half[1]
            rows[(data.y == weighting.half[0]) & (second != bool(weighting.half[1]))] = 0.0
        if self.least > 0.0:
            size: Any = np.abs(data.side.get(TARGET, data.y))
            rows /= np.maximum(size, self.least)
        return rows * np.where(data.y > 0.0, self.factors[1], self.factors[0])


def least_of(data: Data) -> float:
    """Return what nearly all targets are larger than; zero if they have both signs.

    Examples
    --------
    >>> least_of(Data(np.zeros((2, 1)), np.array([1.0, 2.0])))
    1.0
    >>> least_of(Data(np.zeros((2, 1)), np.array([-1.0, 2.0])))
    0.0
    """
    y = np.asarray(data.side.get(TARGET, data.y), dtype=np.float64)
    if len(y) == 0 or np.min(y) * np.max(y) < 0.0:
        return 0.0
    return float(quantiles(np.abs(y), 0.01, data.weights))
