"""Average: what the replicates cannot tell apart is averaged, by the votes it gets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.apart import blended
from anymetric.auto.jury import Judgement
from anymetric.auto.pool import Candidate, Recipe, unit
from anymetric.auto.wild import without_wild
from anymetric.ledger import Probe
from anymetric.models import Ensemble
from anymetric.problem import Problem
from anymetric.solution import Turn
from anymetric.surrogates import Sliced, Slices

Floats64 = NDArray[np.float64]
# Candidates whose scores are less alike than this point elsewhere: their mean points nowhere.
AGREE = 0.5


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate with the verdict on it.

    Examples
    --------
    >>> import numpy as np
    >>> one = Candidate(Recipe("one", np.ones(1)), np.zeros(2), np.ones(1), np.array([-2.0, 2.0]))
    >>> Judged(one, Judgement(1.0, 0.0, np.zeros(1))).scores.tolist()
    [-1.0, 3.0]
    """

    candidate: Candidate
    tuned: Judgement

    def turn(self, problem: Problem, number: int, calls: int, began: float) -> Turn:
        """Return the candidate as a turn of the run."""
        here = probe(problem, self.candidate, self.tuned.shift, self.tuned.cost)
        return Turn(number, 0, here, here.profile, calls=calls, seconds=time.perf_counter() - began)

    @property
    def scores(self) -> Floats64:
        """The judging rows' scores at the candidate's threshold."""
        return self.candidate.valid + self.tuned.shift


def average(judged: Sequence[Judged], share: Floats64, sizes: Sequence[float]) -> Candidate:
    """Return the mean candidate by shares, each brought to the mean size first.

    Parameters
    ----------
    judged : sequence of Judged
    share : array
        Sums to one.
    sizes : sequence of float
        How widely each candidate's scores spread; ones where the scores are in a unit of their
        own, as in regression.

    Examples
    --------
    >>> import numpy as np
    >>> recipe = Recipe("one", np.ones(1))
    >>> one = Candidate(recipe, np.array([2.0, 0.0]), np.ones(1), np.array([-2.0, 2.0]))
    >>> average([Judged(one, Judgement(1.0, 0.0, np.zeros(1)))], np.ones(1), [2.0]).theta.tolist()
    [2.0, 1.0]
    """
    kept = [(j, w, w / size) for j, w, size in zip(judged, share, sizes, strict=True) if w > 0.0]
    scale = float(share @ np.asarray(sizes))
    scorer = summed([(j, scale * part) for j, _, part in kept])
    if scorer is None:
        theta = sum(part * lifted(j.candidate.theta, j.tuned.shift) for j, _, part in kept)
    else:
        theta = np.zeros(0)
    train = sum(part * (j.candidate.train + j.tuned.shift) for j, _, part in kept)
    valid = sum(part * j.scores for j, _, part in kept)
    recipe = mixture([(j.candidate.recipe, w) for j, w, _ in kept])
    parts = (scale * np.asarray(theta), scale * np.asarray(train), scale * np.asarray(valid))
    apart = blended([(j.candidate.apart, scale * part) for j, _, part in kept])
    return Candidate(recipe, *parts, scorer=scorer, apart=apart)


def summed(parts: Sequence[tuple[Judged, float]]) -> Ensemble | None:
    """Return the sum of candidates' scores at their thresholds; None if parameters say it all."""
    members = [one.candidate.scorer for one, _ in parts if one.candidate.scorer is not None]
    if not members:
        return None
    offset = sum(weight * one.tuned.shift for one, weight in parts)
    return Ensemble.of(members, [weight for _, weight in parts], offset)


def probe(problem: Problem, candidate: Candidate, shift: float, cost: float) -> Probe:
    """Return a candidate at its threshold as one look at the metric.

    The profile of one without parameters comes from its scores: of the training rows, or of the
    same rows as they judged by turns.
    """
    if candidate.scorer is None:
        theta = lifted(candidate.theta, shift)
        return Probe(theta, problem.profile(theta), cost)
    scores = candidate.train if len(candidate.train) else candidate.valid
    scores = np.asarray(scores, dtype=np.float64) + shift
    return Probe(np.zeros(0), np.asarray(problem.profiler.values(scores)), cost)


def mixture(recipes: Sequence[tuple[Recipe, float]]) -> Recipe:
    """Return the recipe whose row weights are the mean of these.

    Examples
    --------
    >>> import numpy as np
    >>> both = Recipe("both", np.ones(1), np.ones(2), share=0.4)
    >>> mixture([(Recipe("one", np.ones(1)), 0.5), (both, 0.5)]).share
    0.2
    """
    rows = sum(w * (1.0 - recipe.share) * unit(recipe.train) for recipe, w in recipes)
    own = [w * r.share * unit(r.valid) for r, w in recipes if r.valid is not None]
    share = sum(w * recipe.share for recipe, w in recipes)
    return Recipe("average", np.asarray(rows), np.asarray(sum(own)) if own else None, float(share))


def votes(replicates: Floats64) -> Floats64:
    """Return each candidate's share of the replicates in which it is best.

    Candidates that tie share the vote.

    Parameters
    ----------
    replicates : array of shape (B, C)
        Costs.

    Examples
    --------
    >>> import numpy as np
    >>> votes(np.array([[0.1, 0.2], [0.3, 0.2], [0.1, 0.1], [0.0, 0.2]])).tolist()
    [0.625, 0.375]
    """
    best = replicates == replicates.min(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def agreeing(votes: Floats64, scores: Sequence[Floats64]) -> Floats64:
    """Keep the votes of candidates whose scores agree with the leader's.

    Examples
    --------
    >>> import numpy as np
    >>> s = np.array([-1.0, 0.0, 1.0])
    >>> agreeing(np.array([0.6, 0.3, 0.1]), [s, -s, 2 * s]).round(3).tolist()
    [0.857, 0.0, 0.143]
    """
    leader = scores[int(np.argmax(votes))]
    pairs = zip(votes, scores, strict=True)
    kept = np.array([v if v > 0.0 and alike(leader, other) > AGREE else 0.0 for v, other in pairs])
    return np.asarray(kept / kept.sum())


def alike(one: Floats64, two: Floats64) -> float:
    """Return the correlation of two score vectors; constant ones are alike to none but themselves.

    Examples
    --------
    >>> import numpy as np
    >>> round(alike(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 4.0])), 6)
    1.0
    """
    if one is two:
        return 1.0
    a, b = one - one.mean(), two - two.mean()
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length > 0.0 else 0.0


def spread(scores: Floats64, weights: Floats64) -> float:
    """Return the weighted standard deviation of scores, wild ones aside; one if all are the same.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([1.0, 1.0]), np.ones(2)), spread(np.array([-2.0, 2.0]), np.ones(2))
    (1.0, 2.0)
    """
    weights = without_wild(scores[:, np.newaxis], weights)
    mean = np.average(scores, weights=weights)
    size = float(np.sqrt(np.average((scores - mean) ** 2, weights=weights)))
    return size if size > 0.0 else 1.0


def lifted(theta: Floats64, shift: float) -> Floats64:
    """Return the parameters with the intercept moved.

    Examples
    --------
    >>> import numpy as np
    >>> lifted(np.array([1.0, 2.0]), 0.5).tolist()
    [1.0, 2.5]
    """
    if shift == 0.0:
        return theta
    moved = theta.copy()
    moved[-1] += shift
    return moved


def slice_worth(problem: Problem, recipe: Recipe) -> dict[str, float]:
    """Return the part of the whole weight that each slice of the training rows had.

    The slices are the surrogates' own where those share out the rows, else the classes. The
    judging rows are one more entry if they trained too.
    """
    rows = recipe.train if recipe.train.sum() > 0.0 else recipe.valid
    worth: dict[str, float] = {}
    if rows is not None and len(rows) == len(problem.train):
        for slice_ in shared_out(problem):
            worth[slice_.name] = float(rows[slice_.mask(problem.train)].sum())
    if problem.valid is not problem.train and recipe.share > 0.0:
        worth["validation rows"] = recipe.share
    total = sum(worth.values())
    return {name: value / total for name, value in worth.items()} if total > 0 else worth


def row_weights(problem: Problem, recipe: Recipe) -> Floats64 | None:
    """Return the learned weight of every training row; None if none of them trained."""
    if problem.valid is problem.train and recipe.valid is not None:
        return recipe.valid
    return recipe.train if recipe.train.sum() > 0.0 else None


def judge_weights(problem: Problem, recipe: Recipe) -> Floats64 | None:
    """Return the learned weight of every judging row beside `row_weights`; None if none trained."""
    if problem.valid is problem.train or recipe.valid is None or recipe.share == 0.0:
        return None
    alone = recipe.share >= 1.0 or recipe.train.sum() == 0.0
    rows = recipe.valid if recipe.valid.ndim == 1 else recipe.valid.mean(axis=1)
    return unit(rows) * (1.0 if alone else recipe.share / (1.0 - recipe.share))


def shared_out(problem: Problem) -> list[Sliced]:
    """Return slices of which every training row belongs to exactly one."""
    own = [s for s in problem.profiler.surrogates if isinstance(s, Sliced)]
    if len(own) == len(problem.profiler):
        times = sum(s.mask(problem.train).astype(int) for s in own)
        if np.all(times == 1):
            return own
    return Slices("logistic", ("class",)).expand(problem.train)


def loss_worth(judged: Sequence[Judged], share: Floats64) -> dict[str, float]:
    """Return what each loss was worth, for candidates that differ in their loss."""
    worth: dict[str, float] = {}
    for one, weight in zip(judged, share, strict=True):
        name = "squared" if one.candidate.recipe.loss is None else one.candidate.recipe.loss.name
        worth[name] = worth.get(name, 0.0) + float(weight)
    return worth
