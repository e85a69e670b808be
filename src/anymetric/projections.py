"""Project: from a target profile back to model parameters (Algorithm 1, line 6)."""

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
    asked : float or None
        The accuracy that Theorem 1 asks for; `good_enough` compares the gap with it.
    multipliers : array of shape (K,)
        ``2 (profile - target)_+``: what each surrogate weighs in the loss being minimised.

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
    asked: float | None
    multipliers: NDArray[np.float64]
    iterations: int
    state: Any = field(default=None, repr=False)

    @property
    def good_enough(self) -> bool | None:
        """Whether the gap is within what was asked; None if nothing was."""
        return None if self.asked is None else self.gap <= self.asked


class Projector(Protocol):
    """Anything that moves parameters towards a target profile.

    Examples
    --------
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
    """Return the radius that the gap speaks of: the larger of one, |theta| and the way come.

    Examples
    --------
    >>> import numpy as np
    >>> reach(np.array([3.0, 4.0]), np.zeros(2))
    5.0
    """
    return max(1.0, float(np.linalg.norm(theta)), float(np.linalg.norm(theta - begun)))


@dataclass(frozen=True)
class Adagrad:
    """The paper's inner solver: Adagrad with step 1.0 for 100 iterations.

    Parameters
    ----------
    step : float
    iterations : int
    offset : float
        Added to the root of the summed squares.
    persistent : bool
        Carry the summed squares from one projection to the next, as the authors' notebook does:
        it acts as a decay of the step. The paper's text starts afresh each time.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "hinge", as_metric("error"))
    >>> Adagrad().project(problem, np.array([0.5]), np.zeros(2)).objective < 1e-3
    True
    """

    step: float = 1.0
    iterations: int = 100
    offset: float = 1e-10
    persistent: bool = False

    def project(
        self,
        problem: Problem,
        target: NDArray[np.float64],
        theta: NDArray[np.float64],
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Take the steps; an objective of exactly zero has no gradient left and ends them."""
        begun = theta
        squares = np.zeros_like(theta) if state is None else np.asarray(state)
        taken = 0
        while taken < self.iterations:
            objective, gradient, _ = problem.excess(theta, target)
            if objective == 0.0:
                break
            taken += 1
            squares = squares + gradient**2
            theta = theta - self.step * gradient / (np.sqrt(squares) + self.offset)
        state = squares if self.persistent else None
        return certify(problem, target, theta, begun, accuracy, taken, state)


@dataclass(frozen=True)
class LBFGS:
    """SciPy's L-BFGS: few iterations for smooth surrogates, and usable for the hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "logistic", as_metric("error"))
    >>> LBFGS().project(problem, np.array([0.3]), np.zeros(2)).objective < 1e-8
    True
    """

    iterations: int = 100
    memory: int = 20
    tolerance: float = 1e-10

    def project(
        self,
        problem: Problem,
        target: NDArray[np.float64],
        theta: NDArray[np.float64],
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Minimise until the gap is what was asked, or the iterations are spent."""
        last: list[Any] = [theta, np.inf, np.inf]

        def objective(found: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient, _ = problem.excess(found, target)
            last[:] = [found.copy(), value, float(np.linalg.norm(gradient))]
            return value, gradient

        def stop_if_enough(intermediate_result: optimize.OptimizeResult) -> None:
            found, value, slope = last
            if accuracy is not None and min(value, slope * reach(found, theta)) <= accuracy:
                raise StopIteration

        result = optimize.minimize(
            objective,
            theta,
            jac=True,
            method="L-BFGS-B",
            callback=stop_if_enough,
            options={
                "maxiter": self.iterations,
                "maxcor": self.memory,
                "ftol": self.tolerance,
                "gtol": self.tolerance,
            },
        )
        return certify(problem, target, result.x, theta, accuracy, int(result.nit))


@dataclass(frozen=True)
class GaussNewton:
    """Levenberg-Marquardt on the surrogates above their target: one K x K solve a step.

    Fast where the target can be reached; where it cannot, the damping turns it into gradient
    descent, and `LBFGS` is the better choice.

    Parameters
    ----------
    iterations : int
    damping : float
        The first mu, relative to the mean square of the Jacobian's rows.
    tolerance : float
        Stop at this gap, or at the one that is asked for if that is larger.

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
            scores = problem.scores(trial)
            reached = problem.profiler.values(scores)
            excess = np.maximum(reached - target, 0.0)
            if excess @ excess < over @ over:
                theta, damping = trial, max(damping / 10.0, 1e-12)
                profile, jacobian = reached, problem.jacobian(theta, scores)
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


@dataclass(frozen=True)
class Exact:
    """The projection onto the epigraph itself: ``u_k = max(target_k, l_k(theta))`` (appendix).

    Parameters
    ----------
    inner : Projector
        What solves the over-constrained problem first.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "hinge", as_metric("error"))
    >>> Exact().project(problem, np.array([2.0]), np.zeros(2)).point.tolist()
    [2.0]
    """

    inner: Projector = field(default_factory=LBFGS)

    def project(
        self,
        problem: Problem,
        target: NDArray[np.float64],
        theta: NDArray[np.float64],
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Solve, then take the larger of target and profile in each coordinate."""
        found = self.inner.project(problem, target, theta, accuracy=accuracy, state=state)
        point = np.maximum(target, found.profile)
        return Projection(**{**vars(found), "point": point})
