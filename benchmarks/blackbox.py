"""Black boxes: metrics that fail, hang, vary, or may be called twenty times.

    python benchmarks/blackbox.py [--seeds 0-9] [--section faults,noise,calls,once]
        [--task compas] [--table]

Hidden functions on the noisy tasks of ``quality.py``, and on the same tables other functions, most
of them none of the usual formulas. Lines throughout. What is in the CSV is not measured again.
Optuna is not a dependency: without it its rows are left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sklearn.metrics import fbeta_score

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.boxes import METHODS, Box, fitted, once, ours
from benchmarks.functions import (
    GROUPED,
    accuracy_less_odds_gap,
    hits_within_capacity,
    precision_with_floor,
    worst_group,
)
from benchmarks.quality.methods import as_function
from benchmarks.quality.samples import Maker, Parts, few_clean
from benchmarks.quality.tasks import TASKS, compas_half, compas_most, credit_half
from benchmarks.shared import Measured, carry_out, error, made_with, parser, spread

from anymetric.datasets import Dataset
from anymetric.metrics import FunctionMetric
from anymetric.paper.progress import seeds
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown


def f3(y_true: Any, y_pred: Any) -> float:
    return float(fbeta_score(y_true, y_pred, beta=3.0, zero_division=0.0))


def gmean(y_true: Any, y_pred: Any) -> float:
    return float(np.sqrt(np.mean(y_pred[y_true == 1]) * np.mean(1 - y_pred[y_true == 0])))


def costs(y_true: Any, y_pred: Any) -> float:
    missed, alarms = (y_true == 1) & (y_pred == 0), (y_true == 0) & (y_pred == 1)
    return -float(np.mean(5.0 * missed + alarms))


# The noisy tasks whose tables are small enough for ten seeds of ten methods, then their siblings.
PUBLIC = (
    "compas_noisy50_v200",
    "compas_noisy80_v300",
    "credit_noisy50_v500",
    "adult_noisy50_v500",
    "adult_noisy_labels",
    "adult_proxy_v300",
    "business_proxy_v300",
)
SIBLINGS: dict[str, tuple[Callable[..., float], Maker]] = {
    "compas_f3": (f3, few_clean(compas_half, 200)),
    "compas_gmean": (gmean, few_clean(compas_most, 300)),
    "compas_worst_group": (worst_group, few_clean(compas_half, 200)),
    "compas_odds_gap": (accuracy_less_odds_gap, few_clean(compas_most, 300)),
    "credit_costs": (costs, few_clean(credit_half, 500)),
    "credit_floor": (precision_with_floor, few_clean(credit_half, 500)),
    "credit_capacity": (hits_within_capacity, few_clean(credit_half, 500)),
}
OURS = "anymetric"
BASE = "threshold tuning"
SECTIONS: dict[str, tuple[str, ...]] = {
    "faults": (BASE, OURS, f"{OURS}, faults"),
    "noise": (BASE, OURS, f"{OURS}, noise", f"{OURS}, noise, 200 calls"),
    "calls": (
        BASE,
        OURS,
        f"{OURS}, 20 calls",
        *(f"{name}, {calls} calls" for name in ("CMA-ES", "Optuna GP") for calls in (20, 200)),
    ),
}
# A failure at each of so many calls.
FIRST = 60


@dataclass(frozen=True)
class Row(Measured):
    task: str
    method: str
    seed: int
    value: float = float("nan")
    calls: int = 0
    seconds: float = float("nan")
    versions: str = ""


def task_of(name: str) -> tuple[FunctionMetric, Maker]:
    """Return the function and the maker of a task."""
    if name in TASKS:
        return as_function(TASKS[name].metric), TASKS[name].make
    function, make = SIBLINGS[name]
    needs = ("groups",) if function in GROUPED else ()
    return FunctionMetric(function, True, "decisions", needs, name=function.__name__), make


def measure(name: str, method: str, seed: int) -> Row:
    """Fit one method to one box, and test it by the function itself; greater is better."""
    metric, make = task_of(name)
    parts = make(seed)
    maker, disturb = METHODS[method]
    rng = np.random.default_rng([seed, 23])
    box = Box(metric) if disturb is None else Box(metric, disturb(rng))
    began = time.process_time()
    model = fitted(maker(box.function, seed), parts)
    seconds = time.process_time() - began
    return Row(name, method, seed, tested(metric, model, parts), box.calls, seconds, versions())


def tested(metric: FunctionMetric, model: Any, parts: Parts) -> float:
    """Return the function of the test rows, turned so that greater is better."""
    test = parts.test
    side = {name: np.asarray(test.groups) for name in metric.needs}
    value = metric.function(test.y, np.asarray(model.predict(test.X)), **side)
    return float(value) if metric.greater_is_better else -float(value)


def made_up(seed: int = 0) -> Parts:
    """Return a small table with two groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=900) > 0.8, 1, 0)
    groups = rng.choice(["a", "b"], 900)
    whole = Dataset("made up", X, y, groups, list("abcd"))
    return Parts(*(whole.take(np.arange(begin, begin + 300)) for begin in (0, 300, 600)))


def failed_once(at: int) -> Row:
    """Fit once with a failure at a call, by a function with a kink, which needs many."""
    parts = made_up()
    metric = FunctionMetric(worst_group, True, "decisions", ("groups",), name="worst group")
    box = Box(metric, once(at))
    began = time.process_time()
    model = fitted(ours()(box.function, 0), parts)
    seconds = time.process_time() - began
    value = tested(metric, model, parts)
    return Row("made up", f"failure at call {at:02d}", 0, value, box.calls, seconds, versions())


def run(store: Any, numbers: Sequence[int], sections: Sequence[str], begin: str = "") -> None:
    """Measure what is missing."""
    done = store.done()
    if "once" in sections:
        for at in range(FIRST + 1):
            if ("made up", f"failure at call {at:02d}", 0) not in done:
                store.append(failed_once(at))
    wanted = dict.fromkeys(m for name in sections if name in SECTIONS for m in SECTIONS[name])
    for seed in numbers:
        for task in (name for name in (*PUBLIC, *SIBLINGS) if name.startswith(begin)):
            for method in wanted:
                known = (task, method, seed) in done
                if not known and (find_spec("optuna") or "Optuna" not in method):
                    store.append(measure(task, method, seed))
                    print(f"{task}, {method}, seed {seed}", file=sys.stderr, flush=True)


def paired(rows: Sequence[Row], task: str, method: str, other: str) -> list[tuple[Row, Row]]:
    """Return the rows of two methods on the same seeds."""
    own = {row.seed: row for row in rows if (row.task, row.method) == (task, method)}
    also = {row.seed: row for row in rows if (row.task, row.method) == (task, other)}
    return [(own[seed], also[seed]) for seed in sorted(own.keys() & also.keys())]


def gains(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """Return gains over threshold tuning, the share of them that each method has, and its calls."""
    lines = []
    for task in (*PUBLIC, *SIBLINGS):
        pairs = {name: paired(rows, task, name, BASE) for name in methods}
        told = [told_gain(found) for found in pairs.values()]
        if pairs[methods[0]]:
            lines.append([task, *told])
    for words, tasks in (("noisy tasks", PUBLIC), ("other functions", tuple(SIBLINGS))):
        shares = [share(rows, tasks, name) for name in methods]
        lines.append([f"share of the whole gain, {words}", *shares])
    made = [[row.calls for row in rows if row.method == name] for name in methods]
    lines.append(["calls", *(f"{mean(m):.0f}, at most {max(m)}" if m else "–" for m in made)])
    return markdown(["task", *methods], lines)


def told_gain(pairs: Sequence[tuple[Row, Row]]) -> str:
    """Say a gain with its error and how many seeds it is from."""
    told = spread([a.value - b.value for a, b in pairs], "+")
    return f"{told} ({len(pairs)})" if pairs else told


def share(rows: Sequence[Row], tasks: Sequence[str], name: str) -> str:
    """Say which part of our gain without limits a method has, over the seeds that both have."""
    own = whole = 0.0
    for task in tasks:
        full = {a.seed: a.value - b.value for a, b in paired(rows, task, OURS, BASE)}
        pairs = [one for one in paired(rows, task, name, BASE) if one[0].seed in full]
        if pairs:
            own += mean(a.value - b.value for a, b in pairs)
            whole += mean(full[a.seed] for a, _ in pairs)
    return f"{100.0 * own / whole:.0f} %" if whole > 0.0 else "–"


def faults(rows: Sequence[Row]) -> str:
    """Return test values with and without faults, and what they cost in calls."""
    lines = []
    for task in (*PUBLIC, *SIBLINGS):
        pairs = paired(rows, task, f"{OURS}, faults", OURS)
        if not pairs:
            continue
        change = [a.value - b.value for a, b in pairs]
        plain = [b.value for _, b in pairs]
        ratio = mean(a.calls for a, _ in pairs) / mean(b.calls for _, b in pairs)
        told = spread(plain), spread(change, "+"), f"{error(plain):.4f}"
        lines.append([task, str(len(pairs)), *told, f"{ratio:.2f}"])
    head = ["task", "seeds", "without faults", "change by faults", "standard error", "calls, ratio"]
    return markdown(head, lines)


def failures_once(rows: Sequence[Row]) -> str:
    """Return what one failure costs, wherever it falls."""
    own = {row.method: row for row in rows if row.task == "made up"}
    whole = own.get("failure at call 00")
    if whole is None:
        return "not measured"
    more = [one.calls - whole.calls for name, one in own.items() if name != whole.method]
    changed = sum(one.value != whole.value for one in own.values())
    return (
        f"{whole.calls} calls without a failure; with one at call k, k = 1 to {len(more)}: "
        f"{min(more)} to {max(more)} more, and another test value in {changed} of {len(more)}."
    )


def report(rows: Sequence[Row]) -> str:
    """Return the sections."""
    parts: list[tuple[str, str, Callable[[], str]]] = [
        (
            "Faults",
            "A fifth of the calls fail at random, a twentieth hang (half a second is waited for). "
            "Test value, greater is better; the change is paired by seed.",
            lambda: faults(rows),
        ),
        ("One failure", "A made-up table, worst group error.", lambda: failures_once(rows)),
        (
            "Noise",
            "Gaussian noise of standard deviation 0.02 on every reading. Gain in test value over "
            "threshold tuning with 1,000 readings without noise; the number of seeds in brackets.",
            lambda: gains(rows, SECTIONS["noise"][1:]),
        ),
        (
            "Calls",
            "The same gain with 20 evaluations in all, and of searches straight on the weights.",
            lambda: gains(rows, SECTIONS["calls"][1:]),
        ),
    ]
    text = ["# Black boxes", ""]
    for title, said, table in parts:
        text += [f"## {title}", "", said, "", table(), ""]
    return "\n".join([*text, *made_with(rows)])


def main(argv: Sequence[str] | None = None) -> int:
    line = parser(__doc__, "blackbox")
    line.add_argument("--section", default="once,faults,noise,calls", help="some of these")
    line.add_argument("--task", default="", help="only tasks whose names begin so")
    line.set_defaults(seeds=seeds("0-9"))
    options = line.parse_args(argv)
    chosen = options.section.split(",")
    return carry_out(
        options, Row, lambda store: run(store, options.seeds, chosen, options.task), report
    )


if __name__ == "__main__":
    sys.exit(main())
