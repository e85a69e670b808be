"""Markup: sections, tables and claims as HTML that loads nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from anymetric.paper import claims
from anymetric.paper.claims import Claim
from anymetric.paper.experiments import EXPERIMENTS, Experiment
from anymetric.paper.scales import Scale
from anymetric.paper.store import Row
from anymetric.paper.tables import FAR, HEADER, Line, made_with

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --faint: #656d76; --paper: #fff; --rule: #d8dee4;
  --far: #fff3d6; --link: #0b57d0; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e6ea; --faint: #9aa4af; --paper: #14171a;
  --rule: #343b43; --far: #3d3213; --link: #8ab4f8; --good: #57c26d; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--paper); overflow-wrap: break-word; }
h1 { font-size: clamp(1.5rem, 4vw, 2.1rem); line-height: 1.2; }
h2 { font-size: 1.35rem; line-height: 1.3; margin-top: 3rem; }
h3 { font-size: 1rem; line-height: 1.45; margin: 1.6rem 0 .4rem; font-weight: 600; }
a { color: var(--link); }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; text-align: right; vertical-align: top;
  white-space: nowrap; }
th { color: var(--faint); font-weight: 500; }
th:nth-child(-n+2), td:nth-child(-n+2), .claims td { text-align: left; }
td:first-child, th:first-child { padding-left: .4rem; }
tr.new td { border-top: 1px solid var(--rule); }
tr.far td { background: var(--far); }
.claims { width: 100%; font-size: .92rem; }
.claims td:nth-child(3) { white-space: normal; width: 99%; }
.claims span.part { display: inline-block; margin-right: .8rem; }
@media (max-width: 40rem) { .claims td { display: inline-block; border: 0 !important; }
  .claims td:nth-child(3) { display: block; padding-left: .4rem; }
  .claims tr { display: block; border-top: 1px solid var(--rule); } }
.yes { color: var(--good); } .no { color: var(--bad); } .open { color: var(--faint); }
.yes, .no, .open { font-weight: 600; }
h3 .yes, h3 .no, h3 .open { margin-right: .4rem; }
figure { margin: 1rem 0; }
img { max-width: 100%; background: #fff; border-radius: 6px; }
summary { cursor: pointer; color: var(--link); }
p.why { border-left: 4px solid #d9a300; padding-left: .8rem; }
footer { color: var(--faint); font-size: .85rem; }
"""
# Longer tables are folded where a figure shows the same.
LONG = 30
MARKS = {"holds": "yes", "does not hold": "no", "open": "open"}


@dataclass(frozen=True, eq=False)
class Section:
    """An experiment with what is known of it."""

    experiment: Experiment
    lines: Sequence[Line]
    rows: Sequence[Row]
    missing: int = 0
    figure: Path | None = None


def page_html(sections: Sequence[Section], checked: Sequence[Claim], scale: Scale) -> str:
    """Return the report."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper's experiments</title><style>{STYLE}</style></head><body>\n"
        "<h1>Optimizing Black-box Metrics with Adaptive Surrogates: the experiments, again</h1>\n"
        f"<p>{escape(scale.says)} <em>Proposed</em> is the paper's algorithm with the paper's "
        "surrogates; <em>anymetric's default</em> is the library with no setting but the metric, "
        f"compared with the paper's figure for Proposed. Highlighted: {escape(FAR)}.</p>\n"
        + contents_html(sections, bool(checked))
        + claims_html(checked)
        + "\n".join(map(section_html, sections))
        + "\n</body></html>\n"
    )


def contents_html(sections: Sequence[Section], checked: bool) -> str:
    """Return links to what is there, and the names of what is not."""
    places = [("claims", claims.TITLE)] if checked else []
    places += [(s.experiment.name, s.experiment.words.title) for s in sections]
    links = "".join(f'<li><a href="#{place}">{escape(title)}</a></li>' for place, title in places)
    there = {section.experiment.name for section in sections}
    absent = "; ".join(e.words.title for name, e in EXPERIMENTS.items() if name not in there)
    missing = f"<p>No results yet: {escape(absent)}.</p>\n" if absent else ""
    return f"<ul>{links}</ul>\n{missing}"


def claims_html(checked: Sequence[Claim]) -> str:
    """Return the claims, each with its result and its numbers."""
    if not checked:
        return ""
    parts = [f'<section id="claims"><h2>{claims.TITLE}</h2>\n<p>{escape(claims.MEANING)}</p>']
    for claim in checked:
        parts.append(f"<h3>{mark(claim.result)} {escape(claim.says)}</h3>")
        lines = "\n".join(
            f'<tr class="new"><td>{mark(check.result)}</td><td>{escape(check.data)}</td>'
            f"<td>{parted(check.numbers)}</td></tr>"
            for check in claim.checks
        )
        parts.append(
            f'<div class="wide"><table class="claims"><tbody>{lines}</tbody></table></div>'
        )
    return "\n".join([*parts, "</section>\n"])


def parted(numbers: str) -> str:
    """Keep together what stands between two semicolons.

    Examples
    --------
    >>> parted("0.5; 0.6")
    '<span class="part">0.5</span><span class="part">0.6</span>'
    """
    return "".join(f'<span class="part">{escape(part)}</span>' for part in numbers.split("; "))


def mark(result: str) -> str:
    """Return a result with its colour.

    Examples
    --------
    >>> mark("holds")
    '<span class="yes">holds</span>'
    """
    return f'<span class="{MARKS[result]}">{escape(result)}</span>'


def section_html(section: Section) -> str:
    """Return the section of an experiment."""
    words, lines = section.experiment.words, section.lines
    table = table_html(lines)
    if section.figure is not None and len(lines) > LONG:
        table = f"<details><summary>All {len(lines)} figures</summary>{table}</details>"
    parts = [
        f'<section id="{escape(section.experiment.name)}"><h2>{escape(words.title)}</h2>',
        f"<p>{escape(words.shown)}</p>",
        figure_html(section),
        table,
        f"<p>{section.missing} figures have no results yet.</p>" if section.missing else "",
        why_html(words.reason, lines),
        *(f"<footer>{escape(text)}</footer>" for text in made_with(section.rows)),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def why_html(reason: str, lines: Iterable[Line]) -> str:
    """Say how many figures differ from the paper's, and why they may."""
    compared = [line for line in lines if line.entry.paper is not None]
    if not reason:
        return ""
    far = sum(line.far for line in compared)
    count = f"{far} of {len(compared)} figures are {FAR}. " if compared else ""
    return f'<p class="why">{escape(count + reason)}</p>'


def figure_html(section: Section) -> str:
    """Return the figure, embedded."""
    if section.figure is None:
        return ""
    text = base64.b64encode(section.figure.read_bytes()).decode()
    title = escape(section.experiment.words.title)
    return f'<figure><img alt="{title}" src="data:image/svg+xml;base64,{text}"></figure>'


def table_html(lines: Sequence[Line]) -> str:
    """Return the table; lines far from the paper's are marked, and data are named once.

    Where the paper prints no figures there are no columns for them.
    """
    compared = any(line.entry.paper is not None for line in lines)
    kept = [k for k, name in enumerate(HEADER) if compared or name not in ("paper", "difference")]
    head = "".join(f"<th>{escape(HEADER[k])}</th>" for k in kept)
    body, before = [], ""
    for line in lines:
        texts = line.texts()
        new, before = texts[0] != before, texts[0]
        kinds = " ".join(name for name, on in (("new", new), ("far", line.far)) if on)
        texts[0] = texts[0] if new else ""
        fields = "".join(f"<td>{escape(texts[k])}</td>" for k in kept)
        body.append(f'<tr class="{kinds}">{fields}</tr>')
    rows = "\n".join(body)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>'
        "</div>"
    )
