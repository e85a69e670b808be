"""Hostile: fuzzed output of commands, fuzzed ledgers and fuzzed answers, each with a clear end."""

from __future__ import annotations

import math
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.drill.damage import WAYS, hurt, noticed, told, written
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from sklearn.datasets import make_classification

from anymetric import MetricClassifier, Run, ToldMetric
from anymetric.errors import LedgerError
from anymetric.metrics.commands import Command, CommandError

Strategy = st.SearchStrategy[Any]
# Bits of what programs print, so that some cases come near a number.
JSON = ["{", "}", '{"score":', '"score"', ":", ",", "null", "true", "[", "]"]
NEAR = ["0.5", "-1e3", "nan", "inf", "1e999", "[1] 0.25", "_", "１", "é", "1" * 5000]
BITS = st.sampled_from([*JSON, *NEAR, "\n", " ", "\x00", "\x1b[31m", "\r\n"])
OUTPUT = st.one_of(
    st.binary(max_size=80),
    st.lists(BITS, max_size=8).map(lambda bits: "".join(bits).encode()),
    st.floats().map(lambda x: f"{x!r}\n".encode()),
    st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), st.lists).map(
        lambda x: f'{{"score": {x}}}'.encode("utf-8", "replace")
    ),
)
VALUES = st.one_of(
    st.floats(),
    st.text(max_size=12),
    st.integers(),
    st.none(),
    st.booleans(),
    st.binary(max_size=4),
    st.complex_numbers(),
    st.lists(st.floats(), max_size=2),
    st.decimals(),
    st.fractions(),
    st.floats(width=32).map(np.float32),
    st.floats().map(np.array),
    BITS,
)
KEYS = st.one_of(
    st.text(max_size=45),
    st.none(),
    st.integers(),
    st.binary(max_size=4),
    st.text("0123456789abcdef", min_size=40, max_size=40),
    st.sampled_from(["../../etc/passwd", "'; DROP TABLE evaluation; --", "\ud800" * 40, "%s" * 20]),
)


@contextmanager
def watched(allowed: Path) -> Iterator[list[str]]:
    """Note every file that is opened for writing outside a folder."""
    found: list[str] = []
    state = {"on": True}

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if not state["on"]:
            return
        if event == "open" and isinstance(args[0], str | bytes):
            mode, flags = args[1] or "", args[2] or 0
            writes = any(sign in mode for sign in "wax+") or flags & (os.O_WRONLY | os.O_RDWR)
            _noted(found, os.fsdecode(args[0]), allowed, bool(writes))
        elif event in ("os.mkdir", "os.rename", "os.remove", "sqlite3.connect"):
            _noted(found, os.fsdecode(str(args[0])), allowed, str(args[0]) != ":memory:")

    sys.addaudithook(hook)
    try:
        yield found
    finally:
        state["on"] = False


def _noted(found: list[str], path: str, allowed: Path, writes: bool) -> None:
    plain = path.removeprefix("file://").partition("?")[0]
    inside = Path(plain).absolute().is_relative_to(allowed) or plain == os.devnull
    if writes and not inside:
        found.append(path)


def _cases(count: int, number: int, **given_by: Strategy) -> Callable[[Any], Callable[[], None]]:
    """Make reproducible cases of a function."""

    def wrap(function: Any) -> Callable[[], None]:
        quiet = settings(
            max_examples=count,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        made: Callable[[], None] = seed(number)(quiet(given(**given_by)(function)))
        return made

    return wrap


def outputs(home: Path, cases: int, number: int) -> Counter[str]:
    """Read what programs might print: a finite number or a `CommandError`."""
    found: Counter[str] = Counter()
    err = home / "err"
    err.write_bytes(b"")

    @_cases(cases, number, printed=OUTPUT, field=st.sampled_from([None, "score"]))
    def read(printed: bytes, field: str | None) -> None:
        command = Command(("program",), field=field)
        try:
            value = command._number(printed.decode("utf-8", "replace"), err)
            found["a number" if isinstance(value, float) else "unclear"] += 1
        except CommandError as error:
            found["refused" if "as its last line, not" in str(error) else "unclear"] += 1

    read()
    return found


def tells(home: Path, cases: int, number: int) -> Counter[str]:
    """Tell anything for any key: written if it is a number for a question, refused otherwise."""
    X, y = make_classification(80, 4, random_state=0)
    metric = ToldMetric("rating", greater_is_better=True)
    model = MetricClassifier(metric, model="linear", max_metric_calls=30, random_state=0)
    run = Run(model, X, y, ledger=home / "told.db")
    keys = [question.key for question in run.ask(4)]
    found: Counter[str] = Counter()

    @_cases(cases, number, key=KEYS | st.sampled_from(keys), value=VALUES, why=st.text(max_size=9))
    def tell(key: Any, value: Any, why: str) -> None:
        before = {k: e.value for k, e in run.store.known().items()}
        try:
            said = run.fail(key, why) if why.startswith("0") else run.tell(key, value)
        except LedgerError:
            found["refused"] += 1
            said = False
        else:
            found["written" if said else "a second answer"] += 1
        after = {k: e.value for k, e in run.store.known().items()}
        good = all(v is None or math.isfinite(v) for v in after.values())
        kept = all(after.get(k, "gone") == v for k, v in before.items())
        if not good or not kept or (len(after) > len(before)) != said:
            found["unclear"] += 1

    tell()
    run.store.close()
    return found


def ledgers(home: Path, cases: int, number: int) -> Counter[str]:
    """Open damaged ledgers: refused and left as they are, or read as they were written."""
    whole = written(home / "sound.db").read_bytes()
    sound, found = told(home / "sound.db"), Counter[str]()

    @_cases(cases, number, how=st.sampled_from(WAYS), at=st.integers(0, 2**32))
    def opened(how: str, at: int) -> None:
        for left in home.glob("hurt.db*"):
            left.unlink()
        said = noticed(home / "hurt.db", hurt(whole, how, random.Random(at)), sound)
        if said not in ("refused", "harmless"):
            print(f"{how} ledger {at}: {said}", file=sys.stderr)
        found[said if said in ("refused", "harmless") else "unclear"] += 1

    opened()
    return found


KINDS = {"output of commands": outputs, "tells": tells, "ledgers": ledgers}


def hostile(cases: int, number: int = 0) -> dict[str, Counter[str]]:
    """Return what so many cases of each kind came to; nothing may be written elsewhere."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="drill-") as place:
        home = Path(place)
        set_hypothesis_home_dir(home / "hypothesis")
        for name, kind in KINDS.items():
            with watched(home) as elsewhere:
                found[name] = kind(home, cases, number)
            found[name]["written elsewhere"] += len(elsewhere)
            if elsewhere:
                print("written elsewhere:", sorted(set(elsewhere))[:5], file=sys.stderr)
    return found
