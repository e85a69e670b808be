"""Refit: the selected linear models minimise their losses over all rows, in a handful of passes.

Each pass sums value and gradient of all of them at once. The sample in which they were selected
gives the first parameters and the curvature: what is left to do is small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.families.linear import LinearFamily
from anymetric.auto.passes.quasi_newton import QuasiNewton, inverse_of
from anymetric.auto.passes.weighing import Weighing
from anymetric.auto.records import Candidate, Weighting
from anymetric.auto.sample import effective, unit
from anymetric.engines.rows import Rows
from anymetric.engines.works import Curvatures, Term, ValuesAndSlopes, Weighed
from anymetric.losses import Loss
from anymetric.models import Linear, LinearScorer
from anymetric.models.linear import sum_of_squares
from anymetric.solvers import WeightedLoss, second_order

Floats64 = NDArray[np.float64]
# Passes after which the best parameters so far are kept.
MOST_PASSES = 60


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss of one candidate over all rows, the validation rows among them, and its ridge.

    Attributes
    ----------
    candidate : Candidate
    term : Term
        The training rows' part, wherever they are.
    total : float
        The whole weight of the training rows.
    share : float
        The validation rows' part.
    valid : WeightedLoss
        Of the validation rows, which are in memory.
    penalty : array of shape (p,)
    """

    candidate: Candidate
    term: Term
    total: float
    share: float
    valid: WeightedLoss
    penalty: Floats64

    def value_and_gradient(
        self, theta: Floats64, value: float, gradient: Floats64
    ) -> tuple[float, Floats64]:
        """Return the objective, from the sums over the training rows."""
        part, kept = (1.0 - self.share) / self.total, self.penalty * theta
        own, slope = part * value + 0.5 * float(kept @ theta), part * gradient + kept
        if self.share == 0.0:
            return own, slope
        other, further = self.valid.value_and_gradient(theta)
        return own + self.share * other, slope + self.share * further

    def curvature(self, theta: Floats64, sums: Floats64) -> Floats64:
        """Return the second derivatives, from the sums over the training rows."""
        H = (1.0 - self.share) / self.total * sums + np.diag(self.penalty)
        return H if self.share == 0.0 else H + self.share * self.valid.hessian(theta)


@dataclass(frozen=True, eq=False)
class Lines:
    """Linear models of all rows, and how often these were read.

    Attributes
    ----------
    scorers : tuple of LinearScorer
    passes : int
    """

    scorers: tuple[LinearScorer, ...]
    passes: int


def fitted_lines(family: LinearFamily, candidates: Sequence[Candidate], rows: Rows) -> Lines:
    """Fit candidates of a sample to all rows; those of validation rows alone stay as they are.

    Parameters
    ----------
    family : LinearFamily
        Of the sample.
    candidates : sequence of Candidate
        Which it trained.
    rows : Rows
        All training rows, with the features as they are.
    """
    trained = [one for one in candidates if one.proposal.weighting.rows != "valid"]
    thetas = {id(one): one.state for one in candidates}
    passes = 0
    if trained:
        objectives = objectives_of(family, trained, rows)
        states, passes = minimised(family, objectives, rows)
        thetas |= {id(one): state.theta for one, state in zip(trained, states, strict=True)}
        passes += 1
    return Lines(tuple(family.features.scorer(thetas[id(one)]) for one in candidates), passes)


def objectives_of(
    family: LinearFamily, candidates: Sequence[Candidate], rows: Rows
) -> list[Objective]:
    """Sum the weights of all rows, and return what the candidates minimise."""
    used = list(dict.fromkeys(one.proposal.weighting for one in candidates))
    weighings = [Weighing.of(family.sample, one, family.model) for one in used]
    work = Weighed(tuple(weighings), family.features.reader)
    sums, squares = rows.sums(work)
    weighed = {}
    for k, one in enumerate(weighings):
        found = one if family.sample.task.numbers else one.balanced(sums[k])
        factors = np.array(found.factors)
        weighed[used[k]] = found, float(factors @ sums[k]), float(factors**2 @ squares[k])
    terms: dict[tuple[Weighting, Loss], Term] = {}
    found_all = []
    for candidate in candidates:
        key = candidate.proposal.weighting, candidate.proposal.loss or family.loss
        weighing, total, square = weighed[key[0]]
        term = terms.setdefault(key, Term(key[1], weighing))
        found_all.append(objective(family, candidate, term, total, square))
    return found_all


def objective(
    family: LinearFamily, candidate: Candidate, term: Term, total: float, square: float
) -> Objective:
    """Return what one candidate minimises, given the sums of its weights and of their squares."""
    sample, proposal = family.sample, candidate.proposal
    share, certainty = 0.0, square / total**2  # one over the number of effective rows
    own = sample.valid.weights
    if proposal.weighting.rows == "both":
        found = sample.weights(proposal.weighting)
        assert found.valid is not None
        own, share = found.valid, found.share
        certainty = (1.0 - share) ** 2 * certainty + share**2 / effective(unit(own))
    ridge: float | Floats64 = proposal.strength * certainty
    if proposal.weighting.rows == "both":
        ridge = ridge * family.rare_binary_penalty
    valid = WeightedLoss(family.model, sample.valid, term.loss, own, 0.0)
    return Objective(candidate, term, total, share, valid, replace(valid, ridge=ridge).penalty)


def minimised(
    family: LinearFamily, objectives: Sequence[Objective], rows: Rows
) -> tuple[list[QuasiNewton], int]:
    """Minimise all objectives side by side; return their states and the passes made."""
    states = [
        QuasiNewton.begin(one.candidate.state, inverse_of(first_curvature(family, one)))
        for one in objectives
    ]
    passes = 0
    while passes < MOST_PASSES and (left := [k for k, s in enumerate(states) if not s.done]):
        thetas = np.stack([states[k].trial for k in left])
        terms = tuple(objectives[k].term for k in left)
        sums = rows.sums(ValuesAndSlopes(family.model, terms, thetas, family.features.reader))
        passes += 1
        for k, theta, value, gradient in zip(left, thetas, *sums, strict=True):
            found = objectives[k].value_and_gradient(theta, float(value), gradient)
            states[k] = states[k].told(*found)
        slow = [k for k in left if states[k].slow and not states[k].done]
        if slow and second_order(objectives[slow[0]].valid):
            passes += 1
            for k, H in curvatures(family, objectives, states, slow, rows):
                states[k] = states[k].curved(inverse_of(H))
    return states, passes


def curvatures(
    family: LinearFamily,
    objectives: Sequence[Objective],
    states: Sequence[QuasiNewton],
    chosen: list[int],
    rows: Rows,
) -> Iterator[tuple[int, Floats64]]:
    """Sum the curvature of those for which that of the sample is no guide."""
    thetas = np.stack([states[k].theta for k in chosen])
    terms = tuple(objectives[k].term for k in chosen)
    (found,) = rows.sums(Curvatures(family.model, terms, thetas, family.features.reader))
    for k, theta, sums in zip(chosen, thetas, found, strict=True):
        yield k, objectives[k].curvature(theta, sums)


def first_curvature(family: LinearFamily, objective: Objective) -> Floats64:
    """Return the curvature that the sample has, with the ridge of all rows; of many features its
    diagonal.
    """
    proposal, theta = objective.candidate.proposal, objective.candidate.state
    own = family.objective(proposal)
    if second_order(own):
        return own.hessian(theta) + np.diag(objective.penalty - own.penalty)
    rows, model, X = own.share, family.model, own.data.X
    if own.loss.smooth:
        rows = own.row_curvature(theta)
    assert isinstance(model, Linear)
    squares = sum_of_squares(X, rows, np.zeros(X.shape[1]) if model.shift is None else model.shift)
    if model.scale is not None:
        squares = squares / model.scale**2
    found = np.append(squares, rows.sum()) if model.intercept else squares
    return np.asarray(found + objective.penalty)
