"""Weights: the learned weights of slices, training rows and validation rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.records import Predictions, Proposal
from anymetric.auto.sample import Sample, unit
from anymetric.losses import Loss
from anymetric.metrics import Classes
from anymetric.problem import Problem
from anymetric.surrogates import ClassLoss, Sliced, Slices

Floats64 = NDArray[np.float64]
VALIDATION = "validation rows"


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """The mean weights of the candidates by their shares.

    Attributes
    ----------
    train : array of shape (n_train,) or None
        Summing to what is left of `share`; None if no training row trained.
    valid : array of shape (n_valid,) or None
    share : float
        The validation rows' part.

    Examples
    --------
    >>> from anymetric.auto.records import Weighting
    >>> from anymetric.auto.task import Task
    >>> from anymetric.data import Data
    >>> rows = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    >>> sample = Sample(Task((0, 1)), rows, rows, np.arange(2))
    >>> both = [Proposal(Weighting()), Proposal(Weighting("both", 0.5))]
    >>> LearnedWeights.of(sample, both, np.array([0.5, 0.5])).share
    0.25
    """

    train: Floats64 | None
    valid: Floats64 | None
    share: float

    @classmethod
    def of(cls, sample: Sample, proposals: list[Proposal], shares: Floats64) -> LearnedWeights:
        """Average the proposals' weights."""
        train, valid, part = np.zeros(len(sample.train)), np.zeros(len(sample.valid)), 0.0
        for proposal, share in zip(proposals, shares, strict=True):
            if share == 0.0:
                continue
            weights = sample.weights(proposal.weighting)
            own = 0.0 if weights.valid is None else 1.0 if weights.train is None else weights.share
            part += share * own
            if weights.train is not None:
                train += share * (1.0 - own) * by_row(weights.train)
            if weights.valid is not None:
                valid += share * own * by_row(weights.valid)
        return cls(train if train.any() else None, valid if valid.any() else None, float(part))

    def training_weights(self, problem: Problem) -> Floats64 | None:
        """Return the learned weights of the training rows; None if none trained."""
        return self.valid if problem.valid is problem.train and self.train is None else self.train

    def validation_weights(self, problem: Problem) -> Floats64 | None:
        """Return those of the validation rows in the same unit; None if none trained."""
        if problem.valid is problem.train or self.valid is None:
            return None
        rest = 1.0 if self.train is None else max(1.0 - self.share, 1e-300)
        return unit(self.valid) * (1.0 if self.train is None else self.share / rest)

    def slice_weights(self, problem: Problem) -> dict[str, float]:
        """Return the part of the whole weight that each slice of the rows has.

        The slices are the surrogates' own where those share out the rows, else the classes;
        validation rows are one more entry if they trained beside others.
        """
        rows = self.training_weights(problem)
        found: dict[str, float] = {}
        if rows is not None:
            for name, mask in slices_of(problem).items():
                found[name] = float(rows @ mask)
        if self.validation_weights(problem) is not None:
            found[VALIDATION] = self.share
        total = sum(found.values())
        return {name: value / total for name, value in found.items()} if total > 0.0 else found


def slices_of(problem: Problem) -> dict[str, Floats64]:
    """Return, for each slice of the training rows, how much of each row belongs to it."""
    train = problem.train
    if isinstance(problem.labels, Classes):
        losses = [s for s in problem.profiler.surrogates if isinstance(s, ClassLoss)]
        if len(losses) == len(problem.profiler):
            return {loss.name: loss.chosen(train).astype(np.float64) for loss in losses}
        members = problem.labels.members(train.y).astype(np.float64)
        return dict(zip(map(str, problem.labels.names), members.T, strict=True))
    return {one.name: one.mask(train).astype(np.float64) for one in shared_out(problem)}


def shared_out(problem: Problem) -> list[Sliced]:
    """Return slices of which every training row belongs to exactly one."""
    own = [s for s in problem.profiler.surrogates if isinstance(s, Sliced)]
    if len(own) == len(problem.profiler):
        times = sum(s.mask(problem.train).astype(int) for s in own)
        if np.all(times == 1):
            return own
    return Slices("logistic", ("class",)).expand(problem.train)


def plain_weights(problem: Problem) -> dict[str, float]:
    """Return the weight of each slice where all training rows have equal weights."""
    return LearnedWeights(unit(problem.train.weights), None, 0.0).slice_weights(problem)


def weights_of(
    problem: Problem, table: Predictions, shares: Floats64, sample: Sample
) -> dict[str, float]:
    """Return the weight of each surrogate, loss or slice in the answer."""
    proposals = [one.proposal for one in table.candidates]
    if any(one.surrogates is not None for one in proposals):
        pairs = zip(proposals, shares, strict=True)
        mean = sum(w * np.asarray(one.surrogates) for one, w in pairs)
        return dict(zip(problem.names, np.asarray(mean).tolist(), strict=True))
    if problem.labels is None:
        weights: dict[str, float] = {}
        for one, share in zip(proposals, shares, strict=True):
            name = "squared" if one.loss is None else one.loss.name
            weights[name] = weights.get(name, 0.0) + float(share)
        return weights
    return LearnedWeights.of(sample, proposals, shares).slice_weights(problem)


def losses_of(proposals: list[Proposal], shares: Floats64) -> tuple[tuple[float, Loss | None], ...]:
    """Return the share of each loss in the answer; none where surrogates train in its place.

    Examples
    --------
    >>> from anymetric.auto.records import Weighting
    >>> losses_of([Proposal(Weighting()), Proposal(Weighting("all"))], np.array([0.25, 0.75]))
    ((1.0, None),)
    """
    if any(one.surrogates is not None for one in proposals):
        return ()
    found: dict[Loss | None, float] = {}
    for proposal, share in zip(proposals, shares.tolist(), strict=True):
        if share > 0.0:
            found[proposal.loss] = found.get(proposal.loss, 0.0) + share
    return tuple((share, loss) for loss, share in found.items())


def by_row(weights: Floats64) -> Floats64:
    """Return weights that sum to one, of a table the mean over its columns."""
    rows = unit(weights)
    return rows if rows.ndim == 1 else np.asarray(rows.mean(axis=1))
