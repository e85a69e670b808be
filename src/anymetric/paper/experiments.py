"""Experiments: which cells make each table and figure, and what the paper prints there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from anymetric.paper.known import CALLS, ESTIMATORS, KS, PSIS, SIGMAS
from anymetric.paper.methods import METHODS
from anymetric.paper.published import published
from anymetric.paper.reasons import WORDS, Words
from anymetric.paper.scales import Scale
from anymetric.paper.store import Cell
from anymetric.paper.tasks import FAIR, LEVELS, TASKS, noisy

Field = Literal["value", "cost", "train_value"]


@dataclass(frozen=True)
class Entry:
    """One figure of a table: where its cells are kept, and what the paper prints.

    Parameters
    ----------
    row, column : str
        For tables.
    owner : str
        The experiment in whose file the cells are kept.
    task, method : str
    paper : float or None
    field : {"value", "cost", "train_value"}
        Of the stored row.

    Examples
    --------
    >>> Entry("Simulated", "LogReg", "table2", "simulated", "logistic", 1.0, "cost").scaled
    False
    """

    row: str
    column: str
    owner: str
    task: str
    method: str
    paper: float | None = None
    field: Field = "value"

    @property
    def scaled(self) -> bool:
        """Whether its cells depend on the scale."""
        return self.method in METHODS and METHODS[self.method].scaled

    def cell(self, seed: int, scale: Scale) -> Cell:
        """Return the cell of a seed."""
        name = scale.name if self.scaled else "any"
        return Cell(self.owner, self.task, self.method, seed, name)


@dataclass(frozen=True)
class Experiment:
    """A table or a figure.

    Parameters
    ----------
    name : str
    entries : tuple of Entry
    seeds : int
        How many the full run has.

    Examples
    --------
    >>> EXPERIMENTS["table2"].seeds, len(EXPERIMENTS["table2"].entries)
    (10, 5)
    """

    name: str
    entries: tuple[Entry, ...]
    seeds: int = 10

    @property
    def words(self) -> Words:
        """Title, description and reasons."""
        return WORDS[self.name]

    def at(self, scale: Scale) -> list[Entry]:
        """Return the entries that a scale computes."""
        places = np.linspace(0, len(LEVELS) - 1, min(scale.levels, len(LEVELS))).round()
        kept = {f"noise{round(100 * LEVELS[int(place)])}" for place in places}
        level = [entry.task.rpartition("_")[2] for entry in self.entries]
        return [
            entry
            for entry, own in zip(self.entries, level, strict=True)
            if self.name != "noise" or own in kept
        ]

    def cells(self, scale: Scale, seeds: Sequence[int] | None = None) -> Iterator[Cell]:
        """Yield the cells, seed by seed so that early results show the whole table."""
        own = max(round(self.seeds * scale.seeds), 1)
        numbers = range(own) if seeds is None else seeds
        for seed in numbers:
            yield from dict.fromkeys(entry.cell(seed, scale) for entry in self.at(scale))


PAPERS = ("logistic", "post_shift", "relaxed_fm", "gen_rates", "proposed")
LEFT_OUT = ("on_validation", "on_both")
# The authors' later method (2021), and the library's default.
LATER = ("fw_eg", "anymetric")
# What the paper's Proposed is compared with, beside the column of that name.
STANDS_FOR = ("anymetric", "notebook")


def entries(
    table: str, task: str, methods: Iterable[str], field: Field = "value", row: str = ""
) -> Iterator[Entry]:
    """Yield a row of a table; the library's default stands beside the paper's Proposed."""
    row = row or TASKS[task].label
    for method in methods:
        label = METHODS[method].label
        column = "Proposed" if method in STANDS_FOR else label
        yield Entry(row, label, table, task, method, published(table, row, column), field)


def table_5(task: str) -> Iterator[Entry]:
    """Yield a row of Table 5, where Proposed stands twice."""
    row = TASKS[task].label
    columns = {
        "logistic": ("LogReg", "LogReg"),
        "post_shift": ("PostShift", "PostShift"),
        "proposed": ("Proposed, hinge", "Hinge"),
        "proposed_sigmoid": ("Proposed, sigmoid", "Sigmoid"),
        "fw_eg": (METHODS["fw_eg"].label, "FW-EG"),
        "anymetric": (METHODS["anymetric"].label, "Sigmoid"),
    }
    for method, (label, column) in columns.items():
        yield Entry(row, label, "table5", task, method, published("table5", row, column))


def table_6(name: str, of: str, field: Field = "value") -> Iterator[Entry]:
    """Yield a row of Table 6: its own runs, and those of another table."""
    row = TASKS[name].label
    pairs = (("10", "proposed_10", "table6"), ("1000", "proposed", of))
    for probes, method, owner in pairs:
        figure = published("table6", row, probes)
        yield Entry(row, f"{probes} perturbations", owner, name, method, figure, field)


def noise(name: str, level: float) -> Iterator[Entry]:
    """Yield the entries of a noise level; without noise they are those of Table 3."""
    task = noisy(name, level)
    for method in (*PAPERS, *LATER, *LEFT_OUT):
        owner = "noise" if level or method in LEFT_OUT else "table3"
        row = f"{task.label}, {level:.0%} noisy"
        yield Entry(row, METHODS[method].label, owner, task.name, method)


def notebook() -> Iterator[Entry]:
    """Yield the entries of the notebook."""
    methods = ("logistic", "post_shift", "notebook", "proposed", "anymetric")
    return entries("notebook", "adult_notebook", methods, "cost", row="Adult")


def table_1() -> Iterator[Entry]:
    """Yield the entries of Table 1; the protein data stand in for those of KDD Cup 2008."""
    tasks = ("simulated", *(f"{name}_noise0" for name in FAIR), "protein")
    for task in tasks:
        row = TASKS[task].label
        named = "KDD Cup 08" if task == "protein" else row
        for column in ("rows", "features"):
            yield Entry(row, column, "table1", task, column, published("table1", named, column))


_RANKERS = ("logistic", "kar", "proposed", "anymetric")
_ALL = (
    Experiment("table1", tuple(table_1()), seeds=1),
    Experiment(
        "table2",
        tuple(
            entries(
                "table2",
                "simulated",
                ("logistic", "post_shift", "proposed", "anymetric", "optimum"),
                "cost",
            )
        ),
    ),
    Experiment(
        "table3",
        tuple(
            entry
            for name in FAIR
            for entry in entries("table3", f"{name}_noise0", (*PAPERS, *LATER))
        ),
    ),
    Experiment(
        "noise",
        tuple(entry for name in FAIR for level in LEVELS for entry in noise(name, level)),
        seeds=5,
    ),
    Experiment(
        "table4",
        (
            *entries("table4", "protein", _RANKERS, "train_value", row="Train"),
            *entries("table4", "protein", _RANKERS, "value", row="Test"),
        ),
        seeds=5,
    ),
    Experiment("table5", (*table_5("adult_proxy"), *table_5("business_proxy"))),
    Experiment(
        "table6",
        (
            *(entry for name in FAIR for entry in table_6(f"{name}_noise0", "table3")),
            *table_6("simulated", "table2", "cost"),
        ),
    ),
    Experiment(
        "k",
        tuple(
            Entry(f"K = {K}", f"sigma = {sigma:g}", "k", f"K={K}", f"sigma={sigma:g}")
            for K in KS
            for sigma in SIGMAS
        ),
    ),
    Experiment("notebook", tuple(notebook())),
    Experiment(
        "estimators",
        tuple(
            Entry(
                f"{shown}, {calls} calls",
                name.replace("_", " "),
                "estimators",
                f"{kind}/{calls}",
                name,
            )
            for kind, shown in PSIS.items()
            for calls in CALLS
            for name in ESTIMATORS
        ),
    ),
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}
