"""Linear interpolation: perturb the parameters, fit cost differences to profile differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.batches import Batch
from anymetric.gradients.base import Estimate, afforded, fit
from anymetric.gradients.settings import (
    not_negative,
    places,
    positive,
    rows_and_places,
    whole,
)
from anymetric.ledger import Ledger, Probe


@dataclass(frozen=True)
class LinearInterpolation:
    """Algorithm 3: Gaussian perturbations of the parameters and a least-squares fit.

    Parameters
    ----------
    m : int
        Perturbations: 2 m metric calls two-sided, m one-sided; fewer where a budget ends.
    sigma : float
        Their standard deviation.
    sides : {"two", "one"}
        ``two``: differences of two independent perturbed models, as in the paper. ``one``:
        differences from the model itself, as in the authors' notebook.
    intercept : bool or None
        Fit a constant. None: only one-sided, where a thresholded cost may jump at the centre.
    nonnegative, ridge, truncation
        See `fit`.
    coordinates : sequence of int, optional
        Perturb only these parameters (appendix, on the Lipschitz assumption).
    batch : int, optional
        Let only this many random rows follow the perturbations (the paper's KDD Cup run).

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
    >>> estimate = LinearInterpolation(m=50).estimate(ledger, ledger.evaluate(np.zeros(3)), rng)
    >>> estimate.gradient.shape, estimate.calls
    ((2,), 100)
    """

    m: int = 1000
    sigma: float = 0.1
    sides: Literal["two", "one"] = "two"
    intercept: bool | None = None
    nonnegative: bool = False
    ridge: float = 0.0
    truncation: float | None = None
    coordinates: Sequence[int] | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        whole("m", self.m)
        positive("sigma", self.sigma)
        not_negative("ridge", self.ridge)
        not_negative("truncation", self.truncation)
        rows_and_places(self.batch, self.coordinates)
        if self.sides not in ("two", "one"):
            raise ValueError(f"sides must be 'two' or 'one'; got {self.sides!r}.")

    def estimate(self, ledger: Ledger, here: Probe, rng: np.random.Generator) -> Estimate:
        """Probe around `here` and fit."""
        each = 2 if self.sides == "two" else 1
        m = afforded(ledger, self.m, each)
        count = each * m
        thetas = here.theta + self.sigma * self._draw(count, len(here.theta), rng)
        batch = None
        if self.batch is not None:
            batch = Batch.draw(ledger.problem, here.theta, self.batch, rng)
        probes = ledger.probe(thetas, batch)
        if self.sides == "two":
            H = probes.profiles[:m] - probes.profiles[m:]
            M = probes.costs[:m] - probes.costs[m:]
        else:
            known = here.cost if np.isfinite(here.cost) else np.nanmean(probes.costs)
            H, M = probes.profiles - here.profile, probes.costs - known
        return fit(
            H,
            M,
            intercept=self.sides == "one" if self.intercept is None else self.intercept,
            nonnegative=self.nonnegative,
            ridge=self.ridge,
            truncation=self.truncation,
            calls=count,
        )

    def _draw(self, count: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        if self.coordinates is None:
            return rng.standard_normal((count, size))
        Z, chosen = np.zeros((count, size)), places(self.coordinates, size, "parameters")
        Z[:, chosen] = rng.standard_normal((count, len(chosen)))
        return Z
