"""Many classes and labels: the default against logistic regressions with tuned offsets.

    python benchmarks/many.py [--seeds 0-4] [--table]

Half of the rows train, a quarter validate, a quarter test. Offsets of the baselines, one a class or
label, are tuned on the validation rows by sweeps over the metric itself.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
from sklearn.datasets import (
    load_digits,
    load_wine,
    make_classification,
    make_multilabel_classification,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.shared import Measured, carry_out, error, made_with, parser, spread

from anymetric import MetricClassifier, as_metric
from anymetric.auto.decisions.offsets import tuned_offsets
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.data import Data
from anymetric.datasets import load_adult
from anymetric.metrics import Classes, CostMatrix, meant
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

OURS = "anymetric"
PEER = "balanced + offsets"
CLASS_METRICS = ("macro_f1", "balanced_accuracy", "worst_class_recall", "cost_matrix")
LABEL_METRICS = ("micro_f1", "macro_f1", "instance_f1")
# Years of schooling, cut into seven levels.
LEVELS = (5, 9, 10, 11, 13, 14)


def digits(seed):
    return load_digits(return_X_y=True)


def wine(seed):
    return load_wine(return_X_y=True)


def blobs(seed):
    """Six overlapping classes, the rarest with two rows in a hundred."""
    return make_classification(
        4000,
        20,
        n_informative=8,
        n_classes=6,
        weights=[0.45, 0.25, 0.15, 0.08, 0.05],
        class_sep=0.8,
        random_state=seed,
    )


@cache
def adult():
    data = load_adult()
    kept = [k for k, name in enumerate(data.feature_names) if not name.startswith("education")]
    return np.column_stack([np.asarray(data.X)[:, kept], data.y]), data


def education(seed):
    """The level of education of an adult, from all else, for 8,000 of them."""
    X, data = adult()
    rows = np.random.default_rng([seed, 1]).choice(len(X), 8000, replace=False)
    return X[rows], np.digitize(data.side["education_num"][rows], LEVELS)


def pages(seed):
    """Twelve labels of bags of words."""
    return make_multilabel_classification(
        3000, 40, n_classes=12, n_labels=3, allow_unlabeled=True, random_state=seed
    )


def persons(seed):
    """Five facts about an adult, from all that is not one of them."""
    X, data = adult()
    rows = np.random.default_rng([seed, 2]).choice(len(X), 8000, replace=False)
    side = {name: column[rows] for name, column in data.side.items()}
    facts = [
        data.y[rows] == 1,
        side["hours_per_week"] > 40,
        side["capital_gain"] + side["capital_loss"] > 0,
        side["workforce"] == "non_private",
        side["education_num"] >= 13,
    ]
    names = [n for n in data.feature_names if not n.startswith("education")]
    gone = ("hours", "capital", "workclass")
    kept = [k for k, name in enumerate(names) if not name.startswith(gone)]
    return X[rows][:, kept], np.column_stack(facts).astype(int)


CLASS_TASKS: dict[str, Callable] = {f.__name__: f for f in (digits, wine, blobs, education)}
LABEL_TASKS: dict[str, Callable] = {f.__name__: f for f in (pages, persons)}
TASKS = CLASS_TASKS | LABEL_TASKS


class Cell(NamedTuple):
    task: str
    metric: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row(Measured):
    task: str
    metric: str
    method: str
    seed: int
    value: float = float("nan")
    seconds: float = float("nan")
    versions: str = ""


def wanted(name, classes):
    """Return the metric; costs grow with the distance of two classes, and are higher upwards."""
    if name != "cost_matrix":
        return as_metric(name)
    place = np.arange(classes)
    apart = place[np.newaxis, :] - place[:, np.newaxis]
    return CostMatrix(np.where(apart > 0, 2.0 * apart, -apart))


def parts(task, seed):
    """Return train, validation and test rows, dealt evenly from each class."""
    X, y = TASKS[task](seed)
    rng = np.random.default_rng([seed, 3])
    order = rng.permutation(len(y))
    if y.ndim == 1:
        order = order[np.argsort(y[order], kind="stable")]
    deal = np.arange(len(y)) % 4
    return [(X[order[d]], y[order[d]]) for d in (deal < 2, deal == 2, deal == 3)]


def logistic(class_weight=None, rest=False):
    model = LogisticRegression(max_iter=2000, class_weight=class_weight)
    return make_pipeline(StandardScaler(), OneVsRestClassifier(model) if rest else model)


class Judge:
    """A metric on targets of one task: scores, and the offsets that are best for it."""

    def __init__(self, name, y):
        labels = y.ndim == 2
        self.names = np.arange(y.shape[1]) if labels else np.unique(y)
        sets = np.unique(y, axis=0).astype(bool) if labels else None
        self.classes = Classes(tuple(self.names.tolist()), sets)
        self.metric = wanted(name, len(self.names))
        self.inner = meant(self.metric, self.classes)

    def codes(self, y):
        if y.ndim == 1:
            return np.searchsorted(self.names, y).astype(float)
        places = {row.tobytes(): k for k, row in enumerate(self.classes.sets)}
        return np.array([places[row.tobytes()] for row in y.astype(bool)], dtype=float)

    def value(self, scores, y):
        return float(self.inner.bind(self.codes(y), labels=self.classes).values(scores))

    def offsets(self, scores, y):
        data = Data(np.zeros((len(y), 1)), self.codes(y))
        nothing = np.zeros((len(y), 0))
        return tuned_offsets(ClassesJudge.of(self.inner, data, self.classes, nothing), scores)


def baselines(labels):
    """Return name, maker, whether validation rows train too, and whether offsets are tuned."""
    if labels:
        return [
            ("one model a label", logistic(rest=True), False, False),
            ("one model a label + offsets", logistic(rest=True), False, True),
            (PEER, logistic("balanced", rest=True), False, True),
        ]
    return [
        ("logistic", logistic(), False, False),
        ("logistic + offsets", logistic(), False, True),
        ("balanced", logistic("balanced"), False, False),
        ("balanced, train + valid", logistic("balanced"), True, False),
        (PEER, logistic("balanced"), False, True),
        ("one against the rest + offsets", logistic(rest=True), False, True),
    ]


def measure(task, seed, names):
    """Yield the rows of one sample."""
    train, valid, test = parts(task, seed)
    every = np.concatenate([train[1], valid[1], test[1]])
    scored = []
    for method, model, both, moved in baselines(every.ndim == 2):
        began = time.process_time()
        rows = [np.concatenate(pair) for pair in zip(train, valid, strict=True)] if both else train
        model.fit(*rows)
        seconds = time.process_time() - began
        tables = [model.decision_function(X) for X in (valid[0], test[0])]
        scored.append((method, *tables, moved, seconds))
    for name in names:
        judge = Judge(name, every)
        for method, on_valid, on_test, moved, seconds in scored:
            began = time.process_time()
            offsets = judge.offsets(on_valid, valid[1]) if moved else 0.0
            value = judge.value(on_test + offsets, test[1])
            spent = seconds + time.process_time() - began
            yield Row(task, name, method, seed, value, spent)
        began = time.process_time()
        ours = MetricClassifier(judge.metric, random_state=seed)
        ours.fit(*train, X_val=valid[0], y_val=valid[1])
        seconds = time.process_time() - began
        yield Row(task, name, OURS, seed, ours.score(*test), seconds, versions())


def run(store, numbers):
    done = store.done()
    for seed in numbers:
        for task in TASKS:
            names = LABEL_METRICS if task in LABEL_TASKS else CLASS_METRICS
            names = [name for name in names if Cell(task, name, OURS, seed) not in done]
            for row in measure(task, seed, names) if names else ():
                store.append(row)
            print(f"{task}, seed {seed}", file=sys.stderr, flush=True)


def compared(found, lower):
    """Return ours, the peer, the best baseline and the paired improvement over the peer."""
    ours, peer = found[OURS], found[PEER]
    sign = -1.0 if lower else 1.0
    improvement = [sign * (ours[s] - peer[s]) for s in sorted(ours)]
    others = {m: mean(v.values()) for m, v in found.items() if m != OURS}
    best = (min if lower else max)(others, key=others.get)
    gap = [sign * (ours[s] - found[best][s]) for s in sorted(ours)]
    return improvement, best, gap


def within(improvement):
    """Return whether a improvement is not below zero by more than one standard error."""
    return mean(improvement) >= -error(improvement)


def report(rows):
    table, costs, held = [], {}, []
    for task in TASKS:
        for name in LABEL_METRICS if task in LABEL_TASKS else CLASS_METRICS:
            found = {}
            for row in rows:
                if (row.task, row.metric) == (task, name):
                    found.setdefault(row.method, {})[row.seed] = row.value
                    costs.setdefault((task, row.method), []).append(row.seconds)
            if OURS not in found:
                continue
            improvement, best, gap = compared(found, name == "cost_matrix")
            held.append(within(improvement))
            cells = [spread(list(found[m].values())) for m in (PEER, best, OURS)]
            improvements = [spread(improvement, "+"), spread(gap, "+")]
            table.append(
                [
                    task,
                    name,
                    str(len(improvement)),
                    cells[0],
                    best,
                    cells[1],
                    cells[2],
                    *improvements,
                ]
            )
    seconds = [
        [task, f"{mean(costs[task, OURS]):.1f}", f"{mean(costs[task, PEER]):.1f}"]
        for task in TASKS
        if (task, OURS) in costs
    ]
    header = ["data", "metric", "seeds", PEER, "best baseline", "with it", OURS]
    return "\n".join(
        [
            "# Many classes and labels",
            "",
            "Test values, mean over seeds ± standard error; cost_matrix is better when lower, the "
            "others when greater. Improvements are paired, positive where the default is better. "
            "The best baseline is chosen with hindsight, on the test rows.",
            "",
            markdown(
                [*header, "improvement over balanced + offsets", "over the best baseline"], table
            ),
            "",
            f"Above {PEER} or within one standard error of it in {sum(held)} of {len(held)} rows.",
            "",
            markdown(["data", "CPU seconds a fit", PEER], seconds),
            "",
            *made_with(rows),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, "many").parse_args(argv)
    return carry_out(options, Row, lambda store: run(store, options.seeds), report)


if __name__ == "__main__":
    sys.exit(main())
