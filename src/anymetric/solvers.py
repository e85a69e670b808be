"""Solvers: the model that minimises one weighted, convex, smooth loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from anymetric.data import Data
from anymetric.losses import Loss
from anymetric.models import Linear, Model

# Above this many parameters the Hessian costs more than it saves.
NEWTON_PARAMETERS = 600


@dataclass(frozen=True, eq=False)
class WeightedLoss:
    """``sum_i r_i loss_i / sum_i r_i + ridge/2 |theta|^2``, the intercept left free.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.losses import as_loss
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> loss = WeightedLoss(Linear(), data, as_loss("logistic"), np.ones(2), 0.1)
    >>> round(loss.value_and_gradient(np.zeros(2))[0], 6)
    0.693147
    """

    model: Model
    data: Data
    loss: Loss
    rows: NDArray[np.float64]
    ridge: float

    def value_and_gradient(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective and its gradient."""
        scores = np.asarray(self.model.scores(self.data.X, theta), dtype=np.float64)
        losses = self.loss.of_scores(scores, self.data.y)
        slopes = self.share * self.loss.score_slope(scores, self.data.y)
        gradient = self.model.pullback(self.data.X, theta, slopes)
        kept = self.penalty * theta
        return float(self.share @ losses + 0.5 * kept @ theta), gradient + kept

    def hessian(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivatives, for a linear model."""
        assert isinstance(self.model, Linear)
        scores = np.asarray(self.model.scores(self.data.X, theta), dtype=np.float64)
        # y^2 = 1 for margins and the residual's slope by the score is one.
        curvature = self.share * self.loss.curvature(self.loss.argument(scores, self.data.y))
        return np.asarray(self.model.hessian(self.data.X, curvature) + np.diag(self.penalty))

    @property
    def share(self) -> NDArray[np.float64]:
        """The rows' weights, summing to one."""
        return np.asarray(self.rows / self.rows.sum())

    @property
    def penalty(self) -> NDArray[np.float64]:
        """The ridge on every parameter but the intercept."""
        penalty = np.full(self.model.size(self.data.X), self.ridge)
        if isinstance(self.model, Linear) and self.model.intercept:
            penalty[-1] = 0.0
        return penalty


def minimise(
    objective: WeightedLoss,
    theta: NDArray[np.float64] | None = None,
    *,
    iterations: int = 100,
    tolerance: float = 1e-10,
) -> NDArray[np.float64]:
    """Return the minimiser: Newton's method for a linear model of moderate size, else L-BFGS.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.losses import as_loss
    >>> data = Data(np.array([[1.0], [3.0]]), np.array([2.0, 6.0]))
    >>> loss = WeightedLoss(Linear(), data, as_loss("squared"), np.ones(2), 0.0)
    >>> minimise(loss).round(9).tolist()
    [2.0, 0.0]
    """
    size = objective.model.size(objective.data.X)
    theta = np.zeros(size) if theta is None else theta
    if isinstance(objective.model, Linear) and objective.loss.smooth and size <= NEWTON_PARAMETERS:
        return newton(objective, theta, iterations, tolerance)
    result = optimize.minimize(
        objective.value_and_gradient,
        theta,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10 * iterations, "gtol": 1e-7, "ftol": 1e-12},
    )
    return np.asarray(result.x)


def newton(
    objective: WeightedLoss, theta: NDArray[np.float64], iterations: int, tolerance: float
) -> NDArray[np.float64]:
    """Take Newton steps, halved until the objective falls, until they predict no gain."""
    value, gradient = objective.value_and_gradient(theta)
    for _ in range(iterations):
        H = objective.hessian(theta)
        jitter = 1e-12 * max(float(np.trace(H)) / len(H), np.finfo(float).tiny)
        step = linalg.solve(H + jitter * np.eye(len(H)), gradient, assume_a="sym")
        gain = 0.5 * float(gradient @ step)
        if not gain > tolerance * max(1.0, abs(value)):
            return theta - step if np.isfinite(gain) and gain >= 0.0 else theta
        length = 1.0
        while length > 1e-8:
            trial = theta - length * step
            lower, slope = objective.value_and_gradient(trial)
            if lower <= value - 1e-4 * length * 2.0 * gain:
                theta, value, gradient = trial, lower, slope
                break
            length *= 0.5
        else:
            return theta
    return theta
