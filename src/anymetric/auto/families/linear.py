"""Linear: one weighted loss, one ridge, and scores of rows left out without training five times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from anymetric.auto.constants import CROWDED, FEWEST_ROWS
from anymetric.auto.families.features import Features
from anymetric.auto.records import LINEAR, Candidate, Proposal
from anymetric.auto.sample import Sample, Weights, effective
from anymetric.data import Data
from anymetric.losses import Huber, Loss, Lp, Tilted, as_loss
from anymetric.models import Linear, LinearScorer
from anymetric.models.linear import ROWS, extremes, sum_of_squares, two_valued, weighted_sum
from anymetric.solvers import WeightedLoss, minimise, positive_definite, second_order

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# The objective's relative gain at which a solve ends; one more step is taken then.
TOLERANCE = 1e-6
# Steps with one Hessian, as long as each gains no more than this part of the last.
STEPS, SLOW = 8, 0.5
# No row is taken to pull its own score further than if its loss were this part of the curvature.
MOST_LEVERAGE = 0.9


@dataclass(frozen=True, eq=False)
class LinearFamily:
    """Linear models with one output: a smooth loss and a ridge.

    Attributes
    ----------
    sample : Sample
        With features as a linear model reads them.
    features : Features
        How these are made of the features as they are.

    Examples
    --------
    >>> from anymetric.auto.records import Weighting
    >>> from anymetric.auto.task import Task
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> rows = Data(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    >>> sample = Sample(Task((0, 1)), rows.take(np.arange(0)), rows, np.arange(80) % 5)
    >>> family = LinearFamily.of(sample, Features.of(sample))
    >>> family.fit(Proposal(Weighting("valid")), None, rng).valid.shape
    (80, 1)
    """

    sample: Sample
    features: Features

    name: ClassVar[str] = LINEAR

    @classmethod
    def of(cls, sample: Sample, features: Features) -> LinearFamily:
        """Build the family on rows as they are."""
        return cls(features.read(sample), features)

    @property
    def model(self) -> Linear:
        """The features that the parameters see."""
        return self.features.model

    @cached_property
    def loss(self) -> Loss:
        """The usual loss."""
        return as_loss("squared" if self.sample.task.numbers else "logistic")

    @cached_property
    def rare_binary_penalty(self) -> Floats64:
        """A stronger penalty of rare binary features, where rows of both samples train.

        The few validation rows have hardly any information on rare features, and training rows,
        which may mislead, would decide.
        """
        return rare_penalty(self.model, self.sample.both)

    def takes(self, proposal: Proposal) -> bool:
        """Take every proposal."""
        return proposal.surrogates is None

    def train(self, proposal: Proposal, like: Candidate, rng: np.random.Generator) -> LinearScorer:
        """Minimise the loss on all rows."""
        weights = self.sample.weights(proposal.weighting)
        return self._scorer(minimise(self._objective(proposal, weights), tolerance=TOLERANCE))

    def fit(
        self, proposal: Proposal, near: Candidate | None, rng: np.random.Generator
    ) -> Candidate:
        """Minimise the loss; validation rows that train are scored out-of-fold."""
        weights = self.sample.weights(proposal.weighting)
        objective = self._objective(proposal, weights)
        theta = minimise(
            objective, None if near is None else near.state, tolerance=tolerance_of(objective.loss)
        )
        valid = np.asarray(self.model.scores(self.sample.valid.X, theta), dtype=np.float64)
        if weights.valid is not None:
            for out, found in self._without_each_fold(proposal, objective, theta):
                valid[out] = self.model.scores(self.sample.valid.X[out], found)
        return Candidate(proposal, self._scorer(theta), valid[:, np.newaxis], theta)

    def train_scores(self, candidate: Candidate, rng: np.random.Generator) -> Floats64:
        """Score the training rows; where they are few, as if each had been left out."""
        train, theta = self.sample.train, candidate.state
        weights = self.sample.weights(candidate.proposal.weighting)
        if weights.train is not None and len(train) < CROWDED * len(theta):
            objective = self._objective(candidate.proposal, weights)
            if second_order(objective):
                share = weights.joined[: len(train)]
                return left_out(objective, theta, train, share)[:, np.newaxis]
        scores = self.model.scores(train.X, theta)
        return np.asarray(scores, dtype=np.float64)[:, np.newaxis]

    def objective(self, proposal: Proposal) -> WeightedLoss:
        """Return what a proposal minimises."""
        return self._objective(proposal, self.sample.weights(proposal.weighting))

    def _scorer(self, theta: Floats64) -> LinearScorer:
        return self.features.scorer(theta)

    def _objective(self, proposal: Proposal, weights: Weights) -> WeightedLoss:
        """Return what is minimised; rows of weight zero are left out where they are many."""
        data = self.sample.train
        if weights.valid is not None:
            data = self.sample.valid if weights.train is None else self.sample.both
        rows = weights.joined
        # A row twice is a row of weight two.
        count = FEWEST_ROWS if self.sample.few else effective(rows)
        ridge: float | Floats64 = proposal.strength / count
        if weights.train is not None and weights.valid is not None:
            ridge = ridge * self.rare_binary_penalty
        if np.mean(rows > 0.0) < 0.75 and weights.valid is None:
            kept = np.flatnonzero(rows > 0.0)
            data, rows = data.take(kept), rows[kept]
        return WeightedLoss(self.model, data, proposal.loss or self.loss, rows, ridge)

    def _without_each_fold(
        self, proposal: Proposal, objective: WeightedLoss, theta: Floats64
    ) -> Iterator[tuple[Ints, Floats64]]:
        """Yield the validation rows of each fold, and parameters trained without them.

        Steps from the full solution with the fold's own Hessian are mostly as good as a full solve;
        where they are not, for columns are many or the loss has no curvature there, it is solved.
        """
        folds, n = self.sample.folds, len(objective.data) - len(self.sample.valid)
        quick = second_order(objective) and not flat_curvature(objective.loss)
        hessians = fold_hessians(objective, theta, n, folds) if quick else []
        for k, out in enumerate(folds):
            rows = self.sample.weights(proposal.weighting, out).joined
            other, found = replace(objective, rows=rows), None
            if quick:
                scale = 1.0 / max(1.0 - float(objective.share[n + out].sum()), 1e-300)
                H = hessians[0] if n else np.zeros_like(hessians[0])
                rest = np.sum(hessians[1:], axis=0) - hessians[k + 1]
                found = stepped(other, theta, H + (scale if n == 0 else 1.0) * rest)
            if found is None:
                # The remaining error depends on the labels of the fold, which must not leak.
                found = minimise(other, theta, tolerance=tolerance_of(objective.loss))
            yield out, found


def fold_hessians(
    objective: WeightedLoss, theta: Floats64, n: int, folds: list[Ints]
) -> list[Floats64]:
    """Return the Hessian of the first n rows, then of each fold of those that follow."""
    model, X = objective.model, objective.data.X
    assert isinstance(model, Linear)
    curvature = objective.row_curvature(theta)
    parts = [np.arange(n), *(n + out for out in folds)]
    tables = [X[:n], *(X[rows] for rows in parts[1:])]
    return [model.hessian(X, curvature[rows]) for X, rows in zip(tables, parts, strict=True)]


def stepped(other: WeightedLoss, theta: Floats64, hessian: Floats64) -> Floats64 | None:
    """Return the result of steps with a fixed Hessian; None if they do not converge.

    Such steps shrink by about the same factor each: what the next would gain is known.
    """
    factor = linalg.cho_factor(positive_definite(hessian + np.diag(other.penalty)))
    found, before = theta, np.inf
    for number in range(STEPS):
        slope = other.value_and_gradient(found)[1]
        step = linalg.cho_solve(factor, slope)
        found, gain = found - step, float(slope @ step)
        if number > 0 and (gain <= TOLERANCE or gain * gain <= TOLERANCE * before):
            near = np.linalg.norm(found - theta) < 1.0 + np.linalg.norm(theta)
            return found if near else None
        if not gain <= SLOW * before:
            return None
        before = gain
    return None


def left_out(objective: WeightedLoss, theta: Floats64, data: Data, share: Floats64) -> Floats64:
    """Return the score of each row by parameters that it did not train, to second order.

    The intercept stays where it is: without one row of a class every model leans towards the
    other class, and the scores would leak the labels, with the wrong sign.

    Parameters
    ----------
    objective : WeightedLoss
        Smooth, of a linear model.
    theta : array of shape (p,)
        Its minimiser.
    data : Data
        Rows that trained.
    share : array of shape (n,)
        Their part of the objective's whole weight; those of none keep their score.

    Examples
    --------
    >>> data = Data(np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0]))
    >>> share = np.full(3, 1 / 3)
    >>> loss = WeightedLoss(Linear(intercept=False), data, as_loss("squared"), share, 0.0)
    >>> left_out(loss, minimise(loss), data, share).round(3).tolist()  # as by (4 + 18) / (4 + 9)
    [1.692, 3.8, 3.0]
    """
    model, loss = objective.model, objective.loss
    assert isinstance(model, Linear)
    free = len(theta) - model.intercept
    H = positive_definite(objective.hessian(theta)[:free, :free])
    root = linalg.solve_triangular(linalg.cholesky(H, lower=True), np.eye(free), lower=True)
    if model.intercept:
        root = np.column_stack([root, np.zeros(free)])
    scores = np.asarray(model.scores(data.X, theta), dtype=np.float64)
    reach = np.empty(len(data))
    for start in range(0, len(data), ROWS):
        block = model.scores(data.X[start : start + ROWS], root)
        reach[start : start + ROWS] = np.einsum("ij,ij->i", block, block)
    pull = np.minimum(share * loss.score_curvature(scores, data.y) * reach, MOST_LEVERAGE)
    return np.asarray(scores + share * loss.score_slope(scores, data.y) * reach / (1.0 - pull))


def rare_penalty(model: Linear, data: Data) -> Floats64:
    """Return, for each parameter, by what a ridge is to be multiplied: one, or more.

    A column of two values, one of them rare, has a small spread: standardised, its rare value
    lies far out, and a ridge hardly holds its weight. Measured by half the range instead, it is
    held as if both values were equally frequent.

    Examples
    --------
    >>> X = np.column_stack([np.arange(10.0), np.arange(10) < 5, np.arange(10) < 1])
    >>> rare_penalty(Linear.standardised(X), Data(X, np.zeros(10))).round(2).tolist()
    [1.0, 1.0, 2.78, 1.0]
    """
    X = data.X
    factor = np.ones(model.size(X))
    if model.scale is None:
        return factor
    low, high = extremes(X)
    rows = np.ones(X.shape[0])
    mean = weighted_sum(X, rows) / len(rows)
    variance = sum_of_squares(X, rows, mean) / len(rows)
    two = two_valued(low, high, mean, variance)
    half = 0.5 * (high - low)
    factor[: len(two)][two] = np.maximum((half / model.scale)[two] ** 2, 1.0)
    return factor


def tolerance_of(loss: Loss) -> float:
    """Return the relative gain at which a solve ends: of robust losses, outliers are most of it."""
    return TOLERANCE**2 if flat_curvature(loss) else TOLERANCE


def flat_curvature(loss: Loss) -> bool:
    """Return whether the curvature of a loss is no guide to its minimum.

    Examples
    --------
    >>> flat_curvature(Lp(1.5)), flat_curvature(Huber(0.1)), flat_curvature(Lp(3.0))
    (True, True, False)
    """
    return isinstance(loss, Huber | Tilted) or (isinstance(loss, Lp) and loss.p < 2.0)
