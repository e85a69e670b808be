"""Ranking trees: boosting rounds along a weighted sum of surrogates, stopped by other queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import FOLDS
from anymetric.auto.families.ranking import QueryRows, weighted_parts
from anymetric.auto.records import Candidate, Proposal
from anymetric.auto.sample import Sample
from anymetric.data import Data, Matrix
from anymetric.models import Scorer
from anymetric.models.trees import Patience, Rounds
from anymetric.problem import Problem
from anymetric.surrogates import Bound
from anymetric.surrogates.profiler import local

Floats64 = NDArray[np.float64]
# Rounds where queries are too few to say where to stop.
UNSTOPPED = 50


@runtime_checkable
class Boosting(Protocol):
    """A family that grows along any gradient by the scores."""

    trees: int
    patience: int

    @property
    def family(self) -> str:
        """One word for the report."""
        ...

    def rounds(self, data: Data, rng: np.random.Generator, watch: Sequence[Data] = ()) -> Rounds:
        """Return a booster without trees."""
        ...


@dataclass(frozen=True, eq=False)
class RankingTrees:
    """Boosted trees trained for a weighted sum of surrogates.

    Attributes
    ----------
    learner : Boosting
    rows : QueryRows
    sample : Sample
    """

    learner: Boosting
    rows: QueryRows
    sample: Sample

    @property
    def name(self) -> str:
        """The learner's own word."""
        return self.learner.family

    def takes(self, proposal: Proposal) -> bool:
        """Take proposals of surrogates."""
        return proposal.surrogates is not None

    def train(self, proposal: Proposal, like: Candidate, rng: np.random.Generator) -> Scorer:
        """Return the candidate's own model."""
        return like.scorer

    def fit(
        self, proposal: Proposal, near: Candidate | None, rng: np.random.Generator
    ) -> Candidate:
        """Grow; a validation query is scored by trees that it neither trained nor stopped."""
        assert proposal.surrogates is not None
        weights = proposal.surrogates / self.rows.units
        X = self.rows.problem.valid.X
        if self.rows.few:
            growth = self._begun(self.rows.problem, weights, rng).to(UNSTOPPED)
            stop, valid = UNSTOPPED, growth.scores(X, UNSTOPPED)
        elif proposal.weighting.rows == "both" or self.rows.single:
            growth, stop, valid = self._cross_fitted(proposal, weights, rng)
        else:
            growth = self._begun(self.rows.problem, weights, rng, self.rows.folds)
            valid = np.empty(len(self.rows.fold))
            for k in range(FOLDS):
                others = [j for j in range(FOLDS) if j != k]
                out = np.flatnonzero(self.rows.fold == k)
                valid[out] = growth.scores(X[out], self._until(growth, others))
            stop = self._until(growth, list(range(FOLDS)))
        return Candidate(proposal, growth.rounds.cut(stop), self.rows.centred(valid))

    def train_scores(self, candidate: Candidate, rng: np.random.Generator) -> Floats64:
        """Score the training rows."""
        return np.asarray(candidate.scorer.scores(self.rows.problem.train.X))[:, np.newaxis]

    def _cross_fitted(
        self, proposal: Proposal, weights: Floats64, rng: np.random.Generator
    ) -> tuple[Growth, int, Floats64]:
        """Grow without each fold; the other folds say where to stop."""
        pairs = zip(self.rows.without, self.rows.folds, strict=True)
        growths = [self._begun(other, weights, rng, [own]) for other, own in pairs]
        stops = [self._until(one, [0]) for one in growths]
        valid, X = np.empty(len(self.rows.fold)), self.rows.problem.valid.X
        for k, growth in enumerate(growths):
            out = np.flatnonzero(self.rows.fold == k)
            stop = int(np.median(np.delete(stops, k)))
            valid[out] = growth.to(stop).scores(X[out], stop)
        stop = int(np.median(stops))
        whole = self.rows.both if proposal.weighting.rows == "both" else self.rows.problem
        return self._begun(whole, weights, rng).to(stop), stop, valid

    def _until(self, growth: Growth, stopping: list[int]) -> int:
        return growth.until(self.learner.trees, self.learner.patience, stopping)

    def _begun(
        self,
        problem: Problem,
        weights: Floats64,
        rng: np.random.Generator,
        stopping: Sequence[Problem] = (),
    ) -> Growth:
        rounds = self.learner.rounds(problem.train, rng.spawn(1)[0], [p.train for p in stopping])
        return Growth(problem, weights, rounds, stopping)


@dataclass(eq=False)
class Growth:
    """Rounds along a weighted sum of surrogates, its value recorded on queries that do not train.

    Attributes
    ----------
    problem : Problem
        Its training rows train.
    weights : array of shape (K,)
    rounds : Rounds
    stopping : sequence of Problem
    losses : list of lists
        The sum on each of these, round by round.
    """

    problem: Problem
    weights: Floats64
    rounds: Rounds
    stopping: Sequence[Problem] = ()
    losses: list[list[float]] = field(default_factory=list)
    ended: bool = False

    def __post_init__(self) -> None:
        self.parts = weighted_parts(self.problem, self.weights)
        self.others = [weighted_parts(one, self.weights) for one in self.stopping]
        self.reached = np.zeros(len(self.problem.train))

    def to(self, rounds: int) -> Growth:
        """Grow to so many rounds, if they can be had."""
        while self.rounds.count < rounds and not self.ended:
            self.ended = not self.rounds.add(score_gradient(self.parts, self.reached))
            if not self.ended:
                self.reached, *others = self.rounds.reached()
                pairs = zip(self.others, others, strict=True)
                self.losses.append([total(parts, scores) for parts, scores in pairs])
        return self

    def until(self, most: int, patience: int, stopping: Sequence[int]) -> int:
        """Return the best number of rounds by some of the problems; grow until they lose patience.

        What others have seen meanwhile changes nothing.
        """
        sizes = np.array([self.stopping[k].train.weights.sum() for k in stopping])
        seen = Patience(patience)
        while seen.count < most and not seen.lost:
            self.to(seen.count + 1)
            if self.rounds.count == seen.count:
                break
            seen.see(float(np.array(self.losses[seen.count])[list(stopping)] @ sizes))
        return seen.best

    def scores(self, X: Matrix, rounds: int) -> Floats64:
        """Return the scores of the first rounds."""
        return self.rounds.scores(X, min(rounds, self.rounds.count))


def total(parts: Sequence[tuple[Bound, Floats64]], scores: Floats64) -> float:
    """Return a weighted sum of surrogates."""
    return float(sum(np.dot(w, part.values(scores)) for part, w in parts))


def score_gradient(parts: Sequence[tuple[Bound, Floats64]], scores: Floats64) -> Floats64:
    """Return the gradient, by the scores, of a weighted sum of surrogates."""
    return np.asarray(sum(local(part, scores)[1].mixed(w) for part, w in parts))
