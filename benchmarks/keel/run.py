"""Run: every method on every set, repeat and fold, those already in the file left out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.shared import Measured, carry_out, parser
from sklearn.model_selection import RepeatedStratifiedKFold
from threadpoolctl import threadpool_limits

from anymetric.paper.progress import chosen as by_name
from anymetric.paper.store import versions

from .counts import METRICS, value
from .methods import METHODS, Sample
from .sets import CACHE, PARTS, Table, tables
from .table import report


@dataclass(frozen=True)
class Row(Measured):
    data: str
    metric: str
    method: str
    seed: int
    fold: int
    value: float = float("nan")
    seconds: float = float("nan")
    part: str = ""
    versions: str = ""


def halves(table: Table, seed: int) -> list[tuple[Any, Any]]:
    """Return the two folds of a repeat, training rows first."""
    splits = RepeatedStratifiedKFold(n_splits=2, n_repeats=seed + 1, random_state=0)
    return list(splits.split(table.X, table.y))[-2:]


def measure(
    table: Table, seed: int, fold: int, method: str, metrics: Sequence[str]
) -> Iterator[Row]:
    """Yield a row for each metric."""
    train, test = halves(table, seed)[fold]
    sample = Sample(table.X[train], table.y[train], table.X[test])
    for answer in METHODS[method].answers(sample, metrics, seed):
        found = value(answer.metric, table.y[test], answer.flagged)
        place = (table.name, answer.metric, method, seed, fold)
        yield Row(*place, found, answer.seconds, table.part, versions("autogluon.tabular"))


def run(store: Any, chosen: Sequence[Table], methods: Sequence[str], seeds: Sequence[int]) -> None:
    """Measure what is missing, repeat by repeat so that early results show all sets."""
    done = store.done()
    for seed in seeds:
        for table in chosen:
            for method in methods:
                for fold in (0, 1):
                    cells = {m: (table.name, m, method, seed, fold) for m in METRICS}
                    left = [metric for metric, cell in cells.items() if cell not in done]
                    for row in measure(table, seed, fold, method, left) if left else ():
                        store.append(row)
            print(f"{table.name}, repeat {seed}", file=sys.stderr, flush=True)


def here(method: str) -> bool:
    """Return whether the package that a method needs is installed."""
    package = getattr(METHODS[method], "needs", None)
    return package is None or find_spec(package) is not None


def line(doc: str | None, name: str) -> argparse.ArgumentParser:
    """Return the command line."""
    found = parser(doc, name)
    found.add_argument(
        "--sets",
        choices=(*PARTS, "all"),
        default="development" if name == "keel" else "all",
        help="which data sets",
    )
    say = "only sets of these names or patterns"
    found.add_argument("--data", nargs="+", default=["*"], metavar="NAME", help=say)
    say = "names or patterns such as 'anymetric*'"
    found.add_argument("--methods", nargs="+", default=["*"], metavar="NAME", help=say)
    say = "where the archive of the data sets is, or goes"
    found.add_argument("--cache", type=type(CACHE), default=CACHE, help=say)
    return found


def main(
    doc: str | None = None,
    argv: Sequence[str] | None = None,
    *,
    name: str = "keel",
    title: str = "Imbalanced KEEL data sets",
    source: Callable[[Path], Sequence[Table]] = tables,
) -> int:
    """Measure and report; `source` reads the sets, from the archive in a folder."""
    options = line(doc, name).parse_args(argv)
    methods = [name for name in by_name(options.methods, METHODS, "method") if here(name)]

    def begin(store: Any) -> None:
        found = {t.name: t for t in source(options.cache) if options.sets in (t.part, "all")}
        names = by_name(options.data, found, "set")
        run(store, [found[name] for name in names], methods, options.seeds)

    with threadpool_limits(1):
        return carry_out(options, Row, begin, partial(report, title=title))
