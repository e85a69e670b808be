"""Evaluators: one, two and four processes that share the questions of one run.

Each takes half a second to answer a question. Every question must be answered once, all processes
must end with the same model, and n of them should be n times as fast as one. A run that needs an
answer before it can ask the next question cannot be: `at best` is what its batches allow.
"""

import sys
from pathlib import Path

# A script's own folder comes first on the path, where packages of these names would hide.
sys.path[0] = str(Path(__file__).resolve().parents[1])

import argparse  # noqa: E402
import math  # noqa: E402
import os  # noqa: E402
import platform  # noqa: E402
import sqlite3  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from contextlib import ExitStack  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from importlib.metadata import version  # noqa: E402

import numpy as np  # noqa: E402
from benchmarks.drill import server  # noqa: E402
from benchmarks.drill.run import read  # noqa: E402
from benchmarks.drill.task import numbers  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402

from anymetric import MetricClassifier  # noqa: E402
from anymetric.store import open_store  # noqa: E402

OUT = Path(__file__).resolve().parent / "results" / "evaluators.csv"
HEADER = ("run", "ledger", "processes", "turn", "questions", "answers", "same", "seconds", "best")


@dataclass(frozen=True)
class Share:
    """A metric that takes its time and says when."""

    log: str
    seconds: float

    def identified(self):
        return {"seconds": self.seconds}

    def __call__(self, y_true, y_pred):
        self.wait()
        return float(np.mean((y_true == y_pred) * (1 + (y_true == 1))))

    def wait(self):
        with open(self.log, "a") as file:
            file.write(f"{time.time():.6f}\n")
        time.sleep(self.seconds)
        with open(self.log, "a") as file:
            file.write(f"{time.time():.6f}\n")


class AtTheTop(Share):
    """The same of scores: the share of positives among the first fifty."""

    def __call__(self, y_true, y_score):
        self.wait()
        return float(np.mean(y_true[np.argsort(-y_score, kind="stable")[:50]]))


RUNS = {
    "default, a function of counts": (Share, {}),
    "descent, a function of scores": (AtTheTop, {"method": "descent", "max_metric_calls": 196}),
}


def fit(name, ledger, home, seconds):
    X, y = make_classification(300, 6, weights=[0.7], flip_y=0.1, random_state=101)
    kind, settings = RUNS[name]
    metric = kind(str(home / "log"), seconds)
    given = {"model": "linear", "greater_is_better": True, "random_state": 0, "ledger": ledger}
    model = MetricClassifier(metric, **given, **settings).fit(X, y)
    (home / f"result-{os.getpid()}").write_text(numbers(model, X))


def forked(*given):
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        fit(*given)
        code = 0
    finally:
        os._exit(code)


def batches(name, home):
    """Return the batch sizes of the run's questions."""
    from anymetric.metrics import evaluations

    sizes, asked = [], evaluations.Direct.answers

    def counted(self, questions, n_jobs=None):
        sizes.append(len({question.key for question in questions}))
        return asked(self, questions, n_jobs)

    evaluations.Direct.answers = counted
    try:
        fit(name, None, home, 0.0)
    finally:
        evaluations.Direct.answers = asked
    return sizes


def measured(name, ledger, home, processes, seconds):
    pids = [forked(name, ledger, home, seconds) for _ in range(processes)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    times = sorted(map(float, (home / "log").read_text().split()))
    store = open_store(ledger)
    known, notes = store.known(), store.notes()
    store.close()
    results = {path.read_text() for path in home.glob("result-*")}
    same = len(results) == 1 and not any(codes) and not notes
    return len(known), len(times) // 2, same, times[-1] - times[0]


def main():
    line = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    line.add_argument("--turns", type=int, default=3)
    line.add_argument("--evaluation", type=float, default=0.5, help="seconds of one answer")
    line.add_argument("--seconds", type=float, default=1e9, help="go on another time after these")
    line.add_argument("--only", default="", help="such as 'descent, a function of scores'")
    line.add_argument("--bases", default="SQLite,PostgreSQL")
    line.add_argument("--out", type=Path, default=OUT)
    asked = line.parse_args()
    rows, ends = read(asked.out), time.monotonic() + asked.seconds
    bases = [b for b in asked.bases.split(",") if b == "SQLite" or not server.why_not()]
    cells = [
        (name, base, count, turn)
        for turn in range(asked.turns)
        for name in RUNS
        if asked.only in name
        for base in bases
        for count in (1, 2, 4)
    ]
    known = {tuple(row[key] for key in HEADER[:4]) for row in rows}
    with ExitStack() as stack:
        place, running = Path(stack.enter_context(tempfile.TemporaryDirectory())), None
        for name, base, count, turn in cells:
            if (name, base, str(count), str(turn)) in known:
                continue
            if time.monotonic() > ends:
                return 75
            home = Path(tempfile.mkdtemp(dir=place))
            if base == "PostgreSQL" and running is None:
                running = stack.enter_context(server.server())
            ledger = str(home / "run.db") if base == "SQLite" else running.address()
            sizes = batches(name, Path(tempfile.mkdtemp(dir=place)))
            best = sum(sizes) / sum(math.ceil(size / count) for size in sizes)
            found = measured(name, ledger, home, count, asked.evaluation)
            row = (name, base, count, turn, *found[:3], f"{found[3]:.3f}", f"{best:.3f}")
            rows.append(dict(zip(HEADER, map(str, row), strict=True)))
            print(*row)
            saved(asked.out, rows)
    asked.out.with_suffix(".md").write_text(page(rows, asked.evaluation))
    print(page(rows, asked.evaluation))
    good = [row["same"] == "True" and row["questions"] == row["answers"] for row in rows]
    return 0 if all(good) else 1


def saved(path, rows):
    import csv

    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def page(rows, evaluation):
    head = "| run | ledger | processes | questions | answered twice | seconds | times as fast | "
    head += "at best | of linear |"
    lines = [head, f"|{' --- |' * 9}"]
    for name, base, count in dict.fromkeys((r["run"], r["ledger"], r["processes"]) for r in rows):
        own = [r for r in rows if (r["run"], r["ledger"], r["processes"]) == (name, base, count)]
        one = [r for r in rows if (r["run"], r["ledger"], r["processes"]) == (name, base, "1")]
        took, alone = (min(float(r["seconds"]) for r in part) for part in (own, one))
        twice = sum(int(r["answers"]) - int(r["questions"]) for r in own)
        fast, best = alone / took, float(own[0]["best"])
        cells = (name, base, count, own[0]["questions"], twice, f"{took:.3f}", f"{fast:.2f}")
        cells += (f"{best:.2f}", f"{fast / int(count):.0%}")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    names = ("anymetric", "numpy", "scikit-learn", "sqlalchemy", "psycopg")
    made = ", ".join(f"{name} {version(name)}" for name in names)
    turns = len({row["turn"] for row in rows})
    return "\n\n".join(
        [
            "# Evaluators",
            f"One run, several processes that answer its questions, {evaluation:g} seconds each; "
            f"the fastest of up to {turns} turns, all of them in the CSV, on a machine that others "
            "used too. `at best` is what is possible where a batch of questions must be answered "
            "before the next is known. Made by `python benchmarks/evaluators.py`.",
            "\n".join(lines),
            f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {made}; "
            f"{os.cpu_count()} cores, {platform.system()}.",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
