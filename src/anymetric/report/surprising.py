"""Surprising: the section of what stands out in the rows and in the run."""

from __future__ import annotations

from typing import Any

from anymetric.report.markup import Markup, joined, tag
from anymetric.report.parts import EMPTY, section
from anymetric.report.run import Run


def surprises_of(final: Any) -> list[str]:
    """Return the sentences of a fitted estimator; none where its rows are not at hand.

    Examples
    --------
    >>> surprises_of(object())
    []
    """
    return [str(one) for one in getattr(final, "surprises_", ())]


def surprising(run: Run) -> Markup:
    """Return a list of sentences, or nothing.

    Examples
    --------
    >>> run = Run({}, {}, [], surprises=["Source B is worthless for the metric."])
    >>> "Source B" in surprising(run), surprising(Run({}, {}, [])) == ""
    (True, True)
    """
    if not run.surprises:
        return EMPTY
    lines = joined(tag("li", sentence) for sentence in run.surprises)
    return section("surprises", "Surprises", tag("ul", lines))
