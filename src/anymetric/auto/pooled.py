"""Pooled: training rows help to choose and to place the threshold, as far as they are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.apart import Apart
from anymetric.auto.average import Judged
from anymetric.auto.calling import ABOUT, CallingJury, flagging
from anymetric.auto.choice import Choice, choose, rejudged, voters
from anymetric.auto.domain import label_weights
from anymetric.auto.jury import DecisionJury
from anymetric.auto.pool import Candidate
from anymetric.auto.trust import SURE, Bench, doubt, worse
from anymetric.data import Data
from anymetric.metrics import BoundMetric, DecisionMetric, Metric
from anymetric.problem import Problem

Floats64 = NDArray[np.float64]
# What trusted rows chose is given up only where the judging rows speak against it so loudly: the
# best of some forty candidates looks better there than it is.
LUCK = 2.0
# The scores by which labels are weighed improve with the choice, and the choice with the weights.
ROUNDS = 2
# A metric that must be called sees so many rows of both samples at most.
DRAWN = 10_000


@dataclass(frozen=True, eq=False)
class Pooled:
    """The judging rows and the training rows of one problem, together.

    Attributes
    ----------
    problem : Problem
    metric : Metric
        That of the problem, or what stands for it.
    fold : array of shape (n_valid,)
    domain : array of shape (n_train,)
        How much each training row looks like the judging rows.
    replicates : int
    averaged : bool
        As in `Auto`.
    apart : Apart, optional
        Where groups have thresholds of their own.
    """

    problem: Problem
    metric: Metric
    fold: NDArray[np.intp]
    domain: Floats64
    replicates: int = 100
    averaged: bool = True
    apart: Apart | None = None

    def bench(self, mean: Candidate) -> Bench:
        """Return both samples, training rows weighted by how alike they and their labels are."""
        train, valid = self.problem.train, self.problem.valid
        assert isinstance(self.metric, DecisionMetric)
        return Bench.build(self.metric, train, valid, self.alike(mean), self.fold)

    def alike(self, mean: Candidate) -> Floats64:
        """Return how much each training row looks like the judging rows, label included."""
        train = self.problem.train
        looks = Data(train.X, train.y, train.weights * self.domain)
        return self.domain * label_weights(looks, self.problem.valid, (mean.train, mean.valid))

    def place(self, choice: Choice, jury: DecisionJury, rng: np.random.Generator) -> Choice:
        """Place the threshold; rows that can be trusted tell the candidates apart better too."""
        bench = self.bench(choice.mean)
        if contrary(choice.judged, bench):
            return choice
        placed = choice.placed(bench, jury)
        if placed.trust == 0.0:
            return placed
        again, judged = choice, choice.judged
        for _ in range(ROUNDS):
            both = bench.jury(placed.trust, self.replicates, rng)
            anew = [rejudged(one, bench, both, self.apart) for one in judged]
            again = choose(anew, self.problem, self.averaged)
            bench, judged = self.bench(again.mean), voters(again)
        again = again.placed(bench, jury)
        new, old = (one.verdict(jury).replicates for one in (again, placed))
        return placed if worse(new, old, LUCK, bench.resolution) else again

    def called(self, choice: Choice, jury: CallingJury, rng: np.random.Generator) -> Choice:
        """Place the threshold of a metric that must be called, by a sample of all rows.

        The shift is taken back as far as the judging rows speak against it.
        """
        spare = jury.ledger.left - len(ABOUT) - 3 * jury.price
        both = self._drawn(choice.mean, rng) if jury.movable and spare >= 0 else None
        if both is None:
            return choice
        rows, bound = both
        scores = np.concatenate([choice.mean.valid, choice.mean.train])[rows]
        share = float(np.mean(choice.mean.valid > 0.0))
        shifts = flagging(scores, [share * factor for factor in ABOUT])
        costs = jury.ledger.ask(bound, scores[:, np.newaxis] + shifts)
        shift = float(shifts[np.argmin(costs)])
        if not jury.sound(choice.mean.valid + shift):
            return choice
        own, told = jury.judge(choice.mean.valid), jury.judge(choice.mean.valid + shift)
        trust = 1.0 - doubt(told.replicates, own.replicates) / SURE
        if trust <= 0.0:
            return replace(choice, told=own)
        if trust < 1.0:
            told = jury.judge(choice.mean.valid + trust * shift)
        return replace(choice, shift=min(trust, 1.0) * shift, trust=min(trust, 1.0), told=told)

    def _drawn(
        self, mean: Candidate, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], BoundMetric] | None:
        """Draw rows of both samples in proportion to their weights, and bind the metric to them."""
        problem = self.problem
        train, valid = problem.train, problem.valid
        edges = np.cumsum(np.concatenate([valid.weights, train.weights * self.alike(mean)]))
        size = min(len(edges), DRAWN)
        places = (np.arange(size) + rng.random()) * (edges[-1] / size)
        rows = np.minimum(np.searchsorted(edges, places), len(edges) - 1)
        y = np.concatenate([valid.y, train.y])[rows]
        shared = [name for name in valid.side if name in train.side]
        side = {n: np.concatenate([valid.side[n], train.side[n]])[rows] for n in shared}
        try:
            return rows, problem.metric.bind(y, side=side, labels=problem.labels)
        except ValueError:
            return None


def contrary(judged: Sequence[Judged], bench: Bench) -> bool:
    """Return whether training rows rank the candidates the other way round than judging rows.

    Labels that mean something else, such as proxies, are found out so. Rows that are merely noisy
    rank them alike.
    """
    jury = bench.trainers()
    costs = [
        (one.tuned.cost, jury.judge(bench.thinned(one.candidate.train) + one.tuned.shift).cost)
        for one in judged
    ]
    valid, train = np.array(costs).T
    return bool(np.mean((valid - valid.mean()) * (train - train.mean())) < 0.0)
