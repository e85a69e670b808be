"""Learned: any family that trains by row weights, cross-fitted; trees with early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.records import SMALL, Candidate, Proposal
from anymetric.auto.sample import Sample, Weights, dealt
from anymetric.data import Data, Matrix
from anymetric.models import Learner, Scorer
from anymetric.models.base import OutOfBag

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]


@runtime_checkable
class Stepwise(Protocol):
    """A family that is trained step by step on rows prepared once, and stopped by other rows."""

    def prepare(self, data: Data, *, classes: int = 2) -> Any:
        """Return the rows, ready to be trained on many times."""
        ...


@dataclass(frozen=True, eq=False)
class LearnerFamily:
    """Any `Learner`; validation rows neither train nor stop the models that score them.

    Attributes
    ----------
    learner : Learner
    sample : Sample
        With features as they are.
    stopping : bool
        Whether validation rows may stop a family that trains step by step, each fold for the
        others.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from anymetric.auto.records import Weighting
    >>> from anymetric.auto.task import Task
    >>> from anymetric.models import Reweighted
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2))
    >>> rows = Data(X, np.where(X[:, 0] > 0, 1.0, -1.0))
    >>> sample = Sample(Task((0, 1)), rows.take(np.arange(0)), rows, np.arange(90) % 5)
    >>> family = LearnerFamily(Reweighted(DecisionTreeClassifier(max_depth=2)), sample)
    >>> family.fit(Proposal(Weighting("valid")), None, rng).valid.shape
    (90, 1)
    """

    learner: Learner
    sample: Sample
    stopping: bool = True

    @property
    def name(self) -> str:
        """The learner's own word."""
        return self.learner.family

    @cached_property
    def prepared(self) -> Any | None:
        """All rows, prepared once; None for a family that is trained in one go."""
        if not isinstance(self.learner, Stepwise) or self._apart:
            return None
        return self.learner.prepare(self.sample.both, classes=self.sample.task.classes)

    def takes(self, proposal: Proposal) -> bool:
        """Refuse a loss or a size that the family does not support."""
        small = proposal.strength <= SMALL or hasattr(self.learner, "stiffer")
        loss = proposal.loss is None or hasattr(self.learner, "with_loss")
        return small and loss and proposal.surrogates is None

    def train(self, proposal: Proposal, like: Candidate, rng: np.random.Generator) -> Scorer:
        """Fit to all rows, with as many steps as another candidate has."""
        weights = self.sample.weights(proposal.weighting)
        return self._whole(proposal, self._joined(weights), like.state, None, rng)

    def fit(
        self, proposal: Proposal, near: Candidate | None, rng: np.random.Generator
    ) -> Candidate:
        """Fit to all rows, and without each fold of validation rows that train."""
        weights = self.sample.weights(proposal.weighting)
        if self.prepared is not None and (self.stopping or weights.valid is not None):
            return self._stopped(proposal, weights, rng)
        rows, X = self._joined(weights), self.sample.valid.X
        start = None if near is None or proposal.weighting.rows == "valid" else near.scorer
        start = start if near is not None and near.proposal.weighting.rows == "train" else None
        scorer = self._whole(proposal, rows, None, start, rng)
        if weights.valid is None:
            return Candidate(proposal, scorer, table(scorer, X))
        if isinstance(scorer, OutOfBag):
            return Candidate(proposal, scorer, self._out_of_bag(scorer, rows))
        valid = np.empty((len(self.sample.valid), self.sample.task.outputs))
        for out in self.sample.folds:
            left = self._joined(self.sample.weights(proposal.weighting, out))
            model = self._whole(proposal, left, None, start, rng)
            valid[out] = table(model, X[out])
        return Candidate(proposal, scorer, valid)

    def _out_of_bag(self, scorer: OutOfBag, rows: Floats64) -> Floats64:
        """Return the out-of-bag scores of the validation rows; plain ones of those left out."""
        used = rows > 0.0
        among = used[len(rows) - len(self.sample.valid) :]
        valid = np.empty((len(among), self.sample.task.outputs))
        valid[among] = as_table(scorer.out_of_bag)[np.count_nonzero(used[: -len(among)]) :]
        if not among.all():
            valid[~among] = table(scorer, self.sample.valid.X[~among])
        return valid

    def train_scores(self, candidate: Candidate, rng: np.random.Generator) -> Floats64:
        """Score training rows out-of-fold, in five folds."""
        train, proposal = self.sample.train, candidate.proposal
        weights = self.sample.weights(proposal.weighting)
        if weights.train is None:
            return table(candidate.scorer, train.X)
        rows, fold = self._joined(weights), dealt(train.y, rng)
        scores = np.empty((len(train), self.sample.task.outputs))
        for k in range(int(fold.max()) + 1):
            out = np.flatnonzero(fold == k)
            kept = rows.copy()
            kept[out] = 0.0
            model = self._whole(proposal, kept, candidate.state, None, rng)
            scores[out] = table(model, train.X[out])
        return scores

    @property
    def _apart(self) -> bool:
        """Whether labels are learned one by one."""
        return self.sample.task.many and not self.sample.task.exclusive

    def _joined(self, weights: Weights) -> Floats64:
        """Return weights of all rows, training rows first."""
        joined = weights.joined
        rows = np.zeros((len(self.sample.both), *joined.shape[1:]))
        if weights.train is None:
            rows[len(rows) - len(self.sample.valid) :] = joined
        else:
            rows[: len(joined)] = joined
        return rows

    def _adapted(self, proposal: Proposal) -> Learner:
        """Return the learner for a proposal: with smaller models, or another loss."""
        learner: Any = self.learner
        if proposal.strength > SMALL and hasattr(learner, "stiffer"):
            learner = learner.stiffer()
        if proposal.loss is not None and hasattr(learner, "with_loss"):
            learner = learner.with_loss(proposal.loss)
        return cast("Learner", learner)

    def _whole(
        self,
        proposal: Proposal,
        rows: Floats64,
        steps: int | None,
        start: Scorer | None,
        rng: np.random.Generator,
    ) -> Scorer:
        """Fit once to all rows that weigh something."""
        learner, task, data = self._adapted(proposal), self.sample.task, self.sample.both
        if self._apart:
            return self._by_label(learner, data, rows, start, rng)
        if self.prepared is not None and steps is not None:
            fitted = self.prepared.using(learner).fit(rows, rng, trees=steps)
            return cast("Scorer", fitted.cut(steps))
        used = np.flatnonzero(rows > 0.0)
        if len(used) < len(rows):
            data, rows = data.take(used), rows[used]
        return learner.learn(data, rows, rng, classes=task.classes, start=start)

    def _stopped(self, proposal: Proposal, weights: Weights, rng: np.random.Generator) -> Candidate:
        """Fit step by step; each fold is scored where the others would stop."""
        assert self.prepared is not None
        prepared, sample = self.prepared.using(self._adapted(proposal)), self.sample
        n, X, folds = len(sample.both) - len(sample.valid), sample.valid.X, sample.folds
        watching = [(n + out, self._stopping_weights(weights)[out]) for out in folds]
        valid = np.empty((len(sample.valid), sample.task.outputs))
        if weights.valid is None:
            grown = prepared.fit(self._joined(weights), rng, stopping=watching)
            for k, out in enumerate(folds):
                if len(out):
                    valid[out] = as_table(grown.scores(X[out], grown.best_without(k)))
            return Candidate(proposal, grown.cut(grown.best), valid, grown.best)
        grown = [
            prepared.fit(self._joined(sample.weights(proposal.weighting, out)), rng, stopping=[one])
            for out, one in zip(folds, watching, strict=True)
        ]
        best = np.array([one.best for one in grown])
        for k, out in enumerate(folds):
            stop = int(np.median(np.delete(best, k)))
            valid[out] = as_table(grown[k].scores(X[out], stop))
        stop = int(np.median(best))
        scorer = prepared.fit(self._joined(weights), rng, trees=stop).cut(stop)
        return Candidate(proposal, scorer, valid, stop)

    def _stopping_weights(self, weights: Weights) -> Floats64:
        """Return weights of the validation rows under which classes weigh as in training."""
        sample, task = self.sample, self.sample.task
        found = sample.valid.weights.copy()
        if task.numbers:
            return found
        rows = self._joined(weights)
        trained = task.strata(sample.both.y)
        for own, all_rows in zip(task.strata(sample.valid.y), trained, strict=True):
            if own.any():
                found[own] *= rows[all_rows].sum() / max(found[own].sum(), 1e-300)
        return found

    def _by_label(
        self,
        learner: Learner,
        data: Data,
        rows: Floats64,
        start: Scorer | None,
        rng: np.random.Generator,
    ) -> Scorer:
        signs = np.where(self.sample.task.members(data.y), 1.0, -1.0)
        entries = np.broadcast_to(rows.reshape(len(rows), -1), signs.shape)
        before: Sequence[Any] = (None,) * signs.shape[1]
        if isinstance(start, SideBySide):
            before = start.parts
        parts: list[Scorer] = []
        for c in range(signs.shape[1]):
            used = np.flatnonzero(entries[:, c] > 0.0)
            some = replace(data.take(used), y=signs[used, c])
            seen = np.unique(some.y)
            if len(seen) == 1:
                parts.append(Constant(float(seen[0])))
                continue
            begin = None if isinstance(before[c], Constant) else before[c]
            weights = entries[used, c]
            parts.append(learner.learn(some, weights, rng, classes=2, start=begin))
        return SideBySide(tuple(parts))


@dataclass(frozen=True, eq=False)
class SideBySide:
    """One model for each label.

    Examples
    --------
    >>> SideBySide((Constant(1.0), Constant(-1.0))).scores(np.zeros((1, 3))).tolist()
    [[1.0, -1.0]]
    """

    parts: tuple[Scorer, ...]

    def scores(self, X: Matrix) -> Floats64:
        """Return scores ``(n, L)``."""
        return np.column_stack([part.scores(X) for part in self.parts])


@dataclass(frozen=True, eq=False)
class Constant:
    """The same score for every row: a label that all training rows have, or none.

    Examples
    --------
    >>> Constant(2.0).scores(np.zeros((2, 1))).tolist()
    [2.0, 2.0]
    """

    score: float

    def scores(self, X: Matrix) -> Floats64:
        """Return it for each row."""
        return np.full(X.shape[0], self.score)


def table(scorer: Scorer, X: Matrix) -> Floats64:
    """Return a model's scores as a table ``(n, C)``; they must be finite."""
    scores = as_table(scorer.scores(X))
    if not np.all(np.isfinite(scores)):
        name = type(getattr(scorer, "estimator", scorer)).__name__
        raise ValueError(f"The model {name} gave scores that are not finite numbers.")
    return scores


def as_table(scores: Floats64) -> Floats64:
    """Return scores as ``(n, C)``."""
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, np.newaxis] if scores.ndim == 1 else scores
