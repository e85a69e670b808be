"""Alone: one table of rows and no validation set, which is how most people begin.

    python benchmarks/alone.py [--seeds 0-9] [--table]

Everybody gets the same few rows and the same metric, and has to see how much of the rows to learn
from and how much to validate by. The baselines are what scikit-learn offers for it: class weights,
a threshold tuned by cross-validation, C and a threshold, each nested in the other; a threshold
tuned on a fifth held out; and LightGBM with a tuned threshold, which is no linear model. The test
rows are the same for all, and scikit-learn's own functions evaluate them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.quality import sets
from benchmarks.quality.samples import Maker, whole
from benchmarks.quality.tasks import adult, compas, credit
from benchmarks.shared import Measured, carry_out, error, made_with, parser, spread

from anymetric import MetricClassifier
from anymetric.baselines import TunedThreshold
from anymetric.paper.progress import seeds
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

OURS, TREES = "anymetric", "LightGBM, threshold"
METRICS: dict[str, Callable[..., float]] = {
    "f1": f1_score,
    "f2": partial(fbeta_score, beta=2.0),
    "balanced_accuracy": balanced_accuracy_score,
}


@dataclass(frozen=True)
class Task:
    """A metric, and rows of a table's training part: so many of them, or with 0 all."""

    data: str
    make: Maker
    metric: str
    rows: int = 0


TASKS = (
    *(
        Task(name, make, metric, rows)
        for name, make, metrics in (
            ("adult", adult, ("f1", "balanced_accuracy")),
            ("compas", compas, ("f1", "f2")),
            ("credit", credit, ("f1", "f2")),
        )
        for metric in metrics
        for rows in (300, 1000, 2500)
    ),
    Task("breast cancer", whole(sets.breast_cancer), "f2"),
    Task("digits", whole(sets.digit_eight), "f1"),
    Task("diabetes", whole(sets.fast_diabetes), "f1"),
    Task("wine", whole(sets.second_wine), "balanced_accuracy"),
)


@dataclass(frozen=True)
class Row(Measured):
    data: str
    metric: str
    rows: int
    method: str
    seed: int
    value: float = float("nan")
    seconds: float = float("nan")
    versions: str = ""


def scaled(**settings: Any) -> Any:
    """Return a logistic regression on standardised columns."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, **settings))


def searched() -> Any:
    """Return a logistic regression whose C is chosen by cross-validated log-loss."""
    grid = {"logisticregression__C": np.logspace(-4, 1, 6)}
    return GridSearchCV(scaled(), grid, scoring="neg_log_loss", cv=5)


def methods(metric: str, seed: int) -> dict[str, Any]:
    """Return every method by name, ours first."""
    scorer = make_scorer(METRICS[metric])
    tuned = partial(TunedThresholdClassifierCV, scoring=scorer, cv=5, random_state=seed)
    trees = LGBMClassifier(n_estimators=100, random_state=seed, n_jobs=1, verbose=-1)
    return {
        OURS: MetricClassifier(metric, random_state=seed),
        "logistic regression": scaled(),
        "balanced": scaled(class_weight="balanced"),
        "tuned threshold": TunedThreshold(metric, random_state=seed),
        "threshold": tuned(scaled()),
        "C, threshold": tuned(searched()),
        TREES: tuned(trees),
    }


def parts(task: Task, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return the features and the labels, 0 and 1, of the rows to learn from and of the test."""
    made = task.make(seed)
    train = made.train.take(np.arange(task.rows)) if task.rows else made.train
    return (
        *(np.asarray(x.todense()) if hasattr(x, "todense") else x for x in (train.X, made.test.X)),
        *((y > 0).astype(int) for y in (train.y, made.test.y)),
    )


def measure(task: Task, seed: int, names: Sequence[str]) -> list[Row]:
    """Return the rows of one sample, by these methods."""
    X, X_test, y, y_test = parts(task, seed)
    found = []
    for name, model in methods(task.metric, seed).items():
        if name in names:
            began = time.process_time()
            model.fit(X, y)
            seconds = time.process_time() - began
            value = float(METRICS[task.metric](y_test, model.predict(X_test)))
            found.append(Row(*place(task, name, seed), value, seconds, versions()))
    return found


def place(task: Task, name: str, seed: int) -> tuple[str, str, int, str, int]:
    """Return the key of a row."""
    return task.data, task.metric, task.rows, name, seed


def run(store: Any, numbers: Sequence[int]) -> None:
    done = store.done()
    for seed in numbers:
        for task in TASKS:
            names = [n for n in methods(task.metric, seed) if place(task, n, seed) not in done]
            if not names:
                continue
            for row in measure(task, seed, names):
                store.append(row)
            print(f"{task.data}, {task.metric}, seed {seed}", file=sys.stderr, flush=True)


def report(rows: Sequence[Row]) -> str:
    """Return a line for each task, and one for each method over all of them."""
    names = list(methods("f1", 0))
    values: dict[tuple[str, str, int], dict[str, dict[int, float]]] = {}
    for row in rows:
        task = values.setdefault((row.data, row.metric, row.rows), {})
        task.setdefault(row.method, {})[row.seed] = row.value
    lines = [
        [data, metric, str(count or "all"), str(len(found[OURS])), *shown(found, names)]
        for (data, metric, count), found in values.items()
    ]
    seconds = {n: median(row.seconds for row in rows if row.method == n) for n in names}
    return "\n".join(
        [
            "# No validation set",
            "",
            "Test value, higher is better: mean over seeds ± standard error; in bold the best "
            "linear model.",
            "",
            markdown(["data", "metric", "rows", "seeds", *names], lines),
            "",
            "Rank: among linear models by mean value, averaged over tasks. Ahead, behind: on how "
            "many tasks the default is so by more than two standard errors of the paired "
            "differences. Seconds of one core: median.",
            "",
            markdown(
                ["method", "rank", "ahead of it", "behind it", "mean improvement", "seconds"],
                [[*line, f"{seconds[line[0]]:.2g}"] for line in duels(values.values(), names)],
            ),
            "",
            *made_with(rows),
        ]
    )


def shown(found: dict[str, dict[int, float]], names: Sequence[str]) -> list[str]:
    """Return the means of a task, the best linear one in bold."""
    best = max((n for n in names if n != TREES), key=lambda n: mean(found[n].values()))
    cells = {n: spread(list(found[n].values())) for n in names}
    return [f"**{cells[n]}**" if n == best else cells[n] for n in names]


def duels(tasks: Iterable[dict[str, dict[int, float]]], names: Sequence[str]) -> list[list[str]]:
    """Return for each method its mean rank, and how often it was clearly beaten and won."""
    tasks, linear = list(tasks), [n for n in names if n != TREES]
    means = np.array([[mean(task[n].values()) for n in linear] for task in tasks])
    ranks = dict(zip(linear, rankdata(-means, axis=1).mean(axis=0), strict=True))
    lines = []
    for name in names:
        improvements = [[task[OURS][s] - v for s, v in task[name].items()] for task in tasks]
        clear = [mean(improvement) / (error(improvement) or np.inf) for improvement in improvements]
        counts = [sum(c > 2.0 for c in clear), sum(c < -2.0 for c in clear)]
        told = [*map(str, counts), f"{mean(map(mean, improvements)):+.4f}"]
        rank = f"{ranks[name]:.2f}" if name in ranks else "–"
        lines.append([name, rank, *(["–"] * 3 if name == OURS else told)])
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    line = parser(__doc__, "alone")
    line.set_defaults(seeds=seeds("0-9"))
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(store, options.seeds), report)


if __name__ == "__main__":
    sys.exit(main())
