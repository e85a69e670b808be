"""Ordered: for an order of the rows, both samples choose too; the judges vote on their choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import Choice, choose
from anymetric.auto.jury import Drawn, Judgement, bind_replicate, replicate_weights, telling_draws
from anymetric.auto.pool import LINEAR, Kitchen
from anymetric.auto.told import optimism
from anymetric.data import Data
from anymetric.problem import Problem
from anymetric.solvers import WeightedLoss, second_order

Floats64 = NDArray[np.float64]
# With more judging rows than this they choose as well alone.
ENOUGH = 1000
# The judging rows flatter what they chose themselves: a mean by so much of a winner's optimism.
FLATTERED = 0.5
# Replicates of both samples, and training rows among them at most, evenly spread.
REPLICATES, ROWS = 20, 10_000


@dataclass(frozen=True, eq=False)
class Ordered:
    """Both samples of one problem whose metric reads an order of the rows.

    Among some forty candidates sixty judging rows find no best one; a thousand training rows that
    look like them do, if their labels can be trusted. That the judging rows say: their replicates
    vote between the mean that both samples chose and the mean that they chose alone, and what
    they cannot tell apart is averaged.

    Attributes
    ----------
    problem : Problem
    alike : array of shape (n_train,)
        How much each training row looks like the judging rows, label included.
    averaged : bool
        As in `Auto`.
    """

    problem: Problem
    alike: Floats64
    averaged: bool = True

    def choose(self, choice: Choice, jury: CallingJury, rng: np.random.Generator) -> Choice:
        """Return the choice, mixed with that of both samples by the judging rows' votes."""
        rows = np.arange(0, len(self.problem.train), 1 + len(self.problem.train) // ROWS)
        drawn = self._drawn(rows, rng)
        price = len(drawn) * len(choice.judged) + 3 * jury.price
        if not drawn or jury.ledger.left < price:
            return choice
        both = choose(self._rejudged(choice.judged, drawn, rows, jury), self.problem, self.averaged)
        means = [Judged(one.mean, jury.judge(one.mean.valid)) for one in (choice, both)]
        flattery = FLATTERED * optimism([one.tuned for one in choice.judged])
        own = replace(means[0].tuned, replicates=means[0].tuned.replicates + flattery)
        means[0] = replace(means[0], tuned=own)
        last = choose(means, self.problem, self.averaged)
        share = last.share @ np.stack([choice.share, both.share])
        return Choice(choice.judged, share, last.mean, trust=float(last.share[1]))

    def _drawn(self, rows: NDArray[np.intp], rng: np.random.Generator) -> list[Drawn]:
        """Return replicates of both samples, training rows weighted by how alike they are."""
        problem = self.problem
        train, valid = problem.train.take(rows), problem.valid
        names = [name for name in valid.side if name in train.side]
        side = {name: np.concatenate([valid.side[name], train.side[name]]) for name in names}
        y, counts = (
            np.concatenate(pair)
            for pair in ((valid.y, train.y), (valid.weights, train.weights * self.alike[rows]))
        )
        both = Data(np.zeros((len(y), 0)), y, side=side)
        weights = counts[:, np.newaxis] * replicate_weights(len(y), REPLICATES, rng)
        pairs = [bind_replicate(problem.metric, both, w, problem.labels) for w in weights.T]
        return telling_draws(pairs, both, problem.labels)

    def _rejudged(
        self,
        judged: Sequence[Judged],
        drawn: Sequence[Drawn],
        rows: NDArray[np.intp],
        jury: CallingJury,
    ) -> list[Judged]:
        """Let replicates of both samples judge the candidates anew."""
        scored = [(one.candidate.valid, one.candidate.train[rows]) for one in judged]
        table = np.stack([np.concatenate(pair) for pair in scored], axis=1)  # (rows, candidates)
        asked = [(bound, table if own is None else table[own]) for own, bound in drawn]
        costs = np.stack([jury.ledger.ask(*pair) for pair in asked])  # (B, candidates)
        return [
            replace(one, tuned=Judgement(0.0, float(own.mean()), own))
            for one, own in zip(judged, costs.T, strict=True)
        ]


def ordered(problem: Problem, kitchen: Kitchen, jury: CallingJury, choice: Choice) -> bool:
    """Return whether both samples can choose: an order is read, few rows judge, lines compete."""
    reads_order = not problem.decides and not problem.metric.probabilistic
    lines = all(one.candidate.recipe.family == LINEAR for one in choice.judged)
    few = len(problem.valid) <= ENOUGH and not jury.brief
    usual = WeightedLoss(kitchen.model, kitchen.train, kitchen.loss, kitchen.train.weights, 0.0)
    return problem.labels is not None and reads_order and lines and few and second_order(usual)
