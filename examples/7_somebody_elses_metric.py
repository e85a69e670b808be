"""Somebody else's metric: a script in another language computes the value of the decisions.

The script is awk's; it could be R's, or a vendor's program. Every answer goes to a ledger before it
is used, so the second fit, as after a crash, repeats no call.
Run: python examples/7_somebody_elses_metric.py [picture.png]
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from anymetric import CommandMetric, MetricClassifier
from anymetric.store import open_store

# A hit saves the amount of its row less a fee, a false alarm costs the fee; in thousands.
SCRIPT = """
NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
$at["prediction"] == 1 { value += $at["y_true"] * $at["amount"] - 25 }
END { print value / 1000 }
"""


def draw(values, start, path):
    """Draw the values of the script, in the order of the calls."""
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(layout="constrained")
    calls = np.arange(1, len(values) + 1)
    ax.scatter(calls, values, color="tab:gray", s=14, label="answers")
    ax.step(calls, np.maximum.accumulate(values), where="post", label="best so far")
    ax.axhline(start, color="tab:red", linestyle="--", label="logistic regression")
    ax.set(xlabel="evaluation", ylabel="value, in thousands (validation rows)")
    ax.legend()
    figure.savefig(path, dpi=120)


def main(path):
    """Train for the script's number, stop, go on, and compare on new rows."""
    rng = np.random.default_rng(0)
    X, y = make_classification(6000, 8, weights=[0.9], flip_y=0.05, random_state=0)
    amount = rng.lognormal(4.0, 0.5, len(y)).round(2)
    train, valid, test = np.arange(3000), np.arange(3000, 4000), np.arange(4000, 6000)
    words = ["awk", "-F,", SCRIPT, "{predictions}"]
    metric = CommandMetric(words, greater_is_better=True, name="value", timeout=10.0, retries=2)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "run.db"
        given = {"X_val": X[valid], "y_val": y[valid], "side_val": {"amount": amount[valid]}}
        settings = {"model": "linear", "max_metric_calls": 60, "random_state": 0}
        clf = MetricClassifier(metric, ledger=ledger, **settings)
        for attempt in ("first", "second"):
            before = len(open_store(ledger).known())
            clf.fit(X[train], y[train], side={"amount": amount[train]}, **given)
            values = [one.value for one in open_store(ledger).known().values()]
            print(f"{attempt} fit: the script was run {len(values) - before} times")
    plain = LogisticRegression().fit(X[train], y[train])

    def of_plain(rows):
        signs, side = np.where(y[rows] == 1, 1.0, -1.0), {"amount": amount[rows]}
        bound = metric.bind(signs, side=side, labels=(0, 1))
        return float(bound.values(plain.decision_function(X[rows])))

    found = {"logistic regression": of_plain(test)}
    found["anymetric"] = clf.score(X[test], y[test], side={"amount": amount[test]})
    for name, value in found.items():
        print(f"  {name:24}{value:8.3f}")
    draw(values, of_plain(valid), path)
    print(f"Picture: {path}")
    gain = found["anymetric"] - found["logistic regression"]
    print(f"anymetric against logistic regression: {gain:+.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
