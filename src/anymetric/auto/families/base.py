"""Families: what trains a proposal and gives out-of-fold scores of the validation rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.records import Candidate, Proposal
from anymetric.auto.sample import Sample
from anymetric.models import Scorer

Floats64 = NDArray[np.float64]


class Family(Protocol):
    """Trains proposals on one sample.

    A family of your own is easier written as a `Learner` (fit with these weights, return a
    scorer), which `LearnerFamily` cross-fits.
    """

    @property
    def name(self) -> str:
        """One word for the report."""
        ...

    @property
    def sample(self) -> Sample:
        """The rows, with features as the family reads them."""
        ...

    def takes(self, proposal: Proposal) -> bool:
        """Return whether the family supports a proposal."""
        ...

    def train(self, proposal: Proposal, like: Candidate, rng: np.random.Generator) -> Scorer:
        """Return the model of all rows, trained as long as another candidate was."""
        ...

    def fit(
        self, proposal: Proposal, near: Candidate | None, rng: np.random.Generator
    ) -> Candidate:
        """Train a proposal, and score the validation rows out-of-fold."""
        ...

    def train_scores(self, candidate: Candidate, rng: np.random.Generator) -> Floats64:
        """Return out-of-fold scores ``(n_train, C)`` of the training rows."""
        ...


def nearest(proposal: Proposal, candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate of the same family that was trained most alike; None if there is none.

    Examples
    --------
    >>> from anymetric.auto.records import Weighting
    >>> balanced = Proposal(Weighting(balance=1.0))
    >>> done = [Candidate(p, None, np.zeros(0)) for p in (balanced, Proposal(Weighting()))]
    >>> nearest(Proposal(Weighting(balance=1.0), 100.0), done).proposal is balanced
    True
    """

    def alike(one: Candidate) -> int:
        mine, other = proposal.weighting, one.proposal.weighting
        same = [mine.rows == other.rows, mine.balance == other.balance, mine == other]
        loss = (proposal.loss is None) == (one.proposal.loss is None)
        blend = proposal.surrogates is None or np.array_equal(
            proposal.surrogates, np.asarray(one.proposal.surrogates)
        )
        return 4 * loss + 8 * blend + sum(same)

    own = [one for one in candidates if one.proposal.family == proposal.family]
    return max(reversed(own), key=alike, default=None)
