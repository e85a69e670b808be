"""Room: a run in progress with many classes, and what its candidates come to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import agreeing, mixture, votes
from anymetric.auto.pool import Recipe, cosine, mixed
from anymetric.auto.wild import spared, wild_rows
from anymetric.ledger import Ledger, Probe
from anymetric.many.asking import AskingJury
from anymetric.many.jury import CountingJury, Told
from anymetric.many.pool import ManyKitchen, Served, Table, Trainer
from anymetric.metrics import Classes
from anymetric.models import Ensemble, Scorer
from anymetric.models.tables import Plain
from anymetric.problem import Problem
from anymetric.solution import Turn

Floats64 = NDArray[np.float64]
LINEAR = "linear"


@dataclass(frozen=True, eq=False)
class Heard:
    """A candidate with the verdict on it."""

    served: Served
    told: Told


@dataclass(eq=False)
class ManyRoom:
    """What the parts of one run share.

    Attributes
    ----------
    ledger : Ledger
    classes : Classes
    kitchens : mapping from family to ManyKitchen
        They share all but the form of the features.
    trainers : mapping from family to Trainer
    jury : CountingJury or AskingJury
    domain : array of shape (n_train,) or None
    rng : numpy Generator
    plain : Plain or None
        What makes rows readable to linear models, where others read them as they are.
    heard : list of Heard
        Every candidate so far.
    refused : list of Heard
        Those that may not be chosen.
    turns : list of Turn
    wild : array of bool
        Rows of both samples with values far beyond all others, training rows first.
    sparing : bool
        Whether linear candidates train without them.
    """

    ledger: Ledger
    classes: Classes
    kitchens: Mapping[str, ManyKitchen]
    trainers: Mapping[str, Trainer]
    jury: CountingJury | AskingJury
    domain: Floats64 | None
    rng: np.random.Generator
    plain: Plain | None = None
    heard: list[Heard] = field(default_factory=list)
    refused: list[Heard] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    wild: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    sparing: bool = False

    @property
    def problem(self) -> Problem:
        """The problem that is solved here."""
        return self.ledger.problem

    def hear(self, recipe: Recipe) -> Turn:
        """Train a recipe from the nearest candidate of its family so far, and judge it."""
        began = time.perf_counter()
        if self.sparing and recipe.family == LINEAR:
            recipe = spared(recipe, self.wild)
        near = nearest(recipe, [h.served for h in self.heard])
        served = self.kitchens[recipe.family].cook(recipe, self.trainers[recipe.family], near)
        heard = Heard(served, self.jury.tune(served.valid))
        here = self.probe(served.model, heard.told)
        seconds = time.perf_counter() - began
        number, calls = len(self.turns), self.ledger.calls
        turn = Turn(number, 0, here, here.profile, calls=calls, seconds=seconds)
        self.heard.append(heard)
        self.turns.append(turn)
        return turn

    def probe(self, model: Scorer, told: Told) -> Probe:
        """Return a candidate at its offsets as one look."""
        problem = self.problem
        if isinstance(model, Table) and len(self.trainers) == 1:
            theta = lifted(model, told.offsets)
            return Probe(theta, problem.profile(theta), told.cost)
        if problem.valid is problem.train:
            scores = told.scores
        else:
            X = self.kitchens[LINEAR].train.X if isinstance(model, Table) else problem.train.X
            scores = model.scores(X) + told.offsets
        return Probe(np.zeros(0), problem.profiler.values(scores.reshape(-1)), told.cost)

    def running(self) -> list[Heard]:
        """Return the candidates that may be chosen, with replicates."""
        kept = [h for h in self.heard if all(h is not other for other in self.refused)]
        if isinstance(self.jury, CountingJury):
            return kept
        told = self.jury.heard([h.told for h in kept])
        pairs = zip(kept, told, strict=True)
        return [Heard(h.served, t) for h, t in pairs if t is not None]


def sparing(room: ManyRoom, recipes: Iterator[Recipe]) -> Iterator[Recipe]:
    """Yield the first recipe with all rows, then without the wild ones: so do all, if that pays."""
    first = next(recipes)
    yield first
    whole = room.heard[-1]
    yield spared(replace(first, name=f"{first.name}, without wild rows"), room.wild)
    if room.heard[-1].told.mean < whole.told.mean:
        room.refused.append(whole)
        room.sparing = True


@dataclass(frozen=True, eq=False)
class Mean:
    """The average of candidates by shares: one more candidate."""

    recipe: Recipe
    model: Scorer
    valid: Floats64


def shares(running: Sequence[Heard], averaged: bool, exclusive: bool) -> Floats64:
    """Return each candidate's share of the votes, of those that agree with the leader."""
    replicates = np.stack([h.told.replicates for h in running], axis=1)  # (B, candidates)
    share = votes(replicates)
    if not averaged:
        share = np.eye(len(running))[int(np.argmin(replicates.mean(axis=0)))]
    return agreeing(share, [centred(h.served.valid, exclusive).reshape(-1) for h in running])


def average(running: Sequence[Heard], share: Floats64, exclusive: bool) -> Mean:
    """Return the mean of the candidates at their offsets, each brought to the mean size first."""
    sizes = np.array([spread(h.served.valid, exclusive) for h in running])
    scale = float(share @ sizes)
    parts = [(h, w, scale * w / s) for h, w, s in zip(running, share, sizes, strict=True) if w > 0]
    valid = sum(part * h.told.scores for h, _, part in parts)
    recipe = mixture([(h.served.recipe, w) for h, w, _ in parts])
    members = [(h.served.model, part, h.told.offsets) for h, _, part in parts]
    return Mean(recipe, summed(members), np.asarray(valid))


def summed(members: Sequence[tuple[Scorer, float, Floats64]]) -> Scorer:
    """Return the weighted sum of models at their offsets: a table of parameters, if it can be."""
    tables = [(m, w, o) for m, w, o in members if isinstance(m, Table)]
    if len(tables) == len(members):
        thetas = [w * lifted(m, o) for m, w, o in tables]
        return Table(tables[0][0].model, np.asarray(sum(thetas)))
    offset = np.asarray(sum(w * o for _, w, o in members))
    return Ensemble.of([m for m, _, _ in members], [w for _, w, _ in members], offset)


def readable(model: Scorer, plain: Plain | None) -> Scorer:
    """Return the model as it reads rows that are as they were given."""
    if isinstance(model, Table):
        return replace(model, plain=plain)
    if isinstance(model, Ensemble):
        return replace(model, members=tuple(readable(m, plain) for m in model.members))
    return model


def lifted(table: Table, offsets: Floats64) -> Floats64:
    """Return parameters with the offsets added to the intercepts.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.models import Linear, Outputs
    >>> lifted(Table(Outputs(Linear(), 2), np.zeros(4)), np.array([1.0, 2.0])).tolist()
    [0.0, 1.0, 0.0, 2.0]
    """
    if not np.any(offsets):
        return table.theta
    theta = table.theta.reshape(len(offsets), -1).copy()
    theta[:, -1] += offsets
    return theta.reshape(-1)


def centred(scores: Floats64, exclusive: bool) -> Floats64:
    """Return scores less their mean in each row, which decides nothing between classes."""
    return scores - scores.mean(axis=1, keepdims=True) if exclusive else scores


def spread(scores: Floats64, exclusive: bool) -> float:
    """Return how widely scores spread, wild ones aside; one if they do not.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([[1.0, 3.0], [5.0, 3.0]]), exclusive=True)
    1.0
    """
    sound = centred(scores, exclusive)[~wild_rows(scores)]
    size = float(np.sqrt(np.mean(sound**2)))
    return size if size > 0.0 else 1.0


def nearest(recipe: Recipe, served: Sequence[Served]) -> Served | None:
    """Return the candidate of the same family whose weights are most alike; None if none is."""
    same = [s for s in served if s.recipe.family == recipe.family]
    rows = mixed(in_line(recipe))
    return max(same, key=lambda s: cosine(rows, mixed(in_line(s.recipe))), default=None)


def in_line(recipe: Recipe) -> Recipe:
    """Return the recipe with tables of weights, one a label, laid out row after row.

    Examples
    --------
    >>> import numpy as np
    >>> in_line(Recipe("two labels", np.eye(2))).train.tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    valid = None if recipe.valid is None else recipe.valid.reshape(-1)
    return replace(recipe, train=recipe.train.reshape(-1), valid=valid)
