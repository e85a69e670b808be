"""Certificates: rows that chose nothing certify the limits that ask for a confidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anymetric.certificates import Claim, Scored, certify, certify_as_it_is
from anymetric.errors import warn
from anymetric.estimators._holdout import FEWEST_ROWS, hold_out
from anymetric.estimators._units import unit_of
from anymetric.metrics import Limited, Rows, limited
from anymetric.metrics.under_limits import LimitedCounts


def claims_of(goal):
    """Return what is to be certified: the limits with a confidence.

    Examples
    --------
    >>> from anymetric.estimators._limits import goal_of
    >>> from anymetric.metrics import Recall
    >>> print(*claims_of(goal_of(Recall(), ["precision>=0.8 @ 90%", "accuracy>=0.7"])))
    precision >= 0.80 at 90 %
    """
    limits = goal.limits if isinstance(goal, Limited) else ()
    return tuple(
        Claim(one.metric, one.bound, one.direction == ">=", one.confidence)
        for one in limits
        if one.confidence is not None
    )


def by_order(goal):
    """Return whether one threshold decides all: the model is then chosen for the order of the rows.

    Wrong training labels pull every rate towards the middle, so that a limit looks out of reach and
    the few rows of the highest scores choose the model; the order of the rows they leave as it is.
    Where to cut, certifying rows say.

    Examples
    --------
    >>> from anymetric.estimators._limits import goal_of
    >>> from anymetric.metrics import Recall
    >>> by_order(goal_of(Recall(), "precision>=0.8 @ 90%"))
    True
    >>> by_order(goal_of(Recall(), "gap(recall)<=0.1 @ 90%"))
    False
    """
    return isinstance(goal, LimitedCounts) and all(part.groups is None for part in goal.parts)


def set_apart(strata, fraction, rng):
    """Return the rows that train and those that certify; no row does both.

    Examples
    --------
    >>> train, apart = set_apart(np.repeat([0, 1], 50), 0.2, np.random.default_rng(0))
    >>> len(train), len(apart)
    (80, 20)
    >>> set_apart(np.zeros(20), 0.2, np.random.default_rng(0))
    Traceback (most recent call last):
    ...
    ValueError: A certificate needs rows that chose nothing, and 20 are too few to set some ...
    """
    if len(strata) < FEWEST_ROWS:
        raise ValueError(
            f"A certificate needs rows that chose nothing, and {len(strata)} are too few to set "
            "some apart: give X_val and y_val, or leave out `confidence`."
        )
    return hold_out(strata, fraction, rng, every=False)[:2]


def certified(problem, solution, claims, objective, rows, labels):
    """Return the solution at the threshold that rows certify, and a certificate for each claim.

    Parameters
    ----------
    problem : Problem
        Of the training rows alone.
    solution : Solution
        With a scorer and out-of-fold scores of the training rows.
    claims : tuple of Claim
    objective : Metric
        With the limits that need no certificate.
    rows : Data
        Rows that the run has not seen, targets in the user's unit.
    labels : sequence or None
    """
    raw = np.asarray(solution.scorer.scores(rows.X), dtype=np.float64)
    scores = moved(solution.rule, raw, rows)
    valid = Scored(told(rows, labels), unit_of(problem.metric).large(scores))
    if scores.ndim == 2:
        valid = replace(valid, scores=scores.reshape(len(rows), -1))
    seen, own = solution.out_of_fold
    if labels is None or not shifts(solution.rule, raw, rows):
        return solution, certify_as_it_is(claims, valid).certificates
    train = Scored(told(seen, labels), own[:, 0])
    found = certify(claims, train, valid, objective)
    if not found.holds:
        as_it_is = certify_as_it_is(claims, valid).certificates
        return solution, tuple(replace(one, certified=False) for one in as_it_is)
    cut = replace(
        solution,
        scorer=solution.scorer.moved(-found.threshold),
        out_of_fold=(seen, own - found.threshold),
    )
    return cut, tuple(replace(one, threshold=0.0) for one in found.certificates)


def warn_if_uncertain(certificates):
    """Say what is certified where the promise is not.

    Examples
    --------
    >>> warn_if_uncertain(())
    """
    for one in certificates:
        if not one.certified:
            warn(f"No promise: {one}.")


def told(data, labels):
    """Return rows as a certificate reads them."""
    return Rows(data.y, data.weights, data.side, labels, data.X)


def moved(rule, scores, data):
    """Return scores as the decision rule moves them."""
    if rule is None or not rule.needs:
        return scores
    return rule.moved(scores, {name: data.side[name] for name in rule.needs})


def shifts(rule, scores, data):
    """Return whether a lower score is a lower threshold: one for all, or one a group."""
    if scores.ndim == 2:
        return False
    return bool(np.allclose(moved(rule, scores - 1.0, data), moved(rule, scores, data) - 1.0))


def plain_goal(goal):
    """Return the objective under the limits that need no certificate.

    Examples
    --------
    >>> from anymetric.estimators._limits import goal_of
    >>> from anymetric.metrics import Recall
    >>> plain_goal(goal_of(Recall(), "precision>=0.8 @ 90%"))
    Recall()
    """
    return limited(goal.of, tuple(one for one in goal.limits if one.confidence is None))
