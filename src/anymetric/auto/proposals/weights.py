"""Proposals of row weights: for two classes, many classes and labels, for lines and for trees."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.constants import MIXED, RIDGES, TRIED
from anymetric.auto.proposals.groups import group_search
from anymetric.auto.records import LINEAR, Predictions, Proposal, Weighting
from anymetric.auto.sample import Sample, effective
from anymetric.losses import as_loss
from anymetric.problem import Problem
from anymetric.surrogates import Sliced

Floats64 = NDArray[np.float64]
# Below this share of effective rows the samples are taken as different.
ALIKE = 0.97
# The default ridge.
USUAL = 10.0
# A class with fewer rows is not cut in halves.
HALVED = 50
# Trees are trained on mixtures with this share of validation rows, and with the best of those of
# lines (three shares instead cost as much on four public tasks with five development seeds);
# and on this many of the best sources and amounts.
OF_TREES, FOLLOWED = 0.85, 2


def linear_proposals(
    sample: Sample,
    problem: Problem,
    table: Predictions,
    use_validation: bool,
    only_validation: bool = False,
) -> Iterator[Proposal]:
    """Yield plain and balanced losses with rising ridges, mixtures, sources, amounts, halves.

    The ridge follows from the costs so far: a higher one is tried where the last improved, and the
    proposals that follow get the best.

    Parameters
    ----------
    sample : Sample
    problem : Problem
    table : Predictions
        The caller must append every proposal before drawing the next.
    use_validation : bool
        Whether validation rows train as well, cross-fitted.
    only_validation : bool
        No proposals without validation rows.
    """
    balances = balances_of(sample, problem)
    if only_validation:
        ridge = yield from ridge_path(with_balances(Weighting("valid"), balances), table)
        bases = [Weighting(), *like_validation(sample)]
        yield from mixtures(sample, bases, balances, max(ridge / 10.0, USUAL))
        return
    first = Weighting(sample.source)
    bases = [first, *like_validation(sample)] if not sample.single else [first]
    main = bases[-1] if len(bases) > 1 else first
    ridge = yield from ridge_path(with_balances(main, balances), table)
    for base in bases[:-1]:
        for strength in sorted({USUAL, ridge}):
            yield from (Proposal(one, strength) for one in with_balances(base, balances))
    if not sample.single and use_validation:
        alone = Weighting("valid")
        for strength in sorted({USUAL, 10.0 * USUAL, ridge}):
            yield from (Proposal(one, strength) for one in with_balances(alone, balances))
        yield from mixtures(sample, bases, balances, max(ridge / 10.0, USUAL))
    yield from further(sample, problem, table, ridge)


def ridge_path(
    weightings: Sequence[Weighting], table: Predictions
) -> Generator[Proposal, None, float]:
    """Yield weightings along a ridge path while costs fall; return the best ridge."""
    best, least = RIDGES[0], np.inf
    for place, strength in enumerate(RIDGES):
        costs = []
        for weighting in weightings:
            proposal = Proposal(weighting, strength)
            yield proposal
            costs.append(table.cost_of(proposal))
        if min(costs) < least:
            best, least = strength, min(costs)
        elif place >= TRIED - 1:
            break
    return best


def further(
    sample: Sample, problem: Problem, table: Predictions, ridge: float
) -> Iterator[Proposal]:
    """Yield proposals from metadata (sources, amounts, groups), and halves of a class."""
    found = [*by_source(sample, problem), *by_amount(sample, problem)]
    yield from (Proposal(one, ridge) for one in found)
    yield from group_search(sample, problem, table, ridge)
    if sample.task.exclusive:
        for balance in (0.0, 0.5, 1.0):
            weighting = Weighting(sample.source, balance=balance)
            yield Proposal(weighting, ridge, as_loss("logistic"), note="one against the rest")
    if not sample.task.many:
        yield from (Proposal(one, USUAL) for one in halves(sample))


def tree_proposals(
    sample: Sample,
    problem: Problem,
    table: Predictions,
    use_validation: bool,
    family: str,
    by_row: bool = False,
) -> Iterator[Proposal]:
    """Yield a shorter list for families with slow fits.

    Sources, amounts and shares are those that were best for linear models; mixtures follow the
    best weighting of the training rows.
    """
    # At a tuned threshold balanced classes and smaller trees gain nothing: three more proposals
    # 0.0008 +- 0.0021, F1 and G-mean of 42 KEEL sets.
    first = Weighting(sample.source)
    bases = [first] if sample.single else [first, *like_validation(sample)]
    special = [*by_source(sample, problem), *by_amount(sample, problem)]
    for one in (*bases, *followed(table, special)):
        yield Proposal(one, family=family)
    yield from group_search(sample, problem, table, family=family)
    if sample.single or not use_validation:
        return
    yield Proposal(Weighting("valid"), family=family)
    own = [k for k in table.of(family) if table.candidates[k].proposal.weighting in bases]
    leader = min(own, key=lambda k: table.assessments[k].mean, default=None)
    if leader is not None:
        importance = table.candidates[leader].proposal.weighting.importance
        for share in mixed_shares(sample, table, by_row):
            yield Proposal(Weighting("both", share, importance), family=family)


def followed(table: Predictions, weightings: Sequence[Weighting]) -> list[Weighting]:
    """Return those that were best for linear models; all, if there are no linear models."""
    lines = table.of(LINEAR)
    if not lines:
        return [*weightings]
    costs = {table.candidates[k].proposal.weighting: table.assessments[k].mean for k in lines}
    return sorted(weightings, key=lambda one: costs.get(one, np.inf))[:FOLLOWED]


def mixed_shares(sample: Sample, table: Predictions, by_row: bool = False) -> list[float]:
    """Return shares of validation rows: the best for linear models, or all, and a large one.

    Where costs are known by row, probabilities decide: all rows alike is one of them.
    """
    mixed = [k for k in table.of(LINEAR) if table.candidates[k].proposal.weighting.rows == "both"]
    best = min(mixed, key=lambda k: table.assessments[k].mean, default=None)
    if best is None:
        return sorted({sample.natural, *MIXED, OF_TREES})
    plain = {sample.natural} if by_row else set()
    return sorted({table.candidates[best].proposal.weighting.share, OF_TREES, *plain})


def few_proposals(family: str = LINEAR) -> Iterator[Proposal]:
    """Yield the two plainest proposals, for very few rows."""
    for balance in (0.0, 1.0):
        yield Proposal(Weighting("train", balance=balance), family=family)


def balances_of(sample: Sample, problem: Problem) -> tuple[float, ...]:
    """Return the degrees of class balancing to try.

    Ranking metrics have no threshold that corrects for the distortion of full balancing.
    """
    if sample.task.many:
        return (0.0, 0.5, 1.0)
    return (0.0, 1.0) if problem.metric.decides else (0.0, 0.5)


def with_balance(weighting: Weighting, balance: float) -> Weighting:
    """Return the weighting with this degree of class balancing."""
    return replace(weighting, balance=balance)


def with_balances(weighting: Weighting, balances: Sequence[float]) -> list[Weighting]:
    """Return the weighting with each balance."""
    return [with_balance(weighting, balance) for balance in balances]


def like_validation(sample: Sample) -> list[Weighting]:
    """Return weightings of training rows by importance, if the validation rows differ.

    Examples
    --------
    >>> from anymetric.auto.task import Task
    >>> from anymetric.data import Data
    >>> rows = Data(np.zeros((4, 1)), np.ones(4))
    >>> ratio = np.array([2.0, 0.1, 0.1, 0.1])
    >>> [w.name for w in like_validation(Sample(Task((0, 1)), rows, rows, np.arange(4), ratio))]
    ['train importance-weighted']
    """
    ratio = sample.density_ratio
    if ratio is None or effective(ratio) > ALIKE * len(ratio):
        return []
    return [Weighting(importance=1.0)]


def mixtures(
    sample: Sample, bases: Sequence[Weighting], balances: Sequence[float], strength: float
) -> Iterator[Proposal]:
    """Yield training and validation rows together, in several shares."""
    for base in bases:
        for share in sorted({sample.natural, *MIXED}):
            for balance in balances:
                yield Proposal(Weighting("both", share, base.importance, balance), strength)


def by_source(sample: Sample, problem: Problem) -> Iterator[Weighting]:
    """Yield the rows of each source alone and, of more than two, all others; so by named slices."""
    data = sample.stock
    own = [one for one in problem.profiler.surrogates if isinstance(one, Sliced)]
    columns = dict.fromkeys(["source", *(column for one in own for column in one.needs)])
    for column in columns:
        if column == "groups" or column not in data.side:
            continue
        values = np.unique(data.side[column])
        for value in values:
            for chosen in (True, False) if len(values) > 2 else (True,):
                rows = (data.side[column] == value) == chosen
                if len(np.unique(data.y[rows])) > 1:
                    for balance in (0.0, 1.0):
                        where = (column, value, chosen)
                        yield Weighting(sample.source, balance=balance, only=where)


def by_amount(sample: Sample, problem: Problem) -> Iterator[Weighting]:
    """Yield rows weighted by a column of amounts that the metric reads, in one class or in both.

    A metric of money weighs a row by its amount.
    """
    data = sample.stock
    if sample.task.many:
        return
    for name in problem.metric.needs:
        column = data.side.get(name)
        if column is None or column.dtype.kind not in "fiu" or not amounts(column):
            continue
        for sign in (1, -1, 0):
            rows = np.ones(len(data), bool) if sign == 0 else data.y == sign
            if np.any(column[rows] > 0):
                for balance in (0.0, 1.0):
                    yield Weighting(sample.source, balance=balance, amounts=(name, sign))


def halves(sample: Sample) -> Iterator[Weighting]:
    """Yield each of two clusters of a class against the other class, balanced."""
    data = sample.stock
    for sign in (-1.0, 1.0):
        own = data.y == sign
        if np.count_nonzero(own) < HALVED:
            continue
        for which in (0, 1):
            if np.count_nonzero(own & (sample.clusters[sign] == which)) >= HALVED // 2:
                yield Weighting(sample.source, balance=1.0, half=(sign, which))


def amounts(column: NDArray[np.generic]) -> bool:
    """Return whether numbers can be amounts: none negative, and many of them different.

    Examples
    --------
    >>> amounts(np.arange(50)), amounts(np.array([0, 1] * 25))
    (True, False)
    """
    values = np.asarray(column, dtype=np.float64)
    return bool(np.all(values >= 0.0) and len(np.unique(values)) > 10)
