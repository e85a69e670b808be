"""First order: the paper's Adagrad, and L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from anymetric.problem import Problem
from anymetric.projections.base import Projection, certify, reach

# Where no gradient has been seen, the root of the summed squares is not divided by.
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Adagrad:
    """The paper's inner solver: Adagrad with step 1.0 for 100 iterations.

    Parameters
    ----------
    step : float
    iterations : int
    accumulator : float
        What the summed squares begin with: 0.1 in TensorFlow, which the authors used, and zero in
        PyTorch. It keeps the first steps along a small gradient small.
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
    accumulator: float = 0.1
    persistent: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.accumulator < np.inf:
            raise ValueError(
                f"accumulator must be zero or more, and finite; got {self.accumulator!r}."
            )

    def project(
        self,
        problem: Problem,
        target: NDArray[np.float64],
        theta: NDArray[np.float64],
        *,
        accuracy: float | None = None,
        state: Any = None,
    ) -> Projection:
        """Take the steps; stop early at an objective of exactly zero."""
        begun = theta
        squares = np.full_like(theta, self.accumulator) if state is None else np.array(state)
        taken = 0
        while taken < self.iterations:
            objective, gradient, _ = problem.excess(theta, target)
            if objective == 0.0:
                break
            taken += 1
            squares += gradient * gradient
            theta = theta - self.step * gradient / np.sqrt(np.maximum(squares, TINY))
        state = squares if self.persistent else None
        return certify(problem, target, theta, begun, accuracy, taken, state)


@dataclass(frozen=True)
class LBFGS:
    """SciPy's L-BFGS: few iterations for smooth surrogates, and usable for the hinge.

    Parameters
    ----------
    iterations : int
        The most that are taken.
    memory : int
        How many past steps the curvature is read from: SciPy's `maxcor`.
    tolerance : float
        Stop when an iteration lowers the objective by no more than this, or no entry of the
        gradient is larger: SciPy's `ftol` and `gtol`.

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
        """Minimise until the gap is small enough, or the iterations are used up."""
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
