"""Gains: finds out by some dozen answers whether a function is a sum of every row's own gain."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.judges.base import Floats64, shifts_flagging
from anymetric.auto.judges.study import columns_read
from anymetric.data import Columns
from anymetric.ledger import Ledger
from anymetric.metrics.linear_gains import LinearGains, Term, products
from anymetric.metrics.subjects import about as describing
from anymetric.problem import Problem

Bools = NDArray[np.bool_]
# Columns that gains may depend on, and those whose products are tried too.
MOST_COLUMNS, MULTIPLIED = 6, 3
# Answers beyond those that determine the gains, which must be as predicted within this part of how
# answers spread: no other function is, and totals in whole cents or single precision are.
CHECKS, EXACT = 4, 1e-6
# Shares of the rows that the first model flags in the first questions: a function may leap where a
# good model decides, and nowhere else.
SHARES = (0.05, 0.2, 0.5, 0.8)
# A gain below this part of the largest, by what it brings in all rows, is rounding.
ROUNDING = 1e-5


def find_gains(ledger: Ledger, scores: Floats64, rng: np.random.Generator) -> LinearGains | None:
    """Return a function's gains by row; None if it is no sum of them, or calls are too few.

    Gains are linear in the columns that the function reads or, if that does not do, in these and
    their products. Decisions are drawn at random; more answers than there are unknown coefficients
    must be what these predict.

    Parameters
    ----------
    ledger : Ledger
    scores : array of shape (n, 1)
        Of some sensible model on the validation rows.
    rng : numpy Generator
    """
    problem = ledger.problem
    columns = amounts_of(problem)
    flagged: Bools = np.zeros((len(problem.valid), 0), dtype=bool)
    costs = np.zeros(0)
    for terms in terms_of(columns):
        new = 2 * len(terms) + 1 + CHECKS - flagged.shape[1]
        if ledger.left < new + 1:
            return None
        drawn = decisions(problem, columns, new, rng)
        if not flagged.shape[1]:
            first = scores[:, :1] + shifts_flagging(scores[:, 0], SHARES) > 0.0
            drawn[:, : first.shape[1]] = first
        with describing(stage="gains"):
            answers = ledger.ask_each([(problem.judge, 2.0 * one - 1.0) for one in drawn.T])
        flagged, costs = np.hstack([flagged, drawn]), np.append(costs, answers)
        found = solved(problem, terms, flagged, costs)
        if found is not None:
            return found
    return None


def amounts_of(problem: Problem) -> dict[str, Floats64]:
    """Return the columns of numbers that gains may depend on; none if they cannot be found."""
    read, valid = columns_read(problem), problem.valid
    if read is None:
        return {}
    names = valid.side if getattr(problem.metric, "takes_all", False) else read
    kinds = {name: valid.side[name].dtype.kind for name in names}
    found = {name: valid.side[name].astype(np.float64) for name in names if kinds[name] in "fiub"}
    found = {name: x for name, x in found.items() if np.all(np.isfinite(x)) and np.ptp(x) > 0.0}
    return found if len(found) <= MOST_COLUMNS else {}


def terms_of(columns: Columns) -> list[tuple[Term, ...]]:
    """Return the terms to try: a constant and each column, then their products too.

    Examples
    --------
    >>> [len(terms) for terms in terms_of({"a": np.ones(2), "b": np.ones(2)})]
    [3, 4]
    """
    plain: tuple[Term, ...] = ((), *((name,) for name in columns))
    pairs = tuple(combinations(columns, 2)) if len(columns) <= MULTIPLIED else ()
    return [plain, (*plain, *pairs)] if pairs else [plain]


def decisions(problem: Problem, columns: Columns, count: int, rng: np.random.Generator) -> Bools:
    """Draw decisions ``(n, count)``: rows of each class, below and above a cut of some column.

    Drawn alike, all rows would have amounts in the same proportion to their number.
    """
    y, names = problem.valid.y > 0.0, list(columns)
    flagged = np.zeros((len(y), count), dtype=bool)
    for k in range(count):
        column = columns[names[int(rng.integers(len(names)))]]
        above = column > np.quantile(column, rng.uniform(0.1, 0.9))
        shares = rng.uniform(0.02, 0.98, size=4)[2 * y + above]
        flagged[:, k] = rng.random(len(y)) < shares
    return flagged


def solved(
    problem: Problem, terms: tuple[Term, ...], flagged: Bools, costs: Floats64
) -> LinearGains | None:
    """Return the gains that explain all costs; None if none do."""
    there = np.isfinite(costs)
    valid, costs = problem.valid, costs[there]
    n, positive = len(valid), valid.y[:, np.newaxis] > 0.0
    values = products(terms, valid.side, n)
    unit = np.abs(values).mean(axis=0)
    unit[unit == 0.0] = 1.0
    classes = np.hstack([values / unit * positive, values / unit * ~positive])
    table = np.column_stack([flagged[:, there].T @ classes / n, np.ones(len(costs))])
    if len(costs) < table.shape[1] + CHECKS - 1 or np.ptp(costs) == 0.0:
        return None
    found = np.linalg.lstsq(table, costs, rcond=None)[0]
    if np.abs(table @ found - costs).max() > EXACT * np.ptp(costs):
        return None
    # A row's gain is what it adds to the mean: of costs, less is better.
    gains = np.where(np.abs(found[:-1]) > ROUNDING * np.abs(found[:-1]).max(), -found[:-1], 0.0)
    both = gains.reshape(2, -1) / unit
    used = np.flatnonzero(both.any(axis=0))
    own, other = both[:, used].tolist()
    kept = tuple(terms[k] for k in used)
    return LinearGains(problem.metric.name, kept, tuple(own), tuple(other), float(-found[-1]))
