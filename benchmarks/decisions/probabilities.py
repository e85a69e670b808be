"""Probabilities of a model trained for F1, against calibrated models on the same rows.

    python benchmarks/decisions.py probabilities [--seeds 0-4] [--quick] [--table]

Log loss and expected calibration error (ten bins of equally many rows; of many classes, of the
most probable one) on test rows; lower is better. 3,000 rows train at most. The others are
`CalibratedClassifierCV` with five folds, by a sigmoid or isotonic, around logistic regression and
LightGBM. Ours is trained for F1 (the mean over classes, of wine), so its scores are no log-odds:
the calibration has to make up for that.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.decisions.tables import churn, credit, marketing, scoring_pakdd
from benchmarks.shared import Measured, carry_out, made_with, parser, spread
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown

OURS = "anymetric"


@dataclass(frozen=True)
class Row(Measured):
    """Log loss, and the calibration error."""

    table: str
    method: str
    seed: int
    value: float
    ece: float
    seconds: float
    versions: str = ""


def of(make: Callable[[], Any]) -> Callable[[], tuple[Any, Any]]:
    return lambda: (make().X, make().y)


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "churn": of(churn),
    "credit": of(credit),
    "wine": lambda: load_wine(return_X_y=True),
    "marketing": of(marketing),
    "scoring_pakdd": of(scoring_pakdd),
}


def logistic(seed: int) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def trees(seed: int) -> Any:
    return LGBMClassifier(learning_rate=0.05, n_jobs=1, verbose=-1, random_state=seed)


PLAIN = {"logistic": logistic, "LightGBM": trees}
METHODS = (OURS, *(f"{name}, {way}" for name in PLAIN for way in ("sigmoid", "isotonic")))


def model_of(method: str, seed: int, classes: int) -> Any:
    if method == OURS:
        return MetricClassifier("f1" if classes == 2 else "macro_f1", random_state=seed)
    name, way = method.split(", ")
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return CalibratedClassifierCV(PLAIN[name](seed), method=way, cv=folds)


def calibration_error(y: NDArray[Any], p: NDArray[np.float64], bins: int = 10) -> float:
    """Return the expected calibration error, over bins of equal size.

    >>> calibration_error(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]]), 1)
    0.0
    """
    sure, right = p[:, 1], (y == 1).astype(float)
    if p.shape[1] > 2:
        sure, right = p.max(axis=1), (np.argmax(p, axis=1) == y).astype(float)
    parts = np.array_split(np.argsort(sure, kind="stable"), bins)
    gaps = [len(own) * abs(sure[own].mean() - right[own].mean()) for own in parts if len(own)]
    return float(sum(gaps) / len(y))


def measured(table: str, method: str, seed: int) -> Row:
    """Return the row of a cell."""
    X, y = TABLES[table]()
    some = min(len(y) * 2 // 3, 3000)
    test = min(len(y) - some, 10_000)
    parts = train_test_split(X, y, train_size=some, test_size=test, stratify=y, random_state=seed)
    began = time.perf_counter()
    model = model_of(method, seed, len(np.unique(y))).fit(parts[0], parts[2])
    p = model.predict_proba(parts[1])
    seconds = round(time.perf_counter() - began, 2)
    error = calibration_error(parts[3], p)
    return Row(table, method, seed, log_loss(parts[3], p), error, seconds, versions())


def run(options: Any, store: Store[Row]) -> None:
    done = set(store.rows())
    for seed in options.seeds:
        for table in list(TABLES)[:2] if options.quick else TABLES:
            for method in METHODS:
                if (table, method, seed) not in done:
                    store.append(measured(table, method, seed))


def report(rows: list[Row]) -> str:
    """Return log loss and calibration error, a table each, and ours against the best other."""
    about = (__doc__ or "").partition("--table]")[2].strip()
    seeds = sorted({row.seed for row in rows})
    text = [f"# Probabilities\n\n{about}\n"]
    text += [f"Seeds {seeds[0]} to {seeds[-1]}.\n"] if seeds else []
    for title, field in (("Log loss", "value"), ("Calibration error", "ece")):
        lines = []
        for table in dict.fromkeys(row.table for row in rows):
            own = {
                m: {r.seed: getattr(r, field) for r in rows if (r.table, r.method) == (table, m)}
                for m in METHODS
            }
            lines.append([table, *(spread(list(own[m].values())) for m in METHODS)])
        text += [f"## {title}\n", markdown(["table", *METHODS], lines) + "\n"]
    return "\n".join([*text, *made_with(rows)])


def main(argv: list[str]) -> int:
    line = parser(__doc__, "decisions_probabilities")
    line.add_argument("--quick", action="store_true", help="two tables")
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
