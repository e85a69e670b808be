"""Run: the selected experiments, without the cells that are stored already."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from anymetric.datasets.store import SOURCES, read
from anymetric.errors import DataError, MissingExtra
from anymetric.paper.cells import expected, store_of, work
from anymetric.paper.experiments import EXPERIMENTS
from anymetric.paper.page import all_rows, write
from anymetric.paper.progress import Progress, chosen, duration, seeds
from anymetric.paper.scales import SCALES, Scale
from anymetric.paper.store import Cell
from anymetric.paper.tasks import TASKS


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is missing, then write tables, figures and page; 1 if anything failed."""
    options = parser().parse_args(argv)
    scale = scale_of(options)
    folder = options.out or Path("results-quick" if scale.name == "quick" else "results")
    try:
        names = chosen(options.only, EXPERIMENTS, "experiment")
        cells = of_methods(asked_for(names, scale, options.seeds), options.methods)
    except ValueError as error:
        parser().error(str(error))
    failed = 0
    if not options.page:
        there, failed = with_data(cells)
        failed += run(there, folder, scale, jobs=options.jobs, renew=options.renew)
    return int(failed + finish(folder, scale, tex=options.latex) > 0)


def scale_of(options: argparse.Namespace) -> Scale:
    """Return the selected scale; a report shows that of most of the rows.

    Examples
    --------
    >>> scale_of(parser().parse_args(["--quick"])).name, scale_of(parser().parse_args([])).name
    ('quick', 'full')
    """
    name = "quick" if options.quick else options.scale
    if name is None and options.page:
        folder = options.out or Path("results")
        there = Counter(row.scale for row in all_rows(folder).values() if row.scale in SCALES)
        name = next((scale for scale, _ in there.most_common(1)), None)
    return SCALES[name or "full"]


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(
        prog="python -m anymetric.paper",
        description="Run the paper's experiments; a killed run continues where it stopped.",
        epilog=f"Experiments: {', '.join(EXPERIMENTS)}.",
    )
    line.add_argument(
        "--quick",
        action="store_true",
        help="fewer seeds and iterations: some minutes; --scale quick",
    )
    line.add_argument(
        "--scale",
        choices=tuple(SCALES),
        help="full (the default): the paper's settings, days; screened: its grid chosen from by "
        "short runs, hours",
    )
    line.add_argument(
        "--only", nargs="+", default=["*"], metavar="NAME", help="names or patterns such as table*"
    )
    line.add_argument(
        "--methods", nargs="+", default=["*"], metavar="NAME", help="names or patterns such as on_*"
    )
    line.add_argument(
        "--renew", action="store_true", help="compute again what other versions of the code made"
    )
    line.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    line.add_argument(
        "--out", type=Path, help="the folder of results; results, or results-quick with --quick"
    )
    line.add_argument("--seeds", type=seeds, help="such as 0-4 or 0,3; each experiment has its own")
    line.add_argument(
        "--page",
        "--table",
        action="store_true",
        help="compute nothing; write tables, figures and page of what is there",
    )
    line.add_argument("--latex", action="store_true", help="write every table for LaTeX too")
    return line


def asked_for(names: Iterable[str], scale: Scale, numbers: Sequence[int] | None) -> list[Cell]:
    """Return the cells of some experiments, each once.

    Examples
    --------
    >>> cells = asked_for(["table2", "table6"], SCALES["quick"], [0])
    >>> sum(cell.method == "proposed" and cell.task == "simulated" for cell in cells)
    1
    """
    cells = (cell for name in names for cell in EXPERIMENTS[name].cells(scale, numbers))
    return list(dict.fromkeys(cells))


def of_methods(cells: Iterable[Cell], patterns: Iterable[str]) -> list[Cell]:
    """Return the cells of some methods.

    Examples
    --------
    >>> cells = asked_for(["table2"], SCALES["quick"], [0])
    >>> [cell.method for cell in of_methods(cells, ["post*", "optimum"])]
    ['post_shift', 'optimum']
    """
    cells = list(cells)
    names = chosen(patterns, dict.fromkeys(cell.method for cell in cells), "method")
    return [cell for cell in cells if cell.method in names]


def with_data(cells: Iterable[Cell]) -> tuple[list[Cell], int]:
    """Return the cells whose data exist, and the number of missing files, printed once."""
    cells = list(cells)
    absent: set[str] = set()
    for file in sorted({file_of(cell) for cell in cells} - {""}):
        try:
            read(SOURCES[file])
        except (DataError, MissingExtra) as error:
            absent.add(file)
            without = {cell.experiment for cell in cells if file_of(cell) == file}
            print(f"Left out of {', '.join(sorted(without))}: {error}", file=sys.stderr)
    return [cell for cell in cells if file_of(cell) not in absent], len(absent)


def file_of(cell: Cell) -> str:
    """Return the data file that a cell needs, if it is not shipped.

    Examples
    --------
    >>> file_of(Cell("table4", "protein", "kar", 0, "any"))
    'protein_homology/bio_train.dat'
    """
    return TASKS[cell.task].file if cell.task in TASKS else ""


def run(
    cells: Sequence[Cell], folder: Path, scale: Scale, *, jobs: int = 1, renew: bool = False
) -> int:
    """Work through the cells that are not done; return how many failed."""
    rows = all_rows(folder)
    done = {cell for cell, row in rows.items() if row.good and (row.current or not renew)}
    todo = [cell for cell in cells if cell not in done]
    seen = [row for row in rows.values() if row.scale in (scale.name, "any")]
    progress = Progress(todo, seen, jobs, expected)
    print(
        f"{len(cells) - len(todo)} of {len(cells)} cells are done; the others may take "
        f"{duration(progress.left())}.",
        file=sys.stderr,
    )
    pool: Any = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    for row in pool(delayed(work)(cell, folder, scale, renew) for cell in todo):
        progress.tell(row)
    return progress.failed


def finish(folder: Path, scale: Scale, *, tex: bool = False) -> int:
    """Write the report of the stored rows; return 1 if some are missing."""
    if not any(store_of(folder, name).path.exists() for name in EXPERIMENTS):
        print(f"There are no results in {folder}.", file=sys.stderr)
        return 1
    try:
        page = write(folder, scale, tex=tex)
    except MissingExtra as error:
        page = write(folder, scale, figures=False, tex=tex)
        print(f"No figures were drawn: {error}", file=sys.stderr)
    print(f"The tables and figures as a page: {page}")
    return 0
