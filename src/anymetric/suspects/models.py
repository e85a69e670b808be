"""Models of soft targets: class probabilities in, scores of all rows out.

A row's target is a probability for each class. Scores are relative to the first class, whose score
is zero, so that a softmax over them gives probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.special import logsumexp, softmax

from anymetric.data import Matrix
from anymetric.models.tables import Plain
from anymetric.models.trees import lightgbm, plain_matrix

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Iterations of L-BFGS; each fit begins where the one before it ended.
ITERATIONS = 60
# Trees that only rank rows need no finer bins.
BINS = 63


class SoftModel(Protocol):
    """Fits soft targets ``(n, C)`` with row weights; returns scores ``(n, C)`` of all rows."""

    def fit(self, targets: Floats64, weights: Floats64, fold: int = 0) -> Floats64:
        """Rows of weight zero do not train, and are scored; a fit may begin at the fold's last."""
        ...


@dataclass(eq=False)
class SoftLinear:
    """Multinomial logistic regression with a ridge, by L-BFGS.

    Parameters
    ----------
    X : array or csr_array of shape (n, d)
        Standardised already: `standardised` does it.
    ridge : float
        Penalty, in units of one row.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> targets = np.array([[1.0, 0.0], [0.8, 0.2], [0.2, 0.8], [0.0, 1.0]])
    >>> scores = SoftLinear(X, ridge=0.1).fit(targets, np.ones(4))
    >>> bool(np.all(np.diff(scores[:, 1]) > 0)), scores[:, 0].tolist()
    (True, [0.0, 0.0, 0.0, 0.0])
    """

    X: Matrix
    ridge: float = 10.0
    known: dict[int, Floats64] = field(default_factory=dict, repr=False)

    def fit(self, targets: Floats64, weights: Floats64, fold: int = 0) -> Floats64:
        """Fit from where the last fit of this fold ended."""
        used = np.flatnonzero(weights > 0.0)
        X, q, w = self.X[used], targets[used, 1:], weights[used, np.newaxis]
        shape = self.X.shape[1] + 1, q.shape[1]

        def loss(flat: Floats64) -> tuple[float, Floats64]:
            theta = flat.reshape(shape)
            scores = X @ theta[:-1] + theta[-1]
            total = logsumexp(with_first(scores), axis=1, keepdims=True)
            residual = w * (np.exp(scores - total) - q)
            penalty = self.ridge * theta[:-1]
            value = np.sum(w * total) - np.sum(w * q * scores) + 0.5 * np.sum(penalty * theta[:-1])
            gradient = np.vstack([X.T @ residual + penalty, residual.sum(axis=0)])
            return float(value), gradient.ravel()

        start = self.known.get(fold, np.zeros(shape))
        found = optimize.minimize(
            loss,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": ITERATIONS, "ftol": 1e-7},
        )
        theta = self.known[fold] = found.x.reshape(shape)
        return with_first(np.asarray(self.X @ theta[:-1] + theta[-1]))


@dataclass(frozen=True, eq=False)
class SoftTrees:
    """Boosted trees of LightGBM with its cross-entropy for soft targets; one class against others.

    Parameters
    ----------
    X : array or csr_array of shape (n, d)
        As given: missing values and category codes are read as they are.
    categorical : sequence of int
        Columns of category codes.
    trees, leaves : int

    Examples
    --------
    >>> X = np.linspace(-1.0, 1.0, 100)[:, np.newaxis]
    >>> targets = np.column_stack([X[:, 0] <= 0.0, X[:, 0] > 0.0]).astype(float)
    >>> scores = SoftTrees(X, trees=10).fit(targets, np.ones(100))[:, 1]
    >>> bool(scores[:40].max() < scores[60:].min())
    True
    """

    X: Matrix
    categorical: Sequence[int] = ()
    trees: int = 60
    leaves: int = 15

    def fit(self, targets: Floats64, weights: Floats64, fold: int = 0) -> Floats64:
        """Fit one booster for two classes, one a class for more."""
        used = np.flatnonzero(weights > 0.0)
        classes = targets.shape[1]
        if classes == 2:
            return with_first(self._scores(targets[:, 1], weights, used)[:, np.newaxis])
        scores = [self._scores(targets[:, c], weights, used) for c in range(classes)]
        logs = -np.logaddexp(0.0, -np.column_stack(scores))  # log-probabilities, (n, C)
        return np.asarray(logs - logs[:, :1])

    def _scores(self, target: Floats64, weights: Floats64, used: Ints) -> Floats64:
        lgb = lightgbm()
        settings: dict[str, Any] = {"verbose": -1, "num_threads": 1, "max_bin": BINS, "seed": 0}
        settings |= {"objective": "cross_entropy", "num_leaves": self.leaves, "lambda_l2": 1.0}
        settings |= {"learning_rate": 0.13}
        settings |= {"feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 1}
        rows = lgb.Dataset(
            plain_matrix(self.X[used]),
            label=target[used],
            weight=weights[used],
            categorical_feature=list(self.categorical),
            params=settings,
        )
        booster = lgb.train(settings, rows, self.trees)
        return np.asarray(booster.predict(plain_matrix(self.X), raw_score=True), dtype=np.float64)


def with_first(scores: Floats64) -> Floats64:
    """Return scores with a column of zeros for the first class."""
    return np.column_stack([np.zeros(len(scores)), scores])


def probabilities(scores: Floats64, least: float = 0.005) -> Floats64:
    """Return class probabilities, none of them below `least`.

    Examples
    --------
    >>> probabilities(np.array([[0.0, 0.0], [0.0, 99.0]])).tolist()
    [[0.5, 0.5], [0.005, 0.995]]
    """
    classes = scores.shape[1]
    return np.asarray(least + (1.0 - classes * least) * softmax(scores, axis=1))


def standardised(X: Matrix, categorical: Sequence[int] = ()) -> Matrix:
    """Return features for linear models: filled, categories spread out, of one scale.

    A sparse table is only scaled, to a mean square of one where a column is not zero.

    Examples
    --------
    >>> standardised(np.array([[1.0], [3.0]])).ravel().tolist()
    [-1.0, 1.0]
    """
    if sparse.issparse(X):
        squares = np.asarray(X.multiply(X).mean()).ravel() if X.nnz else np.ones(1)
        scale = np.sqrt(max(float(squares[0]) * X.shape[0] * X.shape[1] / max(X.nnz, 1), 1e-300))
        return sparse.csr_array(X / scale)
    reader = Plain.of(X, tuple(categorical))
    table = np.asarray(X, dtype=np.float64) if reader is None else reader.table(X)
    spread = table.std(axis=0)
    flat = spread <= 1e-9 * np.abs(table).max(axis=0, initial=0.0)
    return np.asarray((table - table.mean(axis=0)) / np.where(flat, 1.0, spread))
