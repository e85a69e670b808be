"""Pictures of the report page: the four displays, drawn by ``python docs/pictures/displays.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from anymetric import MetricClassifier
from anymetric.datasets import corrupt_features, load_compas, split
from anymetric.displays import (
    DescentDisplay,
    FrontierDisplay,
    SliceWeightsDisplay,
    ThresholdDisplay,
)

mpl.use("Agg")
from matplotlib import pyplot as plt

STYLE = {"svg.fonttype": "none", "svg.hashsalt": "anymetric", "font.family": "sans-serif"}


def draw(folder: Path) -> list[Path]:
    """Fit on noisy COMPAS, draw each display into a folder; return the files."""
    compas = load_compas()
    rows = split(compas, random_state=0)
    X, y, sex = compas.X, compas.y, compas.groups
    train, clean = rows.train, rows.validation
    noisy = corrupt_features(X[train], sex[train] == "Male", 0.5, np.random.default_rng(0))
    told = {"X_val": X[clean], "y_val": y[clean], "groups_val": sex[clean]}
    clf = MetricClassifier("group_mean_f1", random_state=0)
    clf.fit(noisy, y[train], groups=sex[train], **told)
    test = rows.test
    pictures = {
        "display-descent": lambda ax: DescentDisplay.from_estimator(clf, ax=ax),
        "display-frontier": lambda ax: FrontierDisplay.from_estimator(clf, ax=ax),
        "display-slices": lambda ax: SliceWeightsDisplay.from_estimator(clf, ax=ax),
        "display-threshold": lambda ax: ThresholdDisplay.from_estimator(
            clf, X[test], y[test], groups=sex[test], per_group=True, ax=ax
        ),
    }
    files = []
    with mpl.rc_context(STYLE):
        for name, picture in pictures.items():
            figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
            picture(axes)
            files.append(folder / f"{name}.svg")
            figure.savefig(files[-1], metadata={"Date": None, "Creator": None})
            plt.close(figure)
    return files


if __name__ == "__main__":
    for file in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(file)
