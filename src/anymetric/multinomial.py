"""Multinomial: the linear model of many scores that minimises one weighted loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize
from scipy.special import softmax

from anymetric.data import Matrix
from anymetric.losses import Loss
from anymetric.models import Outputs

Floats64 = NDArray[np.float64]
# Above this many features a factor of their second moments costs more than it saves.
WHITENED = 600
# The objective's relative gain at which a solve ends.
TOLERANCE = 1e-5
# Rows times squared parameters up to which Newton steps are cheap.
POLISHED = 1 << 24


@dataclass(frozen=True, eq=False)
class TableLoss:
    """``sum_i r_i loss_i / sum_i r_i + ridge/2 |theta|^2``, the intercepts left free.

    Parameters
    ----------
    model : Outputs
    X : matrix of shape (n, d)
    members : boolean array of shape (n, C)
        Which classes or labels each row has.
    rows : array of shape (n,) or (n, C)
        Weights of rows, or of the entries of the table.
    ridge : float
    loss : Loss, optional
        A margin loss for each entry; without one, the softmax cross-entropy of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear
    >>> three = TableLoss(
    ...     Outputs(Linear(), 3), np.zeros((3, 1)), np.eye(3, dtype=bool), np.ones(3), 0.1
    ... )
    >>> round(three.value_and_gradient(np.zeros(6))[0], 4)
    1.0986
    """

    model: Outputs
    X: Matrix
    members: NDArray[np.bool_]
    rows: Floats64
    ridge: float
    loss: Loss | None = None

    def value_and_gradient(self, theta: Floats64) -> tuple[float, Floats64]:
        """Return the objective and its gradient."""
        linear, each = self.model.linear, theta.reshape(self.model.count, -1)
        # (C, n): sums over the classes are then sums of whole rows, which are fast.
        table = np.ascontiguousarray(linear.scores(self.X, each).T, dtype=np.float64)
        value, slopes = self._entries(table) if self.loss else self._softmax(table)
        gradient = linear.pullback(self.X, each, slopes).reshape(-1)
        kept = self.penalty * theta
        return value + 0.5 * float(kept @ theta), gradient + kept

    def _softmax(self, table: Floats64) -> tuple[float, Floats64]:
        rows = np.arange(table.shape[1])
        table -= table.max(axis=0)
        own = table[self.codes, rows]
        np.exp(table, out=table)
        sums = table.sum(axis=0)
        value = float(self.share @ (np.log(sums) - own))
        table *= self.share / sums
        table[self.codes, rows] -= self.share
        return value, table

    def _entries(self, table: Floats64) -> tuple[float, Floats64]:
        assert self.loss is not None
        losses, slopes = self.loss.with_slopes(table.reshape(-1), self.signs)
        weighted = np.broadcast_to(self.share.T, table.shape)
        value = float(np.sum(weighted * losses.reshape(table.shape)))
        return value, np.asarray(weighted * slopes.reshape(table.shape))

    def hessian(self, theta: Floats64) -> Floats64:
        """Return the second derivatives, ``(C p, C p)``."""
        C, n = self.model.count, len(self.members)
        A = self.model.linear.pullback(self.X, theta, np.eye(n))  # (n, p): what a class sees
        table = np.asarray(self.model.table(self.X, theta), dtype=np.float64)
        if self.loss is None:
            share = softmax(table, axis=1)
            bend = share[:, :, np.newaxis] * (np.eye(C) - share[:, np.newaxis, :])
            bend *= self.share[:, np.newaxis, np.newaxis]
        else:
            curved = self.loss.score_curvature(table.T.reshape(-1), self.signs).reshape(C, n)
            bend = (np.broadcast_to(self.share.T, (C, n)) * curved).T[:, :, np.newaxis] * np.eye(C)
        H = np.einsum("ick,ia,ib->cakb", bend, A, A).reshape(C * A.shape[1], -1)
        return np.asarray(H + np.diag(self.penalty))

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The class of each row."""
        return np.asarray(np.argmax(self.members, axis=1))

    @cached_property
    def signs(self) -> Floats64:
        """The members as -1 and +1, class after class."""
        return np.where(self.members.T, 1.0, -1.0).reshape(-1)

    @cached_property
    def share(self) -> Floats64:
        """The weights; those of the rows, or of each column's entries, sum to one."""
        if self.rows.ndim == 2:
            return np.asarray(self.rows / np.maximum(self.rows.sum(axis=0), 1e-300))
        return np.asarray(self.rows / self.rows.sum())

    @cached_property
    def penalty(self) -> Floats64:
        """The ridge on every parameter but the intercepts."""
        penalty = np.full((self.model.count, self.model.linear.size(self.X)), self.ridge)
        if self.model.intercept:
            penalty[:, -1] = 0.0
        return penalty.reshape(-1)

    @cached_property
    def factor(self) -> Floats64 | None:
        """A Cholesky factor of the features' second moments: it makes all directions alike."""
        if self.X.shape[1] > WHITENED:
            return None
        share = self.share if self.share.ndim == 1 else self.share.mean(axis=1)
        C = self.model.count
        bend = (C - 1.0) / C**2 if self.loss is None else 0.25
        G = self.model.linear.hessian(self.X, bend * share)
        G[np.diag_indices_from(G)] += self.penalty[: len(G)] + 1e-6 * max(np.trace(G), 1e-300)
        return np.asarray(linalg.cholesky(G))


def polished(objective: TableLoss, theta: Floats64, steps: int = 4) -> Floats64:
    """Return the minimiser to the last digits, by Newton steps from nearby; small problems only.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear
    >>> X, members = np.arange(6.0)[:, np.newaxis], np.eye(3, dtype=bool)[[0, 0, 1, 1, 2, 2]]
    >>> three = TableLoss(Outputs(Linear(), 3), X, members, np.ones(6), 0.1)
    >>> theta = polished(three, solved(three))
    >>> bool(np.abs(three.value_and_gradient(theta)[1]).max() < 1e-12)
    True
    """
    if len(objective.members) * len(theta) ** 2 > POLISHED:
        return evenly(objective, theta)
    for _ in range(steps):
        value, gradient = objective.value_and_gradient(theta)
        # One number added to the scores of all classes changes nothing: no unique inverse.
        trial = theta - np.linalg.pinv(objective.hessian(theta), hermitian=True) @ gradient
        if not objective.value_and_gradient(trial)[0] <= value + 1e-12:
            break
        theta = trial
    return evenly(objective, theta)


def evenly(objective: TableLoss, theta: Floats64) -> Floats64:
    """Return the parameters with intercepts of mean zero, where their mean decides nothing."""
    if objective.loss is not None or not objective.model.intercept:
        return theta
    table = theta.reshape(objective.model.count, -1).copy()
    table[:, -1] -= table[:, -1].mean()
    return table.reshape(-1)


def solved(
    objective: TableLoss,
    theta: Floats64 | None = None,
    *,
    iterations: int = 200,
    tolerance: float = TOLERANCE,
) -> Floats64:
    """Return the minimiser by L-BFGS, in coordinates where the features are uncorrelated.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear
    >>> three = TableLoss(
    ...     Outputs(Linear(), 3),
    ...     np.zeros((4, 1)),
    ...     np.eye(3, dtype=bool)[[0, 0, 1, 2]],
    ...     np.ones(4),
    ...     0.1,
    ... )
    >>> offsets = solved(three).reshape(3, 2)[:, 1]
    >>> float((offsets[0] - offsets[1]).round(2))
    0.69
    """
    theta = np.zeros(objective.model.size(objective.X)) if theta is None else theta
    R, C = objective.factor, objective.model.count

    def outward(z: Floats64) -> Floats64:
        if R is None:
            return z
        return np.asarray(linalg.solve_triangular(R, z.reshape(C, -1).T).T).reshape(-1)

    def value(z: Floats64) -> tuple[float, Floats64]:
        there, gradient = objective.value_and_gradient(outward(z))
        if R is None:
            return there, gradient
        back = linalg.solve_triangular(R, gradient.reshape(C, -1).T, trans="T")
        return there, np.asarray(back.T).reshape(-1)

    begun = theta if R is None else (theta.reshape(C, -1) @ R.T).reshape(-1)
    result = optimize.minimize(
        value,
        begun,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "ftol": tolerance, "gtol": tolerance, "maxcor": 20},
    )
    return outward(np.asarray(result.x))
