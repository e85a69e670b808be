"""Proposals for numbers: losses on training rows, on validation rows, and on both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from anymetric.auto.records import LINEAR, Predictions, Proposal, Weighting
from anymetric.auto.sample import Sample, inverse_sizes
from anymetric.data import TARGET, drawn_in
from anymetric.losses import Huber, Loss, Lp, Squared, Tilted
from anymetric.models import Linear

Floats64 = NDArray[np.float64]
# Ridges, cross-validated unless that is too expensive. Weaker ones are tried with at least so many
# rows a column: lines that leave little noise need them.
RIDGES = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
WEAKER, TALL, COSTLY = (0.001, 0.01, 0.1), 10, 1e10
# Robust standard deviations from a fit beyond which targets are clipped to choose the ridge.
NEAR = 1.5
# The strength of proposals for smaller trees, and the robust losses of trees, which take three
# quarters of a fit's time: with more rows than `CHEAP` they are tried only where a robust loss is
# better for lines too. With fewer they cost little, and the average gains by them.
SMALLER, OF_TREES, CHEAP = 100.0, (Huber(0.2), Lp(1.1)), 2000


def regression_proposals(
    sample: Sample, model: Linear, table: Predictions, use_validation: bool
) -> Iterator[Proposal]:
    """Yield least squares first, then robust losses and high powers (Example 2 of the paper).

    For an asymmetric metric, asymmetric losses follow.
    """
    ridge = ridge_of(sample, model)
    losses: list[Loss] = [Squared(), Huber(0.03), Huber(0.2), Lp(1.5), Lp(3.0), Lp(4.0)]
    for loss in losses:
        yield from with_loss(sample, loss, ridge, (0.5, 0.9) if use_validation else ())
    inverse = inverse_sizes(sample.stock.side.get(TARGET, sample.stock.y), sample.stock.weights)
    if np.ptp(inverse) > 0.0:
        yield Proposal(Weighting(sample.source, relative=True), ridge, Huber(0.03))
    best = table.assessments[table.best] if len(table) else None
    if best is not None and np.any(best.offsets):
        below = np.average(sample.valid.y < best.scores[:, 0], weights=sample.valid.weights)
        for level in (float(below), 0.5 * (float(below) + 0.5)):
            loss = Tilted(min(max(level, 0.01), 0.99), 0.2)
            yield from with_loss(sample, loss, ridge, (0.5,) if use_validation else ())


def regression_trees(
    sample: Sample, table: Predictions, use_validation: bool, family: str
) -> Iterator[Proposal]:
    """Yield squared errors, smaller trees, robust losses; on both samples where there are two."""
    first = Weighting(sample.source)
    yield Proposal(first, family=family)
    yield Proposal(first, SMALLER, family=family)
    for loss in OF_TREES if len(sample.stock) < CHEAP or robust(table) else ():
        yield Proposal(first, loss=loss, family=family)
    if not sample.single and use_validation:
        for share in sorted({sample.natural, 0.5, 0.85}):
            yield Proposal(Weighting("both", share), family=family)
        yield Proposal(Weighting("valid"), SMALLER, family=family)


def robust(table: Predictions) -> bool:
    """Return whether a line by a robust loss costs less than any other; also without lines."""
    lines = table.of(LINEAR)
    costs = {True: np.inf, False: np.inf}
    for k in lines:
        loss = table.candidates[k].proposal.loss
        small = isinstance(loss, Huber) or (isinstance(loss, Lp) and loss.p < 2.0)
        costs[small] = min(costs[small], table.assessments[k].mean)
    return not lines or costs[True] < costs[False]


def few_numbers(sample: Sample, model: Linear) -> Iterator[Proposal]:
    """Yield the two plainest proposals, for very few rows."""
    for loss in (None, Huber(0.5)):
        yield Proposal(Weighting("train"), ridge_of(sample, model), loss)


def with_loss(
    sample: Sample, loss: Loss, ridge: float, shares: Sequence[float]
) -> Iterator[Proposal]:
    """Yield a loss on the rows that train, then mixed with validation rows."""
    ridge = float(f"{ridge * firmness(loss):.2g}")
    yield Proposal(Weighting(sample.source), ridge, loss, LINEAR)
    if not sample.single:
        for share in shares:
            yield Proposal(Weighting("both", share), ridge, loss, LINEAR)


def firmness(loss: Loss) -> float:
    """Return the mean curvature of a loss at normal residuals, that of squared errors being one.

    A ridge multiplied by it holds the weights as firmly under any loss.

    Examples
    --------
    >>> [round(firmness(loss), 2) for loss in (Squared(), Huber(0.2), Lp(4.0))]
    [1.0, 0.16, 5.99]
    """
    residuals = stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    return float(np.mean(loss.score_curvature(residuals, np.zeros(1000)))) / 2.0


def ridge_of(sample: Sample, model: Linear) -> float:
    """Return the best ridge of least squares; one where there are too many rows and columns."""
    data = sample.stock
    n, d = data.X.shape
    if n * d * min(n, d) > COSTLY:
        return 1.0
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
    X = X if model.shift is None else X - model.shift
    X = X if model.scale is None else X / model.scale
    spectrum = Spectrum.of(X, data.weights / data.weights.mean(), model.intercept)
    return spectrum.ridge(data.y, (*WEAKER, *RIDGES) if n >= TALL * d else RIDGES)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A singular value decomposition, so that least squares with any ridge are cheap.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> Spectrum.of(X, np.ones(20), True).ridge(X @ np.ones(5))
    1.0
    """

    left: Floats64  # (n, r)
    sizes: Floats64  # (r,)
    weights: Floats64
    intercept: bool

    @classmethod
    def of(cls, X: Floats64, weights: Floats64, intercept: bool) -> Spectrum:
        """Decompose a table of weighted rows."""
        if intercept:
            X = X - np.average(X, axis=0, weights=weights)
        left, sizes, _ = np.linalg.svd(np.sqrt(weights)[:, np.newaxis] * X, full_matrices=False)
        return cls(left, sizes, weights, intercept)

    def ridge(self, y: Floats64, ridges: Sequence[float] = RIDGES) -> float:
        """Return the best of some ridges, with targets far from the fit clipped.

        Outlying targets inflate the ridge, also through the fit that they are clipped to: so this
        is repeated as long as the ridge falls.
        """
        best, fit = self.best(drawn_in(y, np.zeros(len(y)), self.weights), ridges)
        for _ in ridges:
            lower, fit = self.best(drawn_in(y, fit, self.weights, NEAR), ridges)
            if lower >= best:
                break
            best = lower
        return best

    def best(self, y: Floats64, ridges: Sequence[float] = RIDGES) -> tuple[float, Floats64]:
        """Return the ridge of the lowest generalised cross-validation error, and its fit."""
        middle = float(np.average(y, weights=self.weights)) if self.intercept else 0.0
        root, n = np.sqrt(self.weights), float(self.weights.sum())
        along = self.left.T @ (root * (y - middle))
        beyond = max(float(self.weights @ (y - middle) ** 2 - along @ along), 0.0)

        def error(ridge: float) -> float:
            kept = self.kept(ridge)
            free = max(n - float(kept.sum()) - self.intercept, np.finfo(float).tiny)
            return (beyond + float(np.sum(((1.0 - kept) * along) ** 2))) / free**2

        ridge = min(ridges, key=error)
        return ridge, middle + self.left @ (self.kept(ridge) * along) / root

    def kept(self, ridge: float) -> Floats64:
        """Return how much of each direction a ridge leaves: half of the square is penalised."""
        return np.asarray(self.sizes**2 / (self.sizes**2 + 0.5 * ridge))
