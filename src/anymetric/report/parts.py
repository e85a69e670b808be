"""Parts: what every section of the report is built from."""

from __future__ import annotations

from collections.abc import Iterable

from anymetric.report.markup import Markup, tag
from anymetric.report.run import Run

EMPTY = Markup("")
COLOURS = 10
# Points of a curve, or iterations of a run, that a table shows of each.
POINTS = 12


def points_of(count: int, kept: int | None = None) -> list[int]:
    """Return which of so many points a table shows: evenly spaced ones, and the one to be kept.

    Examples
    --------
    >>> points_of(3), points_of(100, 7)
    ([0, 1, 2], [0, 7, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99])
    """
    last, most = max(count - 1, 0), min(count, POINTS)
    spread = {round(k * last / max(most - 1, 1)) for k in range(most)}
    return sorted(spread if kept is None else spread | {kept})


def section(name: str, title: str, *inside: str, lead: str = "") -> Markup:
    """Return a card of the report, with a sentence under its title."""
    first = tag("p", lead, class_="lead") if lead else EMPTY
    return tag("section", tag("h2", title), first, *inside, id=name)


def chart(name: str, label: str, caption: str = "") -> Markup:
    """Return the place where a chart will be drawn."""
    words_ = tag("figcaption", caption) if caption else EMPTY
    return tag("figure", tag("div", data_chart=name, role="img", aria_label=label), words_)


def spoken(what: str, said: Iterable[str]) -> str:
    """Return what a chart shows as a line for screen readers: the first few values.

    Examples
    --------
    >>> spoken("f1 of every method", ["ours 0.71", "theirs 0.68"])
    'f1 of every method: ours 0.71; theirs 0.68'
    """
    values = list(said)
    more = [f"{len(values) - POINTS} more"] if len(values) > POINTS else []
    return ": ".join([what, "; ".join([*values[:POINTS], *more])]) if values else what


def researchers(*inside: str) -> Markup:
    """Return what only those who know the method will read."""
    return folded("For researchers", *inside) if any(inside) else EMPTY


def folded(title: str, *inside: str) -> Markup:
    """Return what is shown when somebody asks for it."""
    return tag("details", tag("summary", title), *inside)


def dot(k: int) -> Markup:
    """Return the mark of the method of this place: ten colours, and a shape for each ten."""
    shape = ("dot", "dot square", "dot diamond")[min(k // COLOURS, 2)]
    return tag("span", class_=shape, style=f"background: var(--m{k % COLOURS})")


def toggles(run: Run) -> Markup:
    """Return a button for each method, which shows and hides it everywhere."""
    if len(run.methods) < 2:
        return EMPTY
    buttons = [
        tag(
            "button",
            dot(k),
            method["name"],
            type="button",
            data_method=k,
            aria_pressed="true",
        )
        for k, method in enumerate(run.methods)
    ]
    return tag("div", *buttons, class_="toggles", role="group", aria_label="Methods shown")


def choices(name: str, label: str, options: list[tuple[str, str]], chosen: int = 0) -> Markup:
    """Return a labelled list to choose from."""
    listed = [
        tag("option", shown, value=value, selected=k == chosen)
        for k, (value, shown) in enumerate(options)
    ]
    return tag("label", f"{label} ", tag("select", *listed, data_choice=name))


def tuned(run: Run) -> str:
    """Return where a model is evaluated: nothing for a metric that reads no decisions.

    Examples
    --------
    >>> [tuned(Run({"decides": yes}, {"kind": "classes"}, [])) for yes in (True, False)]
    [' at its best threshold', '']
    """
    if run.sample.get("kind") not in ("classes", "many") or not run.metric.get("decides", True):
        return ""
    return f" at its best {'offsets' if run.sample['kind'] == 'many' else 'threshold'}"


def better(run: Run) -> str:
    """Return which way is better."""
    return "higher is better" if run.metric.get("greater_is_better", True) else "lower is better"
