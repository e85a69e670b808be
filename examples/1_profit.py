"""Imbalanced table, business metric: which credits to refuse, when every row has its own amount.

A refused client who would have defaulted saves 45 % of the credit; a refused good one costs the
margin of 12 %. Run: python examples/1_profit.py [picture.png]
"""

import sys
from pathlib import Path

import numpy as np

from anymetric import MetricClassifier
from anymetric.baselines import LogisticBaseline, TunedThreshold
from anymetric.datasets import load_credit_default, split
from anymetric.displays import ThresholdDisplay
from anymetric.metrics import Profit


def parts():
    """Return train and test rows, with the value of each decision in thousands."""
    data = load_credit_default()
    rows = split(data, random_state=0)
    credit = data.side["LIMIT_BAL"] / 1000.0
    gains = {"saved": 0.45 * credit, "margin": 0.12 * credit}
    for part in (np.concatenate([rows.train, rows.validation]), rows.test):
        side = {name: gain[part] for name, gain in gains.items()}
        yield data.X[part], data.y[part], side


def main(path):
    """Train for profit, print what each client brings, draw profit by threshold."""
    (X, y, side), (X_test, y_test, side_test) = parts()
    profit = Profit(tp="saved", fp="-margin")
    models = {
        "logistic regression": LogisticBaseline(profit, random_state=0),
        "tuned threshold": TunedThreshold(profit, random_state=0),
        "anymetric": MetricClassifier(profit, random_state=0),
    }
    print("Profit on test rows, thousands a client:")
    values = {}
    for name, model in models.items():
        model.fit(X, y, side=side)
        values[name] = model.score(X_test, y_test, side=side_test)
        print(f"  {name:22}{values[name]:8.3f}")

    display = ThresholdDisplay.from_estimator(models["anymetric"], X_test, y_test, side=side_test)
    display.ax_.set_title("Profit a client, by threshold (test rows)")
    display.figure_.savefig(path, dpi=120)
    print(f"Picture: {path}")
    gain = values["anymetric"] - values["logistic regression"]
    print(f"anymetric against logistic regression: {gain:+.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
