"""Disks: runs on a file system that fills up, which continue once space is free again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.drill.kills import Outcome, Reference, lines, settled, values
from benchmarks.drill.task import Task, ended, living, start


def why_not(home: Path) -> str | None:
    """Return why no small file system can be had here; None if one can."""
    if os.getuid() != 0:
        return "mounting a small tmpfs needs root"
    try:
        with small(home / "trial"):
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no tmpfs can be mounted: {error}"


@contextmanager
def small(place: Path, size: str = "8m") -> Iterator[Path]:
    """Mount a file system of so many bytes."""
    place.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "drill", str(place)]
    subprocess.run(words, check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def fill(place: Path, leave: int = 0) -> Path:
    """Fill the disk up to a number of free bytes."""
    filler = place / "filler"
    with filler.open("wb") as file:
        size = max(shutil.disk_usage(place).free - leave, 0)
        try:
            for _ in range(0, size, 4096):
                file.write(bytes(4096))
                file.flush()
        except OSError:
            pass
    return filler


def full(task: Task, reference: Reference, where: str, leave: int) -> Outcome:
    """Run into a full disk of the ledger or of the work files, free space, and run again."""
    found = Outcome()
    with small(task.home / "small") as place:
        if where == "ledger":
            one = replace(task, ledger=str(place / "run.db"))
        else:
            one = task
            (task.home / "tmp").symlink_to(place)
        filler = fill(place, leave)
        code = ended(start(one), 120.0)
        said = (task.home / "err").read_text()
        full_said = (
            code == 1 and said.rstrip().rpartition("\n")[2].count("No space left on device") > 0
        )
        clear = full_said or code == 0  # it may have been enough
        filler.unlink()
        before = values(one)
        code = ended(start(one), 120.0)
        after = values(one)
        found.different += code != 0 or (task.home / "result").read_text() != reference.result
        found.lost += sum(after.get(key, "gone") != value for key, value in before.items())
        found.evaluations = sum(line.startswith("begin ") for line in lines(task))
        found.unrecorded = found.evaluations - len(after)
        found.repeated += max(found.unrecorded - 1, 0)
        found.orphans += settled(lambda: not living(task))
        found.files += len(list((task.home / "tmp").glob("anymetric-*")))
        found.kills = int(full_said)
        if not clear:
            found.said.append(f"the message does not name the full disk: {said[-600:]}")
            found.different += 1
    return found
