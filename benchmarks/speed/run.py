"""Run: all measurements in one process, printed as they come, and written as one page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from . import baselines, defaults, limits, notebook, scaling
from .table import Table, where_made

OUT = Path(__file__).resolve().parents[1] / "results" / "speed.md"
SECTIONS = ("notebook", "defaults", "limits", "scaling", "fits")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and write; fail only if the paths of equal draws part."""
    options = parser().parse_args(argv)
    pages: list[str] = []
    known: dict[str, Any] = {"apart": 0.0}
    with threadpool_limits(limits=1):
        for table in tables(options, known):
            print(table.markdown(), flush=True)
            pages.append(table.markdown())
    chosen = " ".join(sys.argv[1:] if argv is None else argv)
    made = where_made(f" {chosen}" if chosen else "")
    print(made)
    out = options.out or (None if options.quick else OUT)
    if out is not None:
        out.write_text("\n".join(["# Speed", "", made, "", *pages]), encoding="utf-8")
    if known["apart"] > notebook.APART:
        print(f"The paths differ: {known['apart']:.1e}.", file=sys.stderr)
        return 1
    return 0


def tables(options: argparse.Namespace, known: dict[str, Any]) -> Iterator[Table]:
    """Yield the selected tables, one by one."""
    quick = options.quick
    if "notebook" in options.only:
        work = notebook.Work.load()
        iterations = options.iterations or (20 if quick else 250)
        few = min(iterations, 2 if quick else options.plain)
        table, found = notebook.measure(work, iterations, few, grid=not quick)
        known.update(found)
        yield table
        yield baselines.measure(work, known, 5_000 if quick else 50_000)
    if "defaults" in options.only:
        yield defaults.measure(quick)
    if "limits" in options.only:
        yield limits.measure(50_000 if quick else 300_000)
    if "scaling" in options.only:
        yield scaling.measure(quick)
    if "fits" in options.only:
        yield scaling.fits((3_000, 10_000) if quick else (10_000, 100_000, 1_000_000))


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="speed.py", description="Measure speed, side by side.")
    line.add_argument("--quick", action="store_true", help="a smaller run, under two minutes")
    line.add_argument(
        "--iterations", type=int, help="iterations of Algorithm 1; the notebook has 250"
    )
    line.add_argument(
        "--plain",
        type=int,
        default=25,
        help="iterations that plain NumPy takes; its total is scaled up",
    )
    line.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS, help="some sections")
    line.add_argument("--out", type=Path, help="the file to write; by default none if quick")
    return line
