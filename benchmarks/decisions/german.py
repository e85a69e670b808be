"""German credit with the cost matrix of scikit-learn's example, against tuned thresholds.

    python benchmarks/decisions.py german [--seeds 0-4] [--table]

To grant a bad client's credit costs 5, to refuse a good one's 1. Half of the 1,000 rows train and
half test, split evenly by class; one split a seed. The others are scikit-learn's logistic
regression and histogram boosting, each in a `TunedThresholdClassifierCV` for the same gain.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.decisions.tables import german
from benchmarks.shared import Measured, carry_out, made_with, parser, spread
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from anymetric import MetricClassifier
from anymetric.metrics import Profit
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown

OURS = "anymetric"
GAINS = Profit(fp=-1.0, fn=-5.0)


@dataclass(frozen=True)
class Row(Measured):
    """The mean gain of a test row."""

    method: str
    seed: int
    value: float
    seconds: float
    versions: str = ""


def gain(y_true: Any, y_pred: Any) -> float:
    """Return the mean gain of decisions."""
    missed, refused = (y_true == 1) & (y_pred == 0), (y_true == 0) & (y_pred == 1)
    return float(-np.mean(5.0 * missed + 1.0 * refused))


def encoded(scale: bool) -> Any:
    """Return the columns as numbers."""
    numbers = make_column_selector(dtype_include="number")
    words = make_column_selector(dtype_exclude="number")
    rest = StandardScaler() if scale else "passthrough"
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((rest, numbers), (hot, words))


def tuned(model: Any, scale: bool) -> Any:
    pipe = make_pipeline(encoded(scale), model)
    return TunedThresholdClassifierCV(pipe, scoring=make_scorer(gain), cv=5)


def model_of(method: str, seed: int) -> Any:
    if method == OURS:
        return MetricClassifier(GAINS, random_state=seed)
    if method == "tuned logistic regression":
        return tuned(LogisticRegression(max_iter=1000), scale=True)
    return tuned(HistGradientBoostingClassifier(random_state=seed), scale=False)


METHODS = (OURS, "tuned logistic regression", "tuned histogram boosting")


def run(options: Any, store: Store[Row]) -> None:
    X, y = german()
    done = set(store.rows())
    for seed in options.seeds:
        parts = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        for method in METHODS:
            if (method, seed) in done:
                continue
            began = time.perf_counter()
            model = model_of(method, seed).fit(parts[0], parts[2])
            value = gain(parts[3], model.predict(parts[1]))
            seconds = round(time.perf_counter() - began, 2)
            store.append(Row(method, seed, value, seconds, versions()))


def report(rows: list[Row]) -> str:
    """Return the table."""
    values = {m: {r.seed: r.value for r in rows if r.method == m} for m in METHODS}
    lines = []
    for method, own in values.items():
        shared = sorted(set(own) & set(values[OURS]))
        gaps = [values[OURS][seed] - own[seed] for seed in shared] if method != OURS else []
        lines.append([method, spread(list(own.values())), spread(gaps, "+")])
    about = (__doc__ or "").partition("--table]")[2].strip()
    table = markdown(["method", "mean gain of a row", "ours minus it, paired"], lines)
    seeds = sorted(values[OURS])
    told = f"Seeds {seeds[0]} to {seeds[-1]}." if seeds else ""
    return "\n".join([f"# German credit\n\n{about}\n\n{told}\n", table + "\n", *made_with(rows)])


def main(argv: list[str]) -> int:
    line = parser(__doc__, "decisions_german")
    line.add_argument("--quick", action="store_true", help="the same: it is small")
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
