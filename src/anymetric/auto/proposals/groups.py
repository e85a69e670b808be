"""Proposals of class x group weights: a coordinate search while weighted fits improve."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from anymetric.auto.records import LINEAR, Predictions, Proposal, Weighting
from anymetric.auto.sample import Sample
from anymetric.metrics import Limited, Metric
from anymetric.metrics.gaps import ConfusionGap, GroupGap, OddsGap, RateGap
from anymetric.metrics.groups import GapPenalty
from anymetric.problem import Problem

# Maximum number of groups with weights of their own.
MOST_GROUPS = 6
# Factors of one step, and of the finer steps after them; maximum fits of one search.
FACTORS, MOST_FITS = (2.0, 2.0**0.5), 30
# The same for families whose every fit takes long.
TREE_FACTORS, MOST_TREES = (3.0,), 6

Cells = dict[tuple[float, Any], float]


def group_search(
    sample: Sample,
    problem: Problem,
    table: Predictions,
    strength: float = 10.0,
    family: str = LINEAR,
) -> Iterator[Proposal]:
    """Yield fits with other weights of a class in a group, starting from the best so far.

    A step makes the positives of a group heavier and its negatives lighter, or the other way round,
    or changes one class of one group alone. Steps that improve are repeated.

    Parameters
    ----------
    sample : Sample
    problem : Problem
    table : Predictions
        The caller must append every proposal before drawing the next.
    strength : float
    family : str
    """
    groups = weighted_groups(sample, problem)
    own = table.of(family)
    if not groups or not own or (family != LINEAR and not compares_groups(problem.metric)):
        return
    factors, most = (FACTORS, MOST_FITS) if family == LINEAR else (TREE_FACTORS, MOST_TREES)
    first = table.candidates[min(own, key=lambda k: table.assessments[k].mean)].proposal
    base = Weighting(sample.source, balance=first.weighting.balance)
    cost = min(table.assessments[k].mean for k in own)
    cells: Cells = {}
    for factor in factors:
        for step in steps(groups, factor, family == LINEAR):
            for sign in (1.0, -1.0):
                moved = yield from continued(
                    table, base, strength, family, cells, step, sign, cost, most
                )
                cells, gained, most = moved[0], moved[1] < cost, moved[2]
                cost = moved[1]
                if gained or most <= 0:
                    break
            if most <= 0:
                return


def continued(
    table: Predictions,
    base: Weighting,
    strength: float,
    family: str,
    cells: Cells,
    step: Cells,
    sign: float,
    cost: float,
    most: int,
) -> Generator[Proposal, None, tuple[Cells, float, int]]:
    """Yield steps in one direction while they improve; return the weights, cost and fits left.

    The cells hold logarithms of factors.
    """
    while most > 0:
        there = {key: cells.get(key, 0.0) + sign * step.get(key, 0.0) for key in {**cells, **step}}
        there = {key: value for key, value in there.items() if abs(value) > 1e-9}
        named = tuple((y, g, float(np.exp(v))) for (y, g), v in sorted(there.items()))
        proposal = Proposal(replace(base, cells=named), strength, family=family)
        yield proposal
        most -= 1
        found = table.cost_of(proposal)
        if not found < cost - 1e-9 * abs(cost):
            break
        cells, cost = there, found
    return cells, cost, most


def steps(groups: list[Any], factor: float, single: bool) -> list[Cells]:
    """Return the steps: a group's classes against each other, then each class alone.

    Of two groups one suffices: at a tuned threshold, raising one lowers the other.

    Examples
    --------
    >>> steps(["a", "b"], np.e, False)
    [{(1.0, 'b'): 1.0, (-1.0, 'b'): -1.0}]
    """
    size = float(np.log(factor))
    lifted = groups[1:] if len(groups) == 2 else groups
    found: list[Cells] = [{(1.0, g): size, (-1.0, g): -size} for g in lifted]
    return found + [{(y, g): size} for g in groups for y in (1.0, -1.0)] if single else found


def weighted_groups(sample: Sample, problem: Problem) -> list[Any]:
    """Return the groups that the metric reads; none where there are too many, or many classes."""
    data = sample.stock
    if sample.task.many or sample.task.numbers:
        return []
    if "groups" not in problem.metric.needs or "groups" not in data.side:
        return []
    groups = np.unique(data.side["groups"]).tolist()
    return groups if 2 <= len(groups) <= MOST_GROUPS else []


def compares_groups(metric: Metric) -> bool:
    """Return whether a metric, or a limit, reads differences between groups.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> (
    ...     compares_groups(as_metric("demographic_parity")),
    ...     compares_groups(as_metric("group_mean_f1")),
    ... )
    (True, False)
    """
    if isinstance(metric, Limited):
        return any(compares_groups(part) for part in metric.parts)
    return isinstance(metric, GapPenalty | RateGap | OddsGap | ConfusionGap | GroupGap)
