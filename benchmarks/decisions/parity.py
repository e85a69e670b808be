"""Parity: demographic parity and equalised odds beside weighted regressions and fairlearn.

    python benchmarks/decisions.py parity [--seeds 0-4] [--table]

The cost is the error plus the gap between two groups: of the shares flagged, or the larger of the
gaps in true and in false-positive rate. Adult and COMPAS by sex, with the columns of sex among the
features and without them, and a simulated case. Two thirds of the rows train. "15 weightings":
fifteen logistic regressions with class x group weights, the best on the training rows. fairlearn:
ExponentiatedGradient over logistic regression, the best on the training rows of four bounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import mean
from typing import Any

import numpy as np
from benchmarks.decisions.limits import Sample, odds_gap, parts
from benchmarks.decisions.packages import package
from benchmarks.shared import Measured, carry_out, made_with, parser, spread
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

Ints = NDArray[np.int64]
OURS, GRID, FAIRLEARN = "anymetric", "15 weightings", "fairlearn"
METRICS = ("demographic_parity", "equalised_odds")
TABLES = ("adult", "compas", "simulated")
POSITIVE, NEGATIVE, BOUNDS = (0.25, 0.5, 1.0, 2.0, 4.0), (1 / 3, 1.0, 3.0), (0.01, 0.03, 0.1, 0.3)


@dataclass(frozen=True)
class Row(Measured):
    """One fit: its cost on new rows."""

    data: str
    inside: str
    metric: str
    method: str
    seed: int
    value: float
    seconds: float
    versions: str


def simulated(seed: int, n: int) -> Sample:
    """Return rows of two groups that differ in two features and in the share of positives."""
    rng = np.random.default_rng([77, seed, n])
    group = (rng.random(n) < 0.4).astype(np.int64)
    X = rng.normal(size=(n, 6)) + np.outer(group, [1.2, -0.5, 0.0, 0.0, 0.0, 0.0])
    margin = X @ np.array([1.0, 0.8, 0.5, 0.3, 0.0, 0.0]) + 0.6 * group - 0.4
    y = (margin + rng.logistic(size=n) > 0.0).astype(np.int64)
    return Sample(np.column_stack([X, group]), y, np.where(group == 1, "b", "a"))


@cache
def rows(data: str, inside: bool, seed: int) -> tuple[Sample, Sample]:
    """Return training and test rows, with or without the columns that determine the group."""
    if data == "simulated":
        both = simulated(seed, 2000), simulated(seed, 20_000)
    else:
        both = parts(data, seed)
    if inside:
        return both
    member = both[0].groups == both[0].groups[0]
    spread_of = both[0].X.std(axis=0) > 0.0
    same = np.zeros(both[0].X.shape[1])
    same[spread_of] = np.abs(np.corrcoef(both[0].X[:, spread_of].T, member)[-1, :-1])
    kept = same < 0.999
    return tuple(Sample(one.X[:, kept], one.y, one.groups) for one in both)  # type: ignore[return-value]


def cost(metric: str, sample: Sample, decided: Ints) -> float:
    wrong = float(np.mean(sample.y != decided))
    if metric == "equalised_odds":
        return wrong + odds_gap(sample.y, decided, sample.groups)
    shares = [decided[sample.groups == g].mean() for g in np.unique(sample.groups)]
    return wrong + float(np.ptp(shares))


def ours(metric: str, train: Sample, test: Sample, seed: int) -> Ints:
    clf = MetricClassifier(f"penalised_{metric}", random_state=seed)
    return np.asarray(clf.fit(train.X, train.y, groups=train.groups).predict(test.X))


def scaled(train: Sample, test: Sample) -> tuple[Any, Any]:
    scaler = StandardScaler().fit(train.X)
    return scaler.transform(train.X), scaler.transform(test.X)


def weighted(metric: str, train: Sample, test: Sample, seed: int) -> Ints:
    X, new = scaled(train, test)
    second = train.groups == np.unique(train.groups)[-1]
    best: tuple[float, Any] = (np.inf, None)
    for p, n in product(POSITIVE, NEGATIVE):
        weights = np.select([second & (train.y == 1), second], [p, n], 1.0)
        line = LogisticRegression(max_iter=300).fit(X, train.y, weights)
        best = min(best, (cost(metric, train, line.predict(X)), line), key=lambda one: one[0])
    return np.asarray(best[1].predict(new))


def reduced(metric: str, train: Sample, test: Sample, seed: int) -> Ints:
    reductions = package("fairlearn.reductions", "fairlearn")
    kinds = {"demographic_parity": "DemographicParity", "equalised_odds": "EqualizedOdds"}
    X, new = scaled(train, test)
    best: tuple[float, Any] = (np.inf, None)
    for bound in BOUNDS:
        limit = getattr(reductions, kinds[metric])(difference_bound=bound)
        found = reductions.ExponentiatedGradient(LogisticRegression(max_iter=300), limit)
        found.fit(X, train.y, sensitive_features=train.groups)
        own = cost(metric, train, np.asarray(found.predict(X, random_state=seed)))
        best = min(best, (own, found), key=lambda one: one[0])
    return np.asarray(best[1].predict(new, random_state=seed))


FITS = {OURS: ours, GRID: weighted, FAIRLEARN: reduced}


def measure(data: str, inside: str, metric: str, method: str, seed: int) -> Row:
    train, test = rows(data, inside == "yes", seed)
    began = time.process_time()
    decided = FITS[method](metric, train, test, seed)
    seconds = time.process_time() - began
    made = versions("fairlearn")
    return Row(data, inside, metric, method, seed, cost(metric, test, decided), seconds, made)


def run(store: Any, numbers: Sequence[int], tables: Sequence[str]) -> None:
    done = store.done()
    for seed in numbers:
        for cell in product(tables, ("yes", "no"), METRICS, FITS):
            if (*cell, seed) not in done:
                store.append(measure(*cell, seed))
        print(f"seed {seed}", file=sys.stderr, flush=True)


def report(found: Sequence[Row]) -> str:
    """Return a line for each table and metric, with paired differences to both others."""
    lines = []
    for data, inside, metric in product(TABLES, ("yes", "no"), METRICS):
        own = {
            method: {
                r.seed: r
                for r in found
                if (r.data, r.inside, r.metric, r.method) == (data, inside, metric, method)
            }
            for method in FITS
        }
        if own[OURS]:
            lines.append([data, inside, metric, *line_of(own)])
    head = ["data", "group in X", "metric", "seeds", *FITS, f"ours less {GRID}"]
    head += [f"ours less {FAIRLEARN}", "seconds: ours", f"seconds: {FAIRLEARN}"]
    return "\n".join(
        [
            "# Parity",
            "",
            "Cost on new rows, error plus gap, lower is better: mean over seeds ± standard error; "
            "differences paired by seed. Seconds are of one processor.",
            "",
            markdown(head, lines),
            "",
            *made_with(found),
        ]
    )


def line_of(own: dict[str, dict[int, Row]]) -> list[str]:
    first = own[OURS]

    def less(other: dict[int, Row]) -> str:
        return spread([first[s].value - other[s].value for s in first if s in other], "+")

    values = [spread([row.value for row in of.values()]) for of in own.values()]
    taken = [[row.seconds for row in own[m].values()] for m in (OURS, FAIRLEARN)]
    seconds = [f"{mean(one):.1f}" if one else "–" for one in taken]
    return [str(len(first)), *values, less(own[GRID]), less(own[FAIRLEARN]), *seconds]


def main(argv: Sequence[str] | None = None) -> int:
    command = parser(__doc__, "decisions_parity")
    command.add_argument("--quick", action="store_true", help="the simulated case, one seed")
    options = command.parse_args(argv)
    numbers, tables = options.seeds, TABLES
    if options.quick:
        numbers, tables = options.seeds[:1], ("simulated",)
    return carry_out(options, Row, lambda store: run(store, numbers, tables), report)
