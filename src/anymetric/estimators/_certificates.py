"""Certificates: limits with a confidence are certified on rows not used for selection."""

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
    """Return whether one threshold decides: the model is then selected by how it orders rows.

    Label noise in the training rows biases every rate, so that a limit may seem out of reach; it
    affects the order of the rows much less. The threshold is set on the certifying rows.

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


def split_certifying(strata, fraction, rng):
    """Split the rows into training rows and certifying rows.

    Examples
    --------
    >>> train, certifying = split_certifying(np.repeat([0, 1], 50), 0.2, np.random.default_rng(0))
    >>> len(train), len(certifying)
    (80, 20)
    >>> split_certifying(np.zeros(20), 0.2, np.random.default_rng(0))
    Traceback (most recent call last):
    ...
    ValueError: A certificate needs rows of its own, and 20 are too few to hold some out: ...
    """
    if len(strata) < FEWEST_ROWS:
        raise ValueError(
            f"A certificate needs rows of its own, and {len(strata)} are too few to hold some out: "
            "give X_val and y_val, or leave out `confidence`."
        )
    return hold_out(strata, fraction, rng, every=False)[:2]


def certified(problem, solution, claims, objective, rows, labels):
    """Return the solution at the certified threshold, and a certificate for each claim.

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
    valid = Scored(as_rows(rows, labels), unit_of(problem.metric).large(scores))
    if scores.ndim == 2:
        valid = replace(valid, scores=scores.reshape(len(rows), -1))
    seen, own = solution.out_of_fold
    if labels is None or not shifts(solution.rule, raw, rows):
        return solution, certify_as_it_is(claims, valid).certificates
    train = Scored(as_rows(seen, labels), own[:, 0])
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
    """Warn about limits that could not be certified.

    Examples
    --------
    >>> warn_if_uncertain(())
    """
    for one in certificates:
        if not one.certified:
            warn(f"Not certified: {one}.")


def as_rows(data, labels):
    """Return the rows in the form that certificates read."""
    return Rows(data.y, data.weights, data.side, labels, data.X)


def moved(rule, scores, data):
    """Return scores with the decision rule applied."""
    if rule is None or not rule.needs:
        return scores
    return rule.moved(scores, {name: data.side[name] for name in rule.needs})


def shifts(rule, scores, data):
    """Return whether the rule is a threshold, or one for each group."""
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
