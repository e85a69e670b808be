"""Table: from rows of results to Markdown, tasks against methods and methods against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import mean, median, stdev

import numpy as np
from scipy.stats import rankdata

from anymetric.paper.tables import markdown

from .methods import METHODS
from .store import Row
from .tasks import TASKS

REFERENCE = "post_shift"


class Results:
    """Rows by task and method, in the order in which both are listed."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows: dict[tuple[str, str], dict[int, Row]] = {}
        for row in rows:
            self.rows.setdefault((row.task, row.method), {})[row.seed] = row
        self.tasks = [name for name in TASKS if any(task == name for task, _ in self.rows)]
        self.methods = [name for name in METHODS if any(own == name for _, own in self.rows)]

    def costs(self, task: str, method: str) -> list[float]:
        """Return the test costs of all seeds."""
        return [row.cost for row in self.rows.get((task, method), {}).values()]

    def of(self, method: str) -> list[Row]:
        """Return all rows of a method."""
        return [
            row for (_, own), rows in self.rows.items() if own == method for row in rows.values()
        ]

    def linear(self, task: str) -> list[str]:
        """Return the linear methods with results on a task: those that are ranked."""
        return [name for name in self.methods if METHODS[name].ranked and (task, name) in self.rows]

    def ranks(self, method: str) -> list[float]:
        """Return the rank on each task, by mean cost over the seeds that all linear ones have."""
        found = []
        for task in self.tasks:
            rivals = self.linear(task)
            if method in rivals and len(rivals) > 1:
                found.append(float(rankdata(self._means(task, rivals))[rivals.index(method)]))
        return found

    def ratios(self, method: str) -> list[float]:
        """Return seconds over those of the reference, where both have the task and the seed."""
        return [
            row.seconds / reference.seconds
            for row in self.of(method)
            if (reference := self.rows.get((row.task, REFERENCE), {}).get(row.seed))
        ]

    def _means(self, task: str, methods: Sequence[str]) -> np.ndarray:
        common = set.intersection(*(set(self.rows[task, name]) for name in methods))
        seeds = [common or set(self.rows[task, name]) for name in methods]
        pairs = zip(methods, seeds, strict=True)
        return np.array([mean(self.rows[task, name][s].cost for s in own) for name, own in pairs])


def report(rows: Iterable[Row]) -> str:
    """Return both tables and what the numbers were made with."""
    rows = list(rows)
    results = Results(rows)
    made = Counter(row.versions for row in rows)
    return "\n".join(
        [
            "# Quality",
            "",
            "Test cost, lower is better: mean over seeds ± standard error. In bold the best linear "
            "method that saw no clean training rows; *oracle* methods did.",
            "",
            markdown(["task", "seeds", *results.methods], cost_lines(results)),
            "",
            f"Rank: among linear methods by mean cost, averaged over tasks. Time: fitting, "
            f"over that of {REFERENCE}, median. Calls: of the metric, median.",
            "",
            markdown(["method", "kind", "tasks", "rank", "time", "calls"], method_lines(results)),
            "",
            *(f"{count} rows made with {text}.\n" for text, count in sorted(made.items())),
        ]
    )


def cost_lines(results: Results) -> list[list[str]]:
    """Return one line a task: a cost for each method."""
    lines = []
    for task in results.tasks:
        costs = {name: results.costs(task, name) for name in results.methods}
        linear = results.linear(task)
        best = min((mean(costs[name]) for name in linear), default=None)
        texts = [
            bold(spread(costs[name]), name in linear and mean(costs[name]) == best)
            for name in results.methods
        ]
        lines.append([task, str(max(map(len, costs.values()))), *texts])
    return lines


def method_lines(results: Results) -> list[list[str]]:
    """Return one line a method: its rank and its price."""
    lines = []
    for name in results.methods:
        rows, ranks = results.of(name), results.ranks(name)
        calls = [row.calls for row in rows if row.calls == row.calls]
        lines.append(
            [
                name,
                METHODS[name].kind,
                str(len({row.task for row in rows})),
                number(ranks and mean(ranks), ".2f"),
                number((ratios := results.ratios(name)) and median(ratios), ".3g"),
                number(calls and median(calls), ".0f"),
            ]
        )
    return lines


def spread(costs: Sequence[float]) -> str:
    """Say the mean and its standard error; a single number has none."""
    if not costs:
        return "–"
    error = f" ± {stdev(costs) / len(costs) ** 0.5:.4f}" if len(costs) > 1 else ""
    return f"{mean(costs):.4f}{error}"


def number(value: float | list[float], form: str) -> str:
    """Say a number, or that there is none."""
    return "–" if isinstance(value, list) else format(value, form)


def bold(text: str, if_: bool) -> str:
    """Put a text in bold if asked to."""
    return f"**{text}**" if if_ else text
