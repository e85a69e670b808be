"""Finite differences: shift the training scores so that the profile moves by Gaussian draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.batches import draw_rows
from anymetric.gradients.base import Estimate, afforded, nothing, truncated
from anymetric.gradients.settings import (
    not_negative,
    places,
    positive,
    rows_and_places,
    whole,
)
from anymetric.gradients.shifts import Shifter, margin_slices
from anymetric.ledger import Ledger, Probe
from anymetric.problem import BLOCK

Floats64 = NDArray[np.float64]
# Maximum rounds of redrawing targets below the infimum of a loss.
MOST_REDRAWS = 50


@dataclass(frozen=True)
class FiniteDifferences:
    """Algorithm 2: the metric of the training rows at shifted scores.

    Parameters
    ----------
    m : int
        Perturbations: m metric calls, and one for the scores as they are; fewer where a budget
        ends.
    sigma : float
        Standard deviation of the perturbations, in units of the profile.
    intercept : bool
        Measure from the mean cost of the probes instead of the cost at the centre.
    nonnegative, truncation
        See `fit`; here a negative entry is set to zero.
    coordinates : sequence of int, optional
        Perturb only these surrogates; the others get a slope of zero.
    batch : int, optional
        Shift only this many random rows; the slope is scaled by their share of each slice.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> data = Data(X, np.where(X[:, 0] > 0.5, 1.0, -1.0))
    >>> ledger = Ledger(Problem(data, per_class("hinge"), as_metric("error")))
    >>> estimate = FiniteDifferences(m=50).estimate(ledger, ledger.evaluate(np.ones(3)), rng)
    >>> estimate.gradient.shape, estimate.calls
    ((2,), 51)
    """

    m: int = 1000
    sigma: float = 0.1
    intercept: bool = False
    nonnegative: bool = False
    truncation: float | None = None
    coordinates: Sequence[int] | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        whole("m", self.m)
        positive("sigma", self.sigma)
        not_negative("truncation", self.truncation)
        rows_and_places(self.batch, self.coordinates)

    def estimate(self, ledger: Ledger, here: Probe, rng: np.random.Generator) -> Estimate:
        """Draw, shift, evaluate the metric, and average ``(M_j - M_0) Z_j / sigma``."""
        shifter, reach = shifter_at(ledger, here, self.batch, rng)

        def draw(count: int) -> tuple[Floats64, Floats64, NDArray[np.bool_]]:
            Z = masked(rng.standard_normal((count, len(reach))), self.coordinates)
            shifts, found = shifter.solve(shifter.begun + self.sigma * Z)
            return Z, shifts, found

        m = afforded(ledger, self.m, each=1, besides=2)
        Z, shifts, lost = gather(m, draw)
        costs = shifted_costs(ledger, shifter, shifts)
        base = shifted_costs(ledger, shifter, np.zeros((1, len(reach))))[0]
        there = np.isfinite(costs)
        costs, Z = costs[there], Z[there]
        if not len(costs):
            return nothing(len(reach), m + 1)
        rise = costs - (costs.mean() if self.intercept or np.isnan(base) else base)
        terms = rise[:, np.newaxis] * Z / (self.sigma * reach)
        flat = bool(np.all(costs == base))
        return averaged(terms, self.nonnegative, self.truncation, m + 1, lost, flat)


@dataclass(frozen=True)
class TwoStep:
    """Algorithm 4: finite differences of the metric smoothed by a first perturbation.

    Parameters
    ----------
    m : int
        Pairs of perturbations: 2 m metric calls; fewer where a budget ends.
    sigma : float
        sigma_1, the smoothing.
    sigma2 : float, optional
        The difference; by default ``sqrt(sigma_1 / (K^1.5 L))`` (Lemma 11).
    lipschitz : float
        L in that default.
    intercept : bool
        Take the mean difference of all pairs off each.
    nonnegative, truncation, coordinates, batch
        As in `FiniteDifferences`; `coordinates` restrict the second perturbation.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> data = Data(X, np.where(X[:, 0] > 0.5, 1.0, -1.0))
    >>> ledger = Ledger(Problem(data, per_class("hinge"), as_metric("error")))
    >>> TwoStep(m=50).estimate(ledger, ledger.evaluate(np.zeros(3)), rng).calls
    100
    """

    m: int = 1000
    sigma: float = 0.1
    sigma2: float | None = None
    lipschitz: float = 1.0
    intercept: bool = False
    nonnegative: bool = False
    truncation: float | None = None
    coordinates: Sequence[int] | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        whole("m", self.m)
        positive("sigma", self.sigma)
        not_negative("truncation", self.truncation)
        rows_and_places(self.batch, self.coordinates)
        positive("lipschitz", self.lipschitz)
        if self.sigma2 is not None:
            positive("sigma2", self.sigma2)

    def estimate(self, ledger: Ledger, here: Probe, rng: np.random.Generator) -> Estimate:
        """Draw pairs, shift twice, and average ``(M_2j - M_1j) Z_2j / sigma_2``."""
        shifter, reach = shifter_at(ledger, here, self.batch, rng)
        K = len(reach)
        second = self.sigma2 or np.sqrt(self.sigma / (K**1.5 * self.lipschitz))

        def draw(count: int) -> tuple[Floats64, Floats64, NDArray[np.bool_]]:
            first = shifter.begun + self.sigma * rng.standard_normal((count, K))
            Z = masked(rng.standard_normal((count, K)), self.coordinates)
            smooth, found = shifter.solve(first)
            moved, also = shifter.solve(first + second * Z)
            return Z, np.hstack([smooth, moved]), found & also

        m = afforded(ledger, self.m, each=2)
        Z, shifts, lost = gather(m, draw)
        costs = shifted_costs(ledger, shifter, np.vstack([shifts[:, :K], shifts[:, K:]]))
        rise = costs[m:] - costs[:m]
        there = np.isfinite(rise)
        rise, Z = rise[there], Z[there]
        if not len(rise):
            return nothing(K, 2 * m)
        rise = rise - rise.mean() if self.intercept else rise
        terms = rise[:, np.newaxis] * Z / (second * reach)
        flat = bool(np.all(costs == costs[0]))
        return averaged(terms, self.nonnegative, self.truncation, 2 * m, lost, flat)


def shifter_at(
    ledger: Ledger, here: Probe, batch: int | None, rng: np.random.Generator
) -> tuple[Shifter, Floats64]:
    """Return the shifter and, for each slice, the share of it that may move."""
    problem = ledger.problem
    rows = None if batch is None else draw_rows(len(problem.train), batch, rng)
    shifter = Shifter.build(problem, problem.scores(here.theta), rows)
    if rows is None:
        return shifter, np.ones(len(here.profile))
    reach = np.asarray(margin_slices(problem)[1][:, rows].sum(axis=1), dtype=np.float64)
    return shifter, np.where(reach > 0.0, reach, np.inf)


def gather(
    m: int, draw: Callable[[int], tuple[Floats64, Floats64, NDArray[np.bool_]]]
) -> tuple[Floats64, Floats64, int]:
    """Draw until m targets are attainable; return draws, shifts, and the number rejected."""
    draws: list[Floats64] = []
    shifts: list[Floats64] = []
    kept = lost = 0
    for _ in range(MOST_REDRAWS):
        Z, shift, found = draw(m - kept)
        draws.append(Z[found])
        shifts.append(shift[found])
        kept += int(found.sum())
        lost += int((~found).sum())
        if kept == m:
            return np.concatenate(draws), np.concatenate(shifts), lost
    raise ValueError(
        f"Only {kept} of {kept + lost} draws are profiles that the losses can take. "
        f"Lower sigma: the profile is closer to the losses' bounds than sigma."
    )


def shifted_costs(ledger: Ledger, shifter: Shifter, shifts: Floats64) -> Floats64:
    """Return the training rows' costs after each shift."""
    width = max(BLOCK // len(shifter.y), 1)
    parts = [shifts[i : i + width] for i in range(0, len(shifts), width)]
    judge = ledger.problem.mirror
    return np.concatenate([ledger.ask(judge, shifter.scores(part)) for part in parts])


def masked(Z: Floats64, coordinates: Sequence[int] | None) -> Floats64:
    """Keep the draws of the chosen coordinates only."""
    if coordinates is None:
        return Z
    kept = np.zeros(Z.shape[1])
    kept[places(coordinates, len(kept), "surrogates")] = 1.0
    return Z * kept


def averaged(
    terms: Floats64,
    nonnegative: bool,
    truncation: float | None,
    calls: int,
    lost: int,
    flat: bool,
) -> Estimate:
    """Return the mean of the terms with its standard errors."""
    gradient = terms.mean(axis=0)
    errors = terms.std(axis=0, ddof=min(1, len(terms) - 1)) / np.sqrt(len(terms))
    if nonnegative:
        gradient = np.maximum(gradient, 0.0)
    gradient = truncated(gradient, truncation)
    return Estimate(gradient, errors, calls=calls, lost=lost, flat=flat)
