"""Gradient: the slope of the cost in each surrogate, estimated from probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from anymetric.ledger import Ledger, Probe


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate of the K slopes of psi, and its accuracy.

    Attributes
    ----------
    gradient : array of shape (K,)
    errors : array of shape (K,)
        Standard errors of its entries.
    condition : float
        Condition number of the linear system; 1 where none is solved.
    slack : float
        Standard deviation of what the fit leaves unexplained.
    r_squared : float
        Share of the variance of the costs that the surrogates explain.
    calls, lost : int
        Metric calls made; draws rejected because no shift gives them.
    flat : bool
        Whether every probe had the same cost.

    Examples
    --------
    >>> import numpy as np
    >>> fit(np.eye(2), np.array([1.0, 2.0])).gradient.round(12).tolist()
    [1.0, 2.0]
    """

    gradient: NDArray[np.float64]
    errors: NDArray[np.float64]
    condition: float = 1.0
    r_squared: float = float("nan")
    calls: int = 0
    lost: int = 0
    flat: bool = False
    slack: float = float("nan")


class GradientEstimator(Protocol):
    """Anything that estimates the slopes of psi at a probe.

    Examples
    --------
    >>> from anymetric.gradients import LinearInterpolation
    >>> estimator: GradientEstimator = LinearInterpolation()
    """

    def estimate(self, ledger: Ledger, here: Probe, rng: np.random.Generator) -> Estimate:
        """Probe around `here` and return the estimate."""
        ...


def fit(
    H: NDArray[np.float64],
    M: NDArray[np.float64],
    *,
    intercept: bool = False,
    nonnegative: bool = False,
    ridge: float = 0.0,
    truncation: float | None = None,
    calls: int = 0,
) -> Estimate:
    """Solve ``H g = M`` in the least-squares sense (Algorithm 3, line 6).

    Parameters
    ----------
    H : array of shape (m, K)
        Differences of profiles.
    M : array of shape (m,)
        Differences of costs; probes whose cost is missing are left out.
    intercept : bool
        Fit a constant too: a thresholded cost may jump at the centre.
    nonnegative : bool
        psi does not decrease in any surrogate, so its gradient is not negative.
    ridge : float
        Penalty on ``|g|^2`` relative to the mean square of a column of H.
    truncation : float, optional
        The Lipschitz constant L: a gradient longer than ``2 sqrt(K) L`` becomes zero (appendix).
    calls : int
        Metric calls that M took, recorded in the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> fit(H, H @ [2.0, -1.0], nonnegative=True).gradient.round(9).tolist()
    [1.5, 0.0]
    """
    there = np.isfinite(M)
    H, M = H[there], M[there]
    if not len(M):
        return nothing(H.shape[1], calls)
    if intercept:
        # A constant less its own mean is not always zero.
        H, M = H - H.mean(axis=0), M - M.mean() if np.ptp(M) > 0.0 else np.zeros_like(M)
    size = np.sqrt(np.mean(H**2)) if H.size else 0.0
    A = np.vstack([H, np.sqrt(ridge * len(H)) * size * np.eye(H.shape[1])]) if ridge else H
    b = np.append(M, np.zeros(H.shape[1])) if ridge else M
    left, singular, right = np.linalg.svd(A, full_matrices=False)
    kept = singular > np.finfo(float).eps * max(A.shape) * max(singular[0], np.finfo(float).tiny)
    inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=kept)
    free = right.T @ (inverse * (left.T @ b))
    gradient = optimize.nnls(A, b)[0] if nonnegative else free
    errors, r_squared = accuracy(H, M, gradient, (right.T * inverse**2) @ right)
    # With fewer probes than surrogates some slopes are not identified.
    determined = len(A) >= A.shape[1] and singular[-1] > 0.0
    condition = float(singular[0] / singular[-1]) if determined else np.inf
    slack = float(np.std(M - H @ gradient))
    flat = not np.any(M)
    gradient = truncated(gradient, truncation)
    return Estimate(gradient, errors, condition, r_squared, calls, flat=flat, slack=slack)


def nothing(size: int, calls: int) -> Estimate:
    """Return an empty estimate, where every probe failed.

    Examples
    --------
    >>> nothing(2, 8).flat
    True
    """
    return Estimate(np.zeros(size), np.full(size, np.inf), np.inf, calls=calls, flat=True)


def accuracy(
    H: NDArray[np.float64],
    M: NDArray[np.float64],
    gradient: NDArray[np.float64],
    covariance: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Return standard errors and R^2 of a linear fit."""
    residual = M - H @ gradient
    spread = float(np.sum((M - M.mean()) ** 2))
    noise = float(residual @ residual) / max(len(M) - H.shape[1], 1)
    errors = np.sqrt(noise * np.maximum(np.diag(covariance), 0.0))
    r_squared = 1.0 - float(residual @ residual) / spread if spread > 0.0 else float("nan")
    return errors, r_squared


def truncated(gradient: NDArray[np.float64], lipschitz: float | None) -> NDArray[np.float64]:
    """Return zero for a gradient longer than ``2 sqrt(K) L``: the appendix's truncation.

    Examples
    --------
    >>> import numpy as np
    >>> truncated(np.array([3.0]), lipschitz=1.0).tolist()
    [0.0]
    """
    if lipschitz is None:
        return gradient
    longest = 2.0 * np.sqrt(len(gradient)) * lipschitz
    return gradient if np.linalg.norm(gradient) <= longest else np.zeros_like(gradient)


def afforded(ledger: Ledger, m: int, each: int, besides: int = 1) -> int:
    """Return how many of m draws the remaining calls allow; m where fewer than two are left.

    Parameters
    ----------
    ledger : Ledger
    m : int
        Draws requested.
    each : int
        Calls that a draw takes.
    besides : int
        Calls to reserve: one to evaluate the model that follows.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> [afforded(SimpleNamespace(left=left), 32, each=2) for left in (np.inf, 65, 64, 3, 2)]
    [32, 32, 31, 1, 32]
    """
    calls = min(ledger.left - besides, each * m)
    return m if calls < 2 or calls < each else int(calls // each)
