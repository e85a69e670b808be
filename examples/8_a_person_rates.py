"""A person as the metric: no formula, a person reads a list and grades it.

At a terminal that is you: after each list type a grade from 0 to 10. Without one, a stand-in
answers who likes short lists with few wrong names. At most twelve grades are needed.
Run: python examples/8_a_person_rates.py [picture.png]
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from anymetric import MetricClassifier, Run, ToldMetric

GRADES = 12


def stand_in(flagged, total):
    """Return the grade of a person who wants hits, few false alarms and short lists."""
    hits = flagged.sum()
    return round(float(np.clip(10.0 * hits / (0.6 * total + len(flagged)), 0.0, 10.0)), 1)


def graded(number, table):
    """Show a list, and return its grade."""
    truth, decided = table["y_true"], table["prediction"]
    flagged, total = truth[decided == 1], truth.sum()
    if not sys.stdin.isatty():
        return stand_in(flagged, total)
    wrong, missed = int((flagged == 0).sum()), int(total - flagged.sum())
    print(f"List {number}: {len(flagged)} names, {wrong} of them wrong; {missed} are missing.")
    while True:
        try:
            return float(input("Your grade, 0 to 10: "))
        except ValueError:
            print("A number, please.")


def draw(grades, path):
    """Draw the grades in the order in which they were given."""
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(layout="constrained")
    ax.plot(grades, "o", color="tab:gray", label="grades")
    ax.step(range(len(grades)), np.maximum.accumulate(grades), where="post", label="best so far")
    ax.set(xlabel="list", ylabel="grade")
    ax.legend()
    figure.savefig(path, dpi=120)


def main(path):
    """Ask for grades, take the best model, and let the same person grade it on new rows."""
    X, y = make_classification(3000, 6, weights=[0.85], flip_y=0.05, random_state=2)
    grade = ToldMetric("grade", greater_is_better=True)
    model = MetricClassifier(grade, model="linear", max_metric_calls=GRADES, random_state=0)
    run, grades = Run(model, X[:1000], y[:1000]), []
    while questions := run.ask(1):
        for question in questions:
            grades.append(graded(len(grades) + 1, question.predictions))
            run.tell(question.key, grades[-1])
    plain = LogisticRegression().fit(X[:1000], y[:1000])
    values = []
    for name, found in (("logistic regression", plain), ("anymetric", run.best())):
        decided = found.predict(X[1000:])
        values.append(stand_in(y[1000:][decided == 1], y[1000:].sum()))
        print(f"  {name:24}{values[-1]:6.1f} on new rows, by the stand-in")
    draw(grades, path)
    print(f"{len(grades)} grades were given. Picture: {path}")
    print(f"anymetric against logistic regression: {values[1] - values[0]:+.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
