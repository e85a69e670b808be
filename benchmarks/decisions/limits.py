"""Limits: accuracy subject to a limit, beside OxonFair, fairlearn and threshold tuning.

    python benchmarks/decisions.py limits [--seeds 0-4] [--table]

Adult, COMPAS and Credit, two thirds of the rows for training. Limits: an equalised-odds gap between
the sexes of at most 0.02 (the larger of the gaps in true and in false-positive rate), recall of at
least 0.9, precision of at least 0.8. OxonFair and the tuned threshold stand on LightGBM: OxonFair
with 30 % of the training rows held out for its thresholds, as its authors advise; the tuned
threshold, which knows no groups, on five-fold out-of-fold scores. fairlearn reduces to logistic
regression and knows no limits on recall and precision.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np
from benchmarks.decisions.packages import package
from benchmarks.shared import Measured, carry_out, made_with, parser, spread
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, precision_score, recall_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier, at_least, at_most, gap
from anymetric.datasets import load_adult, load_compas, load_credit_default
from anymetric.paper.progress import seeds
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

Ints = NDArray[np.int64]
TABLES = {"adult": load_adult, "compas": load_compas, "credit": load_credit_default}
ODDS, RECALL, PRECISION = "equalised odds <= 0.02", "recall >= 0.9", "precision >= 0.8"
BOUNDS = {ODDS: 0.02, RECALL: 0.9, PRECISION: 0.8}
OURS, OXONFAIR, FAIRLEARN, TUNED = "anymetric", "OxonFair", "fairlearn", "tuned threshold"
METHODS = {ODDS: (OURS, OXONFAIR, FAIRLEARN), RECALL: (OURS, OXONFAIR, TUNED)}
METHODS[PRECISION] = METHODS[RECALL]


@dataclass(frozen=True)
class Row(Measured):
    """One fit: accuracy on new rows, and the value of what is limited."""

    data: str
    limit: str
    method: str
    seed: int
    value: float
    limited: float
    seconds: float
    versions: str

    @property
    def violation(self) -> float:
        beyond = self.limited - BOUNDS[self.limit]
        return max(0.0, beyond if self.limit == ODDS else -beyond)


@dataclass(frozen=True)
class Sample:
    X: NDArray[np.float64]
    y: Ints
    groups: NDArray[Any]

    def take(self, rows: Any) -> Sample:
        return Sample(self.X[rows], self.y[rows], self.groups[rows])


def parts(data: str, seed: int) -> tuple[Sample, Sample]:
    """Return training and test rows, in the same shares of class and group."""
    table = TABLES[data]()
    X = np.asarray(table.X.toarray() if hasattr(table.X, "toarray") else table.X, dtype=np.float64)
    y = (np.asarray(table.y) == np.max(table.y)).astype(np.int64)
    whole = Sample(X, y, np.asarray(table.groups))
    strata = np.unique(np.stack([y.astype(str), whole.groups]), axis=1, return_inverse=True)[1]
    train, test = train_test_split(
        np.arange(len(y)), test_size=1 / 3, random_state=seed, stratify=strata.ravel()
    )
    return whole.take(train), whole.take(test)


def odds_gap(y: Ints, decided: Ints, groups: NDArray[Any]) -> float:
    """Return the larger gap between groups, of true and of false-positive rate."""
    names = np.unique(groups)
    rates = [[decided[(groups == g) & (y == c)].mean() for g in names] for c in (0, 1)]
    return float(np.ptp(rates, axis=1).max())


LIMITED: dict[str, Callable[[Sample, Ints], float]] = {
    ODDS: lambda test, decided: odds_gap(test.y, decided, test.groups),
    RECALL: lambda test, decided: float(recall_score(test.y, decided)),
    PRECISION: lambda test, decided: float(precision_score(test.y, decided, zero_division=0.0)),
}


def ours(limit: str, train: Sample, test: Sample, seed: int) -> Ints:
    limits = {
        ODDS: at_most(gap("equalized_odds"), 0.02),
        RECALL: at_least("recall", 0.9),
        PRECISION: at_least("precision", 0.8),
    }
    clf = MetricClassifier("accuracy", subject_to=limits[limit], random_state=seed)
    groups = {"groups": train.groups} if limit == ODDS else {}
    return np.asarray(clf.fit(train.X, train.y, **groups).predict(test.X))


def boosted(seed: int) -> Any:
    return package("lightgbm").LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed)


def oxonfair(limit: str, train: Sample, test: Sample, seed: int) -> Ints:
    fair, metrics = package("oxonfair"), package("oxonfair.utils.group_metrics", "oxonfair")
    fitted, held = train_test_split(np.arange(len(train.y)), test_size=0.3, random_state=seed)
    model = boosted(seed).fit(train.X[fitted], train.y[fitted])
    valid = {"data": train.X[held], "target": train.y[held]}
    new = {"data": test.X, "target": test.y}
    if limit == ODDS:
        valid["groups"], new["groups"] = train.groups[held], test.groups
    else:
        valid["groups"], new["groups"] = np.zeros(len(held)), np.zeros(len(test.y))
    predictor = fair.FairPredictor(model, valid)
    constraint = {
        ODDS: metrics.equalized_odds_max,
        RECALL: metrics.recall,
        PRECISION: metrics.precision,
    }[limit]
    predictor.fit(metrics.accuracy, constraint, BOUNDS[limit])
    return np.asarray(predictor.predict(new)).astype(np.int64)


def fairlearn(limit: str, train: Sample, test: Sample, seed: int) -> Ints:
    reductions = package("fairlearn.reductions", "fairlearn")
    scaler = StandardScaler().fit(train.X)
    mitigator = reductions.ExponentiatedGradient(
        LogisticRegression(max_iter=500), reductions.EqualizedOdds(difference_bound=0.02)
    )
    mitigator.fit(scaler.transform(train.X), train.y, sensitive_features=train.groups)
    return np.asarray(mitigator.predict(scaler.transform(test.X), random_state=seed))


def tuned(limit: str, train: Sample, test: Sample, seed: int) -> Ints:
    model = make_pipeline(boosted(seed))
    scores = cross_val_predict(model, train.X, train.y, cv=5, method="predict_proba")[:, 1]
    best = (True, -np.inf, 0.5)
    for cut in np.unique(np.quantile(scores, np.linspace(0.0, 1.0, 501))):
        decided = (scores > cut).astype(np.int64)
        row = Row("", limit, "", 0, 0.0, LIMITED[limit](train, decided), 0.0, "")
        kept = row.violation == 0.0
        good = accuracy_score(train.y, decided) if kept else -row.violation
        best = max(best, (kept, good, cut)) if best[1] > -np.inf else (kept, good, cut)
    model.fit(train.X, train.y)
    return np.asarray(model.predict_proba(test.X)[:, 1] > best[2]).astype(np.int64)


FITS = {OURS: ours, OXONFAIR: oxonfair, FAIRLEARN: fairlearn, TUNED: tuned}


def measure(data: str, limit: str, method: str, seed: int) -> Row:
    train, test = parts(data, seed)
    began = time.process_time()
    decided = FITS[method](limit, train, test, seed)
    seconds = time.process_time() - began
    value, kept = accuracy_score(test.y, decided), LIMITED[limit](test, decided)
    made = versions("oxonfair", "fairlearn")
    return Row(data, limit, method, seed, float(value), kept, seconds, made)


def run(store: Any, numbers: Sequence[int], only: Sequence[str] = ()) -> None:
    done = store.done()
    for seed in numbers:
        for data in TABLES:
            for limit, methods in METHODS.items():
                for method in methods:
                    wanted = not only or method in only
                    if wanted and (data, limit, method, seed) not in done:
                        store.append(measure(data, limit, method, seed))
        print(f"seed {seed}", file=sys.stderr, flush=True)


def report(rows: Sequence[Row]) -> str:
    """Return a line for each table, limit and method; paired differences to OxonFair."""
    lines = []
    for data in TABLES:
        for limit, methods in METHODS.items():
            own = {
                m: {r.seed: r for r in rows if (r.data, r.limit, r.method) == (data, limit, m)}
                for m in methods
            }
            for method, found in own.items():
                if found:
                    lines.append([data, limit, method, *line(found, own[OXONFAIR])])
    head = ["data", "limit", "method", "seeds", "accuracy", "violation", "limit kept", "seconds"]
    head += ["accuracy less OxonFair's", "violation less OxonFair's"]
    text = [
        "# Accuracy subject to a limit",
        "",
        "On new rows: mean over seeds ± standard error; the violation is how far beyond the limit, "
        "zero inside; the differences are paired by seed. Seconds are of one processor.",
        "",
        markdown(head, lines),
        "",
    ]
    return "\n".join([*text, *made_with(rows)])


def line(found: dict[int, Row], other: dict[int, Row]) -> list[str]:
    """Return one method's numbers."""
    rows = list(found.values())
    pairs = [(found[s], other[s]) for s in found if s in other]
    kept = sum(row.violation == 0.0 for row in rows)
    return [
        str(len(rows)),
        spread([row.value for row in rows]),
        spread([row.violation for row in rows]),
        f"{kept} of {len(rows)}",
        f"{mean(row.seconds for row in rows):.1f}",
        spread([a.value - b.value for a, b in pairs], "+"),
        spread([a.violation - b.violation for a, b in pairs], "+"),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    command = parser(__doc__, "decisions_limits")
    command.set_defaults(seeds=seeds("0-4"))
    command.add_argument("--quick", action="store_true", help="COMPAS only, one seed")
    command.add_argument("--only", action="append", default=[], help="a method; may be repeated")
    options = command.parse_args(argv)
    if options.quick:
        options.seeds = options.seeds[:1]
        for name in ("adult", "credit"):
            TABLES.pop(name)
    return carry_out(options, Row, lambda store: run(store, options.seeds, options.only), report)
