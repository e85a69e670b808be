"""The runs that are broken: a fit with a slow command as its metric, as a process of its own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification, make_regression

from anymetric import CommandMetric, MetricClassifier, MetricRegressor

# Prints its question, waits, and prints it again with the answer, in one line each.
SCRIPT = """
about=$(cksum <"$1")
echo "begin $about" >>log
answer=$(awk -F, "$DRILL_FORMULA" "$1")
sleep "$DRILL_SECONDS"
echo "end $about" >>log
echo "$answer"
"""
ACCURACY = "NR > 1 { hits += ($2 == $3) * (1 + ($2 == 1)) } END { print hits / (NR - 1) }"
DISTANCE = "NR > 1 { d = $2 - $3; s += d < 0 ? -d : d } END { print s / (NR - 1) }"
KINDS = ("two classes", "three classes", "numbers")
# Of the environment a child has this, by which it is found again.
MARK = "DRILL_MARK"


@dataclass(frozen=True)
class Task:
    """One fit.

    Attributes
    ----------
    kind : one of `KINDS`
    home : Path
        Its log, its result and its temporary files; the ledger too, unless that is a server's.
    ledger : str
    seconds : float
        Of one evaluation.
    calls : int
        The budget.
    slots : int
    """

    kind: str
    home: Path
    ledger: str
    seconds: float = 0.03
    calls: int = 40
    slots: int = 1

    @property
    def log(self) -> Path:
        return self.home / "log"

    @property
    def tmp(self) -> Path:
        return self.home / "tmp"

    @property
    def mark(self) -> str:
        return hashlib.sha256(str(self.home).encode()).hexdigest()[:16]

    def metric(self) -> Any:
        formula = DISTANCE if self.kind == "numbers" else ACCURACY
        return CommandMetric(
            ["sh", "-c", SCRIPT, "sh", "{predictions}"],
            greater_is_better=self.kind != "numbers",
            env={"DRILL_SECONDS": f"{self.seconds:g}", "DRILL_FORMULA": formula},
            cwd=str(self.home),
            slots=self.slots,
        )

    def fit(self) -> Any:
        settings = {"model": "linear", "max_metric_calls": self.calls, "random_state": 0}
        settings |= {"ledger": self.ledger}
        if self.kind == "numbers":
            X, y = make_regression(80, 4, noise=20.0, random_state=1)
            return MetricRegressor(self.metric(), **settings).fit(X, y), X
        many = {"n_classes": 3, "n_informative": 3, "n_redundant": 0}
        more = many if self.kind == "three classes" else {"weights": [0.7]}
        X, y = make_classification(150, 5, flip_y=0.1, random_state=1, **more)
        return MetricClassifier(self.metric(), **settings).fit(X, y), X

    def run(self) -> None:
        """Fit, and write the result in one piece."""
        self.tmp.mkdir(exist_ok=True)
        tempfile.tempdir = str(self.tmp)
        model, X = self.fit()
        said = numbers(model, X)
        scratch = self.home / f"result.{os.getpid()}"
        scratch.write_text(said)
        os.replace(scratch, self.home / "result")


def numbers(model: Any, X: Any) -> str:
    """Return every bit of a fitted model that a user can see, as one hash."""
    parts = [np.asarray(model.predict(X)), np.asarray(model.cost_)]
    parts += [np.asarray(getattr(model, name)) for name in ("coef_", "intercept_")]
    parts += [np.asarray([iteration["cost"] for iteration in model.history_])]
    whole = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
    return hashlib.sha256(whole).hexdigest()


def start(task: Task, fresh: bool = False, then: Callable[[], None] | None = None) -> int:
    """Start a fit as a process of its own; return its number.

    A fork is there at once; a fresh interpreter is what a user starts.
    """
    task.home.mkdir(parents=True, exist_ok=True)
    if fresh:
        fields = [f"{getattr(task, name)}" for name in task.__dataclass_fields__]
        env = {**os.environ, MARK: task.mark, "TMPDIR": str(task.tmp)}
        with (task.home / "err").open("ab") as err:
            words = [sys.executable, "-m", "benchmarks.drill.task", *fields]
            root = Path(__file__).resolve().parents[2]
            made = subprocess.Popen(words, env=env, stdout=err, stderr=err, cwd=root)
        made.returncode = 0  # waited for by number, as the others
        return made.pid
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with (task.home / "err").open("ab") as err:
            os.dup2(err.fileno(), 1)
            os.dup2(err.fileno(), 2)
        sys.stdout = sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        os.setsid()
        os.environ[MARK] = task.mark
        task.run()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(pid: int, seconds: float) -> int | None:
    """Wait so long for a process; return its exit code, or None if it still runs."""
    ends = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > ends:
            return None
        time.sleep(0.002)


def living(task: Task) -> list[int]:
    """Return the living processes of a task: fits, commands, watchers, whatever they started."""
    found, wanted, home = [], f"{MARK}={task.mark}".encode(), task.home
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            told = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            where = os.readlink(f"/proc/{name}/cwd")
            state = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if (wanted in told or where == str(home)) and state not in (b"Z", b"X"):
            found.append(int(name))
    return found


if __name__ == "__main__":
    kind, home, ledger, seconds, calls, slots = sys.argv[1:]
    Task(kind, Path(home), ledger, float(seconds), int(calls), int(slots)).run()
