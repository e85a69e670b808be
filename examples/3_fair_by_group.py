"""Fairness by group: few errors, and the same error rates for everybody.

The metric is the error plus the gap in true or false positive rates between groups, whichever is
larger (equalised odds); lower is better. A threshold alone can only equalise the rates by flagging
no row. Run: python examples/3_fair_by_group.py [picture.png]
"""

import sys
from pathlib import Path

import numpy as np

from anymetric import MetricClassifier
from anymetric.baselines import LogisticBaseline, TunedThreshold
from anymetric.datasets import load_compas, split


def groups_of(data):
    """Return the two groups that ProPublica compared."""
    return np.where(data.side["race"] == "African-American", "black", "other")


def rates(model, data):
    """Return for each group the shares of positives and of negatives that are flagged."""
    flagged, groups = model.predict(data.X) == 1, groups_of(data)
    return {
        name: [flagged[(groups == name) & (data.y == kind)].mean() for kind in (1, 0)]
        for name in np.unique(groups)
    }


def draw(models, test, path):
    """Draw the rates of both groups, one panel a model."""
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(models), figsize=(11, 4), sharey=True)
    for ax, (name, model) in zip(panels, models.items(), strict=True):
        for place, (group, pair) in enumerate(rates(model, test).items()):
            ax.bar(np.arange(2) + 0.4 * place, pair, width=0.38, label=group)
        ax.set_xticks([0.2, 1.2], ["true positives", "false positives"])
        ax.set_title(
            f"{name}\nequalised odds {model.score(test.X, test.y, groups=groups_of(test)):.3f}"
        )
    panels[0].set_ylabel("share flagged (test rows)")
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main(path):
    """Train for equalised odds, print cost and rates, draw the rates."""
    data = load_compas()
    rows = split(data, random_state=0)
    train, test = data.take(np.concatenate([rows.train, rows.validation])), data.take(rows.test)
    models = {
        "logistic regression": LogisticBaseline("penalised_equalised_odds", random_state=0),
        "tuned threshold": TunedThreshold("penalised_equalised_odds", random_state=0),
        "anymetric": MetricClassifier("penalised_equalised_odds", random_state=0),
    }
    print("Error plus gap on test rows, lower is better:")
    values = {}
    for name, model in models.items():
        model.fit(train.X, train.y, groups=groups_of(train))
        values[name] = model.score(test.X, test.y, groups=groups_of(test))
        error = np.mean(model.predict(test.X) != test.y)
        print(f"  {name:22}{values[name]:8.3f}   of which error {error:.3f}")
    draw(models, test, path)
    print(f"Picture: {path}")
    gain = values["tuned threshold"] - values["anymetric"]
    print(f"anymetric against tuned threshold: {gain:+.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
