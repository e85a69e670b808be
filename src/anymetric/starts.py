"""Starts: models to begin from, each the minimiser of one plain loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.losses import Loss, as_loss
from anymetric.problem import Problem
from anymetric.solvers import WeightedLoss, minimise

Theta = NDArray[np.float64]


def plain(problem: Problem, loss: Loss | str = "logistic", ridge: float = 1e-4) -> Theta:
    """Return the minimiser of the loss over all training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> bool(plain(Problem(data, "logistic", as_metric("error")))[0] > 1)
    True
    """
    return weighted(problem, problem.train.weights, loss, ridge)


def balanced(problem: Problem, loss: Loss | str = "logistic", ridge: float = 1e-4) -> Theta:
    """Return the minimiser of the loss with both classes of equal weight.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0], [-1.0]]), np.array([1.0, -1.0, -1.0]))
    >>> theta = balanced(Problem(data, "logistic", as_metric("error")))
    >>> bool(abs(theta[1]) < 1e-6)
    True
    """
    return weighted(problem, class_balance(problem.train), loss, ridge)


def weighted(problem: Problem, rows: NDArray[np.float64], loss: Loss | str, ridge: float) -> Theta:
    """Return the minimiser of the loss with these row weights."""
    return minimise(WeightedLoss(problem.model, problem.train, as_loss(loss), rows, ridge))


def class_balance(data: Data) -> NDArray[np.float64]:
    """Return row weights under which both classes weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> class_balance(Data(np.zeros((3, 1)), np.array([1.0, -1.0, -1.0]))).tolist()
    [1.0, 0.5, 0.5]
    """
    positive = data.y > 0
    rows = data.weights.copy()
    for chosen in (positive, ~positive):
        rows[chosen] /= max(rows[chosen].sum(), np.finfo(float).tiny)
    return rows


def scattered(
    problem: Problem, count: int, rng: np.random.Generator, scale: float = 1.0
) -> list[Theta]:
    """Return Gaussian random parameter vectors: starts that no loss has chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "logistic", as_metric("error"))
    >>> len(scattered(problem, 3, np.random.default_rng(0)))
    3
    """
    return [scale * rng.standard_normal(problem.size) for _ in range(count)]
