"""Pictures of the method: ``python docs/pictures/method.py`` draws them all beside itself.

Every point is computed: a small imbalanced sample, two hinge losses, one per class, and the cost
1 - F1. The pictures have no date and no random names in them, so that they change only if what
they show does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from anymetric import Descent, GaussNewton, MetricClassifier, Subspace, per_class
from anymetric.data import Data
from anymetric.datasets import corrupt_features, load_compas, split
from anymetric.ledger import Ledger
from anymetric.metrics import as_metric
from anymetric.problem import Problem

mpl.use("Agg")
from matplotlib import pyplot as plt

BLUE, ORANGE, GREEN, GREY = "#24527a", "#e8590c", "#2b8a3e", "#868e96"
STYLE = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.size": 10.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "anymetric",
}
LOSSES = ("loss of the negatives", "loss of the positives")


def problem() -> Problem:
    """Return the example: 400 rows in the plane, one in eight positive."""
    rng = np.random.default_rng(7)
    y = np.where(np.arange(400) < 50, 1.0, -1.0)
    X = rng.normal(size=(400, 2)) + np.where(y[:, None] > 0, [1.3, 0.7], [0.0, 0.0])
    return Problem(Data(X, y), per_class("hinge"), as_metric("f1"))


@cache
def front(example: Problem, count: int = 50) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return models on the frontier: the least weighted sums of the two losses."""
    thetas = [np.zeros(3)]
    for share in np.linspace(0.02, 0.98, count):
        weights = np.array([1.0 - share, share])
        thetas.append(descend(example, weights, thetas[-1]))
    kept = np.stack(thetas[1:])
    return kept, example.profile(kept)


def descend(example: Problem, weights: NDArray[Any], theta: NDArray[Any]) -> NDArray[Any]:
    """Minimise a weighted sum of the losses by subgradient steps that grow shorter."""
    best, least = theta, np.inf
    for iteration in range(250):
        profile, jacobian = example.linearise(theta)
        if weights @ profile < least:
            best, least = theta, float(weights @ profile)
        slope = weights @ jacobian
        theta = theta - 0.5 / np.sqrt(1 + iteration) * slope / max(
            float(np.linalg.norm(slope)), 1e-9
        )
    return best


def plateaus(example: Problem) -> Any:
    """Draw the cost and a loss along one line of models: steps against a slope."""
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    shifts = np.linspace(-4.0, 2.0, 1200)
    thetas = np.column_stack([np.full((1200, 2), 0.9), shifts])
    axes.plot(shifts, example.cost(thetas), color=BLUE, label="cost: 1 − F1")
    axes.plot(shifts, example.profile(thetas) @ [0.5, 0.5], color=ORANGE, label="mean hinge loss")
    axes.set(xlabel="intercept of the model", ylabel="cost, loss", ylim=(0.3, 2.2))
    axes.legend(loc="upper center")
    return figure


def space(example: Problem) -> Any:
    """Draw surrogate space: models as points, coloured by cost, and the frontier below them."""
    figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
    models, edge = front(example)
    rng = np.random.default_rng(1)
    near = np.repeat(models, 12, axis=0)
    thetas = near + 0.45 * rng.normal(size=near.shape)
    profiles, costs = example.profile(thetas), example.cost(thetas)
    fill(axes, edge)
    drawn = axes.scatter(*profiles.T, c=costs, s=12, cmap="viridis", vmax=0.8)
    best = int(np.argmin(costs))
    axes.plot(*profiles[best], "*", color=ORANGE, markersize=16, label="lowest cost seen")
    figure.colorbar(drawn, label="cost: 1 − F1")
    finish(axes, edge)
    return figure


def projection(example: Problem) -> Any:
    """Draw the projection of two targets: one that no model reaches, one that models beat."""
    figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
    _, edge = front(example)
    fill(axes, edge)
    begun = np.array([0.0, 0.0, 0.3])
    for name, target in (("A", np.array([0.15, 0.35])), ("B", np.array([1.1, 1.35]))):
        reached = GaussNewton(iterations=60).project(example, target, begun)
        axes.annotate(
            "", reached.profile, target, arrowprops={"arrowstyle": "->", "color": ORANGE, "lw": 1.8}
        )
        axes.plot(*target, "o", color=ORANGE)
        axes.plot(*reached.profile, "o", color=BLUE)
        axes.annotate(f"target {name}", target, (-4, -15), textcoords="offset points")
        axes.annotate(f"model for {name}", reached.profile, (9, 3), textcoords="offset points")
    finish(axes, edge)
    return figure


def fit(example: Problem) -> Any:
    """Draw what the gradient estimate rests on: cost differences against the linear fit."""
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    theta = np.array([0.5, 0.2, -0.6])
    rng = np.random.default_rng(3)
    thetas = theta + 0.15 * rng.normal(size=(400, 3))
    profiles, costs = example.profile(thetas), example.cost(thetas)
    H, M = profiles[:200] - profiles[200:], costs[:200] - costs[200:]
    gradient, *_ = np.linalg.lstsq(H, M, rcond=None)
    axes.plot(H @ gradient, M, "o", color=BLUE, markersize=3.5, alpha=0.7, label="a pair of probes")
    ends = np.array([(H @ gradient).min(), (H @ gradient).max()])
    axes.plot(ends, ends, color=ORANGE, label="what a perfect fit would give")
    told = ", ".join(f"{slope:+.2f}" for slope in gradient)
    axes.set(xlabel=f"change predicted by the two losses, slopes ({told})", ylabel="change of cost")
    axes.legend()
    return figure


def path(example: Problem) -> Any:
    """Draw a descent: targets and profiles in surrogate space, and the cost by iteration."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    _, edge = front(example)
    descent = Descent(
        iterations=40,
        step=0.15,
        gradient=Subspace(m=32, sigma=0.05),
        projection=GaussNewton(iterations=20),
        decay=0.5,
        normalised=True,
    )
    begun = np.array([-0.2, 0.1, -0.2])
    iterations = list(descent.iterate(Ledger(example), begun, np.random.default_rng(0)))
    profiles = np.stack([iteration.here.profile for iteration in iterations])
    fill(left, edge)
    targets = np.stack([iteration.target for iteration in iterations[1:]])
    left.plot(*targets.T, "x", color=ORANGE, markersize=5, label="target")
    left.plot(*profiles.T, "o-", color=BLUE, markersize=3, linewidth=1, label="profile")
    left.annotate("start", profiles[0], (6, 3), textcoords="offset points")
    finish(left, edge)
    left.set(xlim=(0.1, 1.7), ylim=(0.1, 1.7))
    costs = [iteration.cost for iteration in iterations]
    right.plot(costs, "o", color=GREY, markersize=3, label="cost of the iteration")
    right.plot(np.minimum.accumulate(costs), color=BLUE, label="best so far")
    right.set(xlabel="iteration", ylabel="cost: 1 − F1")
    right.legend()
    return figure


def selection(_: Problem) -> Any:
    """Draw the default: its candidates on noisy COMPAS, their noise, and their average."""
    compas = load_compas()
    rows = split(compas, random_state=0)
    men = compas.groups == "Male"
    corrupted = corrupt_features(
        compas.X[rows.train], men[rows.train], 0.5, np.random.default_rng(0)
    )
    few = rows.validation[:400]
    clf = MetricClassifier("group_mean_f1", random_state=0).fit(
        corrupted,
        compas.y[rows.train],
        groups=compas.groups[rows.train],
        X_val=compas.X[few],
        y_val=compas.y[few],
        groups_val=compas.groups[few],
    )
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    costs = [iteration["cost"] for iteration in clf.history_]
    axes.plot(costs[:-1], "o", color=GREY, markersize=4, label="candidate at its best threshold")
    axes.axhline(costs[-1], color=ORANGE, label="their average by selection frequency")
    noise = clf.summary_.error
    axes.axhspan(costs[-1] - noise, costs[-1] + noise, color=ORANGE, alpha=0.12, linewidth=0)
    axes.text(0, costs[-1] - 0.85 * noise, "± the metric’s own noise on 400 rows", color=ORANGE)
    axes.set(xlabel="candidate, in order of training", ylabel="cost: 1 − macro F1")
    axes.set_ylim(top=1.12 * max(costs))
    axes.legend(loc="upper right")
    return figure


def fill(axes: Any, edge: NDArray[Any]) -> None:
    """Shade what models can reach or beat: everything above and right of the frontier."""
    order = np.argsort(edge[:, 0])
    x, y = edge[order, 0], np.minimum.accumulate(edge[order, 1])
    x, y = np.append(x, 9.0), np.append(y, y[-1])
    axes.fill_between(x, y, 9.0, color=GREEN, alpha=0.10, linewidth=0)
    axes.plot(x, y, color=GREEN, linewidth=2, label="frontier")


def finish(axes: Any, edge: NDArray[Any]) -> None:
    """Label the axes of surrogate space."""
    axes.set(xlabel=LOSSES[0], ylabel=LOSSES[1], xlim=(0.0, 1.7), ylim=(0.0, 1.9))
    axes.legend(loc="upper right")


PICTURES: dict[str, Callable[[Problem], Any]] = {
    "plateaus": plateaus,
    "space": space,
    "fit": fit,
    "projection": projection,
    "path": path,
    "selection": selection,
}


def draw(folder: Path) -> list[Path]:
    """Draw every picture into a folder; return the files."""
    example, files = problem(), []
    with mpl.rc_context(STYLE):
        for name, picture in PICTURES.items():
            figure = picture(example)
            files.append(folder / f"{name}.svg")
            figure.savefig(files[-1], metadata={"Date": None, "Creator": None})
            plt.close(figure)
    return files


if __name__ == "__main__":
    for file in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(file)
