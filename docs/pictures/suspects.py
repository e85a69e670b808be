"""The picture of the page on suspects, drawn by ``python docs/pictures/suspects.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from anymetric.datasets import load_compas, split
from anymetric.suspects import find

mpl.use("Agg")
from matplotlib import pyplot as plt

STYLE = {"svg.fonttype": "none", "svg.hashsalt": "anymetric", "font.family": "sans-serif"}


def draw(folder: Path) -> list[Path]:
    """Find the suspects of COMPAS with flipped labels; draw them by slice; return the files."""
    compas = load_compas()
    rows = split(compas, random_state=0)
    train, clean = rows.train, rows.validation[:300]
    X, y, sex = compas.X, compas.y, compas.groups
    flipped = (sex[train] == "Male") & (np.random.default_rng(0).random(len(train)) < 0.4)
    noisy = np.where(flipped, 1 - y[train], y[train])
    known = {"X_val": X[clean], "y_val": y[clean], "groups_val": sex[clean]}
    found = find(X[train], noisy, groups=sex[train], metric="f1", **known)
    parts = found.by_slice
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
        axes.barh(range(len(parts)), [part.share for part in parts], color="#c44e52")
        true = [flipped[slice_rows(part.name, noisy, sex[train])].mean() for part in parts]
        axes.plot(true, range(len(parts)), "k|", markersize=16, label="truly flipped")
        axes.set_yticks(range(len(parts)), [part.name for part in parts])
        axes.invert_yaxis()
        axes.set_xlabel("share of the rows that is expected to be wrong")
        axes.legend(frameon=False)
        file = folder / "display-suspects.svg"
        figure.savefig(file, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return [file]


def slice_rows(name: str, y: np.ndarray, sex: np.ndarray) -> np.ndarray:
    """Return the rows of a slice, by its name."""
    return np.array([f"class={a}, groups={b}" == name for a, b in zip(y, sex, strict=True)])


if __name__ == "__main__":
    print(*draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent))
