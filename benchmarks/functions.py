"""Functions: metrics as people write them, of which the library sees no more than the answers.

    python benchmarks/functions.py [--seeds 0-9] [--table]

Smooth ones, ones with a limit that must be kept on new rows, and one that reads which rows were
flagged, each on two tables: a threshold tuned to the function, the default, and the default with
200 calls. Test values are the functions' own; calls are counted as they are made.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, matthews_corrcoef

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.quality.samples import Maker, Parts
from benchmarks.quality.tasks import compas, credit
from benchmarks.shared import Measured, carry_out, made_with, parser, spread

from anymetric import MetricClassifier
from anymetric.baselines import TunedThreshold
from anymetric.paper.progress import seeds
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

Ints = NDArray[np.int64]
TABLES: dict[str, Maker] = {"compas": compas, "credit": credit}
# Precision counts only with so much recall; no more than such a share may be flagged.
FLOOR, CAPACITY = 0.7, 0.2
# Tuning the threshold would ask about every threshold of every C: thirty thousand calls.
SWEPT = 1000


def f1(y_true: Ints, y_pred: Ints) -> float:
    return float(f1_score(y_true, y_pred))


def mcc(y_true: Ints, y_pred: Ints) -> float:
    return float(matthews_corrcoef(y_true, y_pred))


def precision_with_floor(y_true: Ints, y_pred: Ints) -> float:
    recall = np.mean(y_pred[y_true == 1])
    return float(np.mean(y_true[y_pred == 1]) if recall >= FLOOR else recall - 1.0)


def hits_within_capacity(y_true: Ints, y_pred: Ints) -> float:
    excess = max(0.0, np.mean(y_pred) - CAPACITY)
    return float(np.mean(y_true * y_pred) - 10.0 * excess)


def worst_group(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
    return float(min(np.mean((y_true == y_pred)[groups == g]) for g in np.unique(groups)))


def accuracy_less_odds_gap(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
    rates = [
        [np.mean(y_pred[(groups == g) & (y_true == label)]) for label in (0, 1)]
        for g in np.unique(groups)
    ]
    return float(np.mean(y_true == y_pred) - np.ptp(rates, axis=0).max())


def later_rows_count_more(y_true: Ints, y_pred: Ints) -> float:
    return float(np.average(y_true == y_pred, weights=1.0 + np.arange(len(y_true))))


FUNCTIONS: tuple[Callable[..., float], ...] = (
    f1,
    mcc,
    precision_with_floor,
    hits_within_capacity,
    worst_group,
    accuracy_less_odds_gap,
    later_rows_count_more,
)
GROUPED = (worst_group, accuracy_less_odds_gap)


@dataclass(frozen=True)
class Row(Measured):
    function: str
    data: str
    method: str
    seed: int
    value: float = float("nan")
    seconds: float = float("nan")
    calls: int = 0
    versions: str = ""


def methods(seed: int) -> dict[str, Callable[[Any], Any]]:
    """Return a maker of every method by name."""

    def ours(limit: int | None) -> Callable[[Any], Any]:
        return lambda metric: MetricClassifier(
            metric, greater_is_better=True, max_metric_calls=limit, random_state=seed
        )

    return {
        "tuned threshold": lambda metric: TunedThreshold(
            metric, greater_is_better=True, max_metric_calls=SWEPT, random_state=seed
        ),
        "anymetric": ours(None),
        "anymetric, 200 calls": ours(200),
    }


def measure(function: Callable[..., float], data: str, name: str, seed: int) -> Row:
    """Fit one method to one function, counting its calls, and test it."""
    parts = TABLES[data](seed)
    calls = 0

    def counted(y_true: Ints, y_pred: Ints) -> float:
        nonlocal calls
        calls += 1
        return function(y_true, y_pred)

    def counted_by_group(y_true: Ints, y_pred: Ints, groups: NDArray[Any]) -> float:
        nonlocal calls
        calls += 1
        return function(y_true, y_pred, groups)

    model = methods(seed)[name](counted_by_group if function in GROUPED else counted)
    began = time.process_time()
    fitted(model, parts)
    seconds = time.process_time() - began
    told = (parts.test.groups,) if function in GROUPED else ()
    value = function(parts.test.y, model.predict(parts.test.X), *told)
    return Row(function.__name__, data, name, seed, value, seconds, calls, versions())


def fitted(model: Any, parts: Parts) -> None:
    """Fit a model on the training rows and the validation rows."""
    train, valid = parts.train, parts.valid
    judges = {"X_val": valid.X, "y_val": valid.y, "groups_val": valid.groups}
    model.fit(train.X, train.y, groups=train.groups, **judges)


def run(store: Any, numbers: Sequence[int]) -> None:
    done = store.done()
    for seed in numbers:
        for data in TABLES:
            for function in FUNCTIONS:
                for name in methods(seed):
                    if (function.__name__, data, name, seed) not in done:
                        store.append(measure(function, data, name, seed))
            print(f"{data}, seed {seed}", file=sys.stderr, flush=True)


def report(rows: Sequence[Row]) -> str:
    """Return a line for each function and table."""
    names = list(methods(0))
    tasks = dict.fromkeys((row.function, row.data) for row in rows)
    lines = []
    for function, data in tasks:
        own = {
            n: [row for row in rows if (row.function, row.data, row.method) == (function, data, n)]
            for n in names
        }
        best = max(names, key=lambda n: mean(row.value for row in own[n]))
        values = {n: spread([row.value for row in own[n]]) for n in names}
        bold = [f"**{values[n]}**" if n == best else values[n] for n in names]
        calls = [f"{median(row.calls for row in own[n]):g}" for n in names]
        lines.append([function, data, str(len(own[names[0]])), *bold, *calls])
    return "\n".join(
        [
            "# Functions",
            "",
            "Test value of the function, higher is better: mean over seeds ± standard error; "
            "in bold the best. Then the calls that a fit made: the median.",
            "",
            markdown(["function", "data", "seeds", *names, *(f"calls: {n}" for n in names)], lines),
            "",
            *made_with(rows),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    line = parser(__doc__, "functions")
    line.set_defaults(seeds=seeds("0-9"))
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(store, options.seeds), report)


if __name__ == "__main__":
    sys.exit(main())
