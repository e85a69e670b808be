"""Crowds: several processes on one ledger, one of them killed on the way."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter

from benchmarks.drill.kills import Outcome, Reference, lines, settled, values
from benchmarks.drill.task import Task, ended, living, start


def crowd(
    task: Task, reference: Reference, count: int, rng: random.Random, killed: bool = True
) -> Outcome:
    """Let so many processes share a run; all must end with the same model."""
    found = Outcome()
    pids = [start(task) for _ in range(count)]
    if killed:
        victim = pids.pop(rng.randrange(count))
        code = ended(victim, rng.random() * 0.7 * reference.seconds)
        if code is None:
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            found.kills = 1
    for pid in pids:
        code = ended(pid, 300.0)
        found.different += code != 0 or (task.home / "result").read_text() != reference.result
    begun = Counter(line for line in lines(task) if line.startswith("begin "))
    known = values(task)
    found.evaluations = sum(begun.values())
    found.unrecorded = found.evaluations - len(known)
    found.repeated += max(found.unrecorded - found.kills * task.slots, 0)
    found.lost += known.keys() != set(reference.keys.values())
    found.orphans += settled(lambda: not living(task))
    found.files += settled(lambda: not list(task.tmp.glob("*")))
    if found.violations:
        found.said.append((task.home / "err").read_text()[-2000:])
    return found
