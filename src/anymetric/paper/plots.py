"""Plots: the figures as SVG and PNG; they need matplotlib, which only this file imports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anymetric.errors import import_extra
from anymetric.paper.known import CALLS, KS, PSIS
from anymetric.paper.methods import METHODS
from anymetric.paper.scales import Scale
from anymetric.paper.store import Cell, Row
from anymetric.paper.tables import Line
from anymetric.paper.tasks import FAIR, LEVELS, TASKS, noisy

COLOURS = {
    "logistic": "tab:gray",
    "post_shift": "tab:green",
    "relaxed_fm": "tab:purple",
    "gen_rates": "tab:brown",
    "proposed": "tab:orange",
    "fw_eg": "tab:cyan",
    "anymetric": "tab:blue",
    "on_validation": "tab:olive",
    "on_both": "tab:pink",
    "optimum": "black",
}
# The paper's order of panels.
PANELS = ("business", "adult", "credit", "compas")


def pyplot() -> Any:
    """Return matplotlib's pyplot without a screen; identifiers in SVG files do not change."""
    matplotlib = import_extra("matplotlib", needed_by="Drawing the figures", extra="plot")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "anymetric"
    return import_extra("matplotlib.pyplot", needed_by="Drawing the figures", extra="plot")


def save(figure: Any, folder: Path, name: str) -> None:
    """Write both formats, without the date."""
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=120)
    pyplot().close(figure)


def hyperplanes(rows: Mapping[Cell, Row], scale: Scale) -> Any:
    """Draw the lines that methods learn on the simulated data, over the test rows of seed 0."""
    sample = TASKS["simulated"].parts(0).test
    figure, axes = pyplot().subplots(figsize=(6, 5), layout="constrained")
    for label, name, colour in ((0, "negatives", "lightgray"), (1, "positives", "tab:red")):
        chosen = np.asarray(sample.X)[sample.y == label]
        axes.plot(*chosen.T, ".", markersize=3, color=colour, label=name)
    for method in ("post_shift", "proposed", "anymetric", "optimum"):
        name = scale.name if METHODS[method].scaled else "any"
        row = rows.get(Cell("table2", "simulated", method, 0, name))
        if row is not None and row.good:
            draw_line(axes, json.loads(row.detail)["line"], method)
    axes.set(xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), xlabel="x1", ylabel="x2")
    axes.legend(fontsize="small")
    return figure


def draw_line(axes: Any, line: Sequence[float], method: str) -> None:
    """Draw ``w1 x1 + w2 x2 + b = 0``."""
    w, b = np.array(line[:2]), line[2]
    length = float(w @ w)
    if length == 0.0:
        return
    foot, along = -b * w / length, np.array([-w[1], w[0]]) / length**0.5
    ends = np.stack([foot - 10 * along, foot + 10 * along])
    style = "--" if method == "optimum" else "-"
    axes.plot(*ends.T, style, color=COLOURS[method], label=METHODS[method].label)


def noise(lines: Sequence[Line]) -> Any:
    """Draw the test value of every method against the noise, one panel for each data set."""
    figure, panels = pyplot().subplots(2, 2, figsize=(9, 7.5), layout="constrained")
    by_place = {(line.entry.task, line.entry.method): line for line in lines}
    for axes, name in zip(panels.flat, (name for name in PANELS if name in FAIR), strict=True):
        for method in dict.fromkeys(line.entry.method for line in lines):
            places = [(level, noisy(name, level).name) for level in LEVELS]
            known = [
                (x, by_place[task, method]) for x, task in places if (task, method) in by_place
            ]
            draw_band(axes, known, METHODS[method].label, COLOURS[method])
        axes.set(title=noisy(name, 0.0).label, ylim=(floor(lines, name), None))
    figure.supxlabel("share of group 0 corrupted", fontsize="medium")
    figure.supylabel("test macro F1", fontsize="medium")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def floor(lines: Sequence[Line], name: str) -> float | None:
    """Return where a panel ends below: logistic regression may fall out of it."""
    tasks = {noisy(name, level).name for level in LEVELS}
    means = [x.mean for x in lines if x.entry.task in tasks and x.entry.method != "logistic"]
    return min(means) - 0.15 * (max(means) - min(means)) if len(means) > 1 else None


def draw_band(axes: Any, known: Sequence[tuple[float, Line]], label: str, colour: Any) -> None:
    """Draw means with their standard errors."""
    if known:
        places = [x for x, _ in known]
        errors = [0.0 if line.error != line.error else line.error for _, line in known]
        means = [line.mean for _, line in known]
        axes.errorbar(places, means, errors, label=label, color=colour, marker="o", markersize=3)


def dependence(lines: Sequence[Line]) -> Any:
    """Draw the estimation error against K."""
    figure, axes = pyplot().subplots(figsize=(6, 4), layout="constrained")
    for method in dict.fromkeys(line.entry.method for line in lines):
        by_task = {line.entry.task: line for line in lines if line.entry.method == method}
        known = [(float(K), by_task[f"K={K}"]) for K in KS if f"K={K}" in by_task]
        draw_band(axes, known, method, None)
    axes.set(xlabel="K", ylabel="squared error of the gradient", yscale="log")
    axes.legend()
    return figure


def estimators(lines: Sequence[Line]) -> Any:
    """Draw the estimators' errors against metric calls."""
    figure, panels = pyplot().subplots(1, 2, figsize=(11, 4), layout="constrained")
    for axes, (kind, shown) in zip(panels, PSIS.items(), strict=True):
        for method in dict.fromkeys(line.entry.method for line in lines):
            by_task = {line.entry.task: line for line in lines if line.entry.method == method}
            known = [(float(c), by_task[f"{kind}/{c}"]) for c in CALLS if f"{kind}/{c}" in by_task]
            draw_band(axes, known, method.replace("_", " "), None)
        axes.set(title=shown, xlabel="metric calls", xscale="log", yscale="log")
    panels[0].set_ylabel("squared error / squared gradient")
    panels[0].legend()
    return figure
