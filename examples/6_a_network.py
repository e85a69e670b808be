"""A network where a line fails: two moons, one row of twenty positive, trained for F1.

Run: python examples/6_a_network.py [picture.png]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons
from torch import nn

from anymetric import MetricClassifier, TorchModel
from anymetric.baselines import TunedThreshold


def net(d):
    """Return a module for d features: a named function, so that the model can be saved."""
    hidden = nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU()
    return nn.Sequential(*hidden, nn.Linear(16, 1))


def moons(n, seed):
    """Return rows of two moons, 5 % of them in the second."""
    return make_moons((n - n // 20, n // 20), noise=0.2, random_state=seed)


def draw(models, X, y, path):
    """Draw the test rows, and where each model says yes."""
    across, up = np.meshgrid(np.linspace(-1.8, 2.8, 200), np.linspace(-1.4, 1.8, 150))
    grid = np.column_stack([across.ravel(), up.ravel()])
    figure, axes = plt.subplots(
        1, len(models), figsize=(12, 4.5), sharey=True, layout="constrained"
    )
    for (name, model), ax in zip(models.items(), axes, strict=True):
        yes = model.decision_function(grid).reshape(across.shape) > 0
        ax.contourf(across, up, yes, levels=[0.5, 1.0], colors=["tab:orange"], alpha=0.3)
        for label, colour in ((0, "tab:blue"), (1, "tab:red")):
            rows = X[y == label]
            shown = rows[:600]
            name_of = f"y = {label}: {len(shown)} of {len(rows):,} rows"
            ax.scatter(*shown.T, s=6, color=colour, label=name_of)
        ax.set(title=f"{name}: F1 {model.score(X, y):.2f}", xlabel="first feature")
    axes[0].set_ylabel("second feature")
    axes[0].legend(loc="lower left")
    figure.savefig(path, dpi=120)


def main(path):
    """Train a line and a network for F1, print it on test rows, draw both."""
    X, y = moons(1000, seed=0)
    X_val, y_val = moons(600, seed=1)
    X_test, y_test = moons(10_000, seed=2)
    family = TorchModel(net, lr=0.02, epochs=40, patience=4)
    models = {
        "tuned threshold": TunedThreshold("f1", random_state=0),
        "anymetric, a line": MetricClassifier("f1", model="linear", random_state=0),
        "anymetric, a network": MetricClassifier("f1", model=family, random_state=0),
    }
    print("F1 on test rows:")
    values = {}
    for name, model in models.items():
        model.fit(X, y, X_val=X_val, y_val=y_val)
        values[name] = model.score(X_test, y_test)
        print(f"  {name:22}{values[name]:8.3f}")
    draw(models, X_test, y_test, path)
    print(f"Picture: {path}")
    gain = values["anymetric, a network"] - values["tuned threshold"]
    print(f"anymetric against tuned threshold: {gain:+.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
