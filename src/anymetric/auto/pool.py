"""Pool: candidates, each the minimiser of one weighted loss, with honest scores on every row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from anymetric.auto.pulled import left_out
from anymetric.auto.rarity import rarity
from anymetric.data import Data, Floats, Matrix
from anymetric.losses import Huber, Loss, Lp, Tilted
from anymetric.models import Linear, Scorer
from anymetric.problem import Problem
from anymetric.solvers import WeightedLoss, minimise, positive_definite, second_order

Floats64 = NDArray[np.float64]
FOLDS = 5
LINEAR = "linear"
# The objective's relative gain at which a solve ends; one more step is taken then.
TOLERANCE = 1e-6
# So many steps with one Hessian at most, as long as each gains no more than this part of the last.
STEPS, SLOW = 8, 0.5
# A sparse table with a larger share of entries than this is slow to square.
HEAVY = 0.18
# With a smaller share of the rows in use than this, the others are worth leaving out.
SPARED = 0.75
# With fewer training rows for each parameter than this, a row's pull on its own score tells.
CROWDED = 100
# More rows than this are large: nothing that long is kept for each candidate without need.
LARGE = 100_000


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
    loss : Loss, optional
        Other than the usual one.
    family : str
        Which kind of model is trained.
    base : Candidate, optional
        A model of the training rows, from which the judging rows train on.

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
    family: str = LINEAR
    base: Candidate | None = None

    @property
    def mixes(self) -> bool:
        """Whether training and judging rows train together."""
        return self.valid is not None and self.share < 1.0

    @cached_property
    def mix(self) -> Floats64:
        """The weights of all rows, summing to one: kept, so for tables that are not large."""
        return mixed(self)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trained recipe: its parameters or its scorer, and scores on train and on valid.

    The scores of a judging row come from parameters that it did not train; those of a training
    row as good as do, where rows are few. Where groups have thresholds of their own, `apart` is
    what each adds to its rows; the scores have it.

    Examples
    --------
    >>> import numpy as np
    >>> Candidate(Recipe("plain", np.ones(1)), np.zeros(2), np.zeros(1), np.zeros(1)).recipe.name
    'plain'
    """

    recipe: Recipe
    theta: Floats64
    train: Floats
    valid: Floats64
    scorer: Scorer | None = None
    apart: Mapping[Any, float] | None = None


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
    rare: bool = True

    @classmethod
    def build(
        cls,
        model: Linear,
        train: Data,
        valid: Data,
        loss: Loss,
        rng: np.random.Generator,
        *,
        rare: bool = True,
    ) -> Kitchen:
        """Stack the rows and deal the judging rows into folds, class by class.

        With ``rare`` mixtures hold the weights of rare values back harder.
        """
        train, valid = in_counts(train), in_counts(valid)
        both = train.followed_by(valid)
        return cls(model, train, valid, both, loss, dealt(valid, rng), rare)

    @cached_property
    def rarity(self) -> Floats64:
        """By how much more each parameter is held back where rows of both samples train.

        Of what is rare the few judging rows tell next to nothing, and the training rows, which
        may mislead, would have the last word.
        """
        return rarity(self.model, self.both.X)

    @property
    def stock(self) -> Data:
        """The rows that train: those that judge too, by turns, where there are no others."""
        return self.train if len(self.train) > 0 else self.valid

    @cached_property
    def crowded(self) -> bool:
        """Whether there are so few training rows that each pulls its own score noticeably."""
        return len(self.train) < CROWDED * self.model.size(self.train.X)

    def cook(self, recipe: Recipe, theta: Floats64 | None = None) -> Candidate:
        """Train a recipe, from `theta` if given."""
        data, rows = self._served(recipe)
        ridge: float | Floats64 = recipe.strength * concentration(rows, data.weights)
        if recipe.mixes and self.rare:
            ridge = ridge * self.rarity
        objective = WeightedLoss(self.model, data, recipe.loss or self.loss, rows, ridge)
        theta = minimise(objective, theta, tolerance=TOLERANCE)
        scores = np.asarray(self.model.scores(self.valid.X, theta), dtype=np.float64)
        if recipe.valid is not None:
            scores = self._honest(objective, theta, recipe)
        # Forty candidates on a million rows: single precision is enough to place a threshold by.
        trained = self._trained(objective, theta, recipe).astype(np.float32)
        return Candidate(recipe, theta, trained, scores)

    def _trained(self, objective: WeightedLoss, theta: Floats64, recipe: Recipe) -> Floats:
        """Score the training rows; where they are few, without each row's own pull."""
        if self.crowded and np.any(recipe.train) and second_order(objective):
            share = mixed(recipe)[: len(self.train)]
            return left_out(objective, theta, self.train, share)
        return np.asarray(self.model.scores(self.train.X, theta))

    def _served(self, recipe: Recipe) -> tuple[Data, Floats64]:
        """Return the rows that a recipe trains on, and their weights; the judging rows last.

        Where many training rows weigh nothing, they are left out.
        """
        rows, n = mixed(recipe), len(self.train)
        data = self.train if recipe.valid is None else self.both
        used = rows > 0.0
        used[n:] = True
        if not np.any(used[:n]):
            return self.valid, rows[n:]
        if np.mean(used) > SPARED:
            return data, rows
        kept = np.flatnonzero(used)
        return data.take(kept), rows[kept]

    def _honest(self, objective: WeightedLoss, theta: Floats64, recipe: Recipe) -> Floats64:
        """Score each fold of the judging rows by parameters trained without it.

        Steps from the full solution with the fold's own Hessian are mostly as good as a full solve;
        where they are not, for columns are many or the loss has no curvature there, it is solved;
        so it is where the Hessian is too large.
        """
        scores = np.empty(len(self.valid))
        for k, found in enumerate(self._by_turns(objective, theta, recipe)):
            out = np.flatnonzero(self.fold == k)
            scores[out] = self.model.scores(self.valid.X[out], found)
        return scores

    def _by_turns(
        self, objective: WeightedLoss, theta: Floats64, recipe: Recipe
    ) -> Iterator[Floats64]:
        """Yield parameters trained without each fold of the judging rows."""
        folds = [np.flatnonzero(self.fold == k) for k in range(FOLDS)]
        parts = [self._without(objective, recipe, out) for out in folds]
        if not second_order(objective):
            yield from (minimise(without, theta) for without, _ in parts)
            return
        slopes, bends = self._pieces(objective, theta)
        slope, bend = sum(slopes[1:]), sum(bends[1:])
        for k, (without, scale) in enumerate(parts):
            H = bends[0] + scale * (bend - bends[k + 1]) + np.diag(without.penalty)
            factor = linalg.cho_factor(positive_definite(np.asarray(H)))
            down = slopes[0] + scale * (slope - slopes[k + 1]) + without.penalty * theta
            found, arrived = stepped(without, factor, theta, down)
            far = not np.linalg.norm(found - theta) < 1.0 + np.linalg.norm(theta)
            if far or bent(objective.loss) or not arrived:
                # What steps leave over is of the fold's own labels: it must not judge itself.
                found = minimise(without, theta if far else found, tolerance=TOLERANCE)
            yield found

    def _pieces(
        self, objective: WeightedLoss, theta: Floats64
    ) -> tuple[list[Floats64], list[Floats64]]:
        """Return gradients and Hessians of the training rows, then of each fold."""
        data, n = objective.data, len(objective.data) - len(self.valid)
        bend = objective.row_curvature(theta)
        scores = np.asarray(self.model.scores(data.X, theta), dtype=np.float64)
        slope = objective.share * objective.loss.score_slope(scores, data.y)
        parts = [np.arange(n), *(n + np.flatnonzero(self.fold == k) for k in range(FOLDS))]
        tables = [data.X[:n], *(data.X[rows] for rows in parts[1:])]
        pairs = list(zip(tables, parts, strict=True))
        return (
            [self.model.pullback(X, theta, slope[rows]) for X, rows in pairs],
            [self.model.hessian(X, bend[rows]) for X, rows in pairs],
        )

    def _without(
        self, objective: WeightedLoss, recipe: Recipe, out: NDArray[np.intp]
    ) -> tuple[WeightedLoss, float]:
        """Return the objective without some judging rows, and how much the others gain."""
        n = len(objective.data) - len(self.valid)
        rows = objective.rows.copy()
        rows[n + out] = 0.0
        scale = recipe.share / max(float(rows[n:].sum()), np.finfo(float).tiny)
        rows[n:] *= scale
        return replace(objective, rows=rows), scale


def stepped(
    objective: WeightedLoss, factor: tuple[Floats64, bool], theta: Floats64, slope: Floats64
) -> tuple[Floats64, bool]:
    """Return where steps with one Hessian lead, two of them or a few, and whether they arrive.

    Such steps shrink by about the same factor each: what the next would gain is known.
    """
    before = np.inf
    for number in range(STEPS):
        step = linalg.cho_solve(factor, slope)
        theta, gain = theta - step, float(slope @ step)
        if number > 0 and (gain <= TOLERANCE or gain * gain <= TOLERANCE * before):
            return theta, True
        if not gain <= SLOW * before:
            break
        before, slope = gain, objective.value_and_gradient(theta)[1]
    return theta, False


def in_counts(data: Data) -> Data:
    """Return the rows with weights as counts: where none is above one, their mean is made one.

    A weight of two stands for two rows; weights that sum to one do not stand for a single row.

    Examples
    --------
    >>> import numpy as np
    >>> in_counts(Data(np.zeros((2, 1)), np.ones(2), np.array([0.25, 0.75]))).weights.tolist()
    [0.5, 1.5]
    """
    if not 0.0 < data.weights.max(initial=0.0) < 1.0:
        return data
    return replace(data, weights=data.weights / data.weights.mean())


def dealt(data: Data, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the fold of each row, at random, every class or low and high targets evenly.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Data(np.zeros((10, 1)), np.repeat([-1.0, 1.0], 5))
    >>> sorted(dealt(rows, np.random.default_rng(0))[5:].tolist())
    [0, 1, 2, 3, 4]
    """
    order = np.lexsort((rng.random(len(data)), data.y))
    fold = np.empty(len(data), dtype=np.intp)
    fold[order] = np.arange(len(data)) % FOLDS
    return fold


def in_faster_form(problem: Problem) -> tuple[Data, Data]:
    """Return both samples with features in the form in which their products are fastest.

    Hessians must be fast too: of a table that is not very sparse a dense one is. And rows of both
    samples must fit together.
    """
    train, valid = problem.tables
    apart = sparse.issparse(train) != sparse.issparse(valid)
    if apart or heavy(train) or heavy(valid):
        return problem.train, problem.valid
    return replace(problem.train, X=train), replace(problem.valid, X=valid)


def heavy(X: Matrix) -> bool:
    """Return whether a sparse table has so many entries that its Hessian is slow.

    Examples
    --------
    >>> from scipy import sparse
    >>> heavy(sparse.csr_array(np.eye(3))), heavy(sparse.csr_array(np.eye(10)))
    (True, False)
    """
    return bool(sparse.issparse(X) and X.nnz > HEAVY * X.shape[0] * X.shape[1])


def bent(loss: Loss) -> bool:
    """Return whether the curvature of a loss is no guide to its minimum: two steps are too few.

    Examples
    --------
    >>> bent(Lp(1.5)), bent(Huber(0.1)), bent(Lp(3.0))
    (True, True, False)
    """
    return isinstance(loss, Huber | Tilted) or (isinstance(loss, Lp) and loss.p < 2.0)


def mixed(recipe: Recipe) -> Floats64:
    """Return the weights of all rows that a recipe trains on, summing to one.

    Examples
    --------
    >>> import numpy as np
    >>> mixed(Recipe("both", np.ones(2), np.ones(1), share=0.5)).tolist()
    [0.25, 0.25, 0.5]
    """
    train = unit(recipe.train)
    if recipe.valid is None:
        return train
    valid = recipe.valid / recipe.valid.sum()
    return np.concatenate([(1.0 - recipe.share) * train, recipe.share * valid])


def unit(rows: Floats64) -> Floats64:
    """Return weights that sum to one, or zeros."""
    return rows / max(float(rows.sum()), np.finfo(float).tiny)


def nearest(recipe: Recipe, cooked: Sequence[Candidate]) -> Floats64 | None:
    """Return the parameters of the candidate whose row weights are most alike; None if none is.

    Examples
    --------
    >>> import numpy as np
    >>> rows = [np.array([1.0, 1.0, 0.0]), np.array([0.0, 1.0, 1.0])]
    >>> done = [Candidate(Recipe("", r), r, r, r) for r in rows]
    >>> nearest(Recipe("", np.array([0.0, 1.0, 2.0])), done).tolist()
    [0.0, 1.0, 1.0]
    """
    if not cooked:
        return None
    rows = mixed(recipe)
    mix = mixed if len(rows) > LARGE else (lambda one: one.mix)
    return max(cooked, key=lambda one: cosine(rows, mix(one.recipe))).theta


def cosine(a: Floats64, b: Floats64) -> float:
    """Return the cosine between two weightings of all rows, training rows first.

    Examples
    --------
    >>> import numpy as np
    >>> round(cosine(np.ones(2), np.ones(4)) ** 2, 6)
    0.5
    """
    n = min(len(a), len(b))  # one that has no judging rows gives them no weight
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a[:n] @ b[:n]) / max(size, np.finfo(float).tiny)


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
