"""Subspace: perturb the parameters only along the K directions that move the surrogates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.gradients.base import Estimate, afforded, fit
from anymetric.gradients.settings import not_negative, positive, whole
from anymetric.ledger import Ledger, Probe, Probes


@dataclass(frozen=True)
class Subspace:
    """Antithetic probes along ``V = J^T (J J^T)^-1``, J the Jacobian of the surrogates.

    A step ``V z`` changes the profile by z to first order, so the linear system is well
    conditioned by construction, and all probes live in K + 1 score vectors.

    Parameters
    ----------
    m : int
        Pairs of probes: 2 m metric calls; fewer where a budget ends.
    sigma : float
        Standard deviation of the perturbations, in units of the profile.
    nonnegative, ridge, truncation
        See `fit`.

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
    >>> ledger = Ledger(Problem(data, per_class("logistic"), as_metric("error")))
    >>> estimate = Subspace().estimate(ledger, ledger.evaluate(np.array([1.0, 0.0, 0.0])), rng)
    >>> estimate.condition < 5
    True
    """

    m: int = 32
    sigma: float = 0.05
    nonnegative: bool = True
    ridge: float = 0.0
    truncation: float | None = None

    def __post_init__(self) -> None:
        whole("m", self.m)
        positive("sigma", self.sigma)
        not_negative("ridge", self.ridge)
        not_negative("truncation", self.truncation)

    def estimate(self, ledger: Ledger, here: Probe, rng: np.random.Generator) -> Estimate:
        """Probe on both sides of `here` and fit the differences of each pair."""
        _, jacobian = ledger.problem.linearise(here.theta)
        # (p, K): J V = I where J has full rank
        V = np.asarray(np.linalg.pinv(jacobian, rcond=1e-6), dtype=np.float64)
        m = afforded(ledger, self.m, each=2)
        Z = rng.standard_normal((m, len(here.profile)))
        steps = np.asarray(self.sigma * np.concatenate([Z, -Z]), dtype=np.float64)
        probes = probe_along(ledger, here.theta, V, steps)
        return fit(
            probes.profiles[:m] - probes.profiles[m:],
            probes.costs[:m] - probes.costs[m:],
            nonnegative=self.nonnegative,
            ridge=self.ridge,
            truncation=self.truncation,
            calls=2 * m,
        )


def probe_along(
    ledger: Ledger,
    theta: NDArray[np.float64],
    V: NDArray[np.float64],
    steps: NDArray[np.float64],
) -> Probes:
    """Probe ``theta + V z`` for the rows z of `steps`.

    A linear model's scores are combinations of K + 1 score vectors: the product with X is made
    once for them, not for every probe.
    """
    problem = ledger.problem
    if not problem.model.linear_in_parameters:
        return ledger.probe(theta + steps @ V.T)
    basis = np.vstack([theta, V.T])
    mix = np.vstack([np.ones(len(steps)), steps.T])  # (K + 1, m)
    return ledger.along(basis, mix)
