"""Learners: recipes cooked by families that need but weights for their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.apart import added
from anymetric.auto.onward import onward
from anymetric.auto.pool import FOLDS, Candidate, Recipe, dealt, mixed
from anymetric.data import Data
from anymetric.models import Ensemble, Learner, Scorer

Floats64 = NDArray[np.float64]
# A recipe of more strength than this asks for smaller models.
STIFF = 50.0


@runtime_checkable
class Growing(Protocol):
    """A family that is trained step by step, and can be watched by rows that do not train."""

    def grow(
        self,
        data: Data,
        rows: Floats64,
        rng: np.random.Generator,
        *,
        watch: Sequence[tuple[Data, Floats64]] = (),
        trees: int | None = None,
        classes: int = 2,
        begun: Sequence[Floats64] = (),
    ) -> Any:
        """Train, and note the loss of each of those that watch, step by step."""
        ...


@dataclass(frozen=True, eq=False)
class LearnerKitchen:
    """Trains recipes with one family, on fixed rows.

    A judging row is scored by a model that it did not train, nor told when to stop.

    Attributes
    ----------
    learner : Learner
    train, valid, both : Data
    fold : array of shape (n_valid,)
    classes : int
    watched : bool
        Whether judging rows may tell a family when to stop, each fold for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from anymetric.models import Reweighted
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2))
    >>> rows = Data(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    >>> train, valid = rows.take(np.arange(40)), rows.take(np.arange(40, 90))
    >>> family = Reweighted(DecisionTreeClassifier(max_depth=2))
    >>> kitchen = LearnerKitchen(family, train, valid, rows, np.arange(50) % 5)
    >>> kitchen.cook(Recipe("valid", np.zeros(40), np.ones(50), 1.0), rng).valid.shape
    (50,)
    """

    learner: Learner
    train: Data
    valid: Data
    both: Data
    fold: NDArray[np.intp]
    classes: int = 2
    watched: bool = True

    def cook(
        self, recipe: Recipe, rng: np.random.Generator, start: Scorer | None = None
    ) -> Candidate:
        """Train a recipe; a mixture from `start`, a model that no judging row trained."""
        if recipe.base is not None:
            scorer, scores = self._onward(recipe, recipe.base, rng)
        elif recipe.valid is not None:
            scorer, scores = self._by_turns(recipe, rng, start if recipe.share < 1.0 else None)
        elif self.watched and isinstance(self._learner(recipe), Growing):
            scorer, scores = self._watched(recipe, rng)
        else:
            learner = self._learner(recipe)
            scorer = learner.learn(self.train, recipe.train, rng, classes=self.classes)
            scores = scorer.scores(self.valid.X)
        trained = np.zeros(0)
        if len(self.train):
            trained = np.asarray(scorer.scores(self.train.X), dtype=np.float32)
        return Candidate(recipe, np.zeros(0), trained, scores, scorer)

    def crossed(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """Return the candidate with training rows scored by models that they did not train."""
        recipe, n = candidate.recipe, len(self.train)
        if recipe.train.sum() == 0.0:
            return candidate
        if recipe.base is not None:
            assert isinstance(candidate.scorer, Ensemble)
            other = self.crossed(recipe.base, rng).train - recipe.base.train
            return replace(candidate, train=candidate.train + candidate.scorer.weights[0] * other)
        data = self.train if recipe.valid is None else self.both
        rows, scores = mixed(recipe), np.empty(n)
        fold = dealt(self.train, rng)
        for k in range(FOLDS):
            out = np.flatnonzero(fold == k)
            kept = rows.copy()
            kept[out] = 0.0
            model = self._again(candidate, data, kept, rng)
            scores[out] = model.scores(self.train.X[out])
        return replace(candidate, train=scores + added(candidate.apart, self.train))

    def _again(
        self, candidate: Candidate, data: Data, rows: Floats64, rng: np.random.Generator
    ) -> Scorer:
        """Train like a candidate on other rows, as long as it was trained."""
        learner = self._learner(candidate.recipe)
        steps = getattr(candidate.scorer, "best_iteration_", None)
        if steps is None or not isinstance(learner, Growing):
            return learner.learn(data, rows, rng, classes=self.classes)
        found: Scorer = learner.grow(data, rows, rng, trees=steps, classes=self.classes).cut(steps)
        return found

    def _learner(self, recipe: Recipe) -> Learner:
        """Return the family as a recipe asks for it: with smaller models, or another loss."""
        learner: Any = self.learner
        if recipe.strength > STIFF and hasattr(learner, "stiffer"):
            learner = learner.stiffer()
        if recipe.loss is not None and hasattr(learner, "with_loss"):
            learner = learner.with_loss(recipe.loss)
        return cast("Learner", learner)

    def _watched(self, recipe: Recipe, rng: np.random.Generator) -> tuple[Scorer, Floats64]:
        """Train on training rows; each fold of the judging rows is scored where the others stop."""
        learner = self._learner(recipe)
        assert isinstance(learner, Growing)
        folds = [np.flatnonzero(self.fold == k) for k in range(FOLDS)]
        weights = self._like(recipe)
        watch = [(self.valid.take(out), weights[out]) for out in folds]
        grown = learner.grow(self.train, recipe.train, rng, watch=watch, classes=self.classes)
        scores = np.empty(len(self.valid))
        for k, out in enumerate(folds):
            if len(out):
                scores[out] = grown.scores(self.valid.X[out], grown.best_without(k))
        return grown.cut(grown.best), scores

    def _by_turns(
        self, recipe: Recipe, rng: np.random.Generator, start: Scorer | None
    ) -> tuple[Scorer, Floats64]:
        """Train on judging rows too; each fold is scored by a model trained without it."""
        rows, n, learner = mixed(recipe), len(self.train), self._learner(recipe)
        folds = [np.flatnonzero(self.fold == k) for k in range(FOLDS)]
        if isinstance(learner, Growing):
            return self._grown_by_turns(recipe, rows, folds, rng)
        scores = np.empty(len(self.valid))
        for out in folds:
            without = self._without(recipe, rows, n + out)
            model = learner.learn(self.both, without, rng, classes=self.classes, start=start)
            scores[out] = model.scores(self.valid.X[out])
        last = learner.learn(self.both, rows, rng, classes=self.classes, start=start)
        return last, scores

    def _grown_by_turns(
        self,
        recipe: Recipe,
        rows: Floats64,
        folds: Sequence[NDArray[np.intp]],
        rng: np.random.Generator,
    ) -> tuple[Scorer, Floats64]:
        """Train without each fold while it watches; the other folds say where to stop."""
        learner = self._learner(recipe)
        assert isinstance(learner, Growing)
        n, classes, weights = len(self.train), self.classes, self._like(recipe)
        grown = [
            learner.grow(
                self.both,
                self._without(recipe, rows, n + out),
                rng,
                watch=[(self.valid.take(out), weights[out])],
                classes=classes,
            )
            for out in folds
        ]
        best = np.array([one.best for one in grown])
        scores = np.empty(len(self.valid))
        for k, out in enumerate(folds):
            stop = int(np.median(np.delete(best, k)))
            scores[out] = grown[k].scores(self.valid.X[out], stop)
        stop = int(np.median(best))
        return learner.grow(self.both, rows, rng, trees=stop, classes=classes).cut(stop), scores

    def _onward(
        self, recipe: Recipe, base: Candidate, rng: np.random.Generator
    ) -> tuple[Scorer, Floats64]:
        """Let the judging rows train on from a model of the training rows, by turns."""
        assert base.scorer is not None
        assert recipe.valid is not None
        folds = [np.flatnonzero(self.fold == k) for k in range(FOLDS)]
        rows = recipe.valid, self._like(recipe)
        learner, classes = self._learner(recipe), self.classes
        return onward(learner, base.scorer, self.valid, rows, folds, rng, classes)

    def _without(self, recipe: Recipe, rows: Floats64, out: NDArray[np.intp]) -> Floats64:
        """Return the weights without some judging rows; the others keep their share."""
        n, kept = len(self.train), rows.copy()
        kept[out] = 0.0
        kept[n:] *= recipe.share / max(float(kept[n:].sum()), np.finfo(float).tiny)
        return kept

    def _like(self, recipe: Recipe) -> Floats64:
        """Return weights of the judging rows under which their classes weigh as in the recipe."""
        weights = self.valid.weights.copy()
        if self.classes == 0:
            return weights
        rows = mixed(recipe)
        y = self.train.y if recipe.valid is None else self.both.y
        for label in np.unique(self.valid.y):
            own = self.valid.y == label
            weights[own] *= rows[y == label].sum() / weights[own].sum()
        return weights
