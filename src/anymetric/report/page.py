"""Page: the report of a run as one HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from string import Template

from anymetric.report import (
    aloud,
    deployed,
    explained,
    iterations,
    limits,
    outcomes,
    sections,
    story,
    surprising,
)
from anymetric.report.markup import Markup, in_script, joined, tag, text
from anymetric.report.run import Run

Section = Callable[[Run], Markup]
SECTIONS: tuple[Section, ...] = (
    sections.asked,
    sections.result,
    limits.limits,
    surprising.surprising,
    sections.groups,
    sections.curves,
    aloud.aloud,
    outcomes.classes,
    outcomes.confusion,
    iterations.course,
    story.worth,
    explained.importances,
    story.coefficients,
    story.optimism,
    story.diagnosis,
    deployed.use,
    story.again,
)
# What the charts read.
DRAWN = (
    "metric",
    "sample",
    "methods",
    "limits",
    "groups",
    "curves",
    "classes",
    "course",
    "worth",
    "coefficients",
    "importances",
)


def page(run: Run) -> str:
    """Return the report of a run: one HTML document, with everything that it needs inside.

    Examples
    --------
    >>> run = Run({"name": "f1"}, {"n": 3}, [{"name": "<b>", "value": 0.5}])
    >>> html = page(run)
    >>> "&lt;b&gt;" in html, "<b>" in html
    (True, False)
    """
    values = asdict(run)
    scripts = [asset("d3.min.js"), asset("plot.umd.min.js"), asset("page.js")]
    return Template(asset("page.html")).substitute(
        policy=policy(scripts),
        title=text(f"{run.metric['name']}: anymetric report"),
        style=asset("page.css"),
        hero=sections.hero(run),
        body=joined(make(run) for make in SECTIONS),
        data=in_script({name: values[name] for name in DRAWN}),
        scripts=joined(Markup(f"<script>{script}</script>\n") for script in scripts),
        credits=tag("p", *made_of()),
    )


@cache
def asset(name: str) -> str:
    """Return the text of a file that comes with the report."""
    return files("anymetric.report").joinpath("assets", name).read_text(encoding="utf-8")


def policy(scripts: list[str]) -> str:
    """Return the content policy: these scripts run, and nothing is ever loaded.

    Examples
    --------
    >>> policy([""])[:70]
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-s"
    """
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )


def made_of() -> list[str]:
    """Name what the charts are drawn with."""
    return [
        "Charts by Observable Plot 0.6.17 (copyright 2020-2025 Observable, Inc.) and D3 7.9.0 "
        "(copyright 2010-2023 Mike Bostock), both under the ISC licence. "
        "Everything in this report is inside this file."
    ]
