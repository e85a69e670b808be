"""Page: every table and figure as files, and in one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from anymetric.paper import claims, plots
from anymetric.paper.cells import store_of
from anymetric.paper.experiments import EXPERIMENTS, Experiment
from anymetric.paper.markup import Section, page_html
from anymetric.paper.scales import Scale
from anymetric.paper.store import Cell, Row
from anymetric.paper.tables import HEADER, latex, lines_of, report


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


def write(folder: Path, scale: Scale, *, figures: bool = True, tex: bool = False) -> Path:
    """Write Markdown tables, figures and the report of all that is stored; return its path.

    With `tex`, every table is written for LaTeX too.
    """
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
            if tex:
                table = latex(HEADER, [line.texts() for line in lines])
                (folder / f"{name}.tex").write_text(f"{table}\n", encoding="utf-8")
            sections.append(section)
    # A part of the seeds proves nothing.
    checked = claims.claims_of(rows, scale) if scale.seeds >= 1.0 else []
    if checked:
        (folder / "claims.md").write_text(claims.report(checked, scale.says), encoding="utf-8")
    page = folder / "index.html"
    page.write_text(page_html(sections, checked, scale), encoding="utf-8")
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
