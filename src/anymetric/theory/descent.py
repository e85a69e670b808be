"""Theory of the descent: its step, its accuracy, and how still it stands after T iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class DescentSettings:
    """Settings of Algorithm 1: the smoothness they are for, the step, the projection's accuracy.

    Attributes
    ----------
    beta : float
        Smoothness constant of psi.
    eta : float
        The step.
    accuracy : float
        That of each projection.

    Examples
    --------
    >>> descent_settings(beta=2.0, T=100).eta
    0.25
    """

    beta: float
    eta: float
    accuracy: float


@dataclass(frozen=True)
class Bound:
    """A bound as its proof gives it, and as the paper states it.

    Attributes
    ----------
    error : float
        By the last display of the proof that has constants.
    stated : float
        By the statement, the constant of its O() taken as one.

    Examples
    --------
    >>> Bound(error=2.0, stated=1.0)
    Bound(error=2.0, stated=1.0)
    """

    error: float
    stated: float


def smoothness(*, curvature: float) -> float:
    """Return the least beta with which every bound here holds, from psi's greatest curvature.

    The proofs read "beta-smooth" in two ways: the gradient is beta^2-Lipschitz in Theorem 2 and in
    the bias of Gaussian smoothing, beta-Lipschitz in Lemma 4, in the variance of Gaussian smoothing
    and in the corollary for a non-smooth psi. The larger of
    ``curvature`` and its root serves both.

    Parameters
    ----------
    curvature : float
        The Lipschitz constant of psi's gradient.

    Examples
    --------
    >>> smoothness(curvature=4.0), smoothness(curvature=0.25)
    (4.0, 0.5)
    """
    check(curvature=curvature)
    return max(curvature, math.sqrt(curvature))


def descent_settings(*, beta: float, T: int) -> DescentSettings:
    """Return step ``1/beta^2`` and projection accuracy ``1/(beta^2 T)`` (Theorem 2, Algorithm 1).

    Parameters
    ----------
    beta : float
        Smoothness constant of psi; see `smoothness`.
    T : int
        Iterations.

    Examples
    --------
    >>> descent_settings(beta=2.0, T=100)
    DescentSettings(beta=2.0, eta=0.25, accuracy=0.0025)
    """
    check(T=T, beta=beta)
    return DescentSettings(beta, 1 / beta**2, 1 / (beta**2 * T))


def smoothed_settings(*, K: int, L: float, sigma_1: float, T: int) -> DescentSettings:
    """Return the settings of `descent_settings` for a non-smooth psi (Corollary 2).

    Smoothing psi with Gaussian noise of width ``sigma_1`` makes ``beta = sqrt(K) L / sigma_1``
    (Lemma 12, part 2).

    Parameters
    ----------
    K : int
        Surrogates.
    L : float
        Lipschitz constant of psi.
    sigma_1 : float
        Width of the smoothing.
    T : int
        Iterations.

    Examples
    --------
    >>> smoothed_settings(K=4, L=1.0, sigma_1=0.5, T=10)
    DescentSettings(beta=4.0, eta=0.0625, accuracy=0.00625)
    """
    check(K=K, L=L, sigma_1=sigma_1)
    return descent_settings(beta=math.sqrt(K) * L / sigma_1, T=T)


def stationarity_bound(
    *,
    K: int,
    L: float,
    beta: float,
    gamma: float,
    G: float,
    Phi: float,
    T: int,
    kappa: float,
) -> Bound:
    """Bound the least expected squared gradient norm of T iterations (Theorem 2, 0 <= psi <= 1).

    ``kappa`` is the gradient estimate's expected squared error. ``stated`` is
    ``C (beta/sqrt(T) + sqrt(kappa) + sqrt(L) kappa^(1/4))``, ``C = K L (gamma (G + L/beta^2) +
    Phi^2)``. ``error`` is ``omega (e^2 + 2 L e) / 2``, from the end of the proof, with e^2 from the
    last display of the proof of Lemma 6 at alpha = 1/(beta^2 T). The statement drops e^2, which is
    fair only where e is small against L. With the beta of `smoothed_settings` and the bound of
    `two_step_settings` as kappa, this is Corollary 2.

    Parameters
    ----------
    K : int
        Surrogates.
    L, beta : float
        Lipschitz and smoothness constants of psi.
    gamma, G, Phi : float
        Smoothness constant, bound and Lipschitz constant of the surrogates.
    T : int
        Iterations.
    kappa : float
        Expected squared error of the gradient estimate.

    Examples
    --------
    >>> bound = stationarity_bound(
    ...     K=1, L=1.0, beta=1.0, gamma=1.0, G=1.0, Phi=1.0, T=100, kappa=1e-4
    ... )
    >>> round(bound.stated, 3), round(bound.error, 2)
    (0.63, 7.7)
    """
    check(K=K, T=T, L=L, beta=beta, gamma=gamma, G=G, Phi=Phi, kappa=kappa)
    half_omega = K * (gamma * (G + L / beta**2) + Phi**2)
    squared = (
        56 * beta**2 / T
        + 16 * L * math.sqrt(kappa)
        + 18 * kappa
        + 48 * beta * math.sqrt(2 * kappa / T)
    )
    rate = beta / math.sqrt(T) + math.sqrt(kappa) + math.sqrt(L) * kappa**0.25
    return Bound(half_omega * (squared + 2 * L * math.sqrt(squared)), half_omega * L * rate)


def check(**values: float) -> None:
    """Refuse what is not positive; counts must be whole, and a chance below one.

    >>> check(K=0)
    Traceback (most recent call last):
        ...
    ValueError: K must be positive and finite; got 0. ...
    """
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(
                f"{name} must be positive and finite; got {value!r}. "
                "For a constant that may be 0, give a small upper bound."
            )
        if name in ("K", "d", "m", "T") and value != int(value):
            raise ValueError(f"{name} is a count and must be a whole number; got {value!r}.")
        if name == "delta" and value >= 1:
            raise ValueError(f"delta is a chance of failure and must be below 1; got {value!r}.")
