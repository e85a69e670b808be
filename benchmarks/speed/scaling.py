"""Scaling: how time and memory grow with rows, features, surrogates and probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from anymetric import MetricClassifier
from anymetric.datasets import load_adult

from .limits import problem_of
from .table import Table
from .timing import allocated, best, peak, slope, timed

ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
FEATURES = (10, 30, 100, 300, 1000)
SURROGATES = (2, 4, 8, 16)
PROBES = (10, 30, 100, 300, 1000)


def jittered(n: int, d: int) -> Any:
    """Return Adult's rows and columns repeated and jittered to this size, dense float32."""
    rng = np.random.default_rng(0)
    adult = np.asarray(load_adult().X, dtype=np.float32)
    columns = rng.integers(0, adult.shape[1], d) if d > adult.shape[1] else np.arange(d)
    X = rng.standard_normal((n, d), dtype=np.float32)
    X *= 0.05
    for start in range(0, n, len(adult)):
        stop = min(start + len(adult), n)
        X[start:stop] += adult[: stop - start, columns]
    return X


def grown(
    name: str, sizes: Sequence[int], build: Callable[[int], tuple[Any, int]], fixed: str
) -> list[list[Any]]:
    """Return the times of the estimate and of the Jacobian as one size grows."""
    estimates, passes, held = [], [], 0.0
    for size in sizes:
        problem, m = build(size)
        thetas = 0.1 * np.random.default_rng(0).standard_normal((m, problem.size))
        estimates.append(best(lambda p=problem, t=thetas: p.profile(t)))
        passes.append(best(lambda p=problem, t=thetas[0]: p.linearise(t)))
        held = allocated(lambda p=problem, t=thetas: p.profile(t))
    span = f"{sizes[0]:,} to {sizes[-1]:,}"
    memory = f"{held:.0f} MB"
    return [
        [
            name,
            span,
            fixed,
            "estimate",
            estimates[0],
            estimates[-1],
            slope(sizes, estimates),
            memory,
        ],
        [name, span, fixed, "Jacobian", passes[0], passes[-1], slope(sizes, passes), ""],
    ]


def measure(quick: bool) -> Table:
    """Return the table of slopes."""
    n, cut = (10_000, 3) if quick else (30_000, 5)
    most = 10_000 if quick else 100_000
    base = jittered(n, 100)
    rows = [
        *grown(
            "rows", ROWS[:cut], lambda k: (problem_of(jittered(k, 100)), 100), "d 100, K 4, m 100"
        ),
        *grown(
            "features",
            FEATURES[:: 2 if quick else 1],
            lambda k: (problem_of(jittered(n, k)), 100),
            f"n {n:,}, K 4, m 100",
        ),
        *grown(
            "surrogates",
            SURROGATES,
            lambda k: (problem_of(base, groups=k // 2), 100),
            f"n {n:,}, d 100, m 100",
        ),
        *grown(
            "probes",
            PROBES[:: 2 if quick else 1],
            lambda k: (problem_of(base), k),
            f"n {n:,}, d 100, K 4",
        ),
    ]
    large = problem_of(jittered(most, 100))
    thetas = np.random.default_rng(0).standard_normal((1000, 101))
    held = allocated(lambda: large.profile(thetas))
    return Table(
        "How it grows",
        ["what grows", "from, to", "fixed", "", "first", "last", "slope", "memory beyond X"],
        rows,
        [
            "Adult repeated and jittered, float32. The slope is that of log seconds against log "
            f"size: 1 is linear. 1,000 probes of {most:,} rows hold {held:.0f} MB beyond X (their "
            f"scores would be {most * 8000 >> 20:,} MB)."
        ],
    )


def gaussian(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return features, classes and groups of a linear rule with noise."""
    X = rng.standard_normal((n, d), dtype=np.float32)
    groups = rng.integers(0, 2, n)
    noise = (1 + groups) * rng.standard_normal(n, dtype=np.float32)
    scores = X @ np.linspace(-1.0, 1.0, d, dtype=np.float32) + 3.0 * noise
    return X, (scores > 4.0).astype(int), groups


def fits(sizes: Sequence[int], d: int = 100) -> Table:
    """Return the times of whole fits by the default, and the memory of the last."""
    rows, seconds = [], []
    for n in sizes:
        rng = np.random.default_rng(0)
        X, y, groups = gaussian(n, d, rng)
        X_val, y_val, groups_val = gaussian(n // 5, d, rng)
        model = MetricClassifier("group_mean_f1", random_state=0)
        given = {"X_val": X_val, "y_val": y_val, "groups_val": groups_val}
        _, took = timed(lambda m=model, v=given, X=X, y=y, g=groups: m.fit(X, y, groups=g, **v))
        seconds.append(took)
        size = (X.nbytes + X_val.nbytes) / 2**20
        rows.append([f"{n:,} x {d}", took, size, peak(), model.validation_score_])
    note = f"The slope of seconds against rows is {slope(sizes, seconds):.2f}."
    return Table(
        "A whole fit by the default",
        ["rows and features", "seconds", "X, MB", "peak of the process so far, MB", "macro F1"],
        rows,
        [
            "Dense float32, macro F1 over two groups (K = 4), a fifth as many validation rows. "
            f"{note}"
        ],
    )
