"""Selection: from costs of candidates on resamples to their shares in the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import AGREEMENT
from anymetric.auto.records import Predictions
from anymetric.auto.task import Task
from anymetric.models import Ensemble

Floats64 = NDArray[np.float64]


class Selection(Protocol):
    """Maps costs to shares.

    Examples
    --------
    >>> rule: Selection = BootstrapSelection()
    """

    def shares(
        self,
        resampled: Floats64,
        scores: Sequence[Floats64],
        evaluate: Callable[[Floats64], Floats64],
    ) -> Floats64:
        """Return the candidates' shares ``(C,)``, summing to one.

        Parameters
        ----------
        resampled : array of shape (B, C)
            Costs on bootstrap resamples.
        scores : C arrays of shape (n, outputs)
            Out-of-fold scores at each candidate's decision rule, in one unit.
        evaluate : callable
            Returns the costs ``(1 + B,)`` of scores ``(n, outputs)``.
        """
        ...


@dataclass(frozen=True)
class BootstrapSelection:
    """A candidate's share is how often it is the best of a resample; ties share.

    Examples
    --------
    >>> costs = np.array([[0.1, 0.2], [0.3, 0.2], [0.1, 0.1], [0.0, 0.2]])
    >>> BootstrapSelection().shares(costs).tolist()
    [0.625, 0.375]
    """

    def shares(
        self,
        resampled: Floats64,
        scores: Sequence[Floats64] = (),
        evaluate: Callable[[Floats64], Floats64] | None = None,
    ) -> Floats64:
        """Count the resamples that each candidate wins."""
        # Candidates with the same decisions cost the same, but for rounding.
        low = resampled.min(axis=1, keepdims=True)
        best = resampled <= low + 1e-12 * float(np.abs(resampled).max())
        return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


@dataclass(frozen=True)
class SingleBest:
    """All to the candidate of the lowest mean cost.

    Examples
    --------
    >>> SingleBest().shares(np.array([[0.1, 0.2], [0.3, 0.2], [0.1, 0.2]])).tolist()
    [1.0, 0.0]
    """

    def shares(
        self,
        resampled: Floats64,
        scores: Sequence[Floats64] = (),
        evaluate: Callable[[Floats64], Floats64] | None = None,
    ) -> Floats64:
        """Take the first of the best."""
        return np.asarray(np.eye(resampled.shape[1])[int(np.argmin(resampled.mean(axis=0)))])


@dataclass(frozen=True)
class GreedySelection:
    """Candidates join one at a time, with replacement, while their average costs less (Caruana).

    Parameters
    ----------
    rounds : int

    Examples
    --------
    >>> target = np.array([[0.0], [1.0]])
    >>> scores = np.array([[[-1.0], [2.0]], [[1.0], [0.0]], [[9.0], [9.0]]])
    >>> greedy = GreedySelection(4)
    >>> greedy.shares(np.zeros((1, 3)), scores, lambda s: np.array([np.abs(s - target).sum()]))
    array([0.5, 0.5, 0. ])
    """

    rounds: int = 25

    def shares(
        self,
        resampled: Floats64,
        scores: Sequence[Floats64],
        evaluate: Callable[[Floats64], Floats64],
    ) -> Floats64:
        """Minimise the mean cost of the average over the resamples."""
        count, best = np.zeros(len(scores)), (np.inf, np.zeros(len(scores)))
        total = np.zeros_like(scores[0])
        for size in range(1, self.rounds + 1):
            costs = [float(np.mean(evaluate((total + one) / size))) for one in scores]
            added = int(np.argmin(costs))
            count[added] += 1.0
            total = total + scores[added]
            if costs[added] < best[0]:
                best = costs[added], count.copy()
        return np.asarray(best[1] / best[1].sum())


def agreeing(shares: Floats64, scores: Sequence[Floats64]) -> Floats64:
    """Keep the shares of candidates whose scores correlate with the leader's.

    Parameters
    ----------
    shares : array of shape (C,)
    scores : C arrays of shape (n,)

    Examples
    --------
    >>> s = np.array([-1.0, 0.0, 1.0])
    >>> agreeing(np.array([0.6, 0.3, 0.1]), [s, -s, 2 * s]).round(3).tolist()
    [0.857, 0.0, 0.143]
    """
    leader = int(np.argmax(shares))
    first = unit_of(scores[leader])
    alike = np.array([float(unit_of(one) @ first) for one in scores])
    alike[leader] = 1.0
    kept = np.where(alike > AGREEMENT, shares, 0.0)
    return np.asarray(kept / kept.sum())


def unit_of(scores: Floats64) -> Floats64:
    """Return scores of mean zero and length one, or zeros.

    Examples
    --------
    >>> unit_of(np.array([1.0, 3.0])).round(3).tolist()
    [-0.707, 0.707]
    """
    centred = scores - scores.mean()
    length = float(np.linalg.norm(centred))
    return np.asarray(centred / (length if length > 0.0 else 1.0))


@dataclass(frozen=True, eq=False)
class Average:
    """The mean of candidates by shares: one model, and its out-of-fold scores.

    Attributes
    ----------
    shares : array of shape (candidates,)
    valid : array of shape (n_valid, C)
    factors : array of shape (candidates,)
        What each candidate's scores are multiplied with.
    scorer : Ensemble
    """

    shares: Floats64
    valid: Floats64
    factors: Floats64
    scorer: Ensemble

    @classmethod
    def of(
        cls, predictions: Predictions, shares: Floats64, task: Task, weights: Floats64
    ) -> Average:
        """Average candidates at their own decision rules, each brought to the mean spread first."""
        used = [int(k) for k in np.flatnonzero(shares)]
        scales = {k: predictions.assessments[k].scale for k in used}
        valids = {k: scales[k] * predictions.candidates[k].valid for k in used}
        spreads = {k: task.spread(valids[k], weights) for k in used}
        mean = sum(shares[k] * spreads[k] for k in used)
        factors = np.zeros(len(shares))
        valid: Floats64 = np.zeros_like(predictions.candidates[0].valid)
        offset: Floats64 = np.zeros(valid.shape[1])
        for k in used:
            factor, one = shares[k] * mean / spreads[k], predictions.assessments[k]
            valid = valid + factor * (valids[k] + one.offsets)
            offset = offset + factor * one.offsets
            factors[k] = factor * one.scale
        members = [predictions.candidates[k].scorer for k in used]
        shift = offset if task.many else float(offset[0])
        return cls(shares, valid, factors, Ensemble.of(members, factors[used].tolist(), shift))
