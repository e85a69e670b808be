"""Solvers: the model that minimises one weighted, convex, smooth loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize, sparse

from anymetric.data import Data
from anymetric.losses import Loss
from anymetric.models import Linear, Model
from anymetric.models.linear import sum_of_squares

# Above this many parameters L-BFGS is used instead of Newton's method.
NEWTON_PARAMETERS = 600
# Where only shorter Newton steps improve the loss, it has hardly any curvature: the Huber loss
# with most rows on its linear part.
SHORTEST = 1e-2
# The least curvature of a parameter, as a share of the greatest: for words that hardly occur.
FLATTEST = 1e-6


@dataclass(frozen=True, eq=False)
class WeightedLoss:
    """``sum_i r_i loss_i / sum_i r_i + ridge/2 |theta|^2``, the intercept left free.

    The ridge is one number, or one for each parameter.

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
    ridge: float | NDArray[np.float64]

    def value_and_gradient(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective and its gradient."""
        scores = np.asarray(self.model.scores(self.data.X, theta), dtype=np.float64)
        losses, slopes = self.loss.with_slopes(scores, self.data.y)
        gradient = self.model.pullback(self.data.X, theta, self.share * slopes)
        kept = self.penalty * theta
        return float(self.share @ losses + 0.5 * kept @ theta), gradient + kept

    def row_curvature(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivative by each row's score, weighted."""
        scores = np.asarray(self.model.scores(self.data.X, theta), dtype=np.float64)
        return np.asarray(self.share * self.loss.score_curvature(scores, self.data.y))

    def hessian(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the second derivatives, for a linear model."""
        assert isinstance(self.model, Linear)
        H = self.model.hessian(self.data.X, self.row_curvature(theta))
        return np.asarray(H + np.diag(self.penalty))

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """The rows' weights, summing to one."""
        return np.asarray(self.rows / self.rows.sum())

    @cached_property
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
    tolerance: float = 1e-11,
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
    theta = np.zeros(objective.model.size(objective.data.X)) if theta is None else theta
    if second_order(objective):
        return newton(objective, theta, iterations, tolerance)
    return descended(objective, theta, iterations, tolerance)


def second_order(objective: WeightedLoss) -> bool:
    """Return whether the Hessian exists and is small enough to be used.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.losses import as_loss
    >>> tables = (np.zeros((2, 10)), np.zeros((2, 1000)))
    >>> data = [Data(X, np.array([1.0, -1.0])) for X in tables]
    >>> loss = as_loss("logistic")
    >>> [second_order(WeightedLoss(Linear(), one, loss, np.ones(2), 0.1)) for one in data]
    [True, False]
    """
    size = objective.model.size(objective.data.X)
    linear = isinstance(objective.model, Linear)
    return linear and objective.loss.smooth and size <= NEWTON_PARAMETERS


def descended(
    objective: WeightedLoss, theta: NDArray[np.float64], iterations: int, tolerance: float
) -> NDArray[np.float64]:
    """Return the minimiser by L-BFGS, which needs no Hessian.

    Parameters are scaled by their curvature where columns differ in it.
    """
    unit = 1.0 / np.sqrt(curvatures(objective, theta))

    def scaled(u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = objective.value_and_gradient(unit * u)
        return value, unit * gradient

    # One iteration's gain is about a tenth of what is left to gain: measured on texts and dense
    # tables with ridges from 0.1 to 1e-4.
    gain, slope = 0.1 * tolerance, 1e-2 * tolerance**0.5
    result = optimize.minimize(
        scaled,
        theta / unit,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10 * iterations, "ftol": gain, "gtol": slope},
    )
    return np.asarray(unit * result.x)


def curvatures(objective: WeightedLoss, theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the diagonal of the Hessian for a sparse X, whose columns may differ in it, else ones.

    On 20,000 texts of 2,000 words it saves L-BFGS two thirds of its iterations; on dense columns
    of one scale it saves none.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from anymetric.losses import as_loss
    >>> data = Data(sparse.csr_array([[4.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0]))
    >>> loss = WeightedLoss(Linear(), data, as_loss("logistic"), np.ones(2), 0.1)
    >>> curvatures(loss, np.zeros(3)).tolist()
    [2.1, 0.6, 0.25]
    """
    model, X = objective.model, objective.data.X
    ones = np.ones(len(theta))
    if not (isinstance(model, Linear) and sparse.issparse(X) and objective.loss.smooth):
        return ones
    rows = objective.row_curvature(theta)
    shift = np.zeros(X.shape[1]) if model.shift is None else model.shift
    squares = sum_of_squares(X, rows, shift)
    if model.scale is not None:
        squares = squares / model.scale**2
    found = (np.append(squares, rows.sum()) if model.intercept else squares) + objective.penalty
    most = float(found.max())
    return np.maximum(found, FLATTEST * most) if most > 0.0 else ones


def newton(
    objective: WeightedLoss, theta: NDArray[np.float64], iterations: int, tolerance: float
) -> NDArray[np.float64]:
    """Take Newton steps, halved until the objective falls, until they predict no gain.

    A factor of the Hessian is reused while each step improves ten times less than the last.
    """
    value, gradient = objective.value_and_gradient(theta)
    factor, before = None, np.inf
    for _ in range(iterations):
        fresh = factor is None
        if factor is None:
            factor = factorised(objective.hessian(theta))
        step = linalg.lu_solve(factor, gradient)
        gain = 0.5 * float(gradient @ step)
        if not gain > tolerance * max(1.0, abs(value)):
            return theta - step if np.isfinite(gain) and gain >= 0.0 else theta
        length, trial, lower, slope = search(objective, theta, value, step, gain)
        if length > 0.0:
            theta, value, gradient = trial, lower, slope
        if length < SHORTEST and fresh:
            return descended(objective, theta, iterations, tolerance)
        if length < 1.0 or gain > 0.1 * before:
            factor = None
        before = gain if factor is not None else np.inf
    return theta


def search(
    objective: WeightedLoss,
    theta: NDArray[np.float64],
    value: float,
    step: NDArray[np.float64],
    gain: float,
) -> tuple[float, NDArray[np.float64], float, NDArray[np.float64]]:
    """Halve the step until the objective falls; return its length, zero if it never does."""
    length = 1.0
    while length > 1e-8:
        trial = theta - length * step
        lower, slope = objective.value_and_gradient(trial)
        if lower <= value - 2e-4 * length * gain:
            return length, trial, lower, slope
        length *= 0.5
    return 0.0, theta, value, step


def factorised(H: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Factor a Hessian, its diagonal lifted a little so that it can be inverted."""
    jitter = 1e-12 * max(float(np.trace(H)) / len(H), np.finfo(float).tiny)
    factor: tuple[NDArray[np.float64], NDArray[np.int32]] = linalg.lu_factor(
        H + jitter * np.eye(len(H))
    )
    return factor


def positive_definite(H: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lift the diagonal a little, so that a Cholesky factor exists.

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.all(np.linalg.eigvalsh(positive_definite(np.ones((2, 2)))) > 0.0))
    True
    """
    size = max(len(H), 1)
    return np.asarray(H + 1e-9 * max(float(np.trace(H)) / size, 1e-300) * np.eye(len(H)))
