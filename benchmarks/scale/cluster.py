"""Cluster: passes over files by workers, what travels, and fits that lose a worker."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil

from anymetric import MetricClassifier, ParquetRows
from anymetric.data import Data
from anymetric.engines import OnDask, ReadRows, Term, ValuesAndSlopes
from anymetric.engines.parquet import PARTS
from anymetric.engines.rows import Shard
from anymetric.losses import as_loss
from anymetric.models import Linear

CANDIDATES = 6


def read(shard: Shard) -> Data:
    """Return a shard as training rows."""
    return Data(shard.X, np.where(shard.y > 0, 1.0, -1.0))


def weigh(data: Data) -> Any:
    """Return the weights."""
    return data.weights


def work(d: int) -> ValuesAndSlopes:
    """Return what a pass of a fit sums for some candidates."""
    terms = (Term(as_loss("logistic"), weigh),) * CANDIDATES
    return ValuesAndSlopes(Linear(), terms, np.full((CANDIDATES, d + 1), 0.01))


@contextmanager
def clients(workers: int) -> Iterator[Any]:
    """Have a cluster of processes with one thread each."""
    from distributed import Client, LocalCluster

    given = {"dashboard_address": None, "silence_logs": 50, "threads_per_worker": 1}
    with (
        LocalCluster(n_workers=workers, memory_limit=0, **given) as cluster,
        Client(cluster) as one,
    ):
        yield one


def at_home(pattern: str) -> tuple[float, Any, float]:
    """Return the seconds of a pass in this process, its sums, and its processor seconds."""
    rows = ParquetRows(pattern)
    began, used = time.perf_counter(), time.process_time()
    found = ReadRows(rows, read).sums(work(len(rows.columns)))
    return time.perf_counter() - began, found, time.process_time() - used


def by_workers(pattern: str, client: Any, parts: int = PARTS) -> tuple[float, int, Any, float]:
    """Return seconds, bytes sent and sums of a pass, and the busiest worker's processor seconds."""
    rows, used = ParquetRows(pattern, most_parts=parts), client.run(time.process_time)
    on = OnDask(rows, client).rows(read)
    before, began = psutil.net_io_counters(pernic=True)["lo"].bytes_sent, time.perf_counter()
    found = on.sums(work(len(rows.columns)))
    took = time.perf_counter() - began
    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - before
    busy = max(now - used[one] for one, now in client.run(time.process_time).items())
    return took, sent, found, busy


def killed(pattern: str, client: Any, after: float) -> tuple[Any, int]:
    """Fit, and kill a worker after so many seconds; return the model and the process."""
    pids = list(client.run(os.getpid).values())
    pid = random.Random(after).choice(pids)
    timer = threading.Timer(after, lambda: os.kill(pid, signal.SIGKILL))
    timer.start()
    try:
        return fitted(pattern, client), pid
    finally:
        timer.cancel()


def fitted(pattern: str, client: Any) -> Any:
    """Fit by a cluster."""
    clf = MetricClassifier("f1", model="linear", random_state=0)
    return clf.fit(ParquetRows(pattern), client=client)
