"""Picture of the page on handing over, drawn by ``python docs/pictures/hand_over.py``.

From the rows of `benchmarks/results/learned_objectives.csv`.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from statistics import mean, stdev

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

STYLE = {"svg.fonttype": "none", "svg.hashsalt": "anymetric", "font.family": "sans-serif"}
ROWS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "learned_objectives.csv"
METHODS = {"learned loss": "tab:orange", "own loss": "tab:gray"}
LOWER = {"adult_proxy_v300"}


def gaps(rows: list[dict[str, str]], task: str, booster: str, method: str) -> list[float]:
    """Return by how much a booster improves on our model, seed by seed."""
    found = {(r["booster"], r["method"], r["seed"]): float(r["value"]) for r in rows}
    sign = -1.0 if task in LOWER else 1.0
    numbers = sorted({r["seed"] for r in rows})
    pairs = [((booster, method, s), ("", "anymetric", s)) for s in numbers]
    return [sign * (found[one] - found[ours]) for one, ours in pairs if one in found]


def draw(folder: Path) -> list[Path]:
    """Draw the improvement over our model, with standard errors, of every task and booster."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    tasks = list(dict.fromkeys(r["task"] for r in rows))
    boosters = list(dict.fromkeys(r["booster"] for r in rows if r["booster"]))
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
        for t, task in enumerate(tasks):
            own = [r for r in rows if r["task"] == task]
            for b, booster in enumerate(boosters):
                for m, (method, colour) in enumerate(METHODS.items()):
                    values = gaps(own, task, booster, method)
                    place = -4.0 * t - b - 0.3 * m
                    error = stdev(values) / len(values) ** 0.5
                    axes.errorbar(
                        mean(values), place, xerr=error, fmt="o", ms=4, capsize=2, color=colour
                    )
                axes.text(0.012, -4.0 * t - b - 0.15, booster, fontsize=7, va="center")
        axes.axvline(0.0, color="black", lw=0.8)
        axes.set_yticks([-4.0 * t - 1.15 for t in range(len(tasks))], tasks)
        axes.set_xlabel('improvement over model="boosted" (right is better)')
        for method, colour in METHODS.items():
            axes.plot([], [], "o", color=colour, label=f"plain booster, {method}")
        axes.legend(loc="lower left", frameon=False, fontsize=8)
        path = folder / "hand-over.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return [path]


if __name__ == "__main__":
    for file in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(file)
