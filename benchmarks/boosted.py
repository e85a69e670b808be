"""Boosted: trees trained for the metric, against the same trees and the best threshold."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.quality.methods import Method
from benchmarks.quality.samples import Maker, Parts, bind, few_clean
from benchmarks.quality.store import Cell, Row, Store, versions
from benchmarks.quality.table import bold
from benchmarks.quality.tasks import TASKS as QUALITY
from benchmarks.quality.tasks import Task, adult
from benchmarks.shared import RESULTS, error, spread
from sklearn.ensemble import HistGradientBoostingClassifier

from anymetric import MetricClassifier, Reweighted
from anymetric.paper.progress import Progress, chosen, seeds
from anymetric.paper.samples import group_0
from anymetric.paper.tables import markdown

OUT = RESULTS / "boosted.csv"
PEER = "lightgbm"


def flipped(make: Maker, share: float) -> Maker:
    """Flip a share of one group's positive training labels."""

    def spoil(seed: int) -> Parts:
        parts = make(seed)
        train, rng = parts.train, np.random.default_rng([seed, 3])
        lost = (
            (train.groups == group_0(train)) & (train.y == 1) & (rng.random(len(train.y)) < share)
        )
        return replace(parts, train=replace(train, y=np.where(lost, 0, train.y)), clean=train)

    return spoil


men = flipped(adult, 0.6)
TASKS = {
    **QUALITY,
    **{
        task.name: task
        for task in (
            Task("adult_group_labels", "group_mean_f1", men, grouped=True, corrupted=True),
            Task(
                "adult_group_labels_v500",
                "group_mean_f1",
                few_clean(men, 500),
                grouped=True,
                corrupted=True,
            ),
        )
    },
}


@dataclass(frozen=True)
class Family(Method):
    """Ours with a family of models: a classifier on ranking tasks, too."""

    def _class(self, task: Task) -> Any:
        return MetricClassifier


# scikit-learn's own boosting takes long: it is shown on these.
FEW = ("compas_macro_f1", "compas_noisy50_v200", "breast_cancer_f2", "adult_proxy_v300")
hist = Reweighted(HistGradientBoostingClassifier(max_iter=60))
METHODS = {
    method.name: method
    for method in (
        Method(PEER, "LightGBMThreshold", "nonlinear", needs="lightgbm"),
        Family("linear", "MetricClassifier", "ours"),
        Family("boosted", "MetricClassifier", "ours", settings={"model": "boosted"}),
        Family("auto", "MetricClassifier", "ours", settings={"model": "auto"}),
        Family("hist", "MetricClassifier", "ours", settings={"model": hist}),
    )
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing, and write the table of all there is."""
    options = parser().parse_args(argv)
    store = Store(options.out)
    tasks, methods = (
        chosen(options.tasks, TASKS, "task"),
        chosen(options.methods, METHODS, "method"),
    )
    cells = [
        Cell(task, name, seed)
        for seed in options.seeds
        for task in tasks
        for name in methods
        if name != "hist" or task in FEW
    ]
    failed = 0 if options.table else run(cells, store, options.again)
    text = report(row for row in store.rows().values() if row.good)
    print(text)
    store.path.with_suffix(".md").write_text(text, encoding="utf-8")
    return int(failed > 0)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="boosted.py", description=__doc__)
    line.add_argument("--tasks", nargs="+", default=["*"], metavar="NAME", help="or patterns")
    line.add_argument("--methods", nargs="+", default=["*"], metavar="NAME", help="likewise")
    line.add_argument("--seeds", type=seeds, default=seeds("0-4"), help="such as 0-4 or 0,3,7")
    line.add_argument("--out", type=Path, default=OUT, help="the CSV; the table goes beside it")
    line.add_argument("--again", action="store_true", help="recompute stored rows")
    line.add_argument("--table", action="store_true", help="only print and write the table")
    return line


def run(cells: list[Cell], store: Store, again: bool = False) -> int:
    """Work through the cells that are not done; return how many failed."""
    done = set() if again else store.done()
    progress = Progress(todo := [c for c in cells if c not in done], store.rows().values(), 1)
    for cell in todo:
        row = measure(cell)
        store.append(row)
        progress.tell(row)
    return progress.failed


def measure(cell: Cell) -> Row:
    """Return the row of a cell; a method that fails gives a row that says why."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    row = Row(*cell, versions=versions(), when=now)
    try:
        return fitted(row)
    except Exception as error:  # one failure must not end the other cells
        return replace(row, error=f"{type(error).__name__}: {error}")


def fitted(row: Row) -> Row:
    """Fill a row; its seconds are those of the processor, which a busy machine does not stretch."""
    task = TASKS[row.task]
    parts = task.parts(row.seed)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        answer = METHODS[row.method].fit(task, parts, row.seed)
        seconds = time.process_time() - began
        tested = bind(task.metric, parts.test).values(answer.scores(parts.test))
        judged = bind(task.metric, parts.valid).values(answer.scores(parts.valid))
    return replace(
        row,
        value=float(tested),
        cost=float(task.metric.cost(tested)),
        validation_value=float(judged),
        seconds=seconds,
        calls=answer.calls,
    )


Costs = dict[tuple[str, str], dict[int, Row]]


def report(rows: Iterable[Row]) -> str:
    """Return the tables: costs and improvements by task, then ranks and seconds by method."""
    found: Costs = {}
    for row in rows:
        found.setdefault((row.task, row.method), {})[row.seed] = row
    tasks = [task for task in TASKS if (task, PEER) in found]
    names = [name for name in METHODS if any((task, name) in found for task in tasks)]
    ours = [name for name in names if name in ("boosted", "auto")]
    head = ["task", "seeds", *names, *(f"{name} ahead by" for name in ours)]
    lines = [line(found, task, names, ours) for task in tasks]
    made = sorted({row.versions for rows in found.values() for row in rows.values()})
    return "\n".join(
        [
            "# Boosted",
            "",
            "Test cost, lower is better: mean over seeds ± standard error, the best in bold. "
            f"Ahead: of {PEER} + tuned threshold, mean of the paired differences ± standard error; "
            "in bold where it is more than two of them.",
            "",
            markdown(head, lines),
            "",
            "Rank: by mean cost, averaged over the tasks that all of these have. Behind: tasks "
            f"where the mean is below {PEER} by more than one standard error; ahead: above it by "
            "more than two. Seconds: of the processor, median over all fits.",
            "",
            markdown(
                ["method", "tasks", "rank", "behind", "ahead", "seconds"],
                ranks(found, tasks, names),
            ),
            "",
            *(f"Made with {text}.\n" for text in made),
        ]
    )


def line(found: Costs, task: str, names: list[str], ours: list[str]) -> list[str]:
    """Return a task's line."""
    costs = {name: [r.cost for r in found.get((task, name), {}).values()] for name in names}
    best = min(mean(own) for own in costs.values() if own)
    texts = [bold(spread(own), bool(own) and mean(own) == best) for own in costs.values()]
    improvements = [improvement(found, task, name) for name in ours]
    count = str(max(map(len, costs.values())))
    return [task, count, *texts, *(formatted(own) for own in improvements)]


def improvement(found: Costs, task: str, name: str) -> list[float]:
    """Return by how much a method is ahead of the peer, on every seed that both have."""
    peer, own = found.get((task, PEER), {}), found.get((task, name), {})
    return [peer[seed].cost - own[seed].cost for seed in sorted(own) if seed in peer]


def formatted(improvements: Sequence[float]) -> str:
    """Format a mean improvement and its standard error.

    >>> formatted([0.01, 0.012]), formatted([0.5]), formatted([])
    ('**+0.0110 ± 0.0010**', '+0.5000', '–')
    """
    if not improvements:
        return "–"
    text = f"{mean(improvements):+.4f}"
    if len(improvements) < 2:
        return text
    return bold(
        f"{text} ± {error(improvements):.4f}", mean(improvements) > 2.0 * error(improvements)
    )


def ranks(found: Costs, tasks: list[str], names: list[str]) -> list[list[str]]:
    """Return one line a method: its mean rank, how often it is behind or ahead, and its price."""
    ranked = [name for name in names if name != "hist"]
    common = [task for task in tasks if all((task, name) in found for name in ranked)]
    means = [
        [mean(row.cost for row in found[task, name].values()) for name in ranked] for task in common
    ]
    rank = dict(zip(ranked, np.mean([rankdata(own) for own in means], axis=0), strict=True))
    lines = []
    for name in names:
        own = [
            row for (_, method), rows in found.items() if method == name for row in rows.values()
        ]
        improvements = [improvement(found, task, name) for task in tasks]
        improvements = [some for some in improvements if len(some) > 1]
        behind = sum(mean(some) < -error(some) for some in improvements)
        ahead = sum(mean(some) > 2.0 * error(some) for some in improvements)
        place = f"{rank[name]:.2f}" if name in rank else "–"
        lines.append(
            [
                name,
                str(len({row.task for row in own})),
                place,
                *("–" if name == PEER else str(count) for count in (behind, ahead)),
                f"{median(row.seconds for row in own):.1f}",
            ]
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
