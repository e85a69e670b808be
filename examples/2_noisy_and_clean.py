"""Noisy and clean data: two vendors label the rows, one of them mixed up yes and no.

500 rows were checked by hand. Validated on them, the model learns a weight for each vendor.
Run: python examples/2_noisy_and_clean.py [picture.png]
"""

import sys
from pathlib import Path

import numpy as np

from anymetric import MetricClassifier
from anymetric.baselines import LogisticBaseline, TunedThreshold
from anymetric.datasets import load_adult, split
from anymetric.displays import SliceWeightsDisplay

TRAIN, CLEAN = 6000, 500


def main(path):
    """Train for F1, print the table and the learned weight of each vendor, draw it."""
    data = load_adult()
    rows = split(data, random_state=0)
    train, test = data.take(rows.train[:TRAIN]), data.take(rows.test)
    clean = data.take(rows.validation[:CLEAN])
    vendor = np.random.default_rng(0).choice(["A", "A", "B"], TRAIN)
    labels = np.where(vendor == "B", 1 - train.y, train.y)

    checked = {"X_val": clean.X, "y_val": clean.y}
    models = {
        "logistic regression": LogisticBaseline("f1", random_state=0),
        "tuned threshold": TunedThreshold("f1", random_state=0),
    }
    for model in models.values():
        model.fit(train.X, labels, **checked)
    ours = MetricClassifier("f1", random_state=0)
    models["anymetric"] = ours.fit(train.X, labels, source=vendor, **checked)

    print("F1 on test rows:")
    values = {name: model.score(test.X, test.y) for name, model in models.items()}
    for name, value in values.items():
        print(f"  {name:22}{value:8.3f}")
    display = SliceWeightsDisplay.from_estimator(ours)
    for name, meaning in display.meanings.items():
        print(f"{name}: {meaning}")

    display.ax_.set_title("Learned weights of the vendors' rows", pad=26)
    display.figure_.savefig(path, dpi=120)
    print(f"Picture: {path}")
    gain = values["anymetric"] - values["tuned threshold"]
    print(f"anymetric against tuned threshold: {gain:+.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
