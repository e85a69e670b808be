"""Certificates by simulation: how often they are given, how much recall they keep, how often wrong.

    python benchmarks/decisions.py certificates [--seeds 0] [--draws 1000] [--table]

Precision of at least 0.8 with 90 % confidence, recall as the objective. Two Gaussian classes in
five dimensions: easy, 30 % positives two standard deviations apart; hard, 25 % positives 1.5 apart;
n training rows and n validation rows; training labels as they are, or 30 % of them flipped. The
model is a logistic regression of the training rows; their out-of-fold scores order its thresholds.
Precision and recall on new rows are exact, from the classes' distributions. MAPIE calibrates the
same model on the same validation rows, with its default thresholds and correction. "Through the
estimator" are whole fits of MetricClassifier(model="linear"), of which there are fewer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from benchmarks.decisions.packages import package
from benchmarks.shared import Measured, carry_out, made_with, parser
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from anymetric import MetricClassifier, at_least
from anymetric.certificates import Claim, Scored, certify
from anymetric.metrics import Precision, Recall, Rows
from anymetric.paper.progress import seeds
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

Floats64 = NDArray[np.float64]
PROBLEMS = {"easy": (0.3, 2.0), "hard": (0.25, 1.5)}
SIZES, FLIPPED = (300, 1000, 5000), (0.0, 0.3)
LEVEL, CONFIDENCE, FEATURES = 0.8, 0.9, 5
OURS, MAPIE, DOOR = "anymetric", "MAPIE", "through the estimator"
# Draws of one slice of work, which is a row of the results; slices of those that take longer.
BLOCK, FEWER = 100, {MAPIE: 2, DOOR: 1}


@dataclass(frozen=True)
class Row(Measured):
    """A hundred draws: how many were certified, wrongly certified, and the recall they kept."""

    problem: str
    rows: int
    flipped: float
    method: str
    block: int
    value: float
    wrong: float
    recall: float
    draws: int
    versions: str


@dataclass(frozen=True)
class Line:
    """A linear model, and its exact precision and recall at a threshold."""

    weights: Floats64
    problem: str

    def at(self, threshold: float) -> tuple[float, float]:
        share, apart = PROBLEMS[self.problem]
        length = float(np.linalg.norm(self.weights))
        hit = norm.sf((threshold - apart * self.weights[0]) / length)
        false = norm.sf(threshold / length)
        flagged = share * hit + (1.0 - share) * false
        return float(share * hit / max(flagged, 1e-300)), float(hit)


@cache
def best_recall(problem: str) -> float:
    """Return the recall of the best line at the lowest threshold that keeps the precision."""
    line = Line(np.eye(FEATURES)[0], problem)
    found = np.array([line.at(cut) for cut in np.linspace(-4.0, 8.0, 2001)])
    return float(found[found[:, 0] >= LEVEL, 1].max())


def sample(problem: str, n: int, rng: np.random.Generator) -> tuple[Floats64, Floats64]:
    share, apart = PROBLEMS[problem]
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    X = rng.normal(size=(n, FEATURES))
    X[:, 0] += apart * (y > 0)
    return X, y


def draw(problem: str, n: int, flipped: float, method: str, seed: list[int]) -> Any:
    """Return whether a draw is certified, wrongly so, and the part of the recall that it keeps."""
    rng = np.random.default_rng(seed)
    (X, y), (valid, truth) = sample(problem, n, rng), sample(problem, n, rng)
    y = np.where(rng.random(n) < flipped, -y, y)
    model = LogisticRegression()
    best = best_recall(problem)
    if method == DOOR:
        clf = MetricClassifier(
            "recall",
            subject_to=at_least("precision", LEVEL, confidence=CONFIDENCE),
            model="linear",
            random_state=0,
        ).fit(X, y, X_val=valid, y_val=truth)
        found = Line(clf.coef_[0], problem).at(-float(clf.intercept_[0]))
        return told(clf.certificate_.certified, found, best)
    model.fit(X, y)
    line = Line(model.coef_[0], problem)
    if method == MAPIE:
        return told(*by_mapie(model, line, valid, truth), best)
    scores = cross_val_predict(model, X, y, cv=5, method="decision_function")
    own = Scored(Rows(y, np.ones(n)), scores)
    apart = Scored(Rows(truth, np.ones(n)), model.decision_function(valid))
    claim = Claim(Precision(), LEVEL, True, CONFIDENCE)
    found = certify((claim,), own, apart, Recall())
    return told(found.holds, line.at(found.threshold - float(model.intercept_[0])), best)


def told(holds: bool, found: tuple[float, float], best: float) -> tuple[bool, bool, float]:
    precision, recall = found
    return holds, holds and precision < LEVEL, min(recall / best, 1.0) if holds else 0.0


def by_mapie(
    model: LogisticRegression, line: Line, X: Floats64, y: Floats64
) -> tuple[bool, tuple[float, float]]:
    control = package("mapie.risk_control", "mapie").BinaryClassificationController(
        model.predict_proba,
        "precision",
        target_level=LEVEL,
        confidence_level=CONFIDENCE,
        best_predict_param_choice="recall",
    )
    control.calibrate(X, (y > 0).astype(int))
    cut = control.best_predict_param
    if cut is None:
        return False, (1.0, 0.0)
    odds = np.log(max(cut, 1e-12) / (1.0 - cut))
    return True, line.at(float(odds - model.intercept_[0]))


def measure(cell: tuple[str, int, float, str, int], size: int) -> Row:
    problem, n, flipped, method, block = cell
    place = [list(PROBLEMS).index(problem), n, int(10 * flipped), block]
    found = [draw(problem, n, flipped, method, [*place, k]) for k in range(size)]
    certified, wrong, recall = np.mean(np.array(found, dtype=np.float64), axis=0).tolist()
    return Row(*cell, certified, wrong, recall, size, versions("mapie"))


def run(store: Any, draws: int, methods: Sequence[str]) -> None:
    done = store.done()
    for block in range(draws // BLOCK):
        for problem, n, flipped, method in product(PROBLEMS, SIZES, FLIPPED, methods):
            cell = (problem, n, flipped, method, block)
            if cell not in done and block < FEWER.get(method, draws):
                store.append(measure(cell, 40 if method == DOOR else BLOCK))
        print(f"{(block + 1) * BLOCK} draws", file=sys.stderr, flush=True)


def report(rows: Sequence[Row]) -> str:
    """Return a line for each problem, size, training sample and method."""
    lines = []
    for problem, n, flipped in product(PROBLEMS, SIZES, FLIPPED):
        for method in (OURS, DOOR, MAPIE):
            cell = (problem, n, flipped, method)
            own = [r for r in rows if (r.problem, r.rows, r.flipped, r.method) == cell]
            if own:
                lines.append(line_of(cell, own))
    head = ["problem", "rows", "training labels", "method", "draws", "certified", "recall kept"]
    head += ["wrong", "at most 0.1 + 2 se"]
    return "\n".join(
        [
            "# Certificates",
            "",
            "Share of draws in which precision >= 0.8 is certified at 90 %; recall of what is "
            "certified as a part of the best at that precision, nothing where there is no "
            "certificate; share of draws in which the certificate is wrong, and whether that is "
            "within the risk and two standard errors of it.",
            "",
            markdown(head, lines),
            "",
            *made_with(rows),
        ]
    )


def line_of(cell: tuple[str, int, float, str], own: Sequence[Row]) -> list[str]:
    problem, n, flipped, method = cell
    draws = sum(row.draws for row in own)

    def share(name: str) -> float:
        return sum(getattr(row, name) * row.draws for row in own) / draws

    risk = 1.0 - CONFIDENCE
    within = share("wrong") <= risk + 2.0 * (risk * (1.0 - risk) / draws) ** 0.5
    labels = f"{flipped:.0%} flipped" if flipped else "clean"
    shown = [f"{share(name):.2f}" for name in ("value", "recall")]
    wrong = [f"{share('wrong'):.3f}", "yes" if within else "NO"]
    return [problem, f"{n:,}", labels, method, f"{draws:,}", *shown, *wrong]


def main(argv: Sequence[str] | None = None) -> int:
    command = parser(__doc__, "decisions_certificates")
    command.set_defaults(seeds=seeds("0"))
    command.add_argument("--draws", type=int, default=1000)
    command.add_argument("--quick", action="store_true", help="a hundred draws, ours only")
    options = command.parse_args(argv)
    draws, methods = (BLOCK, [OURS]) if options.quick else (options.draws, [OURS, MAPIE, DOOR])
    return carry_out(options, Row, lambda store: run(store, draws, methods), report)
