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
from .timing import best


def gemm(kind: Any, size: int = 1024) -> float:
    """Return the rate of a square product, in 1e9 operations a second."""
    A = np.random.default_rng(0).standard_normal((size, size)).astype(kind)
    return 2e-9 * size**3 / best(lambda: A @ A)


def bandwidth(megabytes: int) -> float:
    """Return the rate at which memory is read, in 1e9 bytes a second."""
    numbers = np.ones(megabytes << 17)
    return 1e-9 * numbers.nbytes / best(lambda: np.add.reduce(numbers))


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
    read = bandwidth(max(64, n * d * 8 >> 20))
    rows = []
    for kind in (np.float32, np.float64):
        X = rng.standard_normal((n, d)).astype(kind)
        problem = problem_of(X)
        thetas = 0.1 * rng.standard_normal((m, d + 1))
        rate = gemm(kind)
        product = best(lambda p=problem, t=thetas: products(p, t))
        estimate = best(lambda p=problem, t=thetas: p.profile(t))
        here = problem.at(thetas[0])
        jacobian = best(here.jacobian)
        whole = best(lambda p=problem, t=thetas[0]: p.linearise(t))
        gigabytes, operations = 1e-9 * X.nbytes, 2e-9 * n * d * m
        name = np.dtype(kind).name
        rows += [
            [
                name,
                "the estimate's product",
                operations / product,
                rate,
                operations / product / rate,
            ],
            [
                name,
                "the estimate with its losses",
                operations / estimate,
                rate,
                operations / estimate / rate,
            ],
            [
                name,
                "the Jacobian's product",
                gigabytes / jacobian,
                read,
                gigabytes / jacobian / read,
            ],
            [
                name,
                "profile and Jacobian, X read twice",
                2 * gigabytes / whole,
                read,
                2 * gigabytes / whole / read,
            ],
        ]
    return Table(
        "Distance to the limit",
        ["precision", "", "reached", "the machine's own", "share"],
        [[a, b, c, r, f"{100 * s:.0f} %"] for a, b, c, r, s in rows],
        [
            f"{n:,} x {d} dense, four sigmoid surrogates, {m} probes. Products in 1e9 operations a "
            "second against a square matrix product (1024), passes in 1e9 bytes a second against "
            "reading memory."
        ],
    )
