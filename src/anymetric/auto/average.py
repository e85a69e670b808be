"""Average: what the replicates cannot tell apart is averaged, by the votes it gets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.jury import Tuned
from anymetric.auto.pool import Candidate, Recipe
from anymetric.ledger import Probe
from anymetric.problem import Problem
from anymetric.solution import Turn

Floats64 = NDArray[np.float64]
# Candidates whose scores are less alike than this point elsewhere: their mean points nowhere.
AGREE = 0.5


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate with the verdict on it.

    Examples
    --------
    >>> import numpy as np
    >>> one = Candidate(
    ...     Recipe("one", np.ones(1)), np.array([2.0, 0.0]), np.ones(1), np.array([-2.0, 2.0])
    ... )
    >>> Judged.average([Judged(one, Tuned(1.0, 0.0, np.zeros(1)))], np.ones(1)).candidate.theta
    array([1. , 0.5])
    """

    candidate: Candidate
    tuned: Tuned

    def turn(self, problem: Problem, number: int, calls: int, began: float) -> Turn:
        """Return the candidate as a turn of the run."""
        theta = lifted(self.candidate.theta, self.tuned.shift)
        here = Probe(theta, problem.profile(theta), self.tuned.cost)
        return Turn(number, 0, here, here.profile, calls=calls, seconds=time.perf_counter() - began)

    @classmethod
    def average(cls, judged: Sequence[Judged], share: Floats64) -> Judged:
        """Return the mean of the shifted scores, each divided by its spread."""
        theta, train, valid, rows, own = 0.0, 0.0, 0.0, 0.0, 0.0
        validation = None
        for one, weight in zip(judged, share, strict=True):
            if weight == 0.0:
                continue
            c, size = one.candidate, weight / spread(one.candidate.valid)
            theta = theta + size * lifted(c.theta, one.tuned.shift)
            train = train + size * (c.train + one.tuned.shift)
            valid = valid + size * (c.valid + one.tuned.shift)
            rows = rows + weight * (1.0 - c.recipe.share) * unit(c.recipe.train)
            own = own + weight * c.recipe.share
            if c.recipe.valid is not None:
                part = weight * c.recipe.share * unit(c.recipe.valid)
                validation = part if validation is None else validation + part
        recipe = Recipe("average", np.asarray(rows), validation, float(own))
        mean = Candidate(recipe, np.asarray(theta), np.asarray(train), np.asarray(valid))
        return cls(mean, Tuned(0.0, np.nan, np.zeros(0)))


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
    kept = np.array([alike(leader, other) > AGREE for other in scores]) * votes
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


def spread(scores: Floats64) -> float:
    """Return the standard deviation of scores; one if they are all the same.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([1.0, 1.0])), spread(np.array([-2.0, 2.0]))
    (1.0, 2.0)
    """
    size = float(scores.std())
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


def unit(rows: Floats64) -> Floats64:
    """Return weights that sum to one, or zeros."""
    return rows / max(float(rows.sum()), np.finfo(float).tiny)


def slice_worth(problem: Problem, recipe: Recipe) -> dict[str, float]:
    """Return the part of the whole weight that each slice of the training rows had.

    The judging rows are one more entry if they trained too.
    """
    rows = recipe.train if problem.valid is not problem.train else recipe.valid
    worth: dict[str, float] = {}
    if rows is not None and len(rows) == len(problem.train):
        members = problem.profiler.members(len(problem.train))
        worth = dict(zip(problem.names, np.asarray(members @ rows).tolist(), strict=True))
    if problem.valid is not problem.train and recipe.share > 0.0:
        worth["validation rows"] = recipe.share
    total = sum(worth.values())
    return {name: value / total for name, value in worth.items()} if total > 0 else worth
