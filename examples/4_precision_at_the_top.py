"""Precision at the top: only the first 5 % of a list will ever be called.

Half of the men's training rows are damaged; the order is validated on 500 sound rows.
Run: python examples/4_precision_at_the_top.py [picture.png]
"""

import sys
from pathlib import Path

import numpy as np

from anymetric import MetricRanker
from anymetric.baselines import LogisticBaseline, ValidationLogistic
from anymetric.datasets import corrupt_features, load_adult, split

METRIC = "precision@5%"


def top_precision(scores, y):
    """Return the precision among the first k rows, for every k."""
    return np.cumsum(y[np.argsort(-scores)]) / np.arange(1, len(y) + 1)


def draw(curves, path):
    """Draw the precision of the top of the list against its length."""
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(layout="constrained")
    for name, curve in curves.items():
        share = 100.0 * np.arange(1, len(curve) + 1) / len(curve)
        shown = (share >= 0.3) & (share <= 15.0)
        ax.plot(share[shown], curve[shown], label=name)
    ax.axvline(5.0, color="tab:gray", linestyle="--", label="trained for")
    ax.set(xlabel="share of the list that is called, %", ylabel="precision (test rows)")
    ax.legend()
    figure.savefig(path, dpi=120)


def main(path):
    """Train for precision at the top, print it, draw it for all lengths of the list."""
    data = load_adult()
    rows = split(data, random_state=0)
    train, sound = data.take(rows.train[:6000]), data.take(rows.validation[:500])
    test = data.take(rows.test)
    damaged = corrupt_features(train.X, train.groups == "Male", 0.5, np.random.default_rng(0))
    models = {
        "logistic regression": LogisticBaseline(METRIC, random_state=0),
        "on the sound rows only": ValidationLogistic(METRIC, random_state=0),
        "anymetric": MetricRanker(METRIC, random_state=0),
    }
    print("Precision in the first 5 % of the test rows:")
    values, curves = {}, {}
    for name, model in models.items():
        model.fit(damaged, train.y, X_val=sound.X, y_val=sound.y)
        values[name] = model.score(test.X, test.y)
        scores = model.predict if name == "anymetric" else model.decision_function
        curves[name] = top_precision(scores(test.X), test.y)
        print(f"  {name:24}{values[name]:8.3f}")
    draw(curves, path)
    print(f"Picture: {path}")
    gain = values["anymetric"] - values["logistic regression"]
    print(f"anymetric against logistic regression: {gain:+.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
