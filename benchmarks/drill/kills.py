"""Kills: runs ended with SIGKILL at random moments, and begun again until they are done."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.drill.task import Task, ended, living, start

from anymetric.store import open_store

# Seconds that the end of whatever a killed process left may take.
GRACE = 10.0


@dataclass
class Reference:
    """The unbroken run: its result, and which line of the log is which key."""

    result: str
    keys: dict[str, str]
    seconds: float

    @classmethod
    def of(cls, task: Task) -> Reference:
        began = time.monotonic()
        code = ended(start(task), 300.0)
        took = time.monotonic() - began
        if code != 0:
            raise RuntimeError((task.home / "err").read_text())
        ends = [line[4:] for line in lines(task) if line.startswith("end ")]
        known = values(task)
        if len(ends) != len(known) or len(set(ends)) != len(ends):
            raise RuntimeError(f"{len(ends)} evaluations and {len(known)} records of {task}")
        keys = dict(zip(ends, known, strict=True))
        return cls((task.home / "result").read_text(), keys, took)


@dataclass
class Outcome:
    """The violations of one run with all its kills: zero everywhere, if all is well."""

    kills: int = 0
    evaluations: int = 0
    unrecorded: int = 0  # under way or just done at a kill: the only ones that are made again
    repeated: int = 0
    lost: int = 0
    different: int = 0
    orphans: int = 0
    files: int = 0
    said: list[str] = field(default_factory=list)

    def __add__(self, other: Outcome) -> Outcome:
        names = [name for name in self.__dataclass_fields__ if name != "said"]
        both = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Outcome(**both, said=self.said + other.said)

    @property
    def violations(self) -> int:
        return self.repeated + self.lost + self.different + self.orphans + self.files


def lines(task: Task) -> list[str]:
    return task.log.read_text().splitlines() if task.log.exists() else []


def values(task: Task) -> dict[str, float | None]:
    """Return what the ledger knows, the oldest first."""
    if "://" not in task.ledger and not Path(task.ledger).exists():
        return {}
    store = open_store(task.ledger)
    try:
        return {key: one.value for key, one in store.known().items()}
    finally:
        store.close()


def broken(task: Task, reference: Reference, rng: random.Random, most: int) -> Outcome:
    """Kill a run up to `most` times, then let it end; compare it with the unbroken one."""
    found, recorded = Outcome(), dict[str, float | None]()
    seen = 0
    for attempt in range(most + 1):
        pid = start(task, fresh=rng.random() < 0.05)
        last = attempt == most
        wait = 300.0 if last else rng.random() * 0.7 * reference.seconds
        code = ended(pid, wait)
        if code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            found.kills += 1
        found.orphans += settled(lambda: not living(task))
        found.files += settled(lambda: not list(task.tmp.glob("*")))
        told = lines(task)
        for line in told[seen:]:
            again = line.startswith("begin ") and reference.keys.get(line[6:]) in recorded
            found.repeated += again
            if again:
                found.said.append(f"asked again: {line}")
        seen = len(told)
        now = values(task)
        wrong = [key for key, value in recorded.items() if now.get(key, "gone") != value]
        found.lost += len(wrong)
        recorded = now
        if code is not None:
            found.different += code != 0 or (task.home / "result").read_text() != reference.result
            if code:
                found.said.append((task.home / "err").read_text()[-2000:])
            break
    begun = Counter(line for line in lines(task) if line.startswith("begin "))
    found.evaluations = sum(begun.values())
    found.unrecorded = found.evaluations - len(recorded)
    found.repeated += max(found.unrecorded - found.kills * task.slots, 0)
    found.lost += recorded.keys() != set(reference.keys.values())
    found.files += len(_beside(task))
    return found


def settled(condition: Callable[[], bool]) -> int:
    """Return 0 once a condition holds, or 1 if it does not in time."""
    ends = time.monotonic() + GRACE
    while not condition():
        if time.monotonic() > ends:
            return 1
        time.sleep(0.01)
    return 0


def _beside(task: Task) -> list[str]:
    """Return what else is in the folder of a run that has ended."""
    known = {"log", "err", "tmp", "result", Path(task.ledger).name}
    left = {one.name for one in task.home.iterdir() if not one.name.startswith("result.")}
    return sorted(left - known)


def campaign(
    task: Callable[[Path], Task], home: Path, kills: int, rng: random.Random, each: int = 5
) -> Iterator[Outcome]:
    """Yield the outcomes of runs of one kind until so many were killed."""
    first = task(home / "unbroken")
    reference, done = Reference.of(first), 0
    number = 0
    while done < kills:
        number += 1
        one = task(home / f"run{number}")
        found = broken(one, reference, rng, min(each, kills - done))
        done += found.kills
        yield found
        if not found.violations:
            shutil.rmtree(one.home)
