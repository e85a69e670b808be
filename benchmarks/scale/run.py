"""Run: the sections, each printed as it comes and kept, and one page of all there are."""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.speed.table import Table, processor
from benchmarks.speed.timing import slope
from threadpoolctl import threadpool_limits

from . import cluster
from .data import made
from .fit import apart

OUT = Path(__file__).resolve().parents[1] / "results" / "scale.md"
SIZES = (100_000, 1_000_000, 10_000_000)
D = 50


def one_machine(options: argparse.Namespace) -> Table:
    """Whole fits from files and in memory."""
    rows, per_row = [], {}
    for n in options.sizes:
        pattern = made(options.data, n, D)
        for kind in ("files", "memory") if n > 100_000 else ("files",):
            found = apart(kind, pattern, "linear")
            per_row[kind] = 1e6 * found["processor"] / n
            told = [f"{n:,}", kind, found["seconds"], found["processor"], per_row[kind]]
            rows.append([*told, found["peak"], found["passes"], f"{found['score']:.4f}"])
    ratio = per_row["files"] / per_row["memory"]
    header = [
        "rows",
        "from",
        "seconds",
        "processor seconds",
        "µs a row",
        "peak, MB",
        "passes",
        "F1",
    ]
    note = (
        f'Whole fits by `model="linear"` of {D} float32 columns, each in a process of its own. '
        "Passes are those over all rows after candidates were compared on 100,000 of them, which "
        "takes one more to draw; up to 200,000 rows there are none. From files, the largest takes "
        f"{ratio:.2f} times the processor seconds a row of memory, whose rows were read before the "
        "clock was started."
    )
    return Table("One machine", header, rows, [note])


def network(options: argparse.Namespace) -> Table:
    """Passes over the files by workers."""
    rows, used = [], []
    with cluster.clients(2) as two:
        for n in options.sizes:
            pattern = made(options.data, n, D)
            found = [cluster.by_workers(pattern, two, 8) for _ in range(3)]
            count = len(cluster.ParquetRows(pattern, most_parts=8).parts)
            used.append(min(cluster.at_home(pattern)[2] for _ in range(2)))
            rows.append([f"{n:,}", count, min(x[1] for x in found) / 1e3, used[-1]])
    note = (
        f"Value and gradient of {cluster.CANDIDATES} candidates, {D} columns. Bytes are all that "
        "the loopback device sent during a pass, heartbeats too: the least of three passes. They "
        "depend on the parts, here eight, and not on the rows; a pass that takes longer has more "
        "heartbeats. The slope of log "
        f"processor seconds at home against log rows is {slope(options.sizes, used):.2f}."
    )
    header = ["rows", "parts", "kB sent in a pass", "processor seconds at home"]
    return Table("One pass, and what travels", header, rows, [note])


def workers(options: argparse.Namespace) -> Table:
    """The same pass at home, by one worker, by two, alternately."""
    pattern = made(options.data, options.sizes[-1], D)
    took: dict[str, list[tuple[float, float]]] = {
        "at home": [],
        "one worker": [],
        "two workers": [],
    }
    sums: list[Any] = []
    with cluster.clients(1) as one, cluster.clients(2) as two:
        for client in (one, two):
            cluster.by_workers(made(options.data, options.sizes[0], D), client)
        for _ in range(options.rounds):
            home = cluster.at_home(pattern)
            found = [cluster.by_workers(pattern, client) for client in (one, two)]
            took["at home"].append((home[0], home[2]))
            for name, x in zip(("one worker", "two workers"), found, strict=True):
                took[name].append((x[0], x[3]))
            sums += [home[1], *(x[2] for x in found)]
    same = all(np.array_equal(a, b) for other in sums for a, b in zip(sums[0], other, strict=True))
    best = {name: tuple(map(min, zip(*times, strict=True))) for name, times in took.items()}
    first = best["one worker"]
    rows = [[name, s, first[0] / s, c, first[1] / c] for name, (s, c) in best.items()]
    note = (
        f"One pass over {options.sizes[-1]:,} rows, the least of {options.rounds}, alternately. "
        "Processor seconds are those of the busiest process: on a machine with a core for each "
        "worker they are what the clock would say; on this one the clock measures the other work "
        f"too. All sums are {'the same to the last bit' if same else 'NOT the same'}."
    )
    header = ["", "seconds", "against one worker", "processor seconds", "against one worker"]
    return Table("Workers", header, rows, [note])


def kills(options: argparse.Namespace) -> Table:
    """Fits during which a worker is killed at a random moment."""
    pattern, moments = made(options.data, options.sizes[-2], D), random.Random(0)
    with cluster.clients(2) as client:
        cluster.fitted(pattern, client)
        began = time.perf_counter()
        right = cluster.fitted(pattern, client).coef_
        usual = time.perf_counter() - began
    apart_most, took, died, stop = 0.0, list[float](), 0, began + options.seconds
    while len(took) < options.kills and time.perf_counter() < stop:
        # A cluster of its own: Dask gives a worker up for good that is away when it was lost
        # `lost-worker-timeout` before, and in the end none is left.
        with cluster.clients(2) as client:
            began = time.perf_counter()
            clf, pid = cluster.killed(pattern, client, usual * moments.random())
            took.append(time.perf_counter() - began)
            died += pid not in client.run(os.getpid).values()
        apart_most = max(apart_most, float(np.abs(clf.coef_ / right - 1.0).max()))
        print(f"{len(took)} fits, {apart_most:.1e}", flush=True)
    header = [
        "fits",
        "workers killed",
        "greatest relative difference",
        "seconds, undisturbed",
        "most",
    ]
    rows = [[len(took), died, f"{apart_most:.1e}", usual, max(took)]]
    note = (
        f"Whole fits of {options.sizes[-2]:,} rows by two workers, one killed with SIGKILL, each "
        "in a cluster of its own."
    )
    return Table("A worker is killed", header, rows, [note])


def trees(options: argparse.Namespace) -> Table:
    """LightGBM on Dask, and on samples."""
    from .trees import measured

    return measured(options)


def many_labels(options: argparse.Namespace) -> Table:
    """Memory of fits of many labels."""
    rows = []
    for count, n in options.labels:
        found = apart("labels", count, n)
        rows.append([count, n, found["seconds"], found["peak"], found["candidates"]])
    note = '20 columns, macro F1, `model="linear"`; after 60 s no further candidate is begun.'
    return Table("Labels", ["labels", "rows", "seconds", "peak, MB", "candidates"], rows, [note])


SECTIONS: dict[str, Callable[[argparse.Namespace], Table]] = {
    "machine": one_machine,
    "network": network,
    "workers": workers,
    "kills": kills,
    "trees": trees,
    "labels": many_labels,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and write; sections that are not asked for stay as they are."""
    options = parser().parse_args(argv)
    if options.make is not None:
        print(made(options.data, *options.make))
        return 0
    kept = options.out.with_suffix(".json")
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    with threadpool_limits(limits=1):
        for name in options.only:
            load = os.getloadavg()[0]
            text = SECTIONS[name](options).markdown()
            known[name] = f"{text}\nLoad when it was begun: {load:.1f}.\n"
            print(known[name], flush=True)
            kept.write_text(json.dumps(known, indent=1), encoding="utf-8")
    page = ["# Scale", "", where_made(), "", *(known[name] for name in SECTIONS if name in known)]
    options.out.write_text("\n".join(page), encoding="utf-8")
    return 0


def where_made() -> str:
    """Say with what the numbers were made."""
    names = ("anymetric", "numpy", "scipy", "scikit-learn", "lightgbm", "pyarrow", "dask")
    told = ", ".join(f"{name} {version(name)}" for name in names)
    return (
        f"`python benchmarks/scale.py`: {told}; {processor()}, {os.cpu_count()} cores, which other "
        "work shared. Seconds are those of the clock where nothing else is said."
    )


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    line = argparse.ArgumentParser(prog="scale.py", description="Measure large fits.")
    line.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    line.add_argument("--data", type=Path, default=Path("scale-data"), help="where rows are kept")
    line.add_argument(
        "--make", type=int, nargs=2, metavar=("ROWS", "COLUMNS"), help="only make rows"
    )
    line.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    line.add_argument("--rounds", type=int, default=3)
    line.add_argument("--seconds", type=float, default=3600.0, help="no kill is begun after these")
    line.add_argument("--kills", type=int, default=20)
    line.add_argument(
        "--labels", type=pair, nargs="+", default=[(100, 1000), (200, 1000), (1000, 10_000)]
    )
    line.add_argument("--out", type=Path, default=OUT)
    return line


def pair(text: str) -> tuple[int, int]:
    """Read labels x rows."""
    count, n = text.split("x")
    return int(count), int(n)
