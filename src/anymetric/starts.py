"""Starts: starting models, each the minimiser of one plain loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data, Floats
from anymetric.errors import warn
from anymetric.ledger import Ledger
from anymetric.losses import Loss, as_loss
from anymetric.metrics import MetricError
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.thresholds import Thresholds
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
    return class_balanced(data.y, data.weights)


def class_balanced(y: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return row weights scaled so that both classes have the same total.

    Examples
    --------
    >>> import numpy as np
    >>> class_balanced(np.array([1.0, -1.0, -1.0]), np.array([2.0, 3.0, 1.0])).tolist()
    [1.0, 0.75, 0.25]
    """
    rows = rows.copy()
    for chosen in (y > 0, y <= 0):
        rows[chosen] /= max(float(rows[chosen].sum()), np.finfo(float).tiny)
    return rows


def shifted(ledger: Ledger, theta: Theta, limit: int = 200) -> Theta:
    """Return theta with the intercept that costs least on the validation rows: threshold tuning.

    Exact for a built-in metric. A user's metric is called at no more than `limit` thresholds,
    evenly spaced in rank, and for at most a quarter of the calls left; thresholds that predict a
    single class are skipped, and a failure is a warning. Theta itself is returned where there is
    no threshold to tune (a metric of scores, a model without an intercept) or tuning it does not
    help.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0]))
    >>> ledger = Ledger(Problem(data, "logistic", as_metric("error")))
    >>> shifted(ledger, np.array([1.0, 0.0])).tolist(), ledger.calls
    ([1.0, -2.5], 2)
    """
    problem = ledger.problem
    movable = getattr(problem.model, "intercept", False)
    limit = int(min(limit, ledger.left // 4))
    if not (movable and problem.decides and limit > 1):
        return theta
    scores = problem.model.scores(problem.valid.X, theta)
    cost = ledger.cost(scores)
    shifts, costs = shift_costs(ledger, scores, limit)
    if not np.min(costs, initial=np.inf) < cost:
        return theta
    moved = theta.copy()
    moved[-1] += shifts[np.argmin(costs)]
    return moved


def shift_costs(ledger: Ledger, scores: Floats, limit: int) -> tuple[Theta, Theta]:
    """Return shifts of these scores, the smallest first, and their costs."""
    if not isinstance(ledger.problem.judge, BoundCalls):
        sweep = ledger.sweep(scores)
        shifts, costs = sweep.shifts, sweep.costs
    else:
        shifts = Thresholds.of(scores, limit).shifts[1:-1]
        try:
            costs = ledger.ask(ledger.problem.judge, scores[:, np.newaxis] + shifts)
            costs = np.where(np.isnan(costs), np.inf, costs)
        except MetricError as error:
            # Training may never use such a threshold: this is not an error.
            warn(f"{error} The first model keeps its threshold.")
            return np.zeros(0), np.zeros(0)
    order = np.argsort(np.abs(shifts), kind="stable")
    return shifts[order], costs[order]


def scattered(
    problem: Problem, count: int, rng: np.random.Generator, scale: float = 1.0
) -> list[Theta]:
    """Return Gaussian random parameter vectors.

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
