"""Ranking: weighted sums of surrogates on whole queries, for linear models and trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from anymetric.auto.constants import FEWEST_QUERIES, FOLDS
from anymetric.auto.families.features import Features
from anymetric.auto.records import LINEAR, Candidate, Proposal
from anymetric.auto.sample import Sample
from anymetric.blocks import Queries
from anymetric.data import Data
from anymetric.metrics.ranked import QUERY, relevance
from anymetric.models import Linear, LinearScorer
from anymetric.problem import Problem
from anymetric.starts import plain
from anymetric.surrogates import Bound
from anymetric.surrogates.profiler import local

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# Iterations that follow a sum of surrogates with kinks; and from parameters for the same sum.
ITERATIONS, AGAIN = 60, 20


@dataclass(frozen=True, eq=False)
class QueryRows:
    """A problem whose queries train as a whole, with the problems that leave a fold out.

    Attributes
    ----------
    problem : Problem
    fold : array of shape (n_valid,)
        Rows of one query share it.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import Pairwise
    >>> side = {"query": np.repeat(np.arange(20), 2)}
    >>> data = Data(np.zeros((40, 1)), np.tile([1.0, -1.0], 20), side=side)
    >>> rows = QueryRows.of(Problem(data, Pairwise(), as_metric("map")), np.random.default_rng(0))
    >>> rows.single, rows.few, len(rows.without[0].train)
    (True, False, 32)
    """

    problem: Problem
    fold: Ints

    @classmethod
    def of(cls, problem: Problem, rng: np.random.Generator) -> QueryRows:
        """Deal the validation queries into folds, those with rows of different relevance evenly."""
        queries = Queries.of(problem.valid.column(QUERY))
        order = np.lexsort((rng.random(len(queries)), differing(queries, problem.valid)))
        dealt = np.empty(len(queries), dtype=np.intp)
        dealt[order] = np.arange(len(queries)) % FOLDS
        return cls(problem, dealt[queries.member])

    @property
    def single(self) -> bool:
        """Whether there is but one sample."""
        return self.problem.valid is self.problem.train

    @cached_property
    def few(self) -> bool:
        """Whether there is one sample, of too few queries to be cross-fitted."""
        return self.single and few_queries(self.problem.valid)

    @cached_property
    def joins(self) -> bool:
        """Whether validation queries are others, enough, and have the columns to train too."""
        needs = {QUERY, *(c for s in self.problem.profiler.surrogates for c in s.needs)}
        there = all(name in self.problem.valid.side for name in needs)
        return not self.single and there and not few_queries(self.problem.valid)

    @cached_property
    def both(self) -> Problem:
        """The problem on all queries, validation queries last."""
        rows = joined(self.problem.train, self.problem.valid)
        return self._on(self.problem, rows)

    @cached_property
    def without(self) -> list[Problem]:
        """The problem without each fold of the validation queries."""
        whole = self.problem if self.single else self.both
        fold = np.append(np.full(len(whole.train) - len(self.fold), -1), self.fold)
        parts = [whole.train.take(np.flatnonzero(fold != k)) for k in range(FOLDS)]
        return [self._on(whole, part) for part in parts]

    @cached_property
    def folds(self) -> list[Problem]:
        """The problem on each fold of the validation queries."""
        parts = [self.problem.valid.take(np.flatnonzero(self.fold == k)) for k in range(FOLDS)]
        return [self._on(self.problem, part) for part in parts]

    @cached_property
    def units(self) -> Floats64:
        """Each surrogate where all scores are equal; one if that is its least."""
        values = self.problem.profiler.values(np.zeros(len(self.problem.train)))
        return np.where(values > 0.0, values, 1.0)

    def centred(self, scores: Floats64) -> Floats64:
        """Return validation scores ``(n, 1)`` less their query's mean: all that a ranking reads."""
        queries = Queries.of(self.problem.valid.column(QUERY))
        return np.asarray(scores - queries.mean(scores)[queries.member])[:, np.newaxis]

    def _on(self, problem: Problem, rows: Data) -> Problem:
        surrogates = problem.profiler.surrogates
        return replace(problem, train=rows, valid=rows, surrogates=surrogates)


@dataclass(frozen=True, eq=False)
class RankingFamily:
    """Linear models trained for a weighted sum of surrogates.

    Attributes
    ----------
    rows : QueryRows
        With features as a linear model reads them.
    sample : Sample
    features : Features
    """

    rows: QueryRows
    sample: Sample
    features: Features

    name: ClassVar[str] = LINEAR

    @classmethod
    def of(cls, rows: QueryRows, sample: Sample, features: Features) -> RankingFamily:
        """Build the family on queries as they are."""
        problem, reader = rows.problem, features.reader
        train, valid = problem.train, problem.valid
        if reader is not None:
            train = replace(train, X=reader.table(train.X))
            valid = train if rows.single else replace(valid, X=reader.table(valid.X))
        surrogates = problem.profiler.surrogates
        problem = replace(
            problem, train=train, valid=valid, model=features.model, surrogates=surrogates
        )
        return cls(QueryRows(problem, rows.fold), sample, features)

    def takes(self, proposal: Proposal) -> bool:
        """Take proposals of surrogates."""
        return proposal.surrogates is not None

    def train(self, proposal: Proposal, like: Candidate, rng: np.random.Generator) -> LinearScorer:
        """Return the candidate's own model."""
        return self.features.scorer(like.state[0])

    def fit(
        self, proposal: Proposal, near: Candidate | None, rng: np.random.Generator
    ) -> Candidate:
        """Minimise the sum; a validation query that trains is scored by a model without it."""
        rows, problem = self.rows, self.rows.problem
        whole = rows.both if proposal.weighting.rows == "both" else problem
        theta = self._minimised(whole, proposal, near, None)
        valid = np.asarray(problem.validation_scores(theta), dtype=np.float64)
        folds = []
        if proposal.weighting.rows == "both" or (rows.single and not rows.few):
            for k in range(FOLDS):
                folds.append(self._minimised(rows.without[k], proposal, near, k))
                out = np.flatnonzero(rows.fold == k)
                valid[out] = problem.model.scores(problem.valid.X[out], folds[-1])
        scorer = self.features.scorer(theta)
        return Candidate(proposal, scorer, rows.centred(valid), (theta, tuple(folds)))

    def train_scores(self, candidate: Candidate, rng: np.random.Generator) -> Floats64:
        """Score the training rows."""
        scores = self.rows.problem.scores(candidate.state[0])
        return np.asarray(scores, dtype=np.float64)[:, np.newaxis]

    def _minimised(
        self, problem: Problem, proposal: Proposal, near: Candidate | None, fold: int | None
    ) -> Floats64:
        assert proposal.surrogates is not None
        steps = ITERATIONS
        if near is None:
            # A non-smooth loss may have no descent direction where all scores are equal.
            theta = plain(problem)
        else:
            theta, folds = near.state
            theta = folds[fold] if fold is not None and folds else theta
            assert near.proposal.surrogates is not None
            same = np.allclose(near.proposal.surrogates, proposal.surrogates)
            steps = AGAIN if same else ITERATIONS
        weights = proposal.surrogates / self.rows.units
        found = minimised(problem, weights, proposal.strength, theta, steps)
        within = all(QUERY in s.needs for s in problem.profiler.surrogates)
        if within and getattr(problem.model, "intercept", False):
            found[-1] = 0.0  # no surrogate feels it: it would go anywhere
        return found


def minimised(
    problem: Problem,
    weights: Floats64,
    strength: float,
    theta: Floats64 | None = None,
    iterations: int = ITERATIONS,
) -> Floats64:
    """Return the minimiser of weighted surrogates and a ridge, the intercept left free.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> problem = Problem(data, "squared_hinge", as_metric("error"))
    >>> minimised(problem, np.ones(1), 2.0).round(4).tolist()
    [0.6667, 0.0]
    """
    penalty = np.full(problem.size, strength / len(problem.train))
    if isinstance(problem.model, Linear) and problem.model.intercept:
        penalty[-1] = 0.0
    result = optimize.minimize(
        penalised(problem, weights, penalty),
        np.zeros(problem.size) if theta is None else theta,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations, "ftol": 1e-7, "gtol": 1e-6},
    )
    return np.asarray(result.x)


def penalised(
    problem: Problem, weights: Floats64, penalty: Floats64
) -> Callable[[Floats64], tuple[float, Floats64]]:
    """Return ``theta -> weights . profile(theta) + penalty . theta^2 / 2``, with its gradient."""
    X, model = problem.tables[0], problem.model
    parts = weighted_parts(problem, weights)

    def objective(theta: Floats64) -> tuple[float, Floats64]:
        scores = model.scores(X, theta)
        found = [(w, *local(part, scores)) for part, w in parts]
        kept = penalty * theta
        value = sum(float(w @ values) for w, values, _ in found) + 0.5 * float(kept @ theta)
        slope = np.asarray(sum(slopes.mixed(w) for w, _, slopes in found))
        return value, model.pullback(X, theta, slope) + kept

    return objective


def weighted_parts(problem: Problem, weights: Floats64) -> list[tuple[Bound, Floats64]]:
    """Return the parts of the profiler that weigh something, with their weights."""
    profiler = problem.profiler
    nothing = np.zeros(len(problem.train))
    sizes = [1] if len(profiler) == 1 else [len(part.values(nothing)) for part in profiler.parts]
    placed = np.empty_like(weights)
    placed[profiler.order] = weights
    shares = np.split(placed, np.cumsum(sizes)[:-1])
    return [(part, w) for part, w in zip(profiler.parts, shares, strict=True) if np.any(w)]


def few_queries(data: Data) -> bool:
    """Return whether rows have too few queries with rows of different relevance."""
    return int(differing(Queries.of(data.column(QUERY)), data).sum()) < FEWEST_QUERIES


def joined(train: Data, valid: Data) -> Data:
    """Return the rows of both; their queries are different ones, whatever their names.

    Examples
    --------
    >>> rows = Data(np.zeros((2, 1)), np.ones(2), side={"query": np.array([7, 7])})
    >>> joined(rows, rows).side["query"].tolist()
    [0, 0, 1, 1]
    """
    first, second = (Queries.of(data.column(QUERY)) for data in (train, valid))
    shared = [name for name in train.side if name in valid.side]
    side = {name: np.append(train.side[name], valid.side[name]) for name in shared}
    side[QUERY] = np.append(first.member, len(first) + second.member)
    return replace(train.followed_by(valid), side=side)


def differing(queries: Queries, data: Data) -> NDArray[np.bool_]:
    """Return which queries have rows of different relevance.

    Examples
    --------
    >>> data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, 1.0]))
    >>> differing(Queries.of(np.array([1, 1, 2])), data).tolist()
    [True, False]
    """
    grades = relevance(data)[queries.order]
    highest = np.maximum.reduceat(grades, queries.start)
    return np.asarray(highest > np.minimum.reduceat(grades, queries.start))
