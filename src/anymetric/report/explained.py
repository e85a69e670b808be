"""Explained: the section on which columns the metric depends on."""

from __future__ import annotations

from anymetric.report.markup import Markup, table, tag, with_error
from anymetric.report.parts import EMPTY, chart, folded, section, spoken
from anymetric.report.run import Run

TITLE = "Which columns matter"


def importances(run: Run) -> Markup:
    """Return the permutation importance of every column that was measured."""
    found = run.importances
    if not found:
        return EMPTY
    if "absent" in found:
        return section("importances", TITLE, tag("p", found["absent"]))
    rows = [
        [one["name"], with_error(one["importance"], one["error"], sign=True)]
        for one in found["rows"]
    ]
    text = spoken("Importance of the columns", [f"{name} {value}" for name, value in rows])
    return section(
        "importances",
        TITLE,
        chart("importances", text),
        folded("The numbers", table(["column", f"{run.metric['name']} gets worse by"], rows)),
        lead=lead(run),
    )


def lead(run: Run) -> str:
    """Say what is measured, on which rows, and what is not.

    Examples
    --------
    >>> found = {"rows": [], "left_out": 3, "repeats": 5, "n": 80}
    >>> lead(Run({"name": "f1"}, {}, [], importances=found))[-54:]
    '3 more, which move the scores less, were not measured.'
    """
    found = run.importances
    times = "one shuffle" if found["repeats"] == 1 else f"the mean of {found['repeats']} shuffles"
    said = (
        f"Permutation importance: by how much {run.metric['name']} gets worse if a column's values "
        f"are shuffled among {found['n']:,} rows that did not train the model; {times}."
    )
    if more := found.get("left_out"):
        said += f" {more:,} more, which move the scores less, were not measured."
    return said


def most_important(run: Run, count: int = 3) -> str:
    """Name the columns that matter most; empty if none was measured or none matters.

    Examples
    --------
    >>> rows = [{"name": "age", "importance": 0.1, "error": 0.02}]
    >>> most_important(Run({"name": "f1"}, {}, [], importances={"rows": rows}))
    'Most important: age (f1 gets worse by 0.100 ± 0.020 if it is shuffled).'
    """
    rows = [one for one in run.importances.get("rows", ()) if (one["importance"] or 0.0) > 0.0]
    if not rows:
        return ""
    shown = [with_error(one["importance"], one["error"]) for one in rows[:count]]
    first = f"{rows[0]['name']} ({run.metric['name']} gets worse by {shown[0]} if it is shuffled)"
    others = [f"{one['name']} ({far})" for one, far in zip(rows[1:count], shown[1:], strict=True)]
    return f"Most important: {', '.join([first, *others])}."
