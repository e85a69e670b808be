"""Projection: what comes of projecting, and how it is measured against the theory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from anymetric.problem import Problem


@dataclass(frozen=True, eq=False)
class Projection:
    """Parameters whose profile is close to, or below, a target; and how close.

    Attributes
    ----------
    theta, profile
        The parameters reached and their profile.
    point : array of shape (K,)
        Where the next step begins: the profile, or ``max(target, profile)`` if exact.
    objective : float
        ``||(profile - target)_+||^2``.
    gap : float
        No theta within `radius` of this one has an objective lower by more than this
        (convexity: ``|gradient| radius``, and the objective cannot fall below zero).
    required : float or None
        The accuracy that Theorem 2 requires; `good_enough` compares the gap with it.
    multipliers : array of shape (K,)
        ``2 (profile - target)_+``: the weight of each surrogate in the loss being minimised.
    radius : float
        How far around theta the gap holds.
    iterations : int
        Those taken.
    state : object or None
        State for the next projection, such as Adagrad's summed squares.

    Examples
    --------
    >>> import numpy as np
    >>> reached = Projection(
    ...     np.zeros(1), np.zeros(2), np.zeros(2), 0.0, 0.0, 1.0, 0.1, np.zeros(2), 3
    ... )
    >>> reached.good_enough
    True
    """

    theta: NDArray[np.float64]
    profile: NDArray[np.float64]
    point: NDArray[np.float64]
    objective: float
    gap: float
    radius: float
    required: float | None
    multipliers: NDArray[np.float64]
    iterations: int
    state: Any = field(default=None, repr=False)

    @property
    def good_enough(self) -> bool | None:
        """Whether the gap is within the required accuracy; None if there is none."""
        return None if self.required is None else self.gap <= self.required


class Projector(Protocol):
    """Anything that moves parameters towards a target profile.

    Examples
    --------
    >>> from anymetric.projections import Adagrad
    >>> projector: Projector = Adagrad()
    """

    def project(
        self,
        problem: Problem,
        target: NDArray[np.float64],
        theta: NDArray[np.float64],
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Start at `theta`; `state` is what an earlier projection returned."""
        ...


def certify(
    problem: Problem,
    target: NDArray[np.float64],
    theta: NDArray[np.float64],
    begun: NDArray[np.float64],
    accuracy: float | None,
    iterations: int,
    state: Any = None,
) -> Projection:
    """Measure where an inner solver ended, and bound how far it is from the best nearby."""
    _, gradient, profile = problem.excess(theta, target)
    return certified(
        theta,
        profile,
        gradient,
        target,
        begun,
        accuracy=accuracy,
        iterations=iterations,
        state=state,
    )


def certified(
    theta: NDArray[np.float64],
    profile: NDArray[np.float64],
    gradient: NDArray[np.float64],
    target: NDArray[np.float64],
    begun: NDArray[np.float64],
    *,
    accuracy: float | None,
    iterations: int,
    state: Any = None,
) -> Projection:
    """Return the projection that ends at a known profile, with this gradient of the objective."""
    over = np.maximum(profile - target, 0.0)
    objective = float(over @ over)
    radius = reach(theta, begun)
    gap = min(objective, float(np.linalg.norm(gradient)) * radius)
    return Projection(
        theta, profile, profile, objective, gap, radius, accuracy, 2.0 * over, iterations, state
    )


def reach(theta: NDArray[np.float64], begun: NDArray[np.float64]) -> float:
    """Return the radius in which the gap holds: the maximum of one, |theta| and the step.

    Examples
    --------
    >>> import numpy as np
    >>> reach(np.array([3.0, 4.0]), np.zeros(2))
    5.0
    """
    return max(1.0, float(np.linalg.norm(theta)), float(np.linalg.norm(theta - begun)))


def stationary_weights(jacobian: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``argmin |w J|`` over weights that are not negative and sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> stationary_weights(np.array([[1.0, 0.0], [-3.0, 0.0]])).round(6).tolist()
    [0.75, 0.25]
    """
    K = len(jacobian)
    size = float(np.linalg.norm(jacobian)) or 1.0
    system = np.vstack([jacobian.T, np.full(K, size)])
    # min |w J|^2 + (size (sum w - 1))^2 is least at the same direction of w.
    weights, _ = optimize.nnls(system, np.append(np.zeros(jacobian.shape[1]), size))
    return np.asarray(weights / weights.sum())
