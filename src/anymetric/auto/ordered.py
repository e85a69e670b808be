"""Ordered: for an order of the rows, both samples choose too; the judges vote on their choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from anymetric.auto.average import Judged
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import Choice, choose
from anymetric.auto.jury import Drawn, Judgement, bind_replicate, replicate_weights, telling_draws
from anymetric.auto.pool import LINEAR, Candidate, Kitchen, mixed, positive_definite
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
    kitchen : Kitchen
    alike : array of shape (n_train,)
        How much each training row looks like the judging rows, label included.
    averaged : bool
        As in `Auto`.
    """

    problem: Problem
    kitchen: Kitchen
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
        scored = [
            (one.candidate.valid, left_out(self.kitchen, one.candidate, rows)) for one in judged
        ]
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


def left_out(kitchen: Kitchen, candidate: Candidate, rows: NDArray[np.intp]) -> Floats64:
    """Return the scores of training rows as if each had not trained: one Newton step back.

    The intercept stays: without a row it leans to the other class, whatever the features say.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.auto.pool import Recipe
    >>> from anymetric.losses import as_loss
    >>> from anymetric.models import Linear
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 9)), np.repeat([-1.0, 1.0], 20)
    >>> train, valid = Data(X[::2], y[::2]), Data(X[1::2], y[1::2])
    >>> kitchen = Kitchen.build(Linear(), train, valid, as_loss("logistic"), rng)
    >>> noise = kitchen.cook(Recipe("plain", np.ones(20)))
    >>> own, honest = (train.y @ s for s in (noise.train, left_out(kitchen, noise, np.arange(20))))
    >>> bool(honest < own)
    True
    """
    recipe, model = candidate.recipe, kitchen.model
    scores = candidate.train[rows].astype(np.float64)
    if recipe.train.sum() == 0.0:
        return scores
    data = kitchen.train if recipe.valid is None else kitchen.both
    loss = kitchen.objective(recipe, data, mixed(recipe))
    bend = loss.row_curvature(candidate.theta)
    slope = loss.share[rows] * loss.loss.score_slope(scores, data.y[rows])
    kept = slice(0, -1 if model.intercept else None)
    H = (model.hessian(data.X, bend) + np.diag(loss.penalty))[kept, kept]
    root = linalg.cholesky(positive_definite(H), lower=True)
    back = linalg.solve_triangular(root, np.eye(len(root)), lower=True)
    if model.intercept:
        back = np.column_stack([back, np.zeros(len(back))])
    reach = np.sum(np.asarray(model.scores(data.X[rows], back)) ** 2, axis=1)  # x H^-1 x
    return np.asarray(scores + slope * reach / (1.0 - np.minimum(bend[rows] * reach, 0.9)))
