"""Elicitation: the value of each confusion entry, estimated from a metric's answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Data
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.metrics.decisions import BoundDecisions

Floats = NDArray[np.float64]


def probes(decisions: Floats, phi: Floats, epsilon: float) -> Floats:
    """Return the decisions ``(n,)`` and 2 L others, moved to a class on the rows of an indicator.

    Examples
    --------
    >>> import numpy as np
    >>> probes(np.array([0.5]), np.ones((1, 1)), 0.5).tolist()
    [[0.5, 0.25, 0.75]]
    """
    size = epsilon * phi
    down, up = (
        (1.0 - size) * decisions[:, np.newaxis],
        (1.0 - size) * decisions[:, np.newaxis] + size,
    )
    return np.concatenate([decisions[:, np.newaxis], down, up], axis=1)


def confusion(data: Data, phi: Floats, decisions: Floats) -> Floats:
    """Return the expected shares of correct rows, ``(m, 2 L)`` of ``(n, m)`` decisions.

    Negatives by indicator come first, then positives by indicator.

    Examples
    --------
    >>> import numpy as np
    >>> data = Data(np.zeros((2, 1)), np.array([-1.0, 1.0]))
    >>> confusion(data, np.ones((2, 1)), np.array([[0.25], [0.5]])).tolist()
    [[0.375, 0.25]]
    """
    rows = (data.weights / data.weights.sum())[:, np.newaxis] * phi
    positive = (data.y > 0.0)[:, np.newaxis]
    right = (
        (1.0 - decisions).T @ np.where(positive, 0.0, rows),
        decisions.T @ np.where(positive, rows, 0.0),
    )
    return np.concatenate(right, axis=1)


def elicited(entries: Floats, gains: Floats) -> Floats:
    """Return ``alpha``, ``(2, L)``: the weight of each confusion entry in the metric.

    The first of the ``(m, 2 L)`` entries and of the ``(m,)`` gains is where the others start.

    Examples
    --------
    >>> import numpy as np
    >>> entries = np.array([[0.2, 0.3], [0.1, 0.4], [0.4, 0.2]])
    >>> elicited(entries, entries @ np.array([1.0, 3.0])).round(6).tolist()
    [[1.0], [3.0]]
    """
    alpha = np.linalg.lstsq(entries[1:] - entries[0], gains[1:] - gains[0], rcond=1e-9)[0]
    return np.asarray(alpha.reshape(2, -1))


def expected_costs(
    ledger: Ledger, decisions: Floats, rng: np.random.Generator, repeats: int
) -> Floats:
    """Return the costs ``(m,)`` of randomised decisions on the validation rows, counted.

    A ready-made metric gets the expected weight flagged in each of its cells. Any other is called
    on draws; all columns share their random numbers, so that their differences are less noisy.
    """
    judge = ledger.problem.judge
    if isinstance(judge, BoundDecisions):
        if decisions.shape[1] > ledger.left:
            raise BudgetSpent(f"{decisions.shape[1]} calls needed, {ledger.left:g} left.")
        cells = judge.cells
        mass = cells.weights[:, np.newaxis] * decisions
        sums = [np.bincount(cells.cell, column, cells.size) for column in mass.T]
        values = judge.metric.from_sums(np.array(sums, dtype=np.float64), judge.kept)
        ledger.calls += decisions.shape[1]
        return np.asarray(judge.metric.cost(values))
    draws = rng.random((repeats, len(decisions), 1))
    costs = [ledger.ask(judge, np.where(draw < decisions, 1.0, -1.0)) for draw in draws]
    return np.asarray(np.mean(costs, axis=0))
