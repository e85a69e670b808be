"""Page: every table and figure in one HTML file that loads nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from anymetric.paper import plots
from anymetric.paper.cells import store_of
from anymetric.paper.experiments import EXPERIMENTS, Experiment
from anymetric.paper.scales import Scale
from anymetric.paper.store import Cell, Row
from anymetric.paper.tables import FAR, HEADER, Line, lines_of, made_with, report

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
tr.far td { background: #fff3d6; }
img { max-width: 100%; }
p.why { border-left: 4px solid #e0a800; padding-left: .8rem; }
footer, small { color: #666; }
"""


@dataclass(frozen=True, eq=False)
class Section:
    """An experiment with what is known of it."""

    experiment: Experiment
    lines: Sequence[Line]
    rows: Sequence[Row]
    missing: int = 0
    figure: Path | None = None


def all_rows(folder: Path) -> dict[Cell, Row]:
    """Return the rows of every experiment's file.

    Examples
    --------
    >>> all_rows(Path("no such folder"))
    {}
    """
    return {
        cell: row for name in EXPERIMENTS for cell, row in store_of(folder, name).rows().items()
    }


def write(folder: Path, scale: Scale, *, figures: bool = True) -> Path:
    """Write Markdown tables, figures and the page of all that is stored; return the page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = all_rows(folder)
    sections = []
    for name, experiment in EXPERIMENTS.items():
        lines = lines_of(experiment, rows, scale)
        if lines:
            missing = max(len(experiment.at(scale)) - len(lines), 0)
            section = Section(experiment, lines, used(experiment, rows, scale), missing)
            if figures:
                section = replace(section, figure=draw(section, folder, rows, scale))
            text = report(experiment, lines, scale, section.rows)
            (folder / f"{name}.md").write_text(text, encoding="utf-8")
            sections.append(section)
    page = folder / "index.html"
    page.write_text(html(sections, scale), encoding="utf-8")
    return page


def used(experiment: Experiment, rows: Mapping[Cell, Row], scale: Scale) -> list[Row]:
    """Return the good rows that an experiment's table is made of."""
    places = {entry.cell(0, scale)._replace(seed=-1) for entry in experiment.entries}
    return [row for cell, row in rows.items() if row.good and cell._replace(seed=-1) in places]


def draw(section: Section, folder: Path, rows: Mapping[Cell, Row], scale: Scale) -> Path | None:
    """Draw the figure of an experiment that has one; return its SVG."""
    name = section.experiment.name
    makers = {"noise": plots.noise, "k": plots.dependence, "estimators": plots.estimators}
    if name == "table2":
        figure, called = plots.hyperplanes(rows, scale), "hyperplanes"
    elif name in makers:
        figure, called = makers[name](section.lines), name
    else:
        return None
    plots.save(figure, folder, called)
    return folder / f"{called}.svg"


def html(sections: Sequence[Section], scale: Scale) -> str:
    """Return the page."""
    links = "".join(
        f'<li><a href="#{escape(s.experiment.name)}">{escape(s.experiment.words.title)}</a></li>'
        for s in sections
    )
    there = {section.experiment.name for section in sections}
    absent = "; ".join(e.words.title for name, e in EXPERIMENTS.items() if name not in there)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>The paper's experiments</title><style>{STYLE}</style></head><body>\n"
        "<h1>Optimizing Black-box Metrics with Adaptive Surrogates: the experiments, again</h1>\n"
        f"<p>{escape(scale.says)} <em>Proposed</em> is the paper's algorithm with the paper's "
        "surrogates; <em>anymetric's default</em> is the library with nothing said but the metric, "
        "compared with the paper's figure for Proposed. Highlighted: "
        f"{escape(FAR)}.</p>\n<ul>{links}</ul>\n"
        + (f"<p>No results yet: {escape(absent)}.</p>\n" if absent else "")
        + "\n".join(map(section_html, sections))
        + "\n</body></html>\n"
    )


def section_html(section: Section) -> str:
    """Return an experiment's part of the page."""
    words = section.experiment.words
    far = sum(line.far for line in section.lines)
    parts = [
        f'<section id="{escape(section.experiment.name)}"><h2>{escape(words.title)}</h2>',
        f"<p>{escape(words.shown)}</p>",
        figure_html(section),
        table_html(section.lines),
        f"<p>{section.missing} figures have no results yet.</p>" if section.missing else "",
        why_html(words.reason, far, sum(line.entry.paper is not None for line in section.lines)),
        *(f"<footer>{escape(text)}</footer>" for text in made_with(section.rows)),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def why_html(reason: str, far: int, compared: int) -> str:
    """Say how many figures differ from the paper's, and why they may."""
    if not reason:
        return ""
    count = ""
    if compared:
        count = f"{far} of {compared} figures are {FAR}. "
    return f'<p class="why">{escape(count + reason)}</p>'


def figure_html(section: Section) -> str:
    """Return the figure, in the page itself."""
    if section.figure is None:
        return ""
    text = base64.b64encode(section.figure.read_bytes()).decode()
    title = escape(section.experiment.words.title)
    return f'<img alt="{title}" src="data:image/svg+xml;base64,{text}">'


def table_html(lines: Iterable[Line]) -> str:
    """Return the table; lines far from the paper's are marked."""
    head = "".join(f"<th>{escape(text)}</th>" for text in HEADER)
    body = "\n".join(
        ('<tr class="far">' if line.far else "<tr>")
        + "".join(f"<td>{escape(text)}</td>" for text in line.texts())
        + "</tr>"
        for line in lines
    )
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
