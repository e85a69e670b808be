"""Batches: some rows whose scores follow the probes, while the others stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats, Matrix
from anymetric.problem import Problem


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows whose scores are perturbed, while all others keep the scores of `theta`.

    Examples
    --------
    >>> import numpy as np
    >>> Batch(np.zeros(2), np.array([0]), np.array([0])).train.tolist()
    [0]
    """

    theta: NDArray[np.float64]
    train: NDArray[np.intp]
    valid: NDArray[np.intp]

    @classmethod
    def draw(
        cls, problem: Problem, theta: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> Batch:
        """Draw `size` rows of each sample without replacement; one draw if they are the same."""
        train = draw_rows(len(problem.train), size, rng)
        same = problem.valid is problem.train
        return cls(theta, train, train if same else draw_rows(len(problem.valid), size, rng))


def draw_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return `size` of n rows, or all of them, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> draw_rows(3, 10, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    return np.sort(rng.choice(n, size=min(size, n), replace=False)).astype(np.intp)


def batch_scores(
    problem: Problem, thetas: NDArray[Any], batch: Batch | None
) -> tuple[Floats, Floats]:
    """Return ``(n, m)`` scores on train and on valid, perturbed everywhere or in a batch."""
    if batch is None:
        trained = problem.scores(thetas)
        return trained, trained if problem.shared else problem.validation_scores(thetas)

    def replaced(X: Matrix, rows: NDArray[np.intp]) -> Floats:
        base = problem.model.scores(X, batch.theta)
        scores = np.repeat(base[:, np.newaxis], len(thetas), axis=1)
        scores[rows] = problem.model.scores(X[rows], thetas)
        return scores

    of_train, of_valid = problem.tables
    return replaced(of_train, batch.train), replaced(of_valid, batch.valid)
