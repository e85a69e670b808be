"""Story: the sections on what the model learned, how far to trust it, how to make it again."""

from __future__ import annotations

from typing import Any

from anymetric.diagnosis import COLLINEAR
from anymetric.report import words
from anymetric.report.markup import Markup, joined, number, table, tag, with_error
from anymetric.report.parts import (
    EMPTY,
    chart,
    choices,
    folded,
    researchers,
    section,
    spoken,
    toggles,
)
from anymetric.report.run import Run
from anymetric.report.worth import percent

# Classes that have a column each in a table.
MOST_COLUMNS = 8
# Slices that have a bar each; as many as page.js draws.
MOST_BARS = 40


def worth(run: Run) -> Markup:
    """Return the learned weights of the slices of the rows, in words and as bars."""
    slices = run.worth.get("slices")
    if not slices:
        return EMPTY
    said = tag("ul", *(tag("li", line) for line in run.worth["says"]), class_="said")
    known = any(one.get("rows") is not None for one in slices)
    # Within queries, as for numbers, the weights are those of losses over all rows.
    losses = run.sample.get("kind") == "regression" or ("queries" in run.sample and not known)
    caption = "Bars are shares of the total weight"
    caption += "; a tick is the share of the training rows." if known else "."
    if len(slices) > MOST_BARS:
        caption += f" The {len(slices) - MOST_BARS} lightest slices are in the table only."
    heaviest = sorted(slices, key=lambda one: -one["share"])
    shares = [f"{one['label']} {percent(one['share'])}" for one in heaviest]
    rows = [
        [
            one["label"],
            percent(one["share"]),
            number(None) if one["rows"] is None else percent(one["rows"]),
        ]
        for one in slices
    ]
    head = ["loss" if losses else "slice", "share of the weight", "share of the training rows"]
    parts = [
        said if run.worth["says"] else EMPTY,
        chart("worth", spoken("Share of the total weight by slice", shares), caption),
        folded("The numbers", table(head, rows)),
    ]
    if losses:
        return section(
            "worth",
            "Learned weights of the losses",
            researchers(*parts),
            lead="Which losses the training followed to improve the metric.",
        )
    return section(
        "worth",
        "Learned weights of the rows",
        *parts,
        lead="How much each part of the rows counts in training, beside its number.",
    )


def coefficients(run: Run) -> Markup:
    """Return the features that move the scores most."""
    if not run.coefficients:
        return EMPTY
    if run.sample.get("kind") == "many":
        return coefficients_by_class(run)
    rows = [[one["name"], number(one["effect"]), number(one["weight"])] for one in run.coefficients]
    moved = "the logarithm of the prediction" if run.sample.get("link") == "log" else "the score"
    lead = f"How far one standard deviation of a feature moves {moved}: the strongest first."
    said = spoken("Effects of the features", [f"{row[0]} {row[1]}" for row in rows])
    return section(
        "coefficients",
        "What the model looks at",
        chart("coefficients", said),
        folded("The numbers", table(["feature", "effect", "coefficient"], rows)),
        lead=lead,
    )


def coefficients_by_class(run: Run) -> Markup:
    """Return the features that move the scores of many classes most, class by class."""
    labels = run.sample["labels"]
    options = [(str(k), label) for k, label in enumerate(labels)]
    lead = (
        "How far one standard deviation of a feature moves the score of a class, beside the mean "
        "of all classes: the strongest first."
    )
    return section(
        "coefficients",
        "What the model looks at",
        tag("div", choices("class", "Class", options), class_="choices"),
        chart("coefficients", "Effects of the features: the table has the numbers"),
        folded("The numbers", effects(run.coefficients, labels)),
        lead=lead,
    )


def effects(found: list[dict[str, Any]], labels: list[str]) -> Markup:
    """Return the effects on every class; where those are too many, on the extreme ones."""
    if len(labels) <= MOST_COLUMNS:
        rows = [[one["name"], *map(number, one["effects"])] for one in found]
        return table(["feature", *labels], rows)
    rows = []
    for one in found:
        order = sorted(range(len(labels)), key=lambda k: one["effects"][k])
        ends = [[labels[k], number(one["effects"][k])] for k in (order[-1], order[0])]
        rows.append([one["name"], *ends[0], *ends[1]])
    return table(["feature", "most towards", "by", "most away from", "by"], rows)


def optimism(run: Run) -> Markup:
    """Return how the values on the validation rows compare with those on the rows here."""
    said = words.optimism(run)
    if not said:
        return EMPTY
    caption = "Rings are the validation rows, dots with bars the rows here."
    rows = [
        [m["name"], number(m["validation"], m.get("error")), with_error(m["value"], m.get("error"))]
        for m in run.methods
        if m.get("optimism") is not None
    ]
    values = [f"{name} {before} before, {here} here" for name, before, here in rows]
    return section(
        "optimism",
        "Validation rows against the rows here",
        *(tag("p", line) for line in said),
        toggles(run),
        chart("optimism", spoken("Validation value and value here, by method", values), caption),
        folded("The numbers", table(["method", "validation rows", "rows here"], rows)),
    )


def diagnosis(run: Run) -> Markup:
    """Return what training improved, how the surrogates explain the metric, and the slopes."""
    found = run.diagnosis
    if not found:
        return EMPTY
    if "absent" in found:
        lines = [found["absent"], words.families(run)]
        return section("diagnosis", "Diagnosis", *(tag("p", line) for line in lines if line))
    lines = [line for line in (words.trust(run), words.families(run)) if line]
    known = found["r_squared"] is not None
    surrogates = [words.explained(run), alike(found["condition"]) if known else ""]
    rows = [
        [name, with_error(slope, found["errors"].get(name), sign=True)]
        for name, slope in found["slopes"].items()
    ]
    return section(
        "diagnosis",
        "Diagnosis",
        tag("p", " ".join(lines)) if lines else EMPTY,
        researchers(
            tag("p", " ".join(line for line in surrogates if line)),
            table(["surrogate", "change of the cost with it"], rows),
        ),
    )


def alike(condition: float | None) -> str:
    """Say whether the effects of single surrogates can be separated.

    Examples
    --------
    >>> alike(3.0), alike(2e5)
    ('', 'Their effects are hard to separate: the condition number is 2e+05.')
    """
    if condition is not None and condition <= COLLINEAR:
        return ""
    shown = "infinite" if condition is None else f"{condition:.1g}"
    return f"Their effects are hard to separate: the condition number is {shown}."


def again(run: Run) -> Markup:
    """Return settings, versions, and how to make it again."""
    made, command = run.made, run.asked.get("command")
    parts = []
    if command:
        line = " ".join(command) if isinstance(command, list) else str(command)
        parts += [tag("p", "On the command line:"), tag("pre", tag("code", line))]
    versions = {**made.get("versions", {}), "Python": made.get("python")}
    shown = ", ".join(f"{name} {number_}" for name, number_ in versions.items() if number_)
    if shown:
        parts.append(tag("p", f"Made with {shown}, on {made['platform']}, {moment(made['time'])}."))
    for title, pairs in (("Settings", made.get("settings")), ("Chosen", made.get("chosen"))):
        if pairs:
            rows = [
                [name, number(value) if isinstance(value, float) else str(value)]
                for name, value in pairs.items()
            ]
            parts.append(folded(title, table(["name", "value"], rows)))
    return section("again", "How to make it again", joined(parts)) if parts else EMPTY


def moment(time: str) -> str:
    """Return a time as people write it.

    Examples
    --------
    >>> moment("2026-01-31T12:30:05+00:00")
    '2026-01-31 12:30 UTC'
    """
    return time[:16].replace("T", " ") + " UTC"
