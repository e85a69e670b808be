"""Room: a run in progress, who trains in it, who judges, and what they have come to."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged
from anymetric.auto.calling import CallingJury
from anymetric.auto.jury import CountedJury
from anymetric.auto.pool import Candidate, Kitchen, Recipe, nearest
from anymetric.ledger import Ledger
from anymetric.problem import Problem
from anymetric.solution import Turn

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
    judged : list of Judged
        Every candidate so far.
    refused : list of Judged
        Those that may not be chosen.
    turns : list of Turn
    """

    ledger: Ledger
    kitchen: Kitchen
    jury: CountedJury | CallingJury
    domain: Floats64 | None
    rng: np.random.Generator
    judged: list[Judged] = field(default_factory=list)
    refused: list[Judged] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    @property
    def problem(self) -> Problem:
        """The problem that is solved here."""
        return self.ledger.problem

    def hear(self, recipe: Recipe | Candidate) -> Turn:
        """Train a recipe from the nearest candidate so far, judge it, and keep both."""
        began = time.perf_counter()
        if isinstance(recipe, Recipe):
            start = nearest(recipe, [one.candidate for one in self.judged])
            recipe = self.kitchen.cook(recipe, start)
        self.judged.append(Judged(recipe, self.jury.tune(recipe.valid)))
        number, calls = len(self.turns), self.ledger.calls
        self.turns.append(self.judged[-1].turn(self.problem, number, calls, began))
        return self.turns[-1]

    def running(self) -> list[Judged]:
        """Return the candidates that may be chosen, with replicates."""
        kept = [one for one in self.judged if all(one is not other for other in self.refused)]
        return self.jury.heard(kept) if isinstance(self.jury, CallingJury) else kept
