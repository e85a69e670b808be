"""Limits: the machine's own rates, measured here, and the share of them that is reached."""

from __future__ import annotations

from typing import Any

import numpy as np

from anymetric import as_metric, per_class_and_group
from anymetric.data import Data
from anymetric.engines.engine import WIDTH, mixed_scores
from anymetric.models import Linear
from anymetric.problem import Problem

from .table import Table
from .timing import ROUNDS, best_of_each


def problem_of(X: Any, groups: int = 2, seed: int = 0, loss: str = "sigmoid") -> Problem:
    """Return a problem with a surrogate for each class and group."""
    rng = np.random.default_rng(seed)
    n = len(X)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    data = Data(X, y, None, {"groups": rng.integers(0, groups, n)})
    model = Linear.standardised(X)
    return Problem(data, per_class_and_group(loss), as_metric("error"), model=model)


def products(problem: Problem, thetas: Any) -> None:
    """Make the products of an estimate, block by block, and nothing else."""
    engine = problem.engine
    for start in range(0, len(thetas), WIDTH):
        part = thetas[start : start + WIDTH]
        for _, block in engine.blocks(len(part)):
            mixed_scores(engine.model, block, part, None)


def measure(n: int, d: int = 100, m: int = 200, square: int = 1024) -> Table:
    """Return the table of rates and shares on a dense table."""
    rng = np.random.default_rng(0)
    numbers = np.ones(max(64 << 17, n * d))
    rows = []
    for kind in (np.float32, np.float64):
        problem = problem_of(rng.standard_normal((n, d)).astype(kind))
        thetas = 0.1 * rng.standard_normal((m, d + 1))
        A = rng.standard_normal((square, square)).astype(kind)
        here, one = problem.at(thetas[0]), thetas[0]
        # What each work does, in 1e9 operations or bytes.
        operations, bytes_ = 2e-9 * n * d * m, 1e-9 * problem.train.X.nbytes
        amounts = {
            "a square product": 2e-9 * square**3,
            "the estimate's product": operations,
            "the estimate with its losses": operations,
            "reading memory": 1e-9 * numbers.nbytes,
            "the Jacobian's product": bytes_,
            "profile and Jacobian, X read twice": 2 * bytes_,
        }
        works = (
            lambda A=A: A @ A,
            lambda p=problem, t=thetas: products(p, t),
            lambda p=problem, t=thetas: p.profile(t),
            lambda: np.add.reduce(numbers),
            here.jacobian,
            lambda p=problem, t=one: p.linearise(t),
        )
        took = best_of_each(dict(zip(amounts, works, strict=True)))
        rates = {name: amount / took[name] for name, amount in amounts.items()}
        for name in amounts:
            if name in ("a square product", "reading memory"):
                limit = rates[name]
            else:
                share = f"{100 * rates[name] / limit:.0f} %"
                rows.append([np.dtype(kind).name, name, rates[name], limit, share])
    return Table(
        "Distance to the limit",
        ["precision", "", "reached", "the machine's own", "share"],
        rows,
        [
            f"{n:,} x {d} dense, four sigmoid surrogates, {m} probes. Products in 1e9 operations a "
            f"second against a square matrix product ({square}), passes in 1e9 bytes a second "
            f"against reading memory; each with its limit by turns, the fastest of {ROUNDS}."
        ],
    )
