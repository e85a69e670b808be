"""Recommendations: what `anymetric fit` recommends on honest tables, and what that is worth.

    python benchmarks/recommendations.py [--seeds 0-1] [--sets 20] [--table]

Two thirds of a table go to `anymetric fit`, which holds a part of them out, compares and
recommends; the last third are new rows. Three models are evaluated there: ours, the strongest
baseline of the comparison, and the one that the command recommends and saves. The tables are
imbalanced KEEL sets of at least 300 rows, evenly from the alphabet, and two with random labels.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score, matthews_corrcoef
from sklearn.model_selection import train_test_split

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.keel.sets import tables
from benchmarks.shared import Measured, carry_out, made_with, parser, spread

import anymetric
from anymetric.cli.fit import Fit
from anymetric.cli.roles import Roles
from anymetric.cli.voice import Voice
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown

METRICS = {"f1": f1_score, "mcc": matthews_corrcoef}
# The baselines' names in the table of the command, and on its command line.
SHORT = {
    "logistic regression": "logistic",
    "balanced": "balanced",
    "tuned threshold": "threshold",
    "LightGBM + threshold": "lightgbm",
}
FEWEST, RANDOM = 300, ("random labels, 10 %", "random labels, 40 %")
MEANS = {
    "MODEL": "this model is better",
    "EQUAL": "equally good",
    "BASELINE": "a baseline is better",
    "UNKNOWN": "not compared",
}


@dataclass(frozen=True)
class Row(Measured):
    """One fit: the choice, whether it is our model, and values on new rows."""

    data: str
    metric: str
    seed: int
    value: float
    ours: float
    baseline: float
    choice: str
    own: int
    versions: str = ""


def samples(count: int, seed: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the tables, the last two with labels that nothing predicts."""
    large = [table for table in tables() if len(table.y) >= FEWEST]
    for place in np.linspace(0, len(large) - 1, count).round().astype(int):
        yield large[place].name, framed(large[place].X, large[place].y)
    yield from drawn(seed)


def drawn(seed: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield tables whose labels nothing predicts."""
    rng = np.random.default_rng(seed)
    for name, share in zip(RANDOM, (0.1, 0.4), strict=True):
        yield name, framed(rng.normal(size=(900, 8)), (rng.random(900) < share).astype(int))


def framed(X: Any, y: Any) -> pd.DataFrame:
    """Return features and target as one table."""
    names = [f"x{k}" for k in range(X.shape[1])]
    return pd.DataFrame(X, columns=names).assign(target=y)


def measured(name: str, table: pd.DataFrame, metric: str, seed: int) -> Row:
    """Fit by the command, and evaluate what it saves, ours and the closest baseline on new rows."""
    rows, new = train_test_split(table, test_size=1 / 3, stratify=table.target, random_state=seed)
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        rows.to_csv(path, index=False)

        def value(method: str) -> tuple[float, dict[str, Any]]:
            run = Path(folder, method)
            asked = Fit(path, Roles("target"), metric, method=method, run=run, seed=seed)
            with contextlib.redirect_stdout(io.StringIO()):
                found = asked(Voice(quiet=True))
            flagged = anymetric.load(run / "model.skops").predict(new.drop(columns="target"))
            return float(METRICS[metric](new.target, flagged)), found

        best, found = value("auto")
        said = found["recommendation"]
        own = said["model"] == said["trained"]
        baseline = value(SHORT[said["baseline"]])[0] if own else best
    ours = best
    if not own:
        model = anymetric.MetricClassifier(metric, random_state=seed)
        model.fit(rows.drop(columns="target"), rows.target)
        ours = float(METRICS[metric](new.target, model.predict(new.drop(columns="target"))))
    choice = said["choice"].upper()
    return Row(name, metric, seed, best, ours, baseline, choice, int(own), versions())


def run(options: Any, store: Store[Row]) -> None:
    """Measure what is missing."""
    done = {row.cell for row in store.rows().values()}
    for seed in options.seeds:
        for name, table in samples(options.sets, seed):
            for metric in METRICS:
                if (name, metric, seed) not in done:
                    store.append(measured(name, table, metric, seed))


def report(rows: list[Row]) -> str:
    """Return how often each choice was made, and the values on new rows beside it."""
    lines: list[list[str]] = []
    honest = [row for row in rows if row.data not in RANDOM]
    for kind, some in (
        ("tables", honest),
        ("random labels", [r for r in rows if r.data in RANDOM]),
    ):
        count = Counter(row.choice for row in some)
        for choice, says in MEANS.items():
            own = [row for row in some if row.choice == choice]
            if own:
                lines.append([kind, says, f"{count[choice]} of {len(some)}", *compared(own)])
        if some:
            lines.append([kind, "all", f"{len(some)}", *compared(some)])
    header = [
        "",
        "recommendation",
        "fits",
        "ours saved",
        "ours",
        "closest baseline",
        "recommended",
        "recommended - baseline",
        "recommended - ours",
    ]
    about = (__doc__ or "").partition("--table]")[2].strip()
    head = f"# What is recommended, and what that is worth\n\n{about}\n"
    tail = "Values on new rows: F1 and Matthews' correlation, mean ± standard error over fits."
    return "\n".join([head, markdown(header, lines), "", tail, "", *made_with(rows)])


def compared(rows: list[Row]) -> list[str]:
    """Return the share of our models that were saved, mean values and paired differences."""
    return [
        f"{sum(row.own for row in rows)}",
        spread([row.ours for row in rows]),
        spread([row.baseline for row in rows]),
        spread([row.value for row in rows]),
        spread([row.value - row.baseline for row in rows], "+"),
        spread([row.value - row.ours for row in rows], "+"),
    ]


def main(argv: list[str]) -> int:
    """Run the benchmark."""
    line = parser(__doc__, "recommendations")
    line.add_argument("--sets", type=int, default=20, help="how many KEEL sets")
    line.set_defaults(seeds=range(2))
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
