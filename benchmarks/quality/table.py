"""Table: from rows of results to Markdown, tasks against methods and methods against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import mean, median

from benchmarks.shared import spread

from anymetric.paper.tables import markdown

from .methods import METHODS
from .results import REFERENCE, Results
from .shown import shown
from .store import Row


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
            f"over that of {REFERENCE}, in seconds of one core; calls: of the metric. Both are the "
            "median over tasks, of each task the median over its seeds.",
            "",
            markdown(["method", "kind", "tasks", "rank", "time", "calls"], method_lines(results)),
            "",
            markdown(["what must be seen", "numbers", "so"], shown(results)),
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
        rows, ranks = results.of(name), list(results.ranks(name).values())
        lines.append(
            [
                name,
                METHODS[name].kind,
                str(len({row.task for row in rows})),
                number(ranks and mean(ranks), ".2f"),
                number((ratios := results.ratios(name)) and median(ratios), ".3g"),
                number((calls := results.calls(name)) and median(calls), ".0f"),
            ]
        )
    return lines


def number(value: float | list[float], form: str) -> str:
    """Say a number, or that there is none."""
    return "–" if isinstance(value, list) else format(value, form)


def bold(text: str, if_: bool) -> str:
    """Put a text in bold, if set."""
    return f"**{text}**" if if_ else text
