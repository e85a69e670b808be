"""Gaps: by how much one method is better than another on the same seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, stdev
from typing import TypeAlias

from anymetric.paper.experiments import EXPERIMENTS, Field
from anymetric.paper.scales import Scale
from anymetric.paper.store import Cell, Row
from anymetric.paper.tables import Line, lines_of
from anymetric.paper.tasks import TASKS

# Experiment, task, method and field of a line.
Place: TypeAlias = tuple[str, str, str, str]
Board: TypeAlias = Mapping[Place, Line]
DEFAULT = "anymetric"
# Fewer seeds have no meaningful standard error.
LEAST_SEEDS = 3


@dataclass(frozen=True)
class Gap:
    """By how much one method is better than another on the same seeds.

    Examples
    --------
    >>> str(Gap((0.01, 0.03)))
    '+0.0200 ± 0.0100'
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Above zero where the first is better."""
        return mean(self.values) if self.values else float("nan")

    @property
    def error(self) -> float:
        """Its standard error, paired by seed."""
        many = len(self.values)
        return stdev(self.values) / many**0.5 if many > 1 else float("nan")

    @property
    def enough(self) -> bool:
        """Whether there are enough seeds for a result."""
        return len(self.values) >= LEAST_SEEDS

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ± {self.error:.4f}"


def gap(one: Line, two: Line) -> Gap:
    """Return by how much `one` is better than `two`, over the seeds that both have."""
    entry = one.entry
    higher = entry.field != "cost" and TASKS[entry.task].metric.greater_is_better
    theirs = dict(zip(two.seeds, two.values, strict=True))
    shared = [
        (value - theirs[seed]) * (1.0 if higher else -1.0)
        for seed, value in zip(one.seeds, one.values, strict=True)
        if seed in theirs
    ]
    return Gap(tuple(shared))


def board_of(rows: Mapping[Cell, Row], scale: Scale) -> Board:
    """Return every line that has results, by its place; of a shared one, its owner's."""
    board: dict[Place, Line] = {}
    for experiment in EXPERIMENTS.values():
        for line in lines_of(experiment, rows, scale):
            entry = line.entry
            board.setdefault((entry.owner, entry.task, entry.method, entry.field), line)
    return board


def gaps(
    board: Board, table: str, task: str, baseline: str, one: str = DEFAULT, field: Field = "value"
) -> Gap | None:
    """Return by how much a method is better than a baseline, if both have results."""
    ours, theirs = board.get((table, task, one, field)), board.get((table, task, baseline, field))
    found = gap(ours, theirs) if ours is not None and theirs is not None else None
    return found if found is not None and found.values else None


def printed(one: Line, two: Line) -> float:
    """Return by how much the paper's figure of one is better than that of another."""
    figures = [Line(line.entry, (line.entry.paper or 0.0,), seeds=(0,)) for line in (one, two)]
    return gap(*figures).mean
