"""Outcomes: the sections on classes: their recall and precision, and the confusion matrices."""

from __future__ import annotations

from typing import Any

from anymetric.report.markup import Markup, joined, number, table, tag, with_error
from anymetric.report.parts import EMPTY, chart, choices, dot, folded, section, toggles
from anymetric.report.run import Run
from anymetric.report.worth import percent

# Classes whose matrices have room for shares, for a phone, and for a wide screen.
FEW_CLASSES, NARROW_CLASSES, MOST_CLASSES = 4, 10, 20
# Mistakes that are listed where a matrix has no room.
MOST_MISTAKES = 10


def classes(run: Run) -> Markup:
    """Return recall, precision and F-measure of each of many classes."""
    if not run.classes:
        return EMPTY
    options = [("recall", "recall"), ("precision", "precision"), ("f1", "F1")]
    rows = [
        [
            row["class"],
            row["method"],
            f"{row['n']:,}",
            with_error(row["recall"], row["error"]),
            number(row["precision"]),
            number(row["f1"]),
        ]
        for row in run.classes
    ]
    head = ["class", "method", "rows", "recall", "precision", "F1"]
    return section(
        "classes",
        "Class by class",
        toggles(run),
        tag("div", choices("rate", "Show", options), class_="choices"),
        chart("classes", "Every method in every class: the table has the numbers"),
        folded("The numbers", table(head, rows)),
        lead="Recall: the share of a class's rows that are predicted as that class.",
    )


def confusion(run: Run) -> Markup:
    """Return the confusion matrix of each method, side by side."""
    if not run.confusion:
        return EMPTY
    labels = run.sample["labels"]
    cards = [
        card(k, one["name"], shown(counts(one), labels)) for k, one in enumerate(run.confusion)
    ]
    lead = "Rows by their true class, down, and their predicted class, across."
    if len(labels) > MOST_CLASSES:
        lead = "The most frequent mistakes."
    kind = "cards" if len(labels) == 2 else "cards many" if few(labels) else "cards many dense"
    room = None if len(labels) == 2 else f"--classes: {min(len(labels), MOST_CLASSES)}"
    every = tag("div", *cards, class_=kind, style=room)
    return section("confusion", "Confusion matrix", toggles(run), every, lead=lead)


def shown(counts: list[list[int]], labels: list[str]) -> Markup:
    """Return the confusion matrix, the mistakes where it has no room, or one for each width."""
    if len(labels) > MOST_CLASSES:
        return mistakes(counts, labels)
    if len(labels) <= NARROW_CLASSES:
        return matrix(counts, labels)
    wide = tag("div", matrix(counts, labels), class_="on-wide")
    return joined([wide, tag("div", mistakes(counts, labels), class_="on-narrow")])


def few(labels: list[str]) -> bool:
    """Whether there is room for shares beside the counts of a confusion matrix."""
    return len(labels) <= FEW_CLASSES


def counts(one: dict[str, Any]) -> list[list[int]]:
    """Return a method's outcomes as a table, the true classes down.

    Examples
    --------
    >>> counts({"tp": 1, "fn": 2, "fp": 3, "tn": 4})
    [[4, 3], [2, 1]]
    """
    return one.get("counts") or [[one["tn"], one["fp"]], [one["fn"], one["tp"]]]


def card(k: int, name: str, inside: Markup) -> Markup:
    """Return what there is to show of one method."""
    return tag("div", tag("h3", dot(k), name), inside, class_="card", data_of=k)


def matrix(counts: list[list[int]], labels: list[str]) -> Markup:
    """Return a confusion matrix, each cell shaded by its share of its row."""
    roomy = few(labels)
    head = tag("tr", tag("th"), *(heading("predicted", label, roomy) for label in labels))
    rows = [
        tag(
            "tr",
            heading("true", label, roomy),
            *(cell(part, sum(row), i == j, roomy) for j, part in enumerate(row)),
        )
        for i, (label, row) in enumerate(zip(labels, counts, strict=True))
    ]
    return tag("table", head, *rows, class_="matrix")


def heading(kind: str, label: str, roomy: bool) -> Markup:
    """Return a class at the edge of a confusion matrix; where room is short, a tip has it whole."""
    if roomy:
        return tag("th", f"{kind} {label}")
    return tag("th", tag("span", label), title=f"{kind} {label}")


def cell(part: int, whole: int, right: bool, roomy: bool) -> Markup:
    """Return a cell of a confusion matrix; its share is below the count, or in a tip."""
    share = part / whole if whole else 0.0
    kind, style = "right" if right else "wrong", f"--share: {share:.3f}"
    if not roomy:
        return tag("td", f"{part:,}", class_=kind, style=style, title=percent(share))
    return tag("td", f"{part:,}", tag("small", percent(share)), class_=kind, style=style)


def mistakes(counts: list[list[int]], labels: list[str]) -> Markup:
    """Return the most frequent mistakes: a matrix would be too large."""
    cells = [
        (part, sum(row), i, j)
        for i, row in enumerate(counts)
        for j, part in enumerate(row)
        if i != j and part
    ]
    rows = [
        [labels[i], labels[j], f"{part:,}", percent(part / whole)]
        for part, whole, i, j in sorted(cells, key=lambda c: (-c[0], c[2:]))[:MOST_MISTAKES]
    ]
    return table(["true class", "predicted", "rows", "of its class"], rows, class_="stack")
