"""Pool: candidates, each the minimiser of one weighted loss, with honest scores on every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from anymetric.auto.domain import stacked
from anymetric.data import Data
from anymetric.losses import Loss
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, minimise

Floats64 = NDArray[np.float64]
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a candidate is trained.

    Attributes
    ----------
    name : str
    train : array of shape (n_train,)
        Row weights; their scale does not matter.
    valid : array of shape (n_valid,) or None
        Row weights of the judging rows, if they train too.
    share : float
        The part of the whole weight that the judging rows have.
    strength : float
        Ridge, in units of one effective row.

    Examples
    --------
    >>> import numpy as np
    >>> Recipe("plain", np.ones(3)).share
    0.0
    """

    name: str
    train: Floats64
    valid: Floats64 | None = None
    share: float = 0.0
    strength: float = 10.0
    loss: Loss | None = None

    @property
    def kin(self) -> str:
        """Recipes of one kin have solutions close to each other: a place to start from."""
        return "balanced" if "balanced" in self.name else "plain"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trained recipe: its parameters, and scores on train and on valid.

    The scores of a judging row come from parameters that it did not train.

    Examples
    --------
    >>> import numpy as np
    >>> Candidate(Recipe("plain", np.ones(1)), np.zeros(2), np.zeros(1), np.zeros(1)).recipe.name
    'plain'
    """

    recipe: Recipe
    theta: Floats64
    train: Floats64
    valid: Floats64


@dataclass(frozen=True, eq=False)
class Kitchen:
    """Trains recipes on fixed rows.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.losses import as_loss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> rows = Data(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    >>> kitchen = Kitchen.build(
    ...     Linear(),
    ...     rows.take(np.arange(50)),
    ...     rows.take(np.arange(50, 80)),
    ...     as_loss("logistic"),
    ...     rng,
    ... )
    >>> kitchen.cook(Recipe("plain", np.ones(50))).valid.shape
    (30,)
    """

    model: Linear
    train: Data
    valid: Data
    both: Data
    loss: Loss
    fold: NDArray[np.intp]

    @classmethod
    def build(
        cls, model: Linear, train: Data, valid: Data, loss: Loss, rng: np.random.Generator
    ) -> Kitchen:
        """Stack the rows and deal the judging rows into folds, class by class."""
        both = Data(
            stacked(train.X, valid.X),
            np.concatenate([train.y, valid.y]),
            np.concatenate([train.weights, valid.weights]),
        )
        order = np.lexsort((rng.random(len(valid)), valid.y))
        fold = np.empty(len(valid), dtype=np.intp)
        fold[order] = np.arange(len(valid)) % FOLDS
        return cls(model, train, valid, both, loss, fold)

    def cook(self, recipe: Recipe, theta: Floats64 | None = None) -> Candidate:
        """Train a recipe, from `theta` if given."""
        loss = recipe.loss or self.loss
        data = self.train if recipe.valid is None else self.both
        rows = mixed(recipe)
        objective = WeightedLoss(
            self.model, data, loss, rows, recipe.strength * concentration(rows, data.weights)
        )
        theta = minimise(objective, theta, tolerance=1e-7)
        scores = np.asarray(self.model.scores(self.valid.X, theta), dtype=np.float64)
        if recipe.valid is not None:
            scores = self._honest(objective, theta, recipe)
        trained = np.asarray(self.model.scores(self.train.X, theta), dtype=np.float64)
        return Candidate(recipe, theta, trained, scores)

    def _honest(self, objective: WeightedLoss, theta: Floats64, recipe: Recipe) -> Floats64:
        """Score each fold of the judging rows by parameters trained without it.

        Two steps from the full solution with the fold's own Hessian: close to a full solve.
        """
        scores = np.empty(len(self.valid))
        pieces = self._hessians(objective, theta)
        for k in range(FOLDS):
            out = np.flatnonzero(self.fold == k)
            without, scale = self._without(objective, recipe, out)
            H = pieces[0] + scale * (sum(pieces[1:]) - pieces[k + 1]) + np.diag(without.penalty)
            factor = linalg.cho_factor(positive_definite(np.asarray(H)))
            found = theta
            for _ in range(2):
                found = found - linalg.cho_solve(factor, without.value_and_gradient(found)[1])
            scores[out] = self.model.scores(self.valid.X[out], found)
        return scores

    def _hessians(self, objective: WeightedLoss, theta: Floats64) -> list[Floats64]:
        """Return the Hessians of the training rows and of each fold: together, of all rows."""
        curvature = objective.row_curvature(theta)
        n = len(self.train)
        parts = [self.model.hessian(self.train.X, curvature[:n])]
        for k in range(FOLDS):
            rows = np.flatnonzero(self.fold == k)
            parts.append(self.model.hessian(self.valid.X[rows], curvature[n + rows]))
        return parts

    def _without(
        self, objective: WeightedLoss, recipe: Recipe, out: NDArray[np.intp]
    ) -> tuple[WeightedLoss, float]:
        """Return the objective without some judging rows, and how much the others gain."""
        n = len(self.train)
        rows = objective.rows.copy()
        rows[n + out] = 0.0
        scale = recipe.share / max(float(rows[n:].sum()), np.finfo(float).tiny)
        rows[n:] *= scale
        left = WeightedLoss(self.model, self.both, objective.loss, rows, objective.ridge)
        return left, scale


def positive_definite(H: Floats64) -> Floats64:
    """Lift the diagonal a little, so that a Cholesky factor exists."""
    return H + 1e-9 * max(float(np.trace(H)) / len(H), 1e-300) * np.eye(len(H))


def mixed(recipe: Recipe) -> Floats64:
    """Return the weights of all rows that a recipe trains on, summing to one.

    Examples
    --------
    >>> import numpy as np
    >>> mixed(Recipe("both", np.ones(2), np.ones(1), share=0.5)).tolist()
    [0.25, 0.25, 0.5]
    """
    train = recipe.train / max(recipe.train.sum(), np.finfo(float).tiny)
    if recipe.valid is None:
        return np.asarray(train)
    valid = recipe.valid / recipe.valid.sum()
    return np.concatenate([(1.0 - recipe.share) * train, recipe.share * valid])


def concentration(rows: Floats64, weights: Floats64) -> float:
    """Return one over the effective number of rows; a row of weight two counts as two.

    Examples
    --------
    >>> import numpy as np
    >>> concentration(np.full(4, 0.25), np.ones(4))
    0.25
    >>> concentration(np.array([0.5, 0.25, 0.25]), np.array([2.0, 1.0, 1.0]))
    0.25
    """
    return float(np.sum(rows**2 / weights) / rows.sum() ** 2)
