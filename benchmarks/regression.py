"""Regression under noise (Example 2): outliers in train, clean validation, against each p alone.

    python benchmarks/regression.py [--seeds 0-4] [--table]

A fifth of the training targets are moved by 5 to 15 standard deviations, upwards or either way.
A single ``|f - y|^p`` is trained on those rows for each p; which p is best is known with hindsight,
from the test rows of all seeds. The default of `MetricRegressor` has to find its way by itself.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.shared import Measured, carry_out, made_with, parser, spread

from anymetric import MetricRegressor, as_metric, metric
from anymetric.data import Data
from anymetric.datasets import load_credit_default
from anymetric.estimators._units import Unit
from anymetric.losses import Lp
from anymetric.models import Linear
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown
from anymetric.solvers import WeightedLoss, minimise

POWERS = (1.05, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0)
OUTLIERS = 0.2


@metric(greater_is_better=True, on="scores")
def stock_profit(y_true, y_pred):
    """What a shop earns that buys its forecast at 3 a piece and sells the demand at 5."""
    stock = np.maximum(y_pred, 0.0)
    return float(np.mean(5.0 * np.minimum(stock, y_true) - 3.0 * stock))


METRICS = {
    as_metric(spec).name: as_metric(spec)
    for spec in ("median_absolute_error", "pinball_0.9", "within_10%", stock_profit)
}


def diabetes(seed):
    return load_diabetes(return_X_y=True)


def linear(seed):
    rng = np.random.default_rng([seed, 1])
    X = rng.normal(size=(1500, 10))
    return X, 30.0 + 2.0 * X @ rng.normal(size=10) + 2.0 * rng.standard_t(4, size=1500)


def friedman(seed):
    return make_friedman1(1500, 10, noise=1.0, random_state=seed)


def credit(seed):
    """Credit limits, in tens of thousands, from all else that is known of a client."""
    data = load_credit_default()
    rows = np.random.default_rng([seed, 2]).choice(len(data), 4000, replace=False)
    place = data.feature_names.index(next(n for n in data.feature_names if "LIMIT" in n.upper()))
    limit = data.X[rows, place]
    # The column comes standardised: limits run from 1 to 100.
    limit = 1.0 + 99.0 * (limit - limit.min()) / np.ptp(limit)
    return np.delete(data.X[rows], place, axis=1), limit


TASKS: dict[str, Callable] = {f.__name__: f for f in (diabetes, linear, friedman, credit)}
SIDES = {"upwards": (1.0,), "either way": (-1.0, 1.0)}


class Cell(NamedTuple):
    task: str
    outliers: str
    metric: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row(Measured):
    task: str
    outliers: str
    metric: str
    method: str
    seed: int
    value: float = float("nan")
    seconds: float = float("nan")
    versions: str = ""


def parts(task, outliers, seed):
    """Return train with outliers, clean validation and test: 50, 20 and 30 per cent."""
    X, y = TASKS[task](seed)
    rng = np.random.default_rng([seed, 3])
    order = rng.permutation(len(y))
    train, valid, test = np.split(order, [len(y) // 2, 7 * len(y) // 10])
    noisy = y[train].copy()
    corrupted = rng.random(len(train)) < OUTLIERS
    away = rng.uniform(5.0, 15.0, corrupted.sum()) * rng.choice(SIDES[outliers], corrupted.sum())
    noisy[corrupted] += y.std() * away
    return (X[train], noisy), (X[valid], y[valid]), (X[test], y[test])


def singles(train, X_new):
    """Return the predictions of each power alone."""
    data = Data(*train)
    model = Linear.standardised(data.X)
    unit = Unit.of(data, model)
    for p in POWERS:
        loss = WeightedLoss(model, unit.small(data), Lp(p), data.weights, 1.0 / len(data))
        weights, offset = unit.large_model(*model.raw(minimise(loss)))
        yield f"p = {p:g}", X_new @ weights + offset


def measure(task, outliers, seed):
    """Yield the rows of one sample: all powers and the default, on all metrics."""
    train, valid, test = parts(task, outliers, seed)
    alone = dict(singles(train, test[0]))
    for name, judge in METRICS.items():
        bound = judge.bind(test[1])
        for method, predicted in alone.items():
            yield Row(task, outliers, name, method, seed, float(bound.values(predicted)))
        began = time.perf_counter()
        model = MetricRegressor(judge, random_state=seed)
        model.fit(*train, X_val=valid[0], y_val=valid[1])
        seconds = time.perf_counter() - began
        value = float(bound.values(model.predict(test[0])))
        yield Row(task, outliers, name, "anymetric", seed, value, seconds, versions())


def run(store, numbers):
    done = store.done()
    for seed in numbers:
        for task in TASKS:
            for outliers in SIDES:
                cells = [Cell(task, outliers, name, "anymetric", seed) for name in METRICS]
                if set(cells) <= done:
                    continue
                for row in measure(task, outliers, seed):
                    store.append(row)
                print(f"{task}, outliers {outliers}, seed {seed}", file=sys.stderr, flush=True)


def behind(name, ours, best):
    """Return by which share of the best the other falls short, in the metric's own direction."""
    sign = 1.0 if METRICS[name].greater_is_better else -1.0
    return sign * (best - ours) / abs(best)


def report(rows):
    lines, worst = [], -np.inf
    for task in TASKS:
        for outliers in SIDES:
            for name, judge in METRICS.items():
                found = {}
                for row in rows:
                    if row.cell[:3] == (task, outliers, name):
                        found.setdefault(row.method, []).append(row.value)
                if "anymetric" not in found:
                    continue
                ours = found.pop("anymetric")
                pick = max if judge.greater_is_better else min
                best = pick(found, key=lambda p: mean(found[p]))
                gap = behind(name, mean(ours), mean(found[best]))
                worst = max(worst, gap)
                squared = spread(found["p = 2"], digits=3)
                least, own = (spread(some, digits=3) for some in (found[best], ours))
                cells = [best, least, squared, own, f"{-100.0 * gap:+.1f} %"]
                lines.append([task, outliers, name, str(len(ours)), *cells])
    header = ["data", "outliers", "metric", "seeds", "best p", "with it", "p = 2", "anymetric"]
    return "\n".join(
        [
            "# Regression under noise",
            "",
            "Test values, mean over seeds ± standard error. 20 % of the training targets are gross "
            "outliers, validation is clean. The best p is chosen with hindsight, on the test rows; "
            "the last column is by how much the default is better (+) or worse (-) than it.",
            "",
            markdown([*header, "against the best p"], lines),
            "",
            f"Worst against the best p: {-100.0 * worst:+.1f} %.",
            "",
            *made_with(rows),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, "regression").parse_args(argv)
    return carry_out(options, Row, lambda store: run(store, options.seeds), report)


if __name__ == "__main__":
    sys.exit(main())
