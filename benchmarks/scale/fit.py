"""Fit: one whole fit in a process of its own, and what it took."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def apart(kind: str, *given: Any) -> dict[str, Any]:
    """Run a fit in a process of its own; return what it says."""
    line = [sys.executable, "-m", "benchmarks.scale.fit", kind, *map(str, given)]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    setting = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(line, cwd=ROOT, env=setting, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def from_files(pattern: str, model: str) -> Any:
    """Fit files."""
    from anymetric import MetricClassifier, ParquetRows

    return MetricClassifier("f1", model=model, random_state=0).fit(ParquetRows(pattern))


def from_memory(pattern: str, model: str) -> Any:
    """Read the files whole, and fit."""
    import pyarrow.dataset as ds

    from anymetric import MetricClassifier, ParquetRows

    rows = ParquetRows(pattern)
    X, y, start = np.empty((len(rows), len(rows.columns)), np.float32), np.empty(len(rows)), 0
    for batch in ds.dataset(list(rows.files)).to_batches(batch_readahead=2, fragment_readahead=1):
        shard = rows.shard(batch)
        X[start : start + len(shard)], y[start : start + len(shard)] = shard.X, shard.y
        start += len(shard)
    clock.update(began=time.perf_counter(), used=time.process_time())
    return MetricClassifier("f1", model=model, random_state=0).fit(X, y)


def labels(count: str, n: str) -> Any:
    """Fit so many labels."""
    from anymetric import MetricClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(int(n), 20))
    W = rng.normal(size=(20, int(count)))
    y = np.stack([X @ w + 2.0 * rng.normal(size=len(X)) > 4.0 for w in W.T], axis=1).astype(np.int8)
    clock.update(began=time.perf_counter(), used=time.process_time())
    clf = MetricClassifier("macro_f1", model="linear", random_state=0, max_seconds=60.0)
    return clf.fit(X, y)


clock = {"began": time.perf_counter(), "used": time.process_time()}

if __name__ == "__main__":
    kinds = {"files": from_files, "memory": from_memory, "labels": labels}
    clf = kinds[sys.argv[1]](*sys.argv[2:])
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "seconds": time.perf_counter() - clock["began"],
        "processor": time.process_time() - clock["used"],
        "peak": used.ru_maxrss / 2**10,
        "passes": clf.summary_.passes,
        "rows": dict(clf.summary_.rows),
        "score": clf.validation_score_,
        "candidates": len(clf.summary_.candidates),
        "coef": clf.coef_.ravel()[:5].tolist() if hasattr(clf, "coef_") else [],
    }
    print(json.dumps(found))
