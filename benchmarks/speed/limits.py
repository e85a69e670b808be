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

# Rows of the square product.
SQUARE = 1024


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


def measure(n: int, d: int = 100, m: int = 200) -> Table:
    """Return the table of rates and shares on a dense table."""
    rng = np.random.default_rng(0)
    numbers = np.ones(max(64 << 17, n * d))
    rows = []
    for kind in (np.float32, np.float64):
        problem = problem_of(rng.standard_normal((n, d)).astype(kind))
        thetas = 0.1 * rng.standard_normal((m, d + 1))
        A = rng.standard_normal((SQUARE, SQUARE)).astype(kind)
        operations, bytes_ = 2e-9 * n * d * m, 1e-9 * problem.train.X.nbytes
        # The first of each is the limit of the others; amounts in 1e9 operations or bytes.
        parts = (
            {
                "": (2e-9 * SQUARE**3, lambda A=A: A @ A),
                "the estimate's product": (
                    operations,
                    lambda p=problem, t=thetas: products(p, t),
                ),
                "the estimate with its losses": (
                    operations,
                    lambda p=problem, t=thetas: p.profile(t),
                ),
            },
            {
                "": (1e-9 * numbers.nbytes, lambda: np.add.reduce(numbers)),
                "the Jacobian's product": (bytes_, problem.at(thetas[0]).jacobian),
                "profile and Jacobian, X read twice": (
                    2 * bytes_,
                    lambda p=problem, t=thetas[0]: p.linearise(t),
                ),
            },
        )
        for part in parts:
            took = best_of_each({name: work for name, (_, work) in part.items()})
            rates = {name: amount / took[name] for name, (amount, _) in part.items()}
            limit = rates.pop("")
            for name, rate in rates.items():
                share = f"{100 * rate / limit:.0f} %"
                rows.append([np.dtype(kind).name, name, rate, limit, share])
    return Table(
        "Distance to the limit",
        ["precision", "", "reached", "the machine's own", "share"],
        rows,
        [
            f"{n:,} x {d} dense, four sigmoid surrogates, {m} probes. Products in 1e9 operations a "
            f"second against a square matrix product ({SQUARE}), passes in 1e9 bytes a second "
            f"against reading memory; alternating with its limit, the fastest of {ROUNDS}."
        ],
    )
