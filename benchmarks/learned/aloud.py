"""The metric read aloud: twenty functions as users write them, explained from their answers.

    python benchmarks/learned.py --only aloud [--seeds 0-4] [--quick] [--table]

Each is fitted on a sample of Adult, COMPAS and Credit (900 rows, a linear model) and explained with
at most 60 further calls. What counts is whether the explanation predicts the function's values of
200 unseen decisions, whether the formula that it names is the right one, and whether it says so
where it does not understand.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import mean
from typing import Any

import numpy as np
from benchmarks.learned.metrics_users_write import WRITTEN, Written
from benchmarks.shared import Measured, carry_out, made_with, parser, spread
from numpy.typing import NDArray

from anymetric import MetricClassifier
from anymetric.datasets import load_adult, load_compas, load_credit_default
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

TABLES = {
    "adult": (load_adult, "hours_per_week", 1.0),
    "compas": (load_compas, "priors_count", 1.0),
    "credit": (load_credit_default, "BILL_AMT1", 1000.0),
}
ROWS, UNSEEN = 900, 200
# A prediction is right within this part of the value, or of the values' mean size; an explanation
# where such a share of its predictions is.
CLOSE, RIGHT = 0.02, 0.95


@dataclass(frozen=True)
class Row(Measured):
    function: str
    kind: str
    data: str
    seed: int
    value: float = float("nan")  # share of the unseen decisions that are predicted to 2 %
    understood: int = 0
    named: int = 0
    formula: str = ""
    calls: int = 0
    fit_calls: int = 0
    seconds: float = float("nan")
    versions: str = ""

    @property
    def right(self) -> bool:
        return self.understood == 1 and self.value >= RIGHT


@dataclass(frozen=True, eq=False)
class Rows:
    X: Any
    y: NDArray[np.int64]
    side: dict[str, NDArray[Any]]


@cache
def loaded(data: str) -> Any:
    return TABLES[data][0]()


def rows(data: str, seed: int) -> Rows:
    whole = loaded(data)
    drawn = np.random.default_rng([seed, 27]).choice(len(whole.y), ROWS, replace=False)
    _, amount, unit = TABLES[data]
    side = {"groups": whole.groups[drawn], "amount": whole.side[amount][drawn] / unit}
    return Rows(whole.X[drawn], (whole.y[drawn] > 0).astype(np.int64), side)


def unseen(clf: Any, sample: Rows, seed: int) -> NDArray[np.int64]:
    """Return decisions that no question was about: other thresholds, and other classifiers."""
    rng = np.random.default_rng([seed, 28])
    n, half = len(sample.y), UNSEEN // 2
    order = np.argsort(np.argsort(-clf.decision_function(sample.X, groups=sample.side["groups"])))
    shares = rng.uniform(0.02, 0.8, half)
    own = order[:, None] < shares * n
    flipped = rng.random((n, half)) < rng.uniform(0.0, 0.1, half)
    odds = rng.uniform(-3.5, 1.5, half) + rng.uniform(0.0, 3.0, half) * sample.y[:, None]
    odds = odds + rng.normal(0.0, 0.5, half) * (sample.side["groups"] == "Female")[:, None]
    other = rng.random((n, half)) < 1.0 / (1.0 + np.exp(-odds))
    return np.column_stack([own ^ flipped, other]).astype(np.int64)


def measure(written: Written, data: str, seed: int) -> Row:
    sample, function = rows(data, seed), written.function
    clf = MetricClassifier(
        function, greater_is_better=written.greater, model="linear", random_state=seed
    )
    read = function.__code__.co_varnames[2 : function.__code__.co_argcount]
    side = {name: sample.side[name] for name in read if name != "groups"}
    clf.fit(sample.X, sample.y, groups=sample.side["groups"], side=side or None)
    began = time.process_time()
    found = clf.metric_.explain()
    seconds = time.process_time() - began
    decisions = unseen(clf, sample, seed)
    extra = {name: sample.side[name] for name in read}
    values = np.array([function(sample.y, one, **extra) for one in decisions.T])
    missed = np.abs(found.predict(decisions) - values)
    margin = CLOSE * np.maximum(np.abs(values), np.abs(values).mean())
    named = bool(written.formula and re.fullmatch(written.formula, found.formula or ""))
    return Row(
        written.name,
        "new" if written.new else "development",
        data,
        seed,
        float(np.mean(missed <= margin)),
        int(found.understood),
        int(named),
        found.formula or "",
        found.calls,
        clf.n_metric_calls_,
        seconds,
        versions(),
    )


def run(store: Any, numbers: Sequence[int], tables: Sequence[str]) -> None:
    done = store.done()
    for seed in numbers:
        for data, written in product(tables, WRITTEN):
            kind = "new" if written.new else "development"
            if (written.name, kind, data, seed) not in done:
                store.append(measure(written, data, seed))
        print(f"seed {seed}", file=sys.stderr, flush=True)


def report(found: Sequence[Row]) -> str:
    """Return a line for each function, and how many are predicted, named, or refused."""
    lines, right, named, refused = [], 0, 0, 0
    for written in WRITTEN:
        own = [row for row in found if row.function == written.name]
        if not own:
            continue
        right += all(row.right for row in own)
        named += bool(written.formula) and all(row.named for row in own)
        refused += written.lost and all(not row.understood for row in own)
        lines.append(line_of(written, own))
    lost = sum(written.lost for written in WRITTEN)
    head = ["function", "", "runs", "predicted to 2 %", "right in", "understood in", "named in"]
    head += ["calls", "seconds", "what it was said to be, most often"]
    return "\n".join(
        [
            "# The metric read aloud",
            "",
            f"In all of their runs, {right} of {len(lines)} functions are predicted and {named} "
            f"are named with the right parameters; {refused} of the {lost} that no explanation "
            "should claim to understand are said to be not understood.",
            "",
            f"*Predicted to 2 %*: the share of {UNSEEN} unseen decisions whose value is predicted "
            "to within 2 % of it, or of the mean size of the values; mean over runs ± standard "
            f"error. *Right in*: runs where that share is at least {RIGHT:.0%}. *Named in*: runs "
            "with the right formula and parameters. Functions marked new were written after the "
            "method, which was not changed for them. Calls are those of the explanation, at most "
            "60; seconds are of one processor.",
            "",
            markdown(head, lines),
            "",
            *made_with(found),
        ]
    )


def line_of(written: Written, own: Sequence[Row]) -> list[str]:
    n = len(own)
    claims = [row.value for row in own if row.understood]
    said = Counter(row.formula or said_without(row) for row in own).most_common(1)[0][0]
    return [
        written.name,
        "new" if written.new else "",
        str(n),
        spread(claims, digits=3),
        f"{sum(row.right for row in own)}/{n}",
        f"{sum(row.understood for row in own)}/{n}",
        f"{sum(row.named for row in own)}/{n}" if written.formula else "none known",
        f"{mean(row.calls for row in own):.0f}",
        f"{mean(row.seconds for row in own):.1f}",
        said,
    ]


def said_without(row: Row) -> str:
    return "no known formula; learned numerically" if row.understood else "not understood"


def main(argv: Sequence[str] | None = None) -> int:
    command = parser(__doc__, "learned_aloud")
    command.add_argument("--quick", action="store_true", help="COMPAS alone, one seed")
    options = command.parse_args(argv)
    numbers, tables = options.seeds, tuple(TABLES)
    if options.quick:
        numbers, tables = options.seeds[:1], ("compas",)
    return carry_out(options, Row, lambda store: run(store, numbers, tables), report)
