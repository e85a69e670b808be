"""Demo: macro F1 by gender on Adult, with half of the men's training features corrupted."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from anymetric.baselines import (
    LogisticBaseline,
    TunedThreshold,
    ValidationLightGBM,
    ValidationLogistic,
)
from anymetric.datasets import corrupt_features, load_adult, split
from anymetric.estimators import MetricClassifier
from anymetric.report import Run, gather, page

OURS = "anymetric"
Parts = dict[str, tuple[Any, Any, Any]]


def noisy_adult(seed: int, fraction: float = 0.5) -> Parts:
    """Return train, validation and test rows; only train is corrupted.

    Examples
    --------
    >>> {name: len(y) for name, (X, y, groups) in noisy_adult(0).items()}
    {'train': 14471, 'validation': 7236, 'test': 10854}
    """
    data = load_adult()
    rows = split(data, random_state=seed)
    X, y, groups = data.X, data.y, data.groups
    parts = {
        name: (X[part], y[part], groups[part])
        for name, part in (
            ("train", rows.train),
            ("validation", rows.validation),
            ("test", rows.test),
        )
    }
    X_train, y_train, men = parts["train"]
    rng = np.random.default_rng(seed)
    noisy = corrupt_features(X_train, men == "Male", fraction, rng)
    return {**parts, "train": (noisy, y_train, men)}


def methods(seed: int) -> dict[str, Any]:
    """Return the methods that the table compares.

    Examples
    --------
    >>> list(methods(0))[2:]
    ['clean rows only', 'clean rows only, LightGBM', 'anymetric']
    """
    metric = "group_mean_f1"
    return {
        "logistic regression": LogisticBaseline(metric, random_state=seed),
        "tuned threshold": TunedThreshold(metric, random_state=seed),
        "clean rows only": ValidationLogistic(metric, random_state=seed),
        "clean rows only, LightGBM": ValidationLightGBM(metric, random_state=seed),
        OURS: MetricClassifier(metric, random_state=seed),
    }


def table(seeds: list[int]) -> None:
    """Print the test values of every method, mean over seeds with standard errors."""
    found: dict[str, list[float]] = {}
    for seed in seeds:
        parts = noisy_adult(seed)
        for name, model in methods(seed).items():
            found.setdefault(name, []).append(row(model, parts)[1])
    ours = np.array(found[OURS])
    print(f"Adult, 50 % of the men's training rows corrupted; test rows, seeds {spelt(seeds)}.")
    print(f"{'':27}{'mean F1 of women and men':>25}{'improvement':>20}")
    for name, values in found.items():
        gain = "" if name == OURS else spread(ours - np.array(values), "+")
        print(f"{name:27}{spread(np.array(values)):>25}{gain:>20}")


def spread(values: Any, sign: str = "") -> str:
    """Return a mean and its standard error.

    Examples
    --------
    >>> spread(np.array([0.5, 0.7]), "+")
    '+0.6000 ± 0.1000'
    """
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{float(np.mean(values)):{sign}.4f} ± {error:.4f}"


def numbers(text: str) -> list[int]:
    """Return the numbers of a text such as ``0-4``.

    Examples
    --------
    >>> numbers("0-2"), numbers("3")
    ([0, 1, 2], [3])
    """
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def spelt(seeds: list[int]) -> str:
    """Return seeds as they are written.

    Examples
    --------
    >>> spelt([0, 1, 2])
    '0-2'
    """
    return f"{seeds[0]}-{seeds[-1]}" if len(seeds) > 1 else str(seeds[0])


def row(model: Any, parts: Parts) -> tuple[float, float, float, int]:
    """Fit a model; return the metric on validation and test, seconds and metric calls."""
    (X, y, groups), valid, test = parts["train"], parts["validation"], parts["test"]
    began = time.perf_counter()
    model.fit(X, y, groups=groups, X_val=valid[0], y_val=valid[1], groups_val=valid[2])
    seconds = time.perf_counter() - began
    scores = [model.score(X, y, groups=groups) for X, y, groups in (valid, test)]
    return scores[0], scores[1], seconds, model.n_metric_calls_


def draw(model: Any, path: Path) -> None:
    """Write one picture of the run: every candidate's cost, and the learned weights."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    costs = [iteration["cost"] for iteration in model.history_]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4), layout="constrained", width_ratios=(3, 2)
    )
    left.plot(costs[:-1], "o", color="tab:gray", label="candidate")
    left.plot(np.minimum.accumulate(costs[:-1]), color="tab:blue", label="best so far")
    left.axhline(costs[-1], color="tab:orange", label="their weighted average")
    left.set(xlabel="candidate", ylabel="cost on validation (1 - macro F1)", title="The run")
    left.legend()
    names = list(model.weights_)
    right.barh(names, [model.weights_[name] for name in names], color="tab:blue")
    right.invert_yaxis()
    right.set(xlabel="share of the learned loss", title="Learned weights of the slices")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def reported(
    models: dict[str, Any], parts: Parts, seconds: dict[str, float], options: argparse.Namespace
) -> Run:
    """Return the report of the demo, evaluated on the test rows."""
    X, y, groups = parts["test"]
    return gather(
        models[OURS],
        X,
        y,
        baselines={name: model for name, model in models.items() if name != OURS},
        groups=groups,
        asked={
            "data": "Adult, half of the men's training rows corrupted",
            "metric": "group_mean_f1",
            "seed": options.seed,
            "command": f"python -m anymetric.demo --seed {options.seed}",
        },
        rows="test rows, which are clean",
        feature_names=load_adult().feature_names,
        names={"target": "income", "groups": "gender"},
        seconds=seconds,
        random_state=options.seed,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the demo: print its table, draw its picture, write its page."""
    parser = argparse.ArgumentParser(prog="python -m anymetric.demo", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("anymetric-demo"))
    parser.add_argument(
        "--seeds", type=numbers, help="such as 0-4: only the table, mean over seeds"
    )
    options = parser.parse_args(arguments)
    if options.seeds:
        table(options.seeds)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    parts = noisy_adult(options.seed)
    print("Adult, 50 % of the men's training rows corrupted; macro F1 over women and men.")
    print(f"{'':27}{'validation':>11}{'test':>8}{'seconds':>9}{'metric calls':>14}")
    models, spent = methods(options.seed), {}
    for name, model in models.items():
        valid, test, seconds, calls = row(model, parts)
        spent[name] = seconds
        print(f"{name:27}{valid:11.4f}{test:8.4f}{seconds:9.1f}{calls:14,}", flush=True)
    print(f"\n{models[OURS].status_.value}")
    try:
        draw(models[OURS], options.out / "run.png")
        print(f"The run as a picture: {options.out / 'run.png'}")
    except ImportError:
        print("The picture needs matplotlib: pip install 'anymetric[plot]'.", file=sys.stderr)
    run = reported(models, parts, spent, options)
    run.save(options.out / "run.json")
    (options.out / "report.html").write_text(page(run), encoding="utf-8")
    print(f"The run as a page: {options.out / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
