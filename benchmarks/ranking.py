"""Rankings by query (Example 4): surrogates together, each alone, and LightGBM's lambdarank.

    python benchmarks/ranking.py [--seeds 0-4] [--table] [--speed]

The LETOR sample, 251 queries, split by query 60 : 20 : 20; no query is in two parts. A surrogate
alone goes through the same door, its ridge chosen by the same votes on the same validation queries.
``--speed`` times the parts on 100,000 generated rows in 1,000 queries instead.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from anymetric import MetricRanker
from anymetric.data import Data
from anymetric.datasets import load_letor_sample
from anymetric.errors import import_extra
from anymetric.estimators._defaults import default_by_query
from anymetric.metrics import NDCG, QueryAveragePrecision, QueryPrecisionAtK, ReciprocalRank
from anymetric.paper.progress import seeds
from anymetric.paper.store import Store, versions
from anymetric.paper.tables import markdown

OUT = Path(__file__).resolve().parent / "results" / "ranking.csv"
# Grades run from 0 to 4; two fifths of the rows have 2 or more.
METRICS = {m.name: m for m in (NDCG(5), QueryPrecisionAtK(5, relevant=2))}
TOGETHER = ("anymetric", "anymetric, descent")
TREES = "LightGBM lambdarank"


class Cell(NamedTuple):
    metric: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row:
    metric: str
    method: str
    seed: int
    value: float = float("nan")
    seconds: float = float("nan")
    calls: float = float("nan")
    versions: str = ""

    @property
    def cell(self):
        return Cell(self.metric, self.method, self.seed)

    @property
    def good(self):
        return self.value == self.value


class Part(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    query: np.ndarray

    @property
    def data(self):
        side = {"query": self.query, "relevance": self.y}
        return Data(self.X, np.where(self.y > 0.0, 1.0, -1.0), side=side)

    def value(self, metric, scores):
        return float(metric.bind(self.data.y, side=self.data.side).values(scores))


def parts(seed):
    """Return train, validation and test queries."""
    whole = load_letor_sample("all")
    query, y = whole.side["query"], whole.side["relevance"].astype(np.float64)
    order = np.random.default_rng(seed).permutation(np.unique(query))
    shares = np.split(order, [round(0.6 * len(order)), round(0.8 * len(order))])
    rows = [np.flatnonzero(np.isin(query, share)) for share in shares]
    return [Part(whole.X[r], y[r], query[r]) for r in rows]


def ours(metric, method, train, valid, seed):
    """Fit a ranker: with all surrogates, or with the one of this name."""
    every = default_by_query(metric, train.data)
    ranker = MetricRanker(metric, random_state=seed)
    if method not in TOGETHER:
        ranker.set_params(surrogates=[s for s in every if s.name == method])
    elif method.endswith("descent"):
        ranker.set_params(method="descent")
    given = {"X_val": valid.X, "y_val": valid.y, "query_val": valid.query}
    ranker.fit(train.X, train.y, query=train.query, **given)
    return ranker.predict, ranker.n_metric_calls_


def trees(train, valid, seed):
    """Fit LightGBM's lambdarank, stopped by the validation queries."""
    gbm = import_extra("lightgbm", needed_by="This comparison", extra="baselines")
    settings = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [5],
        "learning_rate": 0.05,
        "num_leaves": 15,
        "min_data_in_leaf": 20,
        "num_threads": 1,
        "seed": seed,
        "deterministic": True,
        "verbosity": -1,
    }
    first = gbm.Dataset(train.X, train.y, group=sizes(train.query))
    second = gbm.Dataset(valid.X, valid.y, group=sizes(valid.query), reference=first)
    stop = gbm.early_stopping(50, verbose=False)
    booster = gbm.train(settings, first, 1000, valid_sets=[second], callbacks=[stop])
    return booster.predict, float("nan")


def sizes(query):
    """Return the rows of each query; here those of one are neighbours."""
    return np.diff(np.flatnonzero(np.append(np.append(True, query[1:] != query[:-1]), True)))


def measure(cell, samples):
    train, valid, test = samples
    metric = METRICS[cell.metric]
    began = time.perf_counter()
    with threadpool_limits(1):
        if cell.method == TREES:
            predict, calls = trees(train, valid, cell.seed)
        else:
            predict, calls = ours(metric, cell.method, train, valid, cell.seed)
    seconds = time.perf_counter() - began
    value = test.value(metric, predict(test.X))
    return Row(*cell, value, seconds, calls, versions())


def run(store, numbers):
    done = store.done()
    for seed in numbers:
        samples = parts(seed)
        for name, metric in METRICS.items():
            alone = [s.name for s in default_by_query(metric, samples[0].data)]
            for method in (*alone, TREES, *TOGETHER):
                cell = Cell(name, method, seed)
                if cell not in done:
                    row = measure(cell, samples)
                    store.append(row)
                    print(f"{cell}: {row.value:.4f}, {row.seconds:.1f} s", file=sys.stderr)


def spread(values):
    error = f" ± {stdev(values) / len(values) ** 0.5:.4f}" if len(values) > 1 else ""
    return f"{mean(values):.4f}{error}"


def report(rows):
    found, lines = {}, []
    for row in rows:
        found.setdefault(row.method, {}).setdefault(row.metric, []).append(row)
    for method, by_metric in found.items():
        values = [[row.value for row in by_metric.get(name, [])] for name in METRICS]
        every = [row for metric in by_metric.values() for row in metric]
        kind = "together" if method in TOGETHER else "trees" if method == TREES else "alone"
        shown = [spread(v) if v else "–" for v in values]
        seconds = f"{np.median([row.seconds for row in every]):.1f}"
        lines.append([method, kind, str(max(map(len, values))), *shown, seconds])
    best = []
    for name in METRICS:
        alone = {m: mean(r.value for r in rows if r.cell[:2] == (name, m)) for m in found}
        singles = {m: v for m, v in alone.items() if m not in (*TOGETHER, TREES)}
        top = max(singles, key=lambda m: singles[m])
        best.append(
            f"{name}: best alone {top}, {singles[top]:.4f}; together {alone['anymetric']:.4f}."
        )
    made = sorted({row.versions for row in rows})
    return "\n".join(
        [
            "# Rankings by query",
            "",
            "LETOR sample, 251 queries, 300 features, grades 0 to 4. Test queries, mean over "
            "splits by query ± standard error; higher is better. Precision counts grades of 2 and "
            "more. Seconds: of a fit, median, one thread.",
            "",
            markdown(["method", "surrogates", "splits", *METRICS, "seconds"], lines),
            "",
            *(f"{text}\n" for text in best),
            *(f"Made with {text}.\n" for text in made),
        ]
    )


def speed():
    """Print what the parts take on 100,000 rows in 1,000 queries."""
    rng = np.random.default_rng(0)
    n, queries = 100_000, 1_000
    X = rng.normal(size=(n, 20))
    hidden = X @ rng.normal(size=20) + 3.0 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(hidden, [0.5, 0.75, 0.9, 0.97]), hidden).astype(np.float64)
    part = Part(X, y, rng.integers(0, queries, n))
    scores = rng.normal(size=(n, 64))

    def told(name, work, again=3):
        times = []
        for _ in range(again):
            began = time.perf_counter()
            made = work()
            times.append(time.perf_counter() - began)
        print(f"{name:<55}{1e3 * min(times):9.1f} ms", flush=True)
        return made

    for surrogate in default_by_query(NDCG(5), part.data):
        bound = told(f"{surrogate.name}: bind", lambda s=surrogate: s.bind(part.data), 1)
        told("  value and slopes", lambda b=bound: (b.values(scores[:, 0]), b.slopes(scores[:, 0])))
        told("  64 score vectors", lambda b=bound: b.values(scores), 1)
    for metric in (NDCG(5), QueryPrecisionAtK(5), ReciprocalRank(), QueryAveragePrecision()):
        judge = metric.bind(part.data.y, side=part.data.side)
        told(metric.name, lambda j=judge: j.values(scores[:, 0]))
        told("  64 score vectors", lambda j=judge: j.values(scores), 1)
    ranker = MetricRanker("ndcg@5", random_state=0)
    half = part.query < queries // 2
    given = {"X_val": X[~half], "y_val": y[~half], "query_val": part.query[~half]}
    told(
        "a whole fit, half of the queries judging",
        lambda: ranker.fit(X[half], y[half], query=part.query[half], **given),
        1,
    )


def main(argv: Sequence[str] | None = None) -> int:
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--seeds", type=seeds, default=seeds("0-4"), help="such as 0-4 or 0,3,7")
    line.add_argument("--out", type=Path, default=OUT, help="the CSV; the table goes beside it")
    line.add_argument("--table", action="store_true", help="only print and write the table")
    line.add_argument("--speed", action="store_true", help="only time the parts")
    options = line.parse_args(argv)
    warnings.simplefilter("ignore")
    if options.speed:
        with threadpool_limits(1):
            speed()
        return 0
    store = Store(options.out, Row)
    if not options.table:
        run(store, options.seeds)
    text = report([row for row in store.rows().values() if row.good])
    print(text)
    options.out.with_suffix(".md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
