"""Trees by query: blends of surrogates followed by boosting rounds, with honest scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.blends import Blend, Served, weighed_parts
from anymetric.auto.kitchens import QueryKitchen
from anymetric.auto.pool import FOLDS, Recipe
from anymetric.data import Data, Matrix
from anymetric.models.trees import Patience, Rounds
from anymetric.problem import Problem
from anymetric.surrogates import Bound
from anymetric.surrogates.profiler import local

Floats64 = NDArray[np.float64]
# Of queries too few to say where to stop.
UNWATCHED = 50


@runtime_checkable
class Boosting(Protocol):
    """A family that grows along any gradient by the scores."""

    trees: int
    patience: int

    @property
    def family(self) -> str:
        """The verdict's word for it."""
        ...

    def rounds(self, data: Data, rng: np.random.Generator, watch: Sequence[Data] = ()) -> Rounds:
        """Return a booster without trees."""
        ...


@dataclass(frozen=True, eq=False)
class TreeKitchen:
    """Trains blends by boosting; a judging query is scored by trees that it did not train.

    Attributes
    ----------
    learner : Boosting
    rows : QueryKitchen
        The queries and their folds, with features as the trees read them.
    rng : numpy Generator

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.models.boosted import Boosted
    >>> from anymetric.surrogates import Pairwise
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.where(np.abs(X[:, 0]) + 0.5 * rng.normal(size=400) > 1.0, 1.0, -1.0)
    >>> data = Data(X, y, side={"query": np.repeat(np.arange(40), 10)})
    >>> rows = QueryKitchen.build(Problem(data, Pairwise(), as_metric("map")), rng)
    >>> served = TreeKitchen(Boosted(trees=40), rows, rng).cook(Blend("pairs", np.ones(1)))
    >>> bool(np.corrcoef(served.valid, np.abs(X[:, 0]))[0, 1] > 0.7)
    True
    """

    learner: Boosting
    rows: QueryKitchen
    rng: np.random.Generator

    @cached_property
    def folds(self) -> list[NDArray[np.intp]]:
        """The judging rows of each fold; those without rows are left out."""
        found = [np.flatnonzero(self.rows.fold == k) for k in range(FOLDS)]
        return [out for out in found if len(out)]

    @cached_property
    def watchers(self) -> list[Problem]:
        """The problem on each fold of the judging queries."""
        problem = self.rows.problem
        parts = [problem.valid.take(out) for out in self.folds]
        surrogates = problem.profiler.surrogates
        return [replace(problem, train=p, valid=p, surrogates=surrogates) for p in parts]

    def cook(self, blend: Blend, near: Served | None = None) -> Served:
        """Train a blend; what is `near` cannot help trees."""
        weights = blend.weights / self.rows.units
        if self.rows.few:
            growth = self._begun(self.rows.problem, weights).to(UNWATCHED)
            stop, valid = UNWATCHED, growth.scores(self.rows.problem.valid.X, UNWATCHED)
        elif blend.both or self.rows.single:
            growth, stop, valid = self._by_turns(blend, weights)
        else:
            growth, stop, valid = self._watched(weights)
        model = growth.rounds.cut(stop)
        # Of the only sample no other scores are honest.
        trained = valid if self.rows.single else model.scores(self.rows.problem.train.X)
        recipe = Recipe(blend.name, self.rows.problem.train.weights, family=self.learner.family)
        return Served(recipe, np.zeros(0), trained, valid, model, blend=blend)

    def _watched(self, weights: Floats64) -> tuple[Growth, int, Floats64]:
        """Train on the training queries; each fold is scored where the others would stop."""
        growth = self._begun(self.rows.problem, weights, self.watchers)
        every = range(len(self.watchers))
        others = [[j for j in every if j != k] for k in every]
        stops = [growth.until(self.learner.trees, self.learner.patience, own) for own in others]
        scores = np.empty(len(self.rows.fold))
        for out, stop in zip(self.folds, stops, strict=True):
            scores[out] = growth.scores(self.rows.problem.valid.X[out], stop)
        return growth, growth.until(self.learner.trees, self.learner.patience, every), scores

    def _by_turns(self, blend: Blend, weights: Floats64) -> tuple[Growth, int, Floats64]:
        """Train without each fold while it watches; the other folds say where to stop."""
        others = [self.rows.others[k] for k in range(FOLDS) if np.any(self.rows.fold == k)]
        pairs = zip(others, self.watchers, strict=True)
        growths = [self._begun(other, weights, [own]) for other, own in pairs]
        stops = [one.until(self.learner.trees, self.learner.patience, [0]) for one in growths]
        scores = np.empty(len(self.rows.fold))
        for k, (out, growth) in enumerate(zip(self.folds, growths, strict=True)):
            stop = int(np.median(np.delete(stops, k)))
            scores[out] = growth.to(stop).scores(self.rows.problem.valid.X[out], stop)
        whole = self.rows.both if blend.both else self.rows.problem
        stop = int(np.median(stops))
        return self._begun(whole, weights).to(stop), stop, scores

    def _begun(
        self, problem: Problem, weights: Floats64, watchers: Sequence[Problem] = ()
    ) -> Growth:
        watch = [own.train for own in watchers]
        rounds = self.learner.rounds(problem.train, self.rng.spawn(1)[0], watch)
        return Growth(problem, weights, rounds, watchers)


@dataclass(eq=False)
class Growth:
    """Rounds along a weighted sum of surrogates, while queries that do not train watch.

    Attributes
    ----------
    problem : Problem
        Its training rows train.
    weights : array of shape (K,)
    rounds : Rounds
    watchers : sequence of Problem
    losses : list of lists
        The sum for each that watches, round by round.
    """

    problem: Problem
    weights: Floats64
    rounds: Rounds
    watchers: Sequence[Problem] = ()
    losses: list[list[float]] = field(default_factory=list)
    ended: bool = False

    def __post_init__(self) -> None:
        self.parts = weighed_parts(self.problem, self.weights)
        self.seen = [weighed_parts(own, self.weights) for own in self.watchers]
        self.reached = np.zeros(len(self.problem.train))

    def add(self) -> None:
        """Add a tree, or find that none can be added."""
        self.ended = not self.rounds.add(pull(self.parts, self.reached))
        if self.ended:
            return
        self.reached, *others = self.rounds.reached()
        pairs = zip(self.seen, others, strict=True)
        self.losses.append([weighed(parts, scores) for parts, scores in pairs])

    def to(self, rounds: int) -> Growth:
        """Grow to so many rounds, if they can be had."""
        while self.rounds.count < rounds and not self.ended:
            self.add()
        return self

    def until(self, most: int, patience: int, watching: Sequence[int]) -> int:
        """Return the best number of rounds for some that watch; grow until they lose patience.

        What others have seen meanwhile changes nothing.
        """
        sizes = np.array([self.watchers[k].train.weights.sum() for k in watching])
        told = Patience(patience)
        while told.count < most and not told.lost:
            self.to(told.count + 1)
            if self.rounds.count == told.count:
                break
            told.see(float(np.array(self.losses[told.count])[list(watching)] @ sizes))
        return told.best

    def scores(self, X: Matrix, rounds: int) -> Floats64:
        """Return the scores of the first rounds."""
        return self.rounds.scores(X, min(rounds, self.rounds.count))


def weighed(parts: Sequence[tuple[Bound, Floats64]], scores: Floats64) -> float:
    """Return a sum of surrogates."""
    return float(sum(np.dot(w, part.values(scores)) for part, w in parts))


def pull(parts: Sequence[tuple[Bound, Floats64]], scores: Floats64) -> Floats64:
    """Return the gradient, by the scores, of a sum of surrogates."""
    return np.asarray(sum(local(part, scores)[1].mixed(w) for part, w in parts))
