"""Theory of the gradient estimates: how wide and how many the probes, and how far off."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anymetric.theory.descent import check


@dataclass(frozen=True)
class Settings:
    """Width and number of the probes of a gradient estimate, and bounds on its squared error.

    Attributes
    ----------
    sigma : float
        Width of the probes.
    m : int
        Their number.
    error, stated : float
        The bound on the squared error by the proof, and by the statement.

    Examples
    --------
    >>> finite_difference_settings(K=4, L=1.0, beta=1.0, slack=0.01, m=100).sigma
    0.05
    """

    sigma: float
    m: int
    error: float
    stated: float


@dataclass(frozen=True)
class TwoStepSettings:
    """Widths and number of the probes of Algorithm 4, and bounds on its squared error.

    Attributes
    ----------
    sigma_1, sigma_2 : float
        Widths of the smoothing and of the difference.
    m : int
        Pairs of probes.
    error, stated : float
        The bound on the squared error by the proof, and by the statement.

    Examples
    --------
    >>> two_step_settings(K=1, L=1.0, sigma_1=0.0625, slack=0.01, m=10).sigma_2
    0.25
    """

    sigma_1: float
    sigma_2: float
    m: int
    error: float
    stated: float


def finite_difference_error(
    *, sigma: float, K: int, L: float, beta: float, slack: float, m: int
) -> float:
    """Bound the expected squared error of Algorithm 2 at any sigma (proof of Lemma 3).

    It is the last display of the proof, in which every constant is a number: with a beta from
    `smoothness` it holds as it stands.

    Parameters
    ----------
    sigma : float
        Width of the probes.
    K : int
        Surrogates.
    L, beta : float
        Lipschitz and smoothness constants of psi.
    slack : float
        The most by which the metric and psi differ.
    m : int
        Probes.

    Examples
    --------
    >>> finite_difference_error(sigma=0.5, K=1, L=1.0, beta=1.0, slack=0.125, m=1000)
    9.423
    """
    check(K=K, m=m, sigma=sigma, L=L, beta=beta, slack=slack)
    variance = (4 * sigma**2 * beta**2 * (K + 6) ** 3 + 16 * L**2 * (K + 4)) / m
    return variance + 16 * slack**2 * K / sigma**2 + sigma**2 * beta**4 * (K + 3) ** 3 / 2


def finite_difference_settings(*, K: int, L: float, beta: float, slack: float, m: int) -> Settings:
    """Return ``sigma = sqrt(slack) / (sqrt(K) beta^2)`` for Algorithm 2 (Lemma 3).

    ``stated`` is ``L^2 K / m + slack K^2 beta^2``. At this sigma the proof's slack term is
    ``16 slack K^2 beta^4``; `balanced_sigma`, which falls with beta and not beta^2, has the power
    that the statement has.

    Parameters
    ----------
    K : int
        Surrogates.
    L, beta : float
        Lipschitz and smoothness constants of psi.
    slack : float
        The most by which the metric and psi differ.
    m : int
        Probes.

    Examples
    --------
    >>> finite_difference_settings(K=4, L=1.0, beta=1.0, slack=0.01, m=100)
    Settings(sigma=0.05, m=100, error=4.36..., stated=0.2)
    """
    check(K=K, m=m, L=L, beta=beta, slack=slack)
    sigma = math.sqrt(slack / K) / beta**2
    error = finite_difference_error(sigma=sigma, K=K, L=L, beta=beta, slack=slack, m=m)
    return Settings(sigma, m, error, L**2 * K / m + slack * K**2 * beta**2)


def balanced_sigma(*, K: int, beta: float, slack: float) -> float:
    """Return the sigma of Algorithm 2 that balances what no number of probes averages out.

    These are the slack and the bias in `finite_difference_error`: its last two terms.

    Parameters
    ----------
    K : int
        Surrogates.
    beta : float
        Smoothness constant of psi; see `smoothness`.
    slack : float
        The most by which the metric and psi differ.

    Examples
    --------
    >>> round(balanced_sigma(K=4, beta=1.0, slack=0.01), 4)
    0.0782
    """
    check(K=K, beta=beta, slack=slack)
    return math.sqrt(slack * math.sqrt(32 * K / (K + 3) ** 3)) / beta


def interpolation_error(
    *, sigma: float, K: int, d: int, G: float, Phi: float, beta: float, slack: float
) -> float:
    """Bound the squared error of Algorithm 3 at any sigma, once m is large enough.

    The tail bound at the end of the proof of Lemma 4 is
    ``sigma Phi K^(9/2) log(d)^2 beta + G slack / (sigma^2 Phi^2)`` for the norm; this is its
    square. For one or two parameters log(d) is taken as 1.

    Parameters
    ----------
    sigma : float
        Width of the probes.
    K : int
        Surrogates.
    d : int
        Parameters of the model.
    G, Phi : float
        Bound and Lipschitz constant of the surrogates.
    beta : float
        Smoothness constant of psi; see `smoothness`.
    slack : float
        The most by which the metric and psi differ.

    Examples
    --------
    >>> interpolation_error(sigma=0.5, K=1, d=1, G=1.0, Phi=1.0, beta=1.0, slack=0.125)
    1.0
    """
    check(K=K, d=d, sigma=sigma, G=G, Phi=Phi, beta=beta, slack=slack)
    bend = sigma * Phi * K**4.5 * _log(d) ** 2 * beta
    return float((bend + G * slack / (sigma * Phi) ** 2) ** 2)


def interpolation_settings(
    *,
    K: int,
    d: int,
    G: float,
    Phi: float,
    beta: float,
    slack: float,
    delta: float = 0.05,
) -> Settings:
    """Return sigma and m for Algorithm 3, with a bound that fails at most ``delta`` of the time.

    Lemma 4 as the appendix restates it: ``sigma = G^(1/3) slack^(1/3) / (Phi K^(3/2)
    log(d)^(2/3) beta^(1/3))``, ``m = G^4 K^9 log(d)^4 beta^2 log(K/delta) / slack^2``. ``stated``
    is ``G^(1/3) slack^(1/3) K^3 log(d)^(4/3) beta^(2/3)`` for the squared norm; the proof ends with
    that number, twice, for the norm, so that ``error = (2 stated)^2``. log(d) is as in
    `interpolation_error`.

    Parameters
    ----------
    K : int
        Surrogates.
    d : int
        Parameters of the model.
    G, Phi : float
        Bound and Lipschitz constant of the surrogates.
    beta : float
        Smoothness constant of psi; see `smoothness`.
    slack : float
        The most by which the metric and psi differ.
    delta : float
        The chance that the bound fails.

    Examples
    --------
    >>> settings = interpolation_settings(K=1, d=2, G=1.0, Phi=1.0, beta=1.0, slack=0.001)
    >>> settings.m, round(settings.sigma, 3), round(settings.stated, 3), round(settings.error, 3)
    (2995733, 0.1, 0.1, 0.04)
    """
    check(K=K, d=d, G=G, Phi=Phi, beta=beta, slack=slack, delta=delta)
    log = _log(d)
    sigma = (G * slack / beta) ** (1 / 3) / (Phi * K**1.5 * log ** (2 / 3))
    probes = G**4 * K**9 * log**4 * beta**2 * math.log(K / delta) / slack / slack
    if not math.isfinite(probes):
        raise ValueError(
            f"m grows as 1 / slack^2 and is beyond every number at slack={slack!r}: give a larger "
            "upper bound of the slack."
        )
    m = math.ceil(probes)
    error = interpolation_error(sigma=sigma, K=K, d=d, G=G, Phi=Phi, beta=beta, slack=slack)
    stated = (G * slack * beta**2) ** (1 / 3) * K**3 * log ** (4 / 3)
    return Settings(sigma, m, error, stated)


def truncation_radius(*, K: int, L: float) -> float:
    """Return ``2 sqrt(K) L``: a longer gradient estimate is replaced by 0 (before Corollary 1).

    Parameters
    ----------
    K : int
        Surrogates.
    L : float
        Lipschitz constant of psi.

    Examples
    --------
    >>> truncation_radius(K=4, L=1.0)
    4.0
    """
    check(K=K, L=L)
    return 2 * math.sqrt(K) * L


def truncated_error(*, error: float, K: int, L: float, delta: float = 0.05) -> float:
    """Turn a bound that fails at most ``delta`` of the time into one in expectation (Corollary 1).

    It is ``error + 10 K L^2 delta``, for estimates cut at `truncation_radius`.

    Parameters
    ----------
    error : float
        The bound on the squared error.
    K : int
        Surrogates.
    L : float
        Lipschitz constant of psi.
    delta : float
        The chance that the bound fails.

    Examples
    --------
    >>> truncated_error(error=0.5, K=2, L=1.0, delta=0.01)
    0.7
    """
    check(K=K, error=error, L=L, delta=delta)
    return error + 10 * K * L**2 * delta


def two_step_error(
    *, sigma_1: float, sigma_2: float, K: int, L: float, slack: float, m: int
) -> float:
    """Bound the expected squared error of Algorithm 4 at any widths (proof of Lemma 11).

    It is the last display of the proof. The constant C in its first term has no number there (it
    is that of Lemma 12, part 3) and is taken as one.

    Parameters
    ----------
    sigma_1, sigma_2 : float
        Widths of the smoothing and of the difference.
    K : int
        Surrogates.
    L : float
        Lipschitz constant of psi.
    slack : float
        The most by which the metric and psi differ.
    m : int
        Pairs of probes.

    Examples
    --------
    >>> two_step_error(sigma_1=1.0, sigma_2=0.25, K=1, L=1.0, slack=0.01, m=10)
    2.1756
    """
    check(K=K, m=m, sigma_1=sigma_1, sigma_2=sigma_2, L=L, slack=slack)
    variance = L**2 * K * (math.sqrt(sigma_2 / sigma_1) * K + math.log(K) + 1) / m
    bias = (sigma_2 / sigma_1) ** 2 * K * L**2 * (K + 3) ** 3 / 2
    return variance + 16 * slack**2 * K / sigma_2**2 + bias


def two_step_settings(*, K: int, L: float, sigma_1: float, slack: float, m: int) -> TwoStepSettings:
    """Return ``sigma_2 = sqrt(sigma_1 / (K^(3/2) L))`` for Algorithm 4 (Lemma 11).

    ``stated`` is ``L^(7/4) K^(13/8) / (m sigma_1^(1/4)) + L K^(5/2) slack^2 / sigma_1``. It leaves
    out the proof's bias, which at this sigma_2 is ``L (K+3)^3 / (2 sqrt(K) sigma_1)`` however many
    the probes and however small the slack; with `balanced_sigma_2` the bias falls with the slack.

    Parameters
    ----------
    K : int
        Surrogates.
    L : float
        Lipschitz constant of psi.
    sigma_1 : float
        Width of the smoothing.
    slack : float
        The most by which the metric and psi differ.
    m : int
        Pairs of probes.

    Examples
    --------
    >>> two_step_settings(K=1, L=1.0, sigma_1=0.0625, slack=0.01, m=10)
    TwoStepSettings(sigma_1=0.0625, sigma_2=0.25, m=10, error=512.3256, stated=0.2016)
    """
    check(K=K, m=m, L=L, sigma_1=sigma_1, slack=slack)
    sigma_2 = math.sqrt(sigma_1 / (K**1.5 * L))
    error = two_step_error(sigma_1=sigma_1, sigma_2=sigma_2, K=K, L=L, slack=slack, m=m)
    stated = L**1.75 * K**1.625 / (m * sigma_1**0.25) + L * K**2.5 * slack**2 / sigma_1
    return TwoStepSettings(sigma_1, sigma_2, m, error, stated)


def balanced_sigma_2(*, K: int, L: float, sigma_1: float, slack: float) -> float:
    """Return the sigma_2 of Algorithm 4 that balances what no number of probes averages out.

    Parameters
    ----------
    K : int
        Surrogates.
    L : float
        Lipschitz constant of psi.
    sigma_1 : float
        Width of the smoothing.
    slack : float
        The most by which the metric and psi differ.

    Examples
    --------
    >>> round(balanced_sigma_2(K=1, L=1.0, sigma_1=0.0625, slack=0.01), 4)
    0.021
    """
    check(K=K, L=L, sigma_1=sigma_1, slack=slack)
    return math.sqrt(slack * sigma_1 / L * math.sqrt(32 / (K + 3) ** 3))


def _log(d: int) -> float:
    """Return log(d), but 1 for d < 3: it bounds a maximum of normals, which is never 0."""
    return max(math.log(d), 1.0)
