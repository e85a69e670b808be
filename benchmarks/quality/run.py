"""Run: every method on every task with every seed, those already in the file left out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from joblib import Parallel, delayed

from anymetric.paper.progress import Progress, chosen, seeds

from .cells import work
from .methods import METHODS, Method
from .store import Cell, Store
from .table import report
from .tasks import TASKS

OUT = Path(__file__).resolve().parents[1] / "results" / "quality.csv"


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing; print the tables of the selection, write those of all rows."""
    options = parser().parse_args(argv)
    store = Store(options.out)
    try:
        cells = asked_for(options.tasks, options.methods, options.seeds)
    except ValueError as error:
        parser().error(str(error))
    failed = 0 if options.table else run(cells, store, jobs=options.jobs, again=options.again)
    rows = [row for row in store.rows().values() if row.good]
    asked = {(cell.task, cell.method) for cell in cells}
    shown = [row for row in rows if row.cell[:2] in asked]
    if not shown:
        print(f"No results for these tasks and methods in {store.path}.", file=sys.stderr)
        return 1
    print(report(shown))
    store.path.with_suffix(".md").write_text(report(rows), encoding="utf-8")
    return int(failed > 0)


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(
        prog="quality.py", description="Compare methods on tasks; one CSV row a fit."
    )
    line.add_argument(
        "--tasks", nargs="+", default=["*"], metavar="NAME", help="names or patterns such as adult*"
    )
    line.add_argument("--methods", nargs="+", default=["*"], metavar="NAME", help="likewise")
    line.add_argument(
        "--seeds", type=seeds, default=seeds("0-4"), help="such as 0-4 (the default) or 0,3,7"
    )
    line.add_argument("--out", type=Path, default=OUT, help="the CSV; tables go beside it as .md")
    line.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    line.add_argument("--again", action="store_true", help="recompute stored rows")
    line.add_argument("--table", action="store_true", help="only print and write the tables")
    return line


def asked_for(tasks: Iterable[str], methods: Iterable[str], numbers: Collection[int]) -> list[Cell]:
    """Return the cells that make sense, seed by seed so that early results show all tasks."""
    pairs = [
        (task, method)
        for task in chosen(tasks, TASKS, "task")
        for method in chosen(methods, METHODS, "method")
        if METHODS[method].applies(TASKS[task])
    ]
    return [Cell(task, method, seed) for seed in numbers for task, method in pairs]


def run(
    cells: list[Cell],
    store: Store,
    *,
    jobs: int = 1,
    again: bool = False,
    methods: Mapping[str, Method] = METHODS,
) -> int:
    """Work through the cells that are not done; return how many failed."""
    absent = sorted({cell.method for cell in cells if methods[cell.method].missing})
    for method in absent:
        print(f"{method} is left out: {methods[method].needs} is not here.", file=sys.stderr)
    done = set() if again else store.done()
    todo = [cell for cell in cells if cell not in done and cell.method not in absent]
    progress = Progress(todo, store.rows().values(), jobs)
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    for row in pool(delayed(work)(cell, store, again, methods) for cell in todo):
        progress.tell(row)
    return progress.failed
