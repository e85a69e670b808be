"""Table: one line for each method, over the development sets, the held-out ones, and all."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
from benchmarks.shared import made_with
from numpy.typing import NDArray

from anymetric.paper.tables import markdown

from .counts import METRICS
from .methods import METHODS
from .sets import PARTS
from .standing import elo, elo_interval, improvability, ranks, win_rates

# These have done fewer folds than the others, which must not be left out for it.
SLOW = ("AutoGluon",)
HEADER = ["method", *METRICS, "rank", "win rate", "Elo", "improvability", "seconds"]


def report(rows: Sequence[Any], title: str = "Imbalanced KEEL data sets") -> str:
    """Return a table for each part that has rows, one of both, and one with the slow methods."""
    fast = [row for row in rows if row.method not in SLOW]
    parts = [part for part in PARTS if any(row.part == part for row in rows)]
    shown = {part: [row for row in fast if row.part == part] for part in parts}
    if len(parts) > 1:
        shown["all"] = fast
    if len(fast) < len(rows):
        shown[f"with {', '.join(SLOW)}"] = list(rows)
    return "\n".join(
        [
            f"# {title}",
            "",
            "Test values, higher is better: means over sets, and in each over its folds; in bold "
            "the best. A task is a metric on a set. Rank and win rate: among the methods, over "
            "tasks. Elo: by maximum likelihood, 1000 is the mean of the methods, with a 95 % "
            "interval from resampled sets. Improvability: the share of a method's error that the "
            "best method of each task saves. Seconds of one core for a fit: median.",
            "",
            *(text for part, own in shown.items() for text in section(part, own)),
            *made_with(rows),
        ]
    )


def section(part: str, rows: Sequence[Any]) -> list[str]:
    """Return the heading and the table of one part."""
    names = [name for name in METHODS if any(row.method == name for row in rows)]
    data, values, splits = means(rows, names)
    title = f"## {part[0].upper()}{part[1:].replace('_', ' ')}"
    if not data:
        return [title, "", "No set with all methods yet.", ""]
    lines = standings(names, values, rows)
    few, most = min(splits), max(splits)
    folds = f"{few}" if few == most else f"{few} to {most}"
    return [f"{title}: {len(data)} sets, {folds} folds", "", markdown(HEADER, lines), ""]


def means(
    rows: Sequence[Any], names: Sequence[str]
) -> tuple[list[str], NDArray[np.float64], list[int]]:
    """Return sets, values (sets, metrics, methods) and folds: of what all methods have done."""
    found: dict[tuple[str, int, int], dict[tuple[str, str], float]] = {}
    for row in rows:
        split = found.setdefault((row.data, row.seed, row.fold), {})
        split[row.metric, row.method] = row.value
    whole: dict[str, list[list[list[float]]]] = {}
    for (data, _, _), split in found.items():
        if len(split) == len(METRICS) * len(names):
            table = [[split[metric, name] for name in names] for metric in METRICS]
            whole.setdefault(data, []).append(table)
    data = sorted(whole)
    return data, np.array([np.mean(whole[d], axis=0) for d in data]), [len(whole[d]) for d in data]


def standings(
    names: Sequence[str], values: NDArray[np.float64], rows: Sequence[Any]
) -> list[list[str]]:
    """Return a line for each method, the best Elo first."""
    tasks = values.reshape(-1, len(names))
    by_metric, ratings, (low, high) = values.mean(axis=0), elo(tasks), elo_interval(values)
    rank, wins, gaps = ranks(tasks).mean(axis=0), win_rates(tasks), improvability(tasks)
    lines = []
    for k in np.argsort(-ratings):
        cells = [
            f"**{own[k]:.4f}**" if k == np.argmax(own) else f"{own[k]:.4f}" for own in by_metric
        ]
        rating = f"{ratings[k]:.0f} ({low[k]:.0f} to {high[k]:.0f})"
        seconds = median(row.seconds for row in rows if row.method == names[k])
        told = [f"{rank[k]:.2f}", f"{wins[k]:.0%}", rating, f"{gaps[k]:.1%}", f"{seconds:.2g}"]
        lines.append([names[k], *cells, *told])
    return lines
