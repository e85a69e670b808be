"""Odds: scores brought to the size of log-odds, for metrics that read probabilities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anymetric.auto.average import lifted
from anymetric.auto.onward import line
from anymetric.auto.pool import Candidate
from anymetric.auto.wild import without_wild
from anymetric.models import Ensemble
from anymetric.problem import Problem


def as_odds(candidate: Candidate, problem: Problem) -> Candidate:
    """Return a candidate whose scores say how likely the judging rows are to be positive.

    A ridge makes scores small, and weights of classes move them; for an order or a threshold that
    is all the same. A logistic regression on the scores finds slope and offset. Scores that point
    the wrong way are left as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.auto.pool import Recipe
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> X = np.linspace(-3.0, 3.0, 400)[:, np.newaxis]
    >>> y = np.where(np.random.default_rng(0).logistic(size=400) < 2.0 * X[:, 0], 1.0, -1.0)
    >>> problem = Problem(Data(X, y), "logistic", as_metric("neg_log_loss"), labels=(0, 1))
    >>> parts = Recipe("small", np.ones(400)), np.array([0.1, 0.0]), np.zeros(0), 0.1 * X[:, 0]
    >>> small = Candidate(*parts)
    >>> bool(1.5 < as_odds(small, problem).theta[0] < 2.5)
    True
    """
    valid = problem.valid
    weights = without_wild(candidate.valid[:, np.newaxis], valid.weights)
    slope, offset = line(candidate.valid, valid.y, weights, 2)
    if not slope > 0.0:
        return candidate
    offset = offset if getattr(problem.model, "intercept", True) else 0.0
    moved = replace(
        candidate,
        theta=lifted(slope * candidate.theta, offset) if len(candidate.theta) else candidate.theta,
        train=slope * candidate.train + offset,
        valid=slope * candidate.valid + offset,
    )
    if candidate.scorer is None:
        return moved
    return replace(moved, scorer=Ensemble.of([candidate.scorer], [slope], offset))
