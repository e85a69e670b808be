"""Networks trained for a metric, against the same network with cross-entropy and a tuned threshold.

    python benchmarks/torch_nets.py [--seeds 0-4] [--table] [--scale]

Moons: one of twenty rows is positive, F1. Digits: macro F1 over the ten classes, with wrong labels
on odd digits in train and 200 clean validation rows. Half of them have the next digit's label,
which is even: offsets of the classes can undo that. Or 45 % have that of the next odd digit, in a
circle: there they cannot. The tuned threshold, or the offset of each class, is the one that is
best on the validation rows. With --scale a network of 100,000 parameters is fitted to 100,000 rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.metrics import f1_score
from torch import nn

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.shared import Measured, carry_out, made_with, parser, spread

from anymetric import MetricClassifier, TorchModel, as_metric
from anymetric.auto.decisions.offsets import tuned_offsets
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.data import Data
from anymetric.metrics import Classes, meant
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

OURS, PEER = "anymetric", "cross-entropy + tuned threshold"


def net(d, outputs):
    """Two hidden layers of 32."""
    layers = nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, outputs)
    return nn.Sequential(*layers)


def wide(d, outputs):
    """About 100,000 parameters."""
    layers = nn.Linear(d, 300), nn.ReLU(), nn.Linear(300, 280), nn.ReLU(), nn.Linear(280, outputs)
    return nn.Sequential(*layers)


def moons(seed):
    """Return train, validation and test rows, 5 % of each positive."""
    rng = np.random.default_rng([seed, 1])
    parts = []
    for n in (3000, 1500, 20_000):
        counts = n - n // 20, n // 20
        X, y = make_moons(counts, noise=0.25, random_state=int(rng.integers(2**31)))
        parts.append((X, y))
    return parts


def digits(seed, share, step):
    """Return train rows, a share of the odd ones labelled so much too high, and clean others."""
    rng = np.random.default_rng([seed, 2])
    X, y = load_digits(return_X_y=True)
    train, valid, test = np.split(rng.permutation(len(y)), [1000, 1200])
    noisy = y[train].copy()
    wrong = (noisy % 2 == 1) & (rng.random(len(noisy)) < share)
    noisy[wrong] = (noisy[wrong] + step) % 10
    return [(X[train], noisy), (X[valid], y[valid]), (X[test], y[test])]


TASKS: dict[str, tuple[Callable, str]] = {
    "moons": (moons, "f1"),
    "digits, next": (partial(digits, share=0.5, step=1), "macro_f1"),
    "digits, circle": (partial(digits, share=0.45, step=2), "macro_f1"),
}


class Cell(NamedTuple):
    task: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row(Measured):
    task: str
    method: str
    seed: int
    value: float = float("nan")
    seconds: float = float("nan")
    versions: str = ""


def value(scores, y):
    """Return F1 by scikit-learn: of the positives, or the mean over many classes."""
    if scores.ndim == 1:
        return float(f1_score(y, scores > 0))
    return float(f1_score(y, scores.argmax(axis=1), average="macro"))


def offsets(scores, y, name):
    """Return the threshold, or the offsets of the classes, that are best on these rows."""
    if scores.ndim == 1:
        sweep = as_metric(name).bind(np.where(y > 0, 1.0, -1.0)).sweep(scores)
        return sweep.shifts[sweep.best]
    classes = Classes(tuple(np.unique(y).tolist()))
    data = Data(np.zeros((len(y), 1)), y.astype(float))
    nothing = np.zeros((len(y), 0))
    judge = ClassesJudge.of(meant(as_metric(name), classes), data, classes, nothing)
    return tuned_offsets(judge, scores)


def trained(X, y, seed):
    """Return the network with cross-entropy on these rows, and the processor's seconds."""
    classes = len(np.unique(y))
    data = Data(X, y.astype(float) if classes > 2 else np.where(y > 0, 1.0, -1.0))
    began = time.process_time()
    rng = np.random.default_rng(seed)
    model = TorchModel(net).learn(data, data.weights, rng, classes=classes)
    return model, time.process_time() - began


def peers(train, valid, test, name, seed):
    """Yield the network with cross-entropy alone, and moved."""
    model, seconds = trained(*train, seed)
    moved = offsets(model.scores(valid[0]), valid[1], name)
    scores = model.scores(test[0])
    yield "cross-entropy", value(scores, test[1]), seconds
    yield PEER, value(scores + moved, test[1]), seconds


def on_validation(train, valid, test, name, seed):
    """Yield the network on the validation rows, and on all: no rows are left to move it by."""
    both = [np.concatenate(pair) for pair in zip(train, valid, strict=True)]
    for label, rows in (("on validation", valid), ("on both", both)):
        model, seconds = trained(*rows, seed)
        yield f"cross-entropy {label}", value(model.scores(test[0]), test[1]), seconds


def ours(train, valid, test, name, seed):
    """Yield the default with the same network, and the descent."""
    for label, method in ((OURS, "auto"), ("anymetric, descent", "descent")):
        began = time.process_time()
        model = MetricClassifier(name, model=TorchModel(net), method=method, random_state=seed)
        model.fit(*train, X_val=valid[0], y_val=valid[1])
        seconds = time.process_time() - began
        yield label, value(model.decision_function(test[0]), test[1]), seconds


# Each with the last row that it gives: a seed that has it is done.
CONTENDERS = {
    PEER: peers,
    "cross-entropy on both": on_validation,
    "anymetric, descent": ours,
}


def run(store, numbers):
    done = store.done()
    for seed in numbers:
        for task, (make, name) in TASKS.items():
            for last, contender in CONTENDERS.items():
                if Cell(task, last, seed) in done:
                    continue
                for method, found, seconds in contender(*make(seed), name, seed):
                    store.append(Row(task, method, seed, found, seconds, versions("torch")))
                    print(f"{task} {seed} {method}: {found:.4f}", file=sys.stderr, flush=True)


def scale():
    """Fit 100,000 parameters to 100,000 rows, and say how long that takes."""
    X, y = make_classification(
        130_000, 60, n_informative=20, n_clusters_per_class=8, weights=[0.95], random_state=0
    )
    rows = [slice(0, 100_000), slice(100_000, 110_000), slice(110_000, None)]
    train, valid, test = [(X[part].astype(np.float32), y[part]) for part in rows]
    began, cpu = time.perf_counter(), time.process_time()
    family = TorchModel(wide, batch_size=512)
    model = MetricClassifier("f1", model=family, random_state=0, verbose=1)
    model.fit(*train, X_val=valid[0], y_val=valid[1])
    cpu, wall = time.process_time() - cpu, time.perf_counter() - began
    size = sum(p.numel() for p in wide(60, 1).parameters())
    return (
        f"{size:,} parameters, {len(train[1]):,} rows: {cpu:.0f} s of processor, {wall:.0f} s by "
        f"the clock, {len(model.history_)} candidates, F1 on test rows "
        f"{value(model.decision_function(test[0]), test[1]):.4f}"
    )


def report(rows):
    lines = []
    for task, (_, name) in TASKS.items():
        found: dict[str, dict[int, Row]] = {}
        for row in rows:
            if row.task == task:
                found.setdefault(row.method, {})[row.seed] = row
        for method, by_seed in found.items():
            both = sorted(set(by_seed) & set(found.get(PEER, {})))
            improvement = [by_seed[s].value - found[PEER][s].value for s in both]
            lines.append(
                [
                    task,
                    name,
                    method,
                    str(len(by_seed)),
                    spread([row.value for row in by_seed.values()]),
                    spread(improvement) if method != PEER else "",
                    f"{mean(row.seconds for row in by_seed.values()):.1f}",
                ]
            )
    header = [
        "data",
        "metric",
        "method",
        "seeds",
        "test",
        "improvement over tuned threshold",
        "CPU seconds",
    ]
    return "\n".join(
        [
            "# Networks",
            "",
            "Test values, higher is better, mean over seeds ± standard error; the improvement is "
            "paired.",
            "",
            markdown(header, lines),
            "",
            *made_with(rows),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    line = parser(__doc__, "torch")
    line.add_argument("--scale", action="store_true", help="time a large network instead")
    options = line.parse_args(argv)
    if not options.scale:
        return carry_out(options, Row, lambda store: run(store, options.seeds), report)
    text = f"# A large network\n\n{scale()}.\n\nMade with {versions('torch')}.\n"
    print(text)
    options.out.with_name("torch_scale.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
