"""Pool: candidates of many scores a row, each trained on weighted rows, judged on others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.choice import FEWEST
from anymetric.auto.pool import FOLDS, Recipe, dealt, in_counts, mixed
from anymetric.data import Data, Matrix
from anymetric.many.solver import TableLoss, polished, solved
from anymetric.metrics import Classes
from anymetric.models import Learner, Outputs, Scorer
from anymetric.models.tables import Plain

Floats64 = NDArray[np.float64]
# The ridge of a recipe that says nothing of it.
STRENGTH = Recipe("", np.zeros(0)).strength


@dataclass(frozen=True, eq=False)
class Table:
    """A trained linear model of many scores.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear
    >>> one = Table(Outputs(Linear(), 2), np.array([1.0, 0.0, -1.0, 0.0]))
    >>> one.scores(np.array([[2.0]])).tolist()
    [[2.0, -2.0]]
    """

    model: Outputs
    theta: Floats64
    plain: Plain | None = None  # fills gaps and spreads categories out first

    def scores(self, X: Matrix) -> Floats64:
        """Return scores ``(n, C)``."""
        X = X if self.plain is None else self.plain.table(X)
        return np.asarray(self.model.table(X, self.theta), dtype=np.float64)


class Trainer(Protocol):
    """Trains one family of models on weighted rows."""

    @property
    def family(self) -> str:
        """One word for the verdict."""
        ...

    def takes(self, recipe: Recipe) -> bool:
        """Return whether the family can follow all that a recipe asks for."""
        ...

    def fit(self, data: Data, rows: Floats64, recipe: Recipe, start: Scorer | None) -> Scorer:
        """Return a model trained with weights of rows ``(n,)`` or of entries ``(n, C)``."""
        ...


@dataclass(frozen=True, eq=False)
class LinearTrainer:
    """Multinomial logistic regression; or one logistic loss a label, or a class."""

    model: Outputs
    classes: Classes
    family: str = "linear"

    def takes(self, recipe: Recipe) -> bool:
        """Take every recipe."""
        return True

    def fit(self, data: Data, rows: Floats64, recipe: Recipe, start: Scorer | None) -> Table:
        """Minimise the weighted loss from where another model ended."""
        used = np.flatnonzero(rows.reshape(len(rows), -1).sum(axis=1) > 0.0)
        if len(used) < len(rows):
            data, rows = data.take(used), rows[used]
        members = self.classes.members(data.y)
        ridge = recipe.strength * effective(rows, data.weights)
        objective = TableLoss(self.model, data.X, members, rows, ridge, recipe.loss)
        theta = solved(objective, start.theta if isinstance(start, Table) else None)
        # A handful of rows repeated must give the model of rows that weigh as much.
        return Table(self.model, polished(objective, theta) if len(data) < FEWEST else theta)


@dataclass(frozen=True, eq=False)
class LearnerTrainer:
    """Any other family: classes together, or one model a label."""

    learner: Learner
    classes: Classes
    rng: np.random.Generator

    @property
    def family(self) -> str:
        """The learner's own word."""
        return self.learner.family

    def takes(self, recipe: Recipe) -> bool:
        """Refuse a ridge or a loss that only a linear model has: the same would be trained again.

        Of labels the logistic loss is the usual one, and one model a label is what is trained.
        """
        usual = recipe.loss is None or not self.classes.exclusive
        return usual and recipe.strength == STRENGTH

    def fit(self, data: Data, rows: Floats64, recipe: Recipe, start: Scorer | None) -> Scorer:
        """Let the learner learn from the weighted rows, which are all that it reads of a recipe."""
        C = len(self.classes)
        if self.classes.exclusive:
            return self.learner.learn(data, rows, self.rng, classes=C, start=start)
        signs = np.where(self.classes.members(data.y), 1.0, -1.0)
        entries = np.broadcast_to(rows.reshape(len(rows), -1), signs.shape)
        before = start.parts if isinstance(start, Beside) else (None,) * C
        parts = [self._label(data, signs[:, c], entries[:, c], before[c]) for c in range(C)]
        return Beside(tuple(parts))

    def _label(self, data: Data, y: Floats64, rows: Floats64, start: Any) -> Scorer:
        seen = np.unique(y[rows > 0.0])
        if len(seen) == 1:
            return Constant(float(seen[0]))
        start = None if isinstance(start, Constant) else start
        return self.learner.learn(replace(data, y=y), rows, self.rng, classes=2, start=start)


@dataclass(frozen=True, eq=False)
class Beside:
    """One model for each label, side by side.

    Examples
    --------
    >>> import numpy as np
    >>> Beside((Constant(1.0), Constant(-1.0))).scores(np.zeros((1, 3))).tolist()
    [[1.0, -1.0]]
    """

    parts: tuple[Scorer, ...]

    def scores(self, X: Matrix) -> Floats64:
        """Return scores ``(n, L)``."""
        return np.column_stack([part.scores(X) for part in self.parts])


@dataclass(frozen=True, eq=False)
class Constant:
    """The same score for every row: a label that all training rows have, or none.

    Examples
    --------
    >>> import numpy as np
    >>> Constant(2.0).scores(np.zeros((2, 1))).tolist()
    [2.0, 2.0]
    """

    score: float

    def scores(self, X: Matrix) -> Floats64:
        """Return it for each row."""
        return np.full(X.shape[0], self.score)


@dataclass(frozen=True, eq=False)
class Served:
    """A trained recipe: the model, those without each fold, and honest scores where it counts.

    Attributes
    ----------
    recipe : Recipe
    family : str
    model : Scorer
    folds : tuple of Scorer
        The same trained without each fold of the judging rows; empty if they did not train.
    valid : array of shape (n_valid, C)
        Scores of the judging rows, each by a model that it did not train.
    """

    recipe: Recipe
    family: str
    model: Scorer
    folds: tuple[Scorer, ...]
    valid: Floats64


@dataclass(frozen=True, eq=False)
class ManyKitchen:
    """Trains recipes on fixed rows.

    Parameters
    ----------
    train, valid : Data
    both : Data
        Their rows, those that train first.
    classes : Classes
    fold : array of shape (n_valid,)
    """

    train: Data
    valid: Data
    both: Data
    classes: Classes
    fold: NDArray[np.intp]

    @classmethod
    def build(
        cls, train: Data, valid: Data, classes: Classes, rng: np.random.Generator
    ) -> ManyKitchen:
        """Stack the rows and deal the judging rows into folds, class by class."""
        train, valid = in_counts(train), in_counts(valid)
        both = train.followed_by(valid)
        return cls(train, valid, both, classes, dealt(valid, rng))

    @property
    def stock(self) -> Data:
        """The rows that train: those that judge too, by turns, where there are no others."""
        return self.train if len(self.train) > 0 else self.valid

    def cook(self, recipe: Recipe, trainer: Trainer, near: Served | None = None) -> Served:
        """Train a recipe; models of another candidate are begun from, fold by fold."""
        rows, n = mixed(recipe), len(self.train)
        if recipe.valid is None:
            model = trainer.fit(self.train, rows, recipe, near.model if near else None)
            return Served(recipe, trainer.family, model, (), table(model, self.valid.X))
        data = self.both if np.any(rows[:n] > 0.0) else self.valid
        rows = rows if data is self.both else rows[n:]
        model = trainer.fit(data, rows, recipe, near.model if near else None)
        valid = np.empty((len(self.valid), len(self.classes)))
        folds = list(self._folds(recipe, trainer, data, rows, near))
        for k, without in enumerate(folds):
            out = np.flatnonzero(self.fold == k)
            valid[out] = table(without, self.valid.X[out])
        return Served(recipe, trainer.family, model, tuple(folds), valid)

    def _folds(
        self, recipe: Recipe, trainer: Trainer, data: Data, rows: Floats64, near: Served | None
    ) -> Iterator[Scorer]:
        """Yield the model without each fold; it begins from one that knows no more than it may."""
        n = len(data) - len(self.valid)
        for k in range(FOLDS):
            kept = np.concatenate([np.arange(n), n + np.flatnonzero(self.fold != k)])
            weights = rows[kept].copy()
            if n:
                weights[n:] *= recipe.share / max(float(weights[n:].sum()), 1e-300)
            start = near.folds[k] if near and near.folds else None
            if start is None and near and near.recipe.valid is None:
                start = near.model
            yield trainer.fit(data.take(kept), weights, recipe, start)


def table(model: Scorer, X: Matrix) -> Floats64:
    """Return a model's scores, which must be finite."""
    scores = np.asarray(model.scores(X), dtype=np.float64)
    if not np.all(np.isfinite(scores)):
        raise ValueError(f"{type(model).__name__} gave scores that are not finite numbers.")
    return scores


def effective(rows: Floats64, weights: Floats64) -> float:
    """Return one over the effective number of rows, of entries the mean over their columns.

    Examples
    --------
    >>> import numpy as np
    >>> effective(np.ones(4), np.ones(4)), effective(np.ones((4, 2)), np.ones(4))
    (0.25, 0.25)
    """
    columns = rows.reshape(len(rows), -1)
    weight = weights[:, np.newaxis]
    each = np.sum(columns**2 / weight, axis=0) / np.maximum(columns.sum(axis=0), 1e-300) ** 2
    return float(each.mean())
