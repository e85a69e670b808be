"""Gauss-Newton: Levenberg-Marquardt on the surrogates above their target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.problem import Problem
from anymetric.projections.base import Projection, Projector, certified, reach


@dataclass(frozen=True)
class GaussNewton:
    """Levenberg-Marquardt on the surrogates above their target: one K x K solve a step.

    Fast where the target can be reached; where it cannot, the damping turns it into gradient
    descent, and `LBFGS` is the better choice: give it as `otherwise`.

    Parameters
    ----------
    iterations : int
    damping : float
        The first mu, relative to the mean square of the Jacobian's rows.
    tolerance : float
        Stop at this gap, or at the required accuracy if that is larger.
    otherwise : Projector, optional
        Takes over at the first step that does not lower the objective, instead of damping.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "logistic", as_metric("error"))
    >>> GaussNewton().project(problem, np.array([0.3]), np.zeros(2)).objective < 1e-12
    True
    """

    iterations: int = 50
    damping: float = 1e-3
    tolerance: float = 1e-14
    otherwise: Projector | None = None

    def project(
        self,
        problem: Problem,
        target: NDArray[np.float64],
        theta: NDArray[np.float64],
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Step, keep what improves, damp what does not."""
        begun, damping, taken = theta, self.damping, 0
        stop = self.tolerance if accuracy is None else max(accuracy, self.tolerance)
        profile, jacobian = problem.linearise(theta)
        while taken < self.iterations:
            taken += 1
            over = np.maximum(profile - target, 0.0)
            active = over > 0.0
            gradient = 2.0 * over @ jacobian
            gap = min(float(over @ over), float(np.linalg.norm(gradient)) * reach(theta, begun))
            if gap <= stop:
                break
            trial = theta - damped_step(jacobian[active], over[active], damping)
            there = problem.at(trial)
            excess = np.maximum(there.profile - target, 0.0)
            if excess @ excess < over @ over:
                theta, damping = trial, max(damping / 10.0, 1e-12)
                profile, jacobian = there.profile, there.jacobian()
            elif self.otherwise is not None:
                rest = self.otherwise.project(problem, target, theta, accuracy=accuracy)
                return replace(rest, iterations=taken + rest.iterations)
            else:
                damping *= 10.0
                if damping > 1e12:
                    break
        gradient = 2.0 * np.maximum(profile - target, 0.0) @ jacobian
        return certified(
            theta, profile, gradient, target, begun, accuracy=accuracy, iterations=taken
        )


def damped_step(
    jacobian: NDArray[np.float64], over: NDArray[np.float64], damping: float
) -> NDArray[np.float64]:
    """Solve ``min |J delta - over|^2 + mu |delta|^2`` through its K x K dual.

    Examples
    --------
    >>> import numpy as np
    >>> damped_step(np.array([[2.0, 0.0]]), np.array([1.0]), 0.0).tolist()
    [0.5, 0.0]
    """
    gram = jacobian @ jacobian.T
    scale = float(np.trace(gram)) / len(gram)
    lifted = gram + (damping * scale + np.finfo(float).tiny) * np.eye(len(gram))
    solved = np.linalg.lstsq(lifted, over, rcond=None)[0]
    return np.asarray(jacobian.T @ solved)
