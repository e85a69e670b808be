"""Shared: the command line of the smaller benchmarks, their rows, and how they say a mean."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from anymetric.paper.progress import seeds
from anymetric.paper.store import Store

RESULTS = Path(__file__).resolve().parent / "results"


class Measured:
    """A row that is good if it has a value; the fields before the value say which row it is."""

    @property
    def cell(self) -> tuple[Any, ...]:
        names = [field.name for field in fields(self)]
        return tuple(getattr(self, name) for name in names[: names.index("value")])

    @property
    def good(self) -> bool:
        return self.value == self.value


def parser(doc: str | None, name: str) -> argparse.ArgumentParser:
    """Return a command line with seeds, and the CSV of this name in the results' folder."""
    line = argparse.ArgumentParser(description=(doc or "").split("\n", 1)[0])
    line.add_argument("--seeds", type=seeds, default=seeds("0-4"), help="such as 0-4 or 0,3,7")
    out, say = RESULTS / f"{name}.csv", "the CSV; the table goes beside it"
    line.add_argument("--out", type=Path, default=out, help=say)
    line.add_argument("--table", action="store_true", help="only print and write the table")
    return line


def carry_out(
    options: argparse.Namespace,
    row: type,
    run: Callable[[Store], None],
    report: Callable[[list[Any]], str],
) -> int:
    """Run what is missing, and write the table of all there is."""
    store = Store(options.out, row)
    warnings.simplefilter("ignore")
    if not options.table:
        run(store)
    text = report([one for one in store.rows().values() if one.good])
    print(text)
    options.out.with_suffix(".md").write_text(text, encoding="utf-8")
    return 0


def made_with(rows: Sequence[Any]) -> list[str]:
    """Return a paragraph for each set of versions that rows were made with."""
    return [f"Made with {text}.\n" for text in sorted({row.versions for row in rows}) if text]


def error(values: Sequence[float], most: int | None = None) -> float:
    """Return the standard error of a mean; no more than `most` of the values count as drawn."""
    n = len(values) if most is None else min(len(values), most)
    return stdev(values) / n**0.5 if len(values) > 1 else 0.0


def spread(
    values: Sequence[float], sign: str = "", digits: int = 4, most: int | None = None
) -> str:
    """Say a mean and its standard error; one number has none, and no number is a dash.

    >>> spread([0.5, 0.7]), spread([0.5], "+", 2), spread([])
    ('0.6000 ± 0.1000', '+0.50', '–')
    """
    if not values:
        return "–"
    found = f"{mean(values):{sign}.{digits}f}"
    return f"{found} ± {error(values, most):.{digits}f}" if len(values) > 1 else found
