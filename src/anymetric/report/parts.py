"""Parts: what every section of the page is built from."""

from __future__ import annotations

from anymetric.report.markup import Markup, tag
from anymetric.report.run import Run

EMPTY = Markup("")


def section(name: str, title: str, *inside: str, lead: str = "") -> Markup:
    """Return a card of the page, with a sentence under its title."""
    first = tag("p", lead, class_="lead") if lead else EMPTY
    return tag("section", tag("h2", title), first, *inside, id=name)


def chart(name: str, label: str, caption: str = "") -> Markup:
    """Return the place where a chart will be drawn."""
    words_ = tag("figcaption", caption) if caption else EMPTY
    return tag("figure", tag("div", data_chart=name, role="img", aria_label=label), words_)


def folded(title: str, *inside: str) -> Markup:
    """Return what is shown when somebody asks for it."""
    return tag("details", tag("summary", title), *inside)


def toggles(run: Run) -> Markup:
    """Return a button for each method, which shows and hides it everywhere."""
    if len(run.methods) < 2:
        return EMPTY
    buttons = [
        tag(
            "button",
            tag("span", class_="dot", style=f"background: var(--m{k % 10})"),
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


def decides(run: Run) -> bool:
    """Whether each row is given a class, which a threshold or offsets may tune."""
    return run.sample.get("kind") in ("classes", "many")


def tuning(run: Run) -> str:
    """Return what a plain model can be tuned by."""
    return "offsets" if run.sample.get("kind") == "many" else "threshold"


def better(run: Run) -> str:
    """Return which way is better."""
    return "higher is better" if run.metric.get("greater_is_better", True) else "lower is better"
