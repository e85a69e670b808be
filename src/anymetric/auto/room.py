"""Room: a run in progress, who trains in it, who judges, and what they have come to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.apart import Apart
from anymetric.auto.average import Judged
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import few
from anymetric.auto.jury import CountedJury
from anymetric.auto.learners import LearnerKitchen
from anymetric.auto.odds import as_odds
from anymetric.auto.pool import LINEAR, Candidate, Kitchen, Recipe, nearest
from anymetric.auto.walk import mean_cost
from anymetric.auto.wild import spared
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.models import LinearScorer, Scorer
from anymetric.models.tables import Plain
from anymetric.problem import Problem
from anymetric.solution import Status, Turn

Floats64 = NDArray[np.float64]


@dataclass(eq=False)
class Room:
    """What the parts of one run share.

    Attributes
    ----------
    ledger : Ledger
    kitchen : Kitchen
    jury : CountedJury or CallingJury
    domain : array of shape (n_train,) or None
        How much each training row looks like the judging rows; None if there is but one sample.
    rng : numpy Generator
    kitchens : mapping from family to LearnerKitchen
        Families without a parameter vector.
    plain : Plain or None
        What makes rows readable to linear models, where others read them as they are.
    apart : Apart or None
        Where groups have thresholds of their own.
    judged : list of Judged
        Every candidate so far.
    refused : list of Judged
        Those that may not be chosen.
    turns : list of Turn
    wild : array of bool
        Rows of both samples with values far beyond all others, training rows first.
    sparing : bool
        Whether linear candidates train without them.
    """

    ledger: Ledger
    kitchen: Kitchen
    jury: CountedJury | CallingJury
    domain: Floats64 | None
    rng: np.random.Generator
    kitchens: Mapping[str, LearnerKitchen] = field(default_factory=dict)
    plain: Plain | None = None
    apart: Apart | None = None
    judged: list[Judged] = field(default_factory=list)
    refused: list[Judged] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    wild: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    sparing: bool = False

    @property
    def problem(self) -> Problem:
        """The problem that is solved here."""
        return self.ledger.problem

    @property
    def looks(self) -> float:
        """How many more candidates can be heard: the last look is kept for their average."""
        left = self.jury.left
        if not isinstance(self.jury, CountedJury):
            return left
        return max(left - 1, min(left, 0 if self.judged else 1))

    def hear(self, recipe: Recipe | Candidate) -> Turn:
        """Train a recipe from the nearest candidate so far, judge it, and keep both."""
        began = time.perf_counter()
        if self.looks < 1:
            raise BudgetSpent("No look is left for another candidate.")
        if isinstance(recipe, Recipe):
            recipe = self.cooked(recipe)
        recipe = self.sized(recipe)
        if self.apart is not None and isinstance(self.jury, CountedJury):
            recipe = self.apart.tuned(recipe, self.jury)
        judged = Judged(recipe, self.jury.tune(recipe.valid))
        turn = judged.turn(self.problem, len(self.turns), self.ledger.calls, began)
        self.judged.append(judged)
        self.turns.append(turn)
        return turn

    def cooked(self, recipe: Recipe) -> Candidate:
        """Train a recipe by its family, a linear one from the nearest candidate so far."""
        if recipe.family in self.kitchens:
            start = first_alone(self.judged, recipe.family)
            return self.kitchens[recipe.family].cook(recipe, self.rng.spawn(1)[0], start)
        if self.sparing:
            recipe = spared(recipe, self.wild)
        linear = [one.candidate for one in self.judged if one.candidate.recipe.family == LINEAR]
        candidate = self.kitchen.cook(recipe, nearest(recipe, linear))
        if not self.kitchens:
            return candidate
        weights, offset = self.kitchen.model.raw(candidate.theta)
        return replace(candidate, scorer=LinearScorer(weights, float(offset), self.plain))

    def sized(self, candidate: Candidate) -> Candidate:
        """Return a candidate whose scores are log-odds, if the metric reads them and likes that.

        A function may have a cut of its own: then scores are better as they are. Rows that judge
        what they trained cannot say how large scores should be.
        """
        problem = self.problem
        if not problem.metric.probabilistic or problem.labels is None or few(problem):
            return candidate
        odds = as_odds(candidate, problem)
        if odds is candidate or self.ledger.left < 2 + self.jury.price:
            return odds
        plain, sized = self.ledger.ask(
            problem.judge, np.column_stack([candidate.valid, odds.valid])
        )
        return candidate if plain < sized else odds

    def shaped(self, mean: Candidate) -> Candidate:
        """Return the average as log-odds if need be, its groups apart if nobody asked before."""
        mean = self.sized(mean)
        if self.apart is None or isinstance(self.jury, CountedJury):
            return mean
        return self.apart.tuned(mean, self.jury)

    def running(self) -> list[Judged]:
        """Return the candidates that may be chosen, with replicates."""
        kept = [one for one in self.judged if all(one is not other for other in self.refused)]
        return self.jury.heard(kept)


def sparing(room: Room, recipes: Iterator[Recipe]) -> Iterator[Recipe]:
    """Yield the first recipe with all rows, then without the wild ones: so do all, if that pays.

    Who is judged by decisions may miss a wild row; who is judged by the size of errors had better
    hardly use a column that can be so far out. The rows that judge say which.
    """
    first = next(recipes)
    yield first
    whole = room.judged[-1]
    yield spared(replace(first, name=f"{first.name}, without wild rows"), room.wild)
    if mean_cost(room.judged[-1]) < mean_cost(whole):
        # What one wild row says is so large that no average with the others makes sense.
        room.refused.append(whole)
        room.sparing = True


def first_alone(judged: list[Judged], family: str) -> Scorer | None:
    """Return a family's first model that training rows alone have trained."""
    found = (one.candidate for one in judged if one.candidate.recipe.family == family)
    return next((one.scorer for one in found if one.recipe.valid is None), None)


def heard(
    hear: Callable[[Any], Turn],
    recipes: Iterable[Any],
    watch: Callable[[Turn], bool | None] | None = None,
) -> Status:
    """Hear recipes until there are no more, or no calls, or the caller stops."""
    try:
        for recipe in recipes:
            turn = hear(recipe)
            if watch is not None and watch(turn):
                return Status.STOPPED
    except BudgetSpent:
        return Status.BUDGET
    return Status.JUDGED
