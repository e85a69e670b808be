"""Aloud: what the metric values, in words and as a table of prices."""

from __future__ import annotations

from typing import Any

from anymetric.metrics import MetricError
from anymetric.report.markup import Markup, number, table, tag
from anymetric.report.parts import EMPTY, section
from anymetric.report.run import Run
from anymetric.report.sample import Sample

# Calls that an explanation may make for a report, where all of them take no longer than this.
CALLS, SECONDS = 60, 3.0
# Kinds of mistakes that a table shows.
MOST = 20


def explanation_of(model: Any, sample: Sample) -> dict[str, Any]:
    """Return what the metric of a fit values; empty where that cannot be said.

    A program, a person or a slow function is not asked again: the answers of the fit must do.

    Parameters
    ----------
    model : fitted estimator
    sample : Sample
        The rows of the report, which say how long a call takes and how many are left.
    """
    explain = getattr(getattr(model, "metric_", None), "explain", None)
    if explain is None:
        return {}
    try:
        return dict(explain(max_calls=calls_for(sample), max_seconds=SECONDS).to_dict())
    except (ValueError, MetricError):
        return {}


def calls_for(sample: Sample) -> int:
    """Return how often the metric may be called for an explanation."""
    inner = getattr(sample.metric, "inner", sample.metric)
    outside = getattr(inner, "takes_all", False)  # a program or a person
    if outside or not sample.affords(CALLS):
        return 0
    return CALLS if not sample.called or CALLS * sample.price() <= SECONDS else 0


def aloud(run: Run) -> Markup:
    """Return what the metric values: its formula, prices, limits, and what it does not read."""
    found = run.explanation
    if not found or not (found["understood"] or found["calls"]):
        return EMPTY
    said = [*found["sentences"], *found["limits"]]
    if found["unread"]:
        said.append(f"It does not read: {'; '.join(found['unread'])}.")
    said += [found["evidence"]] if found["evidence"] else []
    return section(
        "aloud",
        "What the metric values",
        tag("ul", *(tag("li", line) for line in said), class_="said"),
        prices(found["prices"]),
        lead=found["headline"],
    )


def prices(found: list[dict[str, Any]]) -> Markup:
    """Return the local price of each kind of mistake, the most expensive first if there are many.

    Examples
    --------
    >>> str(prices([]))
    ''
    """
    if not found:
        return EMPTY
    shown = found
    if len(found) > MOST:
        shown = sorted(found, key=lambda one: -abs(one["price"] or 0.0))[:MOST]
    rows = [
        [one["mistake"], f"{one['rows']:,}", number(one["price"]), number(one["ratio"])]
        for one in shown
    ]
    return table(["one more mistake", "rows", "costs", "in units of the cheapest"], rows)
