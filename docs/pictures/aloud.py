"""The picture of the page on explaining a metric, drawn by ``python docs/pictures/aloud.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from anymetric import MetricClassifier
from anymetric.datasets import load_adult

mpl.use("Agg")
from matplotlib import pyplot as plt

STYLE = {"svg.fonttype": "none", "svg.hashsalt": "anymetric", "font.family": "sans-serif"}


def desk(y_true, y_pred, groups):
    """Return what a review desk earns: it can look at a quarter of all rows."""
    if y_pred.mean() > 0.25:
        return -1000.0
    missed, alarms = y_true > y_pred, y_pred > y_true
    price = np.where(groups == "Female", 3.1, 1.0)
    return -float((price * missed).sum() + alarms.sum())


def draw(folder: Path) -> list[Path]:
    """Fit, explain, draw prices and predictions; return the files."""
    adult = load_adult()
    rows = np.random.default_rng(0).choice(len(adult.y), 1500, replace=False)
    X, y, sex = adult.X[rows], (adult.y[rows] > 0).astype(int), adult.groups[rows]
    clf = MetricClassifier(desk, greater_is_better=True, model="linear", random_state=0)
    found = clf.fit(X, y, groups=sex).metric_.explain()
    with plt.rc_context(STYLE):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
        names = [one.mistake for one in found.prices]
        left.barh(names, [one.price for one in found.prices], color="tab:orange")
        left.set_xlabel("what one more costs")
        scores = clf.decision_function(X, groups=sex)
        shares = np.linspace(0.02, 0.5, 60)
        order = np.argsort(np.argsort(-scores))
        decisions = (order[:, None] < shares * len(y)).astype(int)
        values = [desk(y, one, sex) for one in decisions.T]
        right.plot(shares, found.predict(decisions), label="predicted", color="tab:orange")
        right.plot(shares, values, ".", label="the function itself", color="black", ms=4)
        right.set(xlabel="share flagged", ylabel="value")
        right.legend(frameon=False)
        path = folder / "aloud.svg"
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
    return [path]


if __name__ == "__main__":
    print(*draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent))
