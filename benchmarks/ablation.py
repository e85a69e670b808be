"""Ablation: what the default loses when one of its ingredients is taken away."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.quality.methods import LINES, Method
from benchmarks.quality.run import run
from benchmarks.quality.store import Cell, Row, Store
from benchmarks.quality.tasks import TASKS
from benchmarks.shared import error, spread

from anymetric.auto import Auto, SingleBest
from anymetric.paper.progress import chosen, seeds
from anymetric.paper.tables import markdown

OUT = Path(__file__).resolve().parent / "results" / "ablation.csv"
FULL = "everything"

# What is taken away, and the setting that takes it away.
REMOVED = {
    "thresholds inside": {"decision": "none"},
    "averaging": {"selection": SingleBest()},
    "training rows at the threshold": {"transfer": False},
    "validation rows that train": {"use_validation": False},
    "training rows weighted like validation": {"importance_weighting": False},
}

METHODS = {
    FULL: Method(FULL, "MetricClassifier", "ours", settings=LINES),
    **{
        name: Method(name, "MetricClassifier", "ours", settings={**LINES, "method": Auto(**flags)})
        for name, flags in REMOVED.items()
    },
}

# Tasks that take a second or two each; among them, every kind that an ingredient was made for.
QUICK = (
    "simulated_gmean",
    "compas_macro_f1",
    "credit_macro_f1",
    "credit_profit",
    "breast_cancer_f2",
    "digits_f1",
    "compas_noisy50",
    "compas_noisy50_v200",
    "compas_noisy80_v300",
    "adult_noisy50_v500",
    "credit_noisy50_v500",
    "adult_noisy_labels",
    "adult_proxy_v300",
    "business_proxy_v300",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing, and write the table of all there is."""
    options = parser().parse_args(argv)
    tasks = chosen(options.tasks or QUICK, TASKS, "task")
    store = Store(options.out)
    cells = [Cell(task, name, s) for s in options.seeds for task in tasks for name in METHODS]
    failed = run(cells, store, jobs=options.jobs, again=options.again, methods=METHODS)
    text = report(row for row in store.rows().values() if row.good)
    print(text)
    store.path.with_suffix(".md").write_text(text, encoding="utf-8")
    return int(failed > 0)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="ablation.py", description=__doc__)
    line.add_argument("--tasks", nargs="+", metavar="NAME", help="names or patterns; * for all")
    line.add_argument("--seeds", type=seeds, default=seeds("0-4"), help="such as 0-4 or 0,3,7")
    line.add_argument("--out", type=Path, default=OUT, help="the CSV; the table goes beside it")
    line.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    line.add_argument("--again", action="store_true", help="recompute stored rows")
    return line


def report(rows: Iterable[Row]) -> str:
    """Return the table: one line a task, one column for each ingredient taken away."""
    costs: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        costs.setdefault((row.task, row.method), {})[row.seed] = row.cost
    tasks = [task for task in TASKS if (task, FULL) in costs]
    lines = []
    for task in tasks:
        full = costs[task, FULL]
        own = (differences(full, costs.get((task, name), {})) for name in REMOVED)
        lines.append([task, str(len(full)), f"{mean(full.values()):.4f}", *map(told, own)])
    lines.append(["tasks harmed / helped", "", "", *(result(costs, tasks, n) for n in REMOVED)])
    return "\n".join(
        [
            "# Ablation",
            "",
            "Test cost of the default, and by how much it rises when one ingredient is taken away: "
            "mean over seeds ± standard error of the paired differences. In bold where it is more "
            "than two standard errors. The last line counts those, for the worse and for the "
            "better.",
            "",
            markdown(["task", "seeds", FULL, *(f"− {name}" for name in REMOVED)], lines),
            "",
        ]
    )


def differences(full: dict[int, float], other: dict[int, float]) -> list[float]:
    """Return the rise of the cost on every seed that both have.

    >>> differences({0: 0.25, 1: 0.5}, {1: 0.75})
    [0.25]
    """
    return [other[seed] - full[seed] for seed in sorted(full) if seed in other]


def clear(rises: Sequence[float]) -> bool:
    """Return whether a mean is beyond two standard errors."""
    return len(rises) > 1 and abs(mean(rises)) > 2.0 * error(rises)


def told(rises: Sequence[float]) -> str:
    """Say a mean rise and its standard error.

    >>> told([0.01, 0.012]), told([]), told([0.0, 0.0])
    ('**+0.0110 ± 0.0010**', '–', '0')
    """
    if not rises:
        return "–"
    if not any(rises):
        return "0"
    text = spread(rises, "+")
    return f"**{text}**" if clear(rises) else text


def result(costs: dict[tuple[str, str], dict[int, float]], tasks: list[str], name: str) -> str:
    """Count the tasks that are clearly worse, and clearly better, without an ingredient."""
    every = [differences(costs[task, FULL], costs.get((task, name), {})) for task in tasks]
    signs = [mean(rises) > 0.0 for rises in every if clear(rises)]
    return f"{sum(signs)} / {len(signs) - sum(signs)}"


if __name__ == "__main__":
    sys.exit(main())
