"""Scales: how much of the paper's work the paper's own algorithm is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.descent import Descent, Watcher
from anymetric.gradients import LinearInterpolation
from anymetric.ledger import Ledger
from anymetric.projections import Adagrad
from anymetric.solution import Solution
from anymetric.tuning import Tuned, with_sigma


@dataclass(frozen=True)
class Screened:
    """A grid search by short runs; only its winner is run at full length.

    Parameters
    ----------
    tuned : Tuned
        The grid, and the descent at full length.
    iterations, probes : int
        Of a short run.

    Examples
    --------
    >>> Screened(Tuned(), iterations=25).probes
    100
    """

    takes_starts: ClassVar[bool] = True
    cross_fits: ClassVar[bool] = False

    tuned: Tuned
    iterations: int
    probes: int = 100

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Run the grid briefly, then its winner; the better of both is kept."""
        full = self.tuned.descent
        gradient: Any = full.gradient
        short = replace(
            full,
            iterations=min(self.iterations, full.iterations),
            gradient=replace(gradient, m=min(self.probes, gradient.m)),
        )
        first = replace(self.tuned, descent=short).run(ledger, starts, rng, watch)
        sigma = first.summary.chosen["sigma"]
        winner = replace(full, step=first.summary.chosen["step"], gradient=with_sigma(full, sigma))
        last = winner.run(ledger, starts, rng, watch)
        best = min(last, first, key=lambda run: run.cost)
        kept: Solution = replace(best, summary=first.summary, calls=ledger.calls)
        return kept


@dataclass(frozen=True)
class Scale:
    """How long the paper's algorithm runs, on how much of its grid, with how many seeds.

    Parameters
    ----------
    name : str
    outer_iterations, probes, iterations : int
        Of Algorithm 1, of a gradient estimate, of a projection.
    steps, sigmas : int
        At most so many steps, and so many values of sigma, evenly from the paper's.
    screen : int
        Iterations of the runs of the grid search; 0: they are all run at full length.
    seeds : float
        The share of an experiment's seeds, of which there is at least one.
    levels : int
        At most so many noise levels.
    says : str
        For the report.

    Examples
    --------
    >>> SCALES["full"].grid((0.05, 0.1, 0.5, 1.0, 5.0), (0.1, 0.5))
    ((0.05, 0.1, 0.5, 1.0, 5.0), (0.1, 0.5))
    >>> SCALES["quick"].grid((0.05, 0.1, 0.5, 1.0, 5.0), (0.1, 0.5))
    ((0.1, 1.0), (0.5,))
    """

    name: str
    outer_iterations: int
    probes: int
    iterations: int
    steps: int = 100
    sigmas: int = 100
    screen: int = 0
    seeds: float = 1.0
    levels: int = 100
    says: str = ""

    def grid(
        self, steps: Sequence[float], sigmas: Sequence[float]
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the steps and the sigmas that are tried."""
        return middle(steps, self.steps), middle(sigmas, self.sigmas)

    def method(
        self,
        steps: Sequence[float],
        sigmas: Sequence[float],
        batch: int | None = None,
        probes: int | None = None,
    ) -> Tuned | Screened:
        """Return Algorithm 1 with linear interpolation and Adagrad, tuned on validation."""
        gradient = LinearInterpolation(m=min(probes or self.probes, self.probes), batch=batch)
        projection = Adagrad(1.0, self.iterations)
        descent = Descent(
            iterations=self.outer_iterations, gradient=gradient, projection=projection
        )
        tuned = Tuned(descent, *self.grid(steps, sigmas))
        return Screened(tuned, self.screen) if self.screen else tuned


def middle(values: Sequence[float], most: int) -> tuple[float, ...]:
    """Return at most so many of the values, each from the middle of an equal share.

    Examples
    --------
    >>> middle((1.0, 2.0, 3.0, 4.0, 5.0), 3), middle((1.0, 2.0), 3)
    ((1.0, 3.0, 5.0), (1.0, 2.0))
    """
    if len(values) <= most:
        return tuple(values)
    places = (np.arange(most) + 0.5) * len(values) / most
    return tuple(values[int(place)] for place in places)


EARLY = (
    "A run ends early where ten iterations in a row leave the model as it is, or none of their "
    "perturbations changes the metric."
)

_SCALES = (
    Scale(
        "full",
        250,
        1000,
        100,
        says="The paper's algorithm has the paper's settings: 250 iterations, 1000 perturbations, "
        "100 iterations of Adagrad, and every step and sigma of its grid at full length. " + EARLY,
    ),
    Scale(
        "screened",
        250,
        1000,
        100,
        screen=25,
        says="The paper's algorithm has the paper's settings (250 iterations, 1000 perturbations, "
        "100 iterations of Adagrad), but step and sigma are chosen from its grid by runs of 25 "
        "iterations with 100 perturbations. " + EARLY,
    ),
    Scale(
        "quick",
        15,
        50,
        30,
        steps=2,
        sigmas=1,
        seeds=0.1,
        levels=3,
        says="A quick run: the paper's algorithm has 15 iterations, 50 perturbations, 30 "
        "iterations of Adagrad and two points of its grid; one seed and three noise levels. It "
        "shows that everything works, not what the methods reach.",
    ),
)

SCALES: dict[str, Scale] = {scale.name: scale for scale in _SCALES}
