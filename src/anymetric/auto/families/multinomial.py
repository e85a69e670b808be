"""Multinomial: linear models with a score for each class or label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import FEWEST_ROWS
from anymetric.auto.families.features import Features
from anymetric.auto.records import LINEAR, Candidate, Proposal
from anymetric.auto.sample import Sample, Weights, effective
from anymetric.data import Data
from anymetric.losses import as_loss
from anymetric.models import LinearScorer, Outputs
from anymetric.multinomial import TableLoss, polished, solved

Floats64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MultinomialFamily:
    """Softmax regression, or one logistic loss a label, or a class against the rest.

    Attributes
    ----------
    sample : Sample
        With features as a linear model reads them.
    features : Features

    Examples
    --------
    >>> from anymetric.auto.records import Weighting
    >>> from anymetric.auto.task import Task
    >>> from anymetric.metrics import Classes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2))
    >>> rows = Data(X, np.digitize(X[:, 0], [-0.5, 0.5]).astype(float))
    >>> task = Task(Classes(("low", "middle", "high")))
    >>> sample = Sample(task, rows.take(np.arange(0)), rows, np.arange(90) % 5)
    >>> family = MultinomialFamily.of(sample, Features.of(sample))
    >>> family.fit(Proposal(Weighting("valid")), None, rng).valid.shape
    (90, 3)
    """

    sample: Sample
    features: Features

    name: ClassVar[str] = LINEAR

    @classmethod
    def of(cls, sample: Sample, features: Features) -> MultinomialFamily:
        """Build the family on rows as they are."""
        return cls(features.read(sample), features)

    def takes(self, proposal: Proposal) -> bool:
        """Take every proposal of weights."""
        return proposal.surrogates is None

    def train(self, proposal: Proposal, like: Candidate, rng: np.random.Generator) -> LinearScorer:
        """Minimise the loss on all rows."""
        theta = self._solved(proposal, self.sample.weights(proposal.weighting), None)
        return self.features.scorer(theta.reshape(self.sample.task.outputs, -1))

    def fit(
        self, proposal: Proposal, near: Candidate | None, rng: np.random.Generator
    ) -> Candidate:
        """Minimise the loss, and again without each fold of validation rows that trained."""
        sample, C = self.sample, self.sample.task.outputs
        weights = sample.weights(proposal.weighting)
        start, starts = (None, ()) if near is None else near.state
        theta = self._solved(proposal, weights, start)
        model = Outputs(self.features.model, C)
        valid = np.asarray(model.table(sample.valid.X, theta), dtype=np.float64)
        folds = []
        if weights.valid is not None:
            for k, out in enumerate(sample.folds):
                # A warm start must not depend on the rows of the fold.
                begin = starts[k] if starts else None
                left = sample.weights(proposal.weighting, out)
                folds.append(self._solved(proposal, left, begin))
                valid[out] = model.table(sample.valid.X[out], folds[-1])
        scorer = self.features.scorer(theta.reshape(C, -1))
        return Candidate(proposal, scorer, valid, (theta, tuple(folds)))

    def train_scores(self, candidate: Candidate, rng: np.random.Generator) -> Floats64:
        """Score the training rows."""
        model = Outputs(self.features.model, self.sample.task.outputs)
        return np.asarray(model.table(self.sample.train.X, candidate.state[0]), dtype=np.float64)

    def _solved(self, proposal: Proposal, weights: Weights, start: Floats64 | None) -> Floats64:
        sample = self.sample
        data: Data = sample.train
        if weights.valid is not None:
            data = sample.valid if weights.train is None else sample.both
        rows = weights.joined
        used = rows.reshape(len(rows), -1).sum(axis=1) > 0.0
        if not np.all(used):
            kept = np.flatnonzero(used)
            data, rows = data.take(kept), rows[kept]
        count = FEWEST_ROWS if sample.few else effective(rows)
        loss = proposal.loss
        if loss is None and not sample.task.exclusive:
            loss = as_loss("logistic")
        model = Outputs(self.features.model, sample.task.outputs)
        members = sample.task.members(data.y)
        objective = TableLoss(model, data.X, members, rows, proposal.strength / count, loss)
        theta = solved(objective, start)
        # A handful of rows repeated must give the model of rows that weigh as much.
        return polished(objective, theta) if len(data) < FEWEST_ROWS else theta
