"""Trees: LightGBM's distributed trainer, and LightGBM on as many rows as memory holds."""

from __future__ import annotations

import argparse
import time

import numpy as np
from benchmarks.speed.table import Table
from sklearn.metrics import roc_auc_score

from anymetric import ParquetRows

from . import cluster
from .data import drawn, made

SAMPLES = (100_000, 300_000, 1_000_000)
SETTINGS = {"n_estimators": 100, "num_leaves": 31, "verbose": -1, "n_jobs": 1}


def measured(options: argparse.Namespace) -> Table:
    """Return seconds and the area under the curve on fresh rows, of each way."""
    import dask.dataframe as dd
    from lightgbm import LGBMClassifier
    from lightgbm.dask import DaskLGBMClassifier

    pattern, d = made(options.data, 1_000_000, 50), 50
    X, y = drawn(100_000, d, 10**6)
    rows, found = ParquetRows(pattern), []
    for count in SAMPLES:
        some = rows.take(np.sort(np.random.default_rng(0).choice(len(rows), count, replace=False)))
        began = time.perf_counter()
        model = LGBMClassifier(**SETTINGS).fit(some.X, some.y)
        took = time.perf_counter() - began
        found.append([f"a sample of {count:,}", took, f"{roc_auc_score(y, score(model, X)):.4f}"])
    with cluster.clients(2) as client:
        frame = dd.read_parquet(pattern).persist()
        began = time.perf_counter()
        model = DaskLGBMClassifier(client=client, **SETTINGS)
        model.fit(frame[list(rows.columns)], frame["y"])
        took = time.perf_counter() - began
        local = score(model.to_local(), X)
    found.append(["LightGBM on Dask, 1,000,000 rows", took, f"{roc_auc_score(y, local):.4f}"])
    note = "100 trees of 31 leaves, on the rows of the other sections; area on 100,000 other rows."
    return Table("Trees", ["trained on", "seconds", "area under the curve"], found, [note])


def score(model: object, X: np.ndarray) -> np.ndarray:
    """Return the probabilities of the second class."""
    return model.predict_proba(X)[:, 1]
