"""Rankings by query (Example 4): surrogates together, each alone, and LightGBM's lambdarank.

    python benchmarks/ranking.py [--seeds 0-4] [--metrics ...] [--also ...] [--table] [--speed]

The LETOR sample, 251 queries in five folds: one tests, the next one validates, three train; no
query is in two parts. Seeds 0 to 4 are the folds of one partition, 5 to 9 those of another. A
surrogate alone goes through the same steps: the same ridges, the same validation queries, the same
average. ``--also`` fits the ranker in other ways too: trees, trees and lines in one pool, the
descent. ``--speed`` times the parts on 100,000 generated rows in 1,000 queries instead.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

if __name__ == "__main__":
    # A script's own folder comes first on the path, where the packages beside it would hide.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.shared import Measured, carry_out, made_with, parser, spread

from anymetric import MetricRanker
from anymetric.data import Data
from anymetric.datasets import load_letor_sample
from anymetric.errors import import_extra
from anymetric.estimators._defaults import default_by_query
from anymetric.metrics import NDCG, QueryAveragePrecision, QueryPrecisionAtK, ReciprocalRank
from anymetric.paper.store import versions
from anymetric.paper.tables import markdown

# Grades run from 0 to 4; two fifths of the rows have 2 or more.
METRICS = {
    metric.name: metric
    for metric in (
        NDCG(5),
        QueryPrecisionAtK(5, relevant=2),
        ReciprocalRank(relevant=2),
        QueryAveragePrecision(relevant=2),
    )
}
OURS = "anymetric"
VARIANTS = {
    "boosted": {"model": "boosted"},
    "auto": {"model": "auto"},
    "descent": {"method": "descent"},
}
TOGETHER = {OURS: {}, **{f"{OURS}, {name}": how for name, how in VARIANTS.items()}}
BOOSTED = ", boosted"
# Stopped by the validation queries; and trained as long on these and the others together.
TREES = ("LightGBM lambdarank", "LightGBM lambdarank, refitted")
# Other partitions of the same queries do not lower the error.
FOLDS = 5


class Cell(NamedTuple):
    metric: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row(Measured):
    metric: str
    method: str
    seed: int
    value: float = float("nan")
    seconds: float = float("nan")
    calls: float = float("nan")
    versions: str = ""


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
    """Return training, validation and test queries."""
    whole = load_letor_sample("all")
    query, y = whole.side["query"], whole.side["relevance"].astype(np.float64)
    partition, fold = divmod(seed, FOLDS)
    order = np.random.default_rng(partition).permutation(np.unique(query))
    folds = np.array_split(order, FOLDS)
    test, valid, *train = (folds[(fold + k) % FOLDS] for k in range(FOLDS))
    shares = np.concatenate(train), valid, test
    rows = [np.flatnonzero(np.isin(query, share)) for share in shares]
    return [Part(whole.X[r], y[r], query[r]) for r in rows]


def ours(metric, method, train, valid, seed):
    """Fit a ranker: with all surrogates, or with the one of this name."""
    ranker = MetricRanker(metric, random_state=seed)
    if method in TOGETHER:
        ranker.set_params(**TOGETHER[method])
    else:
        name = method.removesuffix(BOOSTED)
        every = default_by_query(metric, train.data)
        ranker.set_params(surrogates=[s for s in every if s.name == name])
        ranker.set_params(model="linear" if name == method else "boosted")
    given = {"X_val": valid.X, "y_val": valid.y, "query_val": valid.query}
    ranker.fit(train.X, train.y, query=train.query, **given)
    return ranker.predict, ranker.n_metric_calls_


def trees(method, train, valid, seed):
    """Fit LightGBM's lambdarank."""
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
    if method == TREES[1]:
        X, y, query = (np.concatenate(pair) for pair in zip(train, valid, strict=True))
        every = gbm.Dataset(X, y, group=sizes(query))
        booster = gbm.train(settings, every, booster.best_iteration)
    return booster.predict, float("nan")


def sizes(query):
    """Return the rows of each query; here those of one are neighbours."""
    return np.diff(np.flatnonzero(np.append(np.append(True, query[1:] != query[:-1]), True)))


def measure(cell, samples):
    train, valid, test = samples
    metric = METRICS[cell.metric]
    began = time.perf_counter()
    with threadpool_limits(1):
        if cell.method in TREES:
            predict, calls = trees(cell.method, train, valid, cell.seed)
        else:
            predict, calls = ours(metric, cell.method, train, valid, cell.seed)
    seconds = time.perf_counter() - began
    value = test.value(metric, predict(test.X))
    return Row(*cell, value, seconds, calls, versions())


def run(store, numbers, names, also):
    done = store.done()
    for seed in numbers:
        samples = parts(seed)
        for name in names:
            metric = METRICS[name]
            alone = [s.name for s in default_by_query(metric, samples[0].data)]
            alone += [f"{name}{BOOSTED}" for name in alone] if "boosted" in also else []
            for method in (*alone, *TREES, OURS, *(f"{OURS}, {name}" for name in also)):
                cell = Cell(name, method, seed)
                if cell not in done:
                    row = measure(cell, samples)
                    store.append(row)
                    print(f"{cell}: {row.value:.4f}, {row.seconds:.1f} s", file=sys.stderr)


def kind(method):
    if method in TREES:
        return "trees"
    return "together" if method in TOGETHER else "alone"


def table(found):
    """Return the lines of the table: means, and means of paired differences."""
    means, pairs = [], []
    for method in sorted({method for _, method in found}, key=place):
        rows = [found.get((name, method), {}) for name in METRICS]
        values = [[row.value for row in by_seed.values()] for by_seed in rows]
        seconds = np.median([row.seconds for by_seed in rows for row in by_seed.values()])
        usual = [len(found.get((name, OURS), {})) for name in METRICS]
        shown = [
            (spread(v, most=FOLDS) + ("" if len(v) == n else f" ({len(v)} folds)")) if v else "–"
            for v, n in zip(values, usual, strict=True)
        ]
        means.append([method, kind(method), *shown, f"{seconds:.1f}"])
        if method != OURS:
            pairs.append([method, *(gained(found, name, OURS, method) for name in METRICS)])
    return means, pairs


def place(method):
    return ["alone", "trees", "together"].index(kind(method)), method != OURS, method


def gained(found, name, one, other):
    """Say what one method has more than another on the same folds."""
    return spread(improvements_over(found, name, one, other), "+", most=FOLDS)


def improvements_over(found, name, one, other):
    ours, theirs = found.get((name, one), {}), found.get((name, other), {})
    return [ours[seed].value - theirs[seed].value for seed in ours if seed in theirs]


def best_alone(found):
    """Yield how each of ours stands to the best surrogate alone, and to lambdarank."""
    for name in sorted({name for name, _ in found}, key=list(METRICS).index):
        for ours in (method for method in TOGETHER if (name, method) in found):
            baselines = [m for metric, m in found if metric == name and comparable(m, ours)]
            improvements = {m: improvements_over(found, name, ours, m) for m in baselines}
            top = min(
                (m for m in baselines if improvements[m]), key=lambda m: mean(improvements[m])
            )
            against = {f"{top} alone, the best with hindsight": top, TREES[1]: TREES[1]}
            told = (f"{gained(found, name, ours, m)} of {said}" for said, m in against.items())
            yield f"{name}, {ours}, {len(improvements[top])} folds: ahead by {'; '.join(told)}."


def comparable(method, ours):
    """Return whether a surrogate alone is a baseline: one with trees is none of linear models."""
    trees = "model" in TOGETHER[ours]
    return kind(method) == "alone" and (trees or not method.endswith(BOOSTED))


def report(rows):
    found = {}
    for row in rows:
        found.setdefault((row.metric, row.method), {})[row.seed] = row
    means, pairs = table(found)
    heads = [f"{name}, {len(found.get((name, OURS), {}))} folds" for name in METRICS]
    lines = [
        "# Rankings by query",
        "",
        "LETOR sample, 251 queries, 300 features, grades 0 to 4; precision, MRR and MAP count "
        "grades of 2 and more. Test queries, mean over folds; higher is better. The error is that "
        "of five folds, however many partitions there are: these share their queries. Seconds: of "
        "a fit, median, one thread of a shared machine.",
        "",
        markdown(["method", "surrogates", *heads, "seconds"], means),
        "",
        *(f"- {text}" for text in best_alone(found)),
        "",
        "What the default has more than each, on the same folds ± standard error:",
        "",
        markdown(["method", *heads], pairs),
        "",
        *made_with(rows),
    ]
    return "\n".join(lines)


def speed():
    """Print what the parts take on 100,000 rows in 1,000 queries, in processor time."""
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
            began = time.process_time()
            made = work()
            times.append(time.process_time() - began)
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
        "a whole fit, half of the queries for validation",
        lambda: ranker.fit(X[half], y[half], query=part.query[half], **given),
        1,
    )
    told("a whole fit, cross-fitted", lambda: ranker.fit(X, y, query=part.query), 1)


def main(argv: Sequence[str] | None = None) -> int:
    line = parser(__doc__, "ranking")
    line.add_argument("--metrics", nargs="+", choices=METRICS, default=list(METRICS))
    line.add_argument("--also", nargs="+", choices=VARIANTS, default=[], help="further fits")
    line.add_argument("--speed", action="store_true", help="only time the parts")
    options = line.parse_args(argv)
    if options.speed:
        with threadpool_limits(1):
            speed()
        return 0

    def wanted(store):
        run(store, options.seeds, options.metrics, options.also)

    return carry_out(options, Row, wanted, report)


if __name__ == "__main__":
    sys.exit(main())
