"""Profit: five tables with costs by row, against calibrated models with the textbook's rule.

    python benchmarks/decisions.py profit [--seeds 0-19] [--quick] [--table]

4/9 of the rows train (6,000 at most), 2/9 validate (3,000 at most), and up to 20,000 of the rest
test. Every method sees both samples: the textbook's models are calibrated by five folds of all of
them or, as `clean`, trained on the training rows and calibrated on the validation rows. In
`flipped` the labels of 30 % of one group's training rows are turned; validation rows stay clean.
"A function" is told the same profit as Python code, and has to find out that it is a sum.
empulse (not a dependency) is left out if it is not installed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import mean
from typing import Any

import numpy as np
from benchmarks.decisions.tables import COSTS, GAINS, Costs
from benchmarks.shared import Measured, carry_out, error, made_with, parser, spread
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown

OURS, FUNCTION = "anymetric", "anymetric, a function"
FLIPPED = 0.3


@dataclass(frozen=True)
class Row(Measured):
    """What a method earned on the test rows, a row."""

    table: str
    labels: str
    method: str
    seed: int
    value: float
    seconds: float
    versions: str = ""


@dataclass(frozen=True)
class Parts:
    """Rows of a seed, and the labels as training sees them."""

    costs: Costs
    y: NDArray[np.int64]
    train: NDArray[np.intp]
    valid: NDArray[np.intp]
    test: NDArray[np.intp]

    @property
    def both(self) -> NDArray[np.intp]:
        return np.concatenate([self.train, self.valid])

    def side(self, rows: NDArray[np.intp]) -> dict[str, NDArray[np.float64]]:
        return {name: gain[rows] for name, gain in self.costs.gains.items()}


def parts_of(costs: Costs, labels: str, seed: int) -> Parts:
    """Return the rows of a seed: the same for every method."""
    rng, n = np.random.default_rng(seed), len(costs.y)
    order = rng.permutation(n)
    some, few = min(4 * n // 9, 6000), min(2 * n // 9, 3000)
    train, valid, test = np.split(order, [some, some + few])
    y = costs.y.copy()
    if labels == "flipped":
        wrong = train[costs.group[train] & (rng.random(some) < FLIPPED)]
        y[wrong] = 1 - y[wrong]
    return Parts(costs, y, train, valid, test[:20_000])


def by_rule(parts: Parts, p: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Flag test rows whose expected gain is above zero."""
    gains = GAINS.gains(parts.side(parts.test), len(p))
    return np.asarray(p * gains.positive + (1.0 - p) * gains.negative > 0.0)


def ours(metric: Any) -> Callable[[Parts, int], Any]:
    """Return a method: trained for the profit itself."""

    def run(parts: Parts, seed: int) -> NDArray[np.bool_]:
        X, y, train, valid = parts.costs.X, parts.y, parts.train, parts.valid
        clf = MetricClassifier(metric, greater_is_better=True, random_state=seed)
        own = {"X_val": X[valid], "y_val": y[valid], "side_val": parts.side(valid)}
        clf.fit(X[train], y[train], side=parts.side(train), **own)
        return np.asarray(clf.predict(X[parts.test], side=parts.side(parts.test)) == 1)

    return run


def earned(y_true: Any, y_pred: Any, tp: Any, fp: Any, fn: Any, tn: Any) -> float:
    """The same profit, as a function of which nothing is known."""
    gains = np.where(y_true == 1, np.where(y_pred == 1, tp, fn), np.where(y_pred == 1, fp, tn))
    return float(np.mean(gains))


def textbook(make: Callable[[int], Any], clean: bool) -> Callable[[Parts, int], Any]:
    """Return a method: a calibrated model, and the rule by row."""

    def run(parts: Parts, seed: int) -> NDArray[np.bool_]:
        X, y, model = parts.costs.X, parts.y, make(seed)
        if clean:
            model = FrozenEstimator(model.fit(X[parts.train], y[parts.train]))
        rows = parts.valid if clean else parts.both
        calibrated = CalibratedClassifierCV(model, cv=5).fit(X[rows], y[rows])
        return by_rule(parts, calibrated.predict_proba(X[parts.test])[:, 1])

    return run


def empulse(name: str) -> Callable[[Parts, int], Any]:
    """Return a cost-sensitive classifier of empulse, trained on all rows; its own decisions."""

    def run(parts: Parts, seed: int) -> NDArray[np.bool_]:
        from empulse import models  # type: ignore[import-not-found,unused-ignore]

        X, rows = StandardScaler().fit(parts.costs.X[parts.both]), parts.both
        inner = () if name == "CSLogitClassifier" else (trees(seed),)
        costs = {f"{k}_cost": -gain for k, gain in parts.side(rows).items()}
        model = getattr(models, name)(*inner)
        model.fit(X.transform(parts.costs.X[rows]), parts.y[rows], **costs)
        return np.asarray(model.predict(X.transform(parts.costs.X[parts.test])) == 1)

    return run


def logistic(seed: int) -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def trees(seed: int) -> Any:
    return LGBMClassifier(learning_rate=0.05, n_jobs=1, verbose=-1, random_state=seed)


METHODS: dict[str, Callable[[Parts, int], Any]] = {
    OURS: ours(GAINS),
    FUNCTION: ours(earned),
    "logistic + rule": textbook(logistic, clean=False),
    "LightGBM + rule": textbook(trees, clean=False),
    "logistic + rule, clean": textbook(logistic, clean=True),
    "LightGBM + rule, clean": textbook(trees, clean=True),
}
if find_spec("empulse"):
    METHODS |= {"CSLogit": empulse("CSLogitClassifier"), "CSBoost": empulse("CSBoostClassifier")}


def measured(costs: Costs, labels: str, method: str, seed: int) -> Row:
    """Return the row of a cell."""
    parts, began = parts_of(costs, labels, seed), time.perf_counter()
    flagged = METHODS[method](parts, seed)
    seconds = time.perf_counter() - began
    bound = GAINS.bind(2.0 * costs.y[parts.test] - 1.0, side=parts.side(parts.test))
    value = float(bound.values(np.where(flagged, 1.0, -1.0)))
    return Row(costs.name, labels, method, seed, value, round(seconds, 2), versions())


def run(options: Any, store: Store[Row]) -> None:
    done = set(store.rows())
    tables = COSTS[:2] if options.quick else COSTS
    for seed in options.seeds:
        for make in tables:
            for labels in ("as they are", "flipped"):
                for method in METHODS:
                    if (make.__name__, labels, method, seed) not in done:
                        store.append(measured(make(), labels, method, seed))


def report(rows: list[Row]) -> str:
    """Return the table: what each method earns, and how far the others are behind ours."""
    text = [f"# Profit with costs by row\n\n{(__doc__ or '').partition('--table]')[2].strip()}\n"]
    told: dict[str, list[str]] = {"as they are": [], "flipped": []}
    for labels in told:
        own = [row for row in rows if row.labels == labels]
        names = [name for name in METHODS_ORDER if any(row.method == name for row in own)]
        if not own:
            continue
        seeds = sorted({row.seed for row in own})
        text.append(f"## Labels {labels}\n\nMean profit a row, seeds {seeds[0]} to {seeds[-1]}.\n")
        body = [["table", *names]]
        ahead = [["table", *names[1:]]]
        for table in dict.fromkeys(row.table for row in own):
            values = {m: by_seed(own, table, m) for m in names}
            body.append([table, *(spread(list(values[m].values())) for m in names)])
            gaps = {m: paired(values[OURS], values[m]) for m in names[1:]}
            ahead.append([table, *(spread(gaps[m], "+") + mark(gaps[m]) for m in names[1:])])
        text.append(markdown(body[0], body[1:]) + "\n")
        text.append(
            "Ours minus each, paired by seed; ** ahead by two standard errors, ! behind by more "
            "than one:\n"
        )
        text.append(markdown(ahead[0], ahead[1:]) + "\n")
    return "\n".join([*text, *made_with(rows)])


METHODS_ORDER = (*METHODS, *(name for name in ("CSLogit", "CSBoost") if name not in METHODS))


def by_seed(rows: list[Row], table: str, method: str) -> dict[int, float]:
    return {r.seed: r.value for r in rows if (r.table, r.method) == (table, method)}


def paired(own: dict[int, float], other: dict[int, float]) -> list[float]:
    return [own[seed] - other[seed] for seed in sorted(set(own) & set(other))]


def mark(gaps: Sequence[float]) -> str:
    """Say how clear a difference is."""
    if len(gaps) < 2:
        return ""
    gap, noise = mean(gaps), error(gaps)
    return " **" if gap > 2.0 * noise else " !" if gap < -noise else ""


def main(argv: list[str]) -> int:
    line = parser(__doc__, "decisions_profit")
    line.add_argument("--quick", action="store_true", help="two tables")
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
