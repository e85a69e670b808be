"""Screening: of very many rows, candidates are compared on a sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from anymetric.auto.constants import SCREENED
from anymetric.data import Data
from anymetric.engines.rows import Rows
from anymetric.ledger import Ledger
from anymetric.metrics.ranked import QUERY


def screened(ledger: Ledger, rng: np.random.Generator) -> Ledger:
    """Return a ledger of the problem on a sample of its rows, where these are very many.

    Validation rows are kept where they are others than the training rows, and not too many.
    """
    problem = ledger.problem
    single = problem.valid is problem.train
    by_query = QUERY in problem.train.side
    if by_query or not many(max(len(problem.train), len(problem.valid))):
        return ledger
    some = sampled(len(problem.train), rng)
    train = in_order(problem.train.take(some))
    valid = train
    if not single:
        valid = in_order(problem.valid.take(sampled(len(problem.valid), rng)))
    spec = problem.surrogates
    small = replace(problem, train=train, valid=valid, surrogates=spec)
    return Ledger(small, ledger.rest, ledger.n_jobs)


def larger_sample(ledger: Ledger, rows: Rows, rng: np.random.Generator) -> Ledger:
    """Return a ledger of the problem with as many of all rows as memory may hold."""
    problem = ledger.problem
    X = problem.train.X
    size = (X.data.nbytes if sparse.issparse(X) else X.nbytes) / len(problem.train)
    count = min(len(rows), max(int(rows.memory / max(size, 1.0)), len(problem.train)))
    if count <= len(problem.train):
        return ledger
    train = rows.sample(sampled(len(rows), rng, count))
    valid = train if problem.valid is problem.train else problem.valid
    return Ledger(replace(problem, train=train, valid=valid), ledger.rest, ledger.n_jobs)


def sampled(
    n: int, rng: np.random.Generator, count: int = SCREENED
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return so many of n rows as candidates are compared on, in order."""
    if n <= count:
        return np.arange(n)
    return np.sort(rng.choice(n, size=count, replace=False)).astype(np.intp)


def in_order(data: Data) -> Data:
    """Return the rows with each row's features side by side in memory.

    Products are rounded by their order: the same rows are to have the same models.

    Examples
    --------
    >>> in_order(Data(np.ones((2, 3)).T, np.ones(3))).X.flags.c_contiguous
    True
    """
    if sparse.issparse(data.X) or data.X.flags.c_contiguous:
        return data
    return replace(data, X=np.ascontiguousarray(data.X))


def many(n: int) -> bool:
    """Return whether rows are so many that candidates are compared on some of them.

    Examples
    --------
    >>> many(200_000), many(200_001)
    (False, True)
    """
    return n > 2 * SCREENED
