"""Sections: the parts of the report, each from a run to HTML; one without content is empty."""

from __future__ import annotations

from typing import Any

from anymetric.report import words
from anymetric.report.markup import Markup, coded, joined, number, table, tag, with_error
from anymetric.report.parts import (
    EMPTY,
    better,
    chart,
    choices,
    dot,
    folded,
    points_of,
    section,
    spoken,
    toggles,
)
from anymetric.report.run import Run
from anymetric.report.worth import percent

# Classes that a line names.
MOST_NAMED = 8


def hero(run: Run) -> Markup:
    """Return the top of the report: the metric, the number, the recommendation."""
    ours, sample = run.methods[0], run.sample
    shown = tag("span", number(ours.get("value"), ours.get("error")), class_="big")
    if ours.get("error"):
        shown = joined([shown, tag("span", f"± {number(ours['error'], ours['error'])}")])
    where = f"on {sample['n']:,} {sample.get('rows', 'rows')}, {better(run)}"
    return tag(
        "header",
        tag("p", "anymetric report", class_="brand"),
        tag("h1", run.metric["name"]),
        tag("p", shown, tag("span", where, class_="where"), class_="value"),
        tag("p", words.headline(run), class_="headline"),
        tag("p", hint) if (hint := run.diagnosis.get("hint")) else EMPTY,
        tag("p", errors(run), class_="note"),
    )


def asked(run: Run) -> Markup:
    """Return the task: the metric, the rows and the settings."""
    sample = run.sample
    pairs = [(key.replace("_", " "), value) for key, value in run.asked.items() if key != "command"]
    pairs = [(key, value) for key, value in pairs if value not in (None, "", [], {})]
    if not any(key == "metric" for key, _ in pairs):
        pairs.append(("metric", run.metric["name"]))
    rows = f"{sample['n']:,} {sample.get('rows', 'rows')}"
    if "positives" in sample:
        share = percent(sample["positives"] / max(sample["n"], 1))
        ranks = sample.get("kind") == "ranking"
        which = "relevant: above the smallest value" if ranks else sample["labels"][1]
        rows += f"; {share} of them are {which}"
    if "queries" in sample:
        rows += f"; {sample['queries']:,} {'queries' if sample['queries'] > 1 else 'query'}"
    if "counts" in sample:
        rows += f"; {len(sample['labels'])} classes: {shares(sample)}"
    pairs.append(("evaluated here on", rows))
    if run.course.get("validation"):
        pairs.append(("in training", run.course["validation"]))
    listed = [tag("div", tag("dt", key), tag("dd", plainly(value))) for key, value in pairs]
    return section("asked", "The task", tag("dl", *listed), lead=coded(run.metric.get("says", "")))


def shares(sample: dict[str, Any]) -> str:
    """Return the largest classes with their shares of the rows.

    Examples
    --------
    >>> shares({"n": 10, "labels": ["a", "b", "c"], "counts": [2, 5, 3]})
    'b 50 %, c 30 %, a 20 %'
    """
    pairs = sorted(zip(sample["counts"], sample["labels"], strict=True), key=lambda p: -p[0])
    shown = [f"{label} {percent(n / max(sample['n'], 1))}" for n, label in pairs[:MOST_NAMED]]
    return ", ".join([*shown, "..."] if len(pairs) > MOST_NAMED else shown)


def plainly(value: Any) -> str:
    """Return any plain value as a user would write it.

    Examples
    --------
    >>> plainly(["a", 1]), plainly({"a": True})
    ('a, 1', 'a: True')
    """
    if isinstance(value, list):
        return ", ".join(map(plainly, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {plainly(inner)}" for key, inner in value.items())
    return str(value)


def result(run: Run) -> Markup:
    """Return every method's value with its error, and the improvement over it."""
    several = len(run.methods) > 1
    said = spoken(f"{run.metric['name']} of every method", [f"{r[0]} {r[1]}" for r in spelt(run)])
    charts = chart("values", said)
    if several:
        pairs = f"By how much {run.methods[0]['name']} is better, both on the same rows."
        said = spoken("Improvement over each method", [f"{r[0]} {r[2]}" for r in spelt(run)[1:]])
        charts = tag("div", charts, chart("improvements", said, pairs), class_="two")
    lead = f"All methods on the same rows; {better(run)}."
    return section("result", "Result", toggles(run), charts, results(run), lead=lead)


def results(run: Run) -> Markup:
    """Return the table of all methods; a column without any entry is left out."""
    head = ["method", run.metric["name"], "improvement", "seconds", "metric calls"]
    rows = []
    for k, m in enumerate(run.methods):
        calls = number(None) if m.get("calls") is None else f"{m['calls']:,}"
        seconds = number(None) if m.get("seconds") is None else f"{m['seconds']:.1f}"
        lead = (
            with_error(m.get("improvement"), m.get("improvement_error"), sign=True)
            if k
            else number(None)
        )
        value = with_error(m.get("value"), m.get("error"))
        rows.append([joined([dot(k), m["name"]]), value, lead, seconds, calls])
    kept = [j for j in range(len(head)) if j < 2 or any(row[j] != number(None) for row in rows)]
    return table([head[j] for j in kept], [[row[j] for j in kept] for row in rows], class_="stack")


def spelt(run: Run) -> list[tuple[str, str, str]]:
    """Return every method's name, its value and the improvement over it, as text."""
    return [
        (
            m["name"],
            with_error(m.get("value"), m.get("error")),
            with_error(m.get("improvement"), m.get("improvement_error"), sign=True),
        )
        for m in run.methods
    ]


def errors(run: Run) -> str:
    """Say what ``±`` and the bars are, once for the whole report.

    Examples
    --------
    >>> errors(Run({}, {"queries": 9}, [], made={"resamples": 200}))[:70]
    '± is one standard error, from 200 bootstrap resamples of the queries; '
    """
    drawn, made = "queries" if "queries" in run.sample else "rows", run.made.get("resamples")
    if not made:
        return f"No standard errors: too few resamples of the {drawn} could be evaluated."
    return (
        f"± is one standard error, from {made} bootstrap resamples of the {drawn}; in the charts "
        "thick bars are one and thin bars two."
    )


# Thresholds of groups that a sentence lists.
MOST = 12


def groups(run: Run) -> Markup:
    """Return the metric and the rates by group."""
    if not run.groups.get("rows"):
        return EMPTY
    name, found = run.metric["name"], run.groups["rows"]
    options = [("value", name)] if run.groups.get("measured") else []
    keys = [("selected", "share flagged"), ("recall", "recall"), ("fallout", "false-positive rate")]
    keys += [("precision", "precision"), ("right", "share right")]
    options += [(key, shown) for key, shown in keys if key in found[0]]
    if not options:
        return EMPTY
    rows = [
        [row["group"], row["method"], f"{row['n']:,}"]
        + [
            with_error(row["value"], row["error"]) if key == "value" else number(row[key])
            for key, _ in options
        ]
        for row in found
    ]
    sizes = {row["group"]: row["n"] for row in found}
    count = len(sizes)
    left = run.groups.get("left_out", 0)
    lead = f"{count} groups of {min(sizes.values()):,} to {max(sizes.values()):,} rows"
    lead = lead if count > 1 else f"One group of {max(sizes.values()):,} rows"
    lead += f"; {left} smaller ones are left out." if left else "."
    if shifts := run.groups.get("shifts"):
        listed = ", ".join(f"{group} {shift:+.3g}" for group, shift in list(shifts.items())[:MOST])
        lead += f" Each has its own threshold; the score is shifted by: {listed}"
        lead += ", ..." if len(shifts) > MOST else "."
    column = run.groups.get("column") or "groups"
    return section(
        "groups",
        f"By {column}",
        toggles(run),
        tag("div", choices("measure", "Show", options), class_="choices"),
        chart("groups", f"Every method in each of {count} groups: the table has the numbers"),
        folded("The numbers", table(["group", "method", "rows", *(o[1] for o in options)], rows)),
        lead=lead,
    )


CURVES = {
    "threshold": (
        "By threshold",
        "The metric if each method flagged more rows or fewer. A dot is the method's own "
        "threshold.",
    ),
    "list": (
        "Down the list",
        "The share of positives among the rows at the top of the list, by its length.",
    ),
    "errors": (
        "Size of the errors",
        "The absolute error that a share of the rows stays within: lower lines are better.",
    ),
}


def curves(run: Run) -> Markup:
    """Return the metric by threshold, precision down the list, or the size of the errors."""
    if not run.curves.get("lines"):
        return EMPTY
    title, lead = CURVES[run.curves["kind"]]
    control = EMPTY
    if run.curves["kind"] == "list":
        options = [("y", "precision"), ("recall", "recall")]
        control = tag("div", choices("curve", "Show", options), class_="choices")
    return section(
        "curves",
        title,
        toggles(run),
        control,
        chart("curves", spoken(title, landmarks(run))),
        folded("Some of the numbers", points(run)),
        lead=lead,
    )


def landmarks(run: Run) -> list[str]:
    """Return where each method's curve stands: at its own threshold, or half of the way."""
    said = []
    for line in run.curves["lines"]:
        middle = len(line["x"]) // 2
        x, y = line.get("own") or (line["x"][middle], line["y"][middle])
        said.append(f"{line['method']} {number(y)} at {percent(x)} of the rows")
    return said


# What stands at the head of the columns of the curves' tables.
ACROSS = {"threshold": "rows flagged", "list": "rows taken", "errors": "rows within"}


def points(run: Run) -> Markup:
    """Return a table of a few points of each method's curve."""
    kind = run.curves["kind"]
    up = {"threshold": run.metric["name"], "list": "precision", "errors": "absolute error"}[kind]
    head = ["method", ACROSS[kind], up, *(["recall"] if kind == "list" else [])]
    keys = ("y", "recall") if kind == "list" else ("y",)
    rows = [
        [line["method"], percent(line["x"][k]), *(number(line[key][k]) for key in keys)]
        for line in run.curves["lines"]
        for k in points_of(len(line["x"]))
    ]
    return table(head, rows)
