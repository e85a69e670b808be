"""Group metrics: a rate in every group, averaged, at its worst, or held level."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics.counts import CountMetric, Counts, require
from anymetric.metrics.rates import BOTH, ErrorRate, FBeta


class GroupMetric(CountMetric):
    """A count metric split by a metadata column."""

    groups: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The column of groups."""
        return (self.groups,)

    @abstractmethod
    def from_counts(self, counts: Counts) -> NDArray[np.float64]:
        """Return values ``(...)`` of counts ``(..., G)``."""

    def rate(self, counts: Counts) -> NDArray[np.float64]:
        """Return the metric of a single group."""
        return self.from_counts(_alone(counts))


class EachGroup(GroupMetric):
    """One rate, taken in every group: direction, ceiling and demands are the rate's own."""

    of: CountMetric

    @property
    def greater_is_better(self) -> bool:
        """As for the rate itself."""
        return self.of.greater_is_better

    @property
    def ceiling(self) -> float:
        """As for the rate itself."""
        return self.of.ceiling

    def check(self, totals: NDArray[np.float64], names: NDArray[np.generic]) -> None:
        """Raise if a group lacks a class that the rate needs."""
        require(self, self.of.requires, totals, _called(names))


@dataclass(frozen=True)
class MacroByGroup(EachGroup):
    """Mean over the groups of a rate in each group: the F-measure by default (section 6.2).

    A group without positives has an F-measure of 0, whatever is predicted.

    Parameters
    ----------
    of : CountMetric
        The rate.
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> bound = MacroByGroup().bind(np.array([1.0, -1.0, 1.0, -1.0]), side={"groups": groups})
    >>> MacroByGroup().name, round(float(bound.values(np.array([1, -1, 1, 1]))), 3)
    ('group_mean_f1', 0.833)
    """

    of: CountMetric = field(default_factory=FBeta)
    groups: str = "groups"

    @property
    def name(self) -> str:
        """``group_mean_`` and the rate's name."""
        return f"group_mean_{self.of.name}"

    def from_counts(self, counts: Counts) -> NDArray[np.float64]:
        """Return the mean over groups."""
        return np.asarray(self.of.rate(counts).mean(axis=-1))


@dataclass(frozen=True)
class WorstGroup(EachGroup):
    """A rate in the group where it is worst: worst-group error by default.

    Parameters
    ----------
    of : CountMetric
        The rate.
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> bound = WorstGroup().bind(np.array([1.0, -1.0, 1.0, -1.0]), side={"groups": groups})
    >>> WorstGroup().name, float(bound.values(np.array([1, -1, 1, 1])))
    ('worst_group_error', 0.5)
    """

    of: CountMetric = field(default_factory=ErrorRate)
    groups: str = "groups"

    @property
    def name(self) -> str:
        """``worst_group_`` and the rate's name."""
        return f"worst_group_{self.of.name}"

    def from_counts(self, counts: Counts) -> NDArray[np.float64]:
        """Return the minimum over groups if greater is better, else the maximum."""
        worst = np.min if self.greater_is_better else np.max
        return np.asarray(worst(self.of.rate(counts), axis=-1))


class GapPenalty(GroupMetric):
    """The cost of a base metric, plus `weight` times a gap between groups."""

    greater_is_better = False
    base: CountMetric
    weight: float

    @abstractmethod
    def gap(self, counts: Counts) -> NDArray[np.float64]:
        """Return the difference between the groups, ``(...)``."""

    def from_counts(self, counts: Counts) -> NDArray[np.float64]:
        """Return ``base cost + weight * gap``."""
        cost = self.base.cost(self.base.from_counts(counts))
        return np.asarray(cost + self.weight * self.gap(counts))

    def check(self, totals: NDArray[np.float64], names: NDArray[np.generic]) -> None:
        """Raise if a class that the base metric needs is missing."""
        self.base.check(totals, names)


@dataclass(frozen=True)
class DemographicParity(GapPenalty):
    """Error, plus `weight` times the gap in positive predictions between groups.

    The gap is the largest share of flagged rows in a group minus the smallest.

    Parameters
    ----------
    base : CountMetric
        Counted as a cost: ``1 - value`` where greater is better.
    weight : float
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> metric = DemographicParity(weight=0.5)
    >>> bound = metric.bind(np.array([1.0, 1.0, -1.0, -1.0]), side={"groups": groups})
    >>> bound.values(np.array([[1, 1], [1, 1], [-1, 1], [-1, 1]])).tolist()
    [0.5, 0.5]
    """

    base: CountMetric = field(default_factory=ErrorRate)
    weight: float = 1.0
    groups: str = "groups"

    name = "penalised_demographic_parity"

    def gap(self, counts: Counts) -> NDArray[np.float64]:
        """Return the spread of the shares of flagged rows."""
        return _spread(counts.selection)


@dataclass(frozen=True)
class EqualisedOdds(GapPenalty):
    """Error, plus `weight` times the gap in error rates between groups.

    The gap is the spread over groups of the true-positive rate or of the false-positive rate,
    whichever is wider.

    Parameters
    ----------
    base : CountMetric
        Counted as a cost: ``1 - value`` where greater is better.
    weight : float
    groups : str
        The metadata column of groups.

    Examples
    --------
    >>> import numpy as np
    >>> groups = np.array(["a", "a", "b", "b"])
    >>> bound = EqualisedOdds().bind(np.array([1.0, -1.0, 1.0, -1.0]), side={"groups": groups})
    >>> bound.values(np.array([[1, 1], [-1, -1], [1, -1], [-1, -1]])).tolist()
    [0.0, 1.25]
    """

    base: CountMetric = field(default_factory=ErrorRate)
    weight: float = 1.0
    groups: str = "groups"

    name = "penalised_equalised_odds"

    def gap(self, counts: Counts) -> NDArray[np.float64]:
        """Return the wider of the two spreads."""
        return np.maximum(_spread(counts.recall), _spread(counts.fallout))

    def check(self, totals: NDArray[np.float64], names: NDArray[np.generic]) -> None:
        """Raise if a group lacks one of the classes."""
        super().check(totals, names)
        require(self, BOTH, totals, _called(names))


def _spread(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.ptp(rates, axis=-1))


def _called(names: NDArray[np.generic]) -> list[str]:
    return [f"group {name!r}" for name in names.tolist()]


def _alone(counts: Counts) -> Counts:
    return Counts(*(x[..., None] for x in (counts.tp, counts.fp, counts.fn, counts.tn)))
