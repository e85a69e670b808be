"""Shifts: changes of the training scores that move the profile by exactly what was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from anymetric.losses import Loss, MarginLoss, as_loss
from anymetric.problem import Problem
from anymetric.surrogates import Sliced

Floats64 = NDArray[np.float64]
GRID = 257
TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class Shifter:
    """Finds one common shift of the margins of each slice (Algorithm 2, line 4).

    The mean of a decreasing loss falls as all margins of a slice rise together, so each target
    inside the loss's range has one root. Slices that share rows are solved together.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import per_class
    >>> data = Data(np.eye(2), np.array([1.0, -1.0]))
    >>> problem = Problem(data, per_class("hinge"), as_metric("error"))
    >>> shifter = Shifter.build(problem, np.zeros(2))
    >>> shifts, found = shifter.solve(np.array([[0.5, 1.5], [-1.0, 1.0]]))
    >>> shifts[0].round(9).tolist(), found.tolist()
    ([0.5, -0.5], [True, False])
    """

    margins: Floats64
    y: Floats64
    shares: sparse.csr_array
    losses: tuple[Loss, ...]
    begun: Floats64

    @classmethod
    def build(
        cls, problem: Problem, scores: NDArray[Any], rows: NDArray[np.intp] | None = None
    ) -> Shifter:
        """Prepare the slices of a problem, or of a batch of its rows, at these scores."""
        losses, shares = margin_slices(problem)
        data = problem.train
        if rows is not None:
            shares = batch_shares(shares, rows)
        check_separable(shares, problem.names)
        margins = data.y * np.asarray(scores, dtype=np.float64)
        begun = slice_means(shares, losses, margins)
        return cls(margins, data.y, shares, losses, begun)

    def solve(self, targets: Floats64) -> tuple[Floats64, NDArray[np.bool_]]:
        """Return ``(m, K)`` margin shifts for ``(m, K)`` targets, and which were found.

        A slice without rows takes any target, and moves nothing.
        """
        low = np.array([loss.infimum for loss in self.losses])
        high = np.array([loss.supremum for loss in self.losses])
        found = np.all(~self._filled | ((targets > low) & (targets < high)), axis=1)
        shifts = np.zeros_like(targets)
        if self._overlap:
            for j in np.flatnonzero(found):
                shifts[j], found[j] = self._together(targets[j])
            return shifts, found
        for k, loss in enumerate(self.losses):
            share = self.shares[[k]]
            margins, weights = self.margins[share.indices], share.data
            root, ok = slice_shifts(loss, margins, weights, targets[found, k])
            shifts[found, k] = root
            found[np.flatnonzero(found)[~ok]] = False
        return shifts, found

    def scores(self, shifts: Floats64) -> Floats64:
        """Return the ``(n, m)`` scores after ``(m, K)`` shifts."""
        moved = self.margins[:, np.newaxis] + self._members.T @ shifts.T
        return np.asarray(self.y[:, np.newaxis] * moved)

    @property
    def _members(self) -> sparse.csr_array:
        return members_of(self.shares)

    @property
    def _filled(self) -> NDArray[np.bool_]:
        """Which slices have rows."""
        return np.asarray(np.diff(self.shares.indptr) > 0)

    @property
    def _overlap(self) -> bool:
        return overlap(self.shares)

    def _together(self, target: Floats64) -> tuple[Floats64, bool]:
        """Solve the K x K system of slices that share rows."""
        members, filled = self._members, self._filled

        def system(shift: Floats64) -> tuple[Floats64, Floats64]:
            margins = self.margins + members.T @ shift
            slopes = np.stack([loss.slope(margins) for loss in self.losses])
            slope = np.asarray(self.shares.multiply(slopes) @ members.T.toarray())
            over = slice_means(self.shares, self.losses, margins) - target
            return np.where(filled, over, shift), slope + np.diag(1.0 - filled)

        result = optimize.root(system, np.zeros(len(target)), jac=True, options={"xtol": 1e-14})
        return result.x, bool(np.max(np.abs(system(result.x)[0])) <= 1e-11)


def slice_means(shares: sparse.csr_array, losses: tuple[Loss, ...], margins: Floats64) -> Floats64:
    """Return the mean loss of every slice."""
    values = np.stack([loss.value(margins) for loss in losses])
    return np.asarray(shares.multiply(values).sum(axis=1), dtype=np.float64)


def members_of(shares: sparse.csr_array) -> sparse.csr_array:
    """Return ones where a row belongs to a slice."""
    ones = np.ones_like(shares.data)
    return sparse.csr_array((ones, shares.indices, shares.indptr), shape=shares.shape)


def overlap(shares: sparse.csr_array) -> bool:
    """Return whether slices share rows."""
    return len(np.unique(shares.indices)) < shares.nnz


def check_separable(shares: sparse.csr_array, names: Sequence[str]) -> None:
    """Refuse slices that cannot be moved independently: most targets have no shift.

    Examples
    --------
    >>> import numpy as np
    >>> check_separable(sparse.csr_array(np.array([[1.0, 0.0], [0.5, 0.5]])), ["first", "all"])
    >>> check_separable(sparse.csr_array(np.array([[0.5, 0.5], [0.5, 0.5]])), ["all", "again"])
    Traceback (most recent call last):
    ...
    ValueError: Shifts of the scores must move each of the 2 surrogates by itself; got 'again',
    whose rows move with those of the others. ...
    """
    if not overlap(shares):
        return
    filled = np.flatnonzero(np.diff(shares.indptr))
    members = members_of(shares)[filled]
    common = (members @ members.T).toarray()  # how many rows two slices share
    for k in range(len(filled)):
        if np.linalg.matrix_rank(common[: k + 1, : k + 1], hermitian=True) <= k:
            raise ValueError(
                f"Shifts of the scores must move each of the {len(names)} surrogates by itself; "
                f"got {names[filled[k]]!r}, whose rows move with those of the others. Drop it, or "
                "use LinearInterpolation or Subspace, which move the parameters."
            )


def margin_slices(problem: Problem) -> tuple[tuple[Loss, ...], sparse.csr_array]:
    """Return the loss and the shares of every surrogate; refuse what no shift can move."""
    losses, rows = [], []
    for surrogate in problem.profiler.surrogates:
        loss = as_loss(surrogate.loss) if isinstance(surrogate, Sliced) else None
        if not (isinstance(loss, MarginLoss) and loss.decreasing):
            raise ValueError(
                f"Shifts of the scores need decreasing margin losses averaged over slices; got "
                f"{surrogate.name!r}. Use LinearInterpolation or Subspace with it."
            )
        losses.append(loss)
        rows.append(surrogate.bind(problem.train).shares)  # type: ignore[attr-defined]
    return tuple(losses), sparse.csr_array(sparse.vstack(rows, format="csr"))


def batch_shares(shares: sparse.csr_array, rows: NDArray[np.intp]) -> sparse.csr_array:
    """Return the shares of a batch's rows within it; a slice without any keeps none."""
    inside = np.zeros(shares.shape[1])
    inside[rows] = 1.0
    kept = sparse.csr_array(shares.multiply(inside[np.newaxis, :]))
    kept.eliminate_zeros()
    total = kept.sum(axis=1)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return sparse.csr_array(kept.multiply(scale[:, np.newaxis]))


def slice_shifts(
    loss: Loss, margins: Floats64, weights: Floats64, targets: Floats64
) -> tuple[Floats64, NDArray[np.bool_]]:
    """Return the shifts at which the mean loss equals each target, and which were found.

    Examples
    --------
    >>> import numpy as np
    >>> shift, found = slice_shifts(as_loss("logistic"), np.zeros(1), np.ones(1), np.array([0.1]))
    >>> bool(np.isclose(np.log1p(np.exp(-shift[0])), 0.1))
    True
    """
    if len(targets) == 0 or len(margins) == 0:
        return np.zeros(len(targets)), np.ones(len(targets), dtype=bool)
    low, high = bracket(loss, margins, weights, targets)
    # A table of the mean loss puts every root into a narrow bracket; Newton polishes there.
    grid = np.linspace(low, high, GRID)
    table = mean_loss(loss, margins, weights, grid)[0]
    cell = np.clip(np.searchsorted(-table, -targets) - 1, 0, GRID - 2)
    left, right = grid[cell], grid[cell + 1]
    step = np.maximum(table[cell] - table[cell + 1], np.finfo(float).tiny)
    shift = left + (right - left) * np.clip((table[cell] - targets) / step, 0.0, 1.0)
    scale = TOLERANCE * np.maximum(1.0, np.abs(targets))
    for _ in range(60):
        value, slope = mean_loss(loss, margins, weights, shift)
        over = value - targets
        open_ = np.abs(over) > scale
        if not np.any(open_):
            break
        left, right = np.where(over > 0, shift, left), np.where(over > 0, right, shift)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = shift - over / slope
        safe = np.isfinite(newton) & (newton >= left) & (newton <= right)
        shift = np.where(open_, np.where(safe, newton, 0.5 * (left + right)), shift)
    value = mean_loss(loss, margins, weights, shift)[0]
    return shift, np.abs(value - targets) <= 1e-11 * np.maximum(1.0, np.abs(targets))


def bracket(
    loss: Loss, margins: Floats64, weights: Floats64, targets: Floats64
) -> tuple[float, float]:
    """Return shifts whose mean losses lie above and below all targets, as far as they go."""
    low = high = 1.0
    for _ in range(60):
        if mean_loss(loss, margins, weights, np.array([-low]))[0][0] > targets.max():
            break
        low *= 2.0
    for _ in range(60):
        if mean_loss(loss, margins, weights, np.array([high]))[0][0] < targets.min():
            break
        high *= 2.0
    return -low, high


def mean_loss(
    loss: Loss, margins: Floats64, weights: Floats64, shifts: Floats64
) -> tuple[Floats64, Floats64]:
    """Return the weighted mean loss and its slope after each common shift."""
    value, slope = np.zeros(len(shifts)), np.zeros(len(shifts))
    rows = max((1 << 18) // len(shifts), 1)
    for start in range(0, len(margins), rows):
        part = slice(start, start + rows)
        moved = margins[part, np.newaxis] + shifts
        value += weights[part] @ loss.value(moved)
        slope += weights[part] @ loss.slope(moved)
    return value, slope
