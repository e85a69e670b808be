"""The drill's command line: every part in turn, a row for each run, a table, an exit code."""

from __future__ import annotations

import argparse
import csv
import platform
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from zlib import crc32

from benchmarks.drill import disks, server
from benchmarks.drill.crowds import crowd
from benchmarks.drill.damage import damage
from benchmarks.drill.hostile import hostile
from benchmarks.drill.kills import Outcome, Reference, broken
from benchmarks.drill.task import Task

RESULTS = Path(__file__).resolve().parents[1] / "results"
COUNTS = [name for name in Outcome.__dataclass_fields__ if name != "said"]
HEADER = ("part", "case", "seed", *COUNTS, "seconds")
BAD = ("repeated", "lost", "different", "orphans", "files")


@dataclass(frozen=True)
class Case:
    """A kind of run: what is fitted, where its ledger is, how many commands run at once."""

    kind: str
    base: str = "SQLite"
    slots: int = 1

    def __str__(self) -> str:
        return f"{self.kind}, {self.base}, {self.slots} at once"


KILLED = (
    Case("two classes"),
    Case("two classes", slots=3),
    Case("three classes"),
    Case("numbers", slots=2),
    Case("two classes", "PostgreSQL"),
)
CROWDS = (Case("two classes"), Case("three classes"), Case("two classes", "PostgreSQL"))
# Bytes that are left on a small disk when a run begins.
ROOMS = {
    "ledger": (0, 50_000, 100_000, 200_000, 400_000, 800_000),
    "work files": (0, 4_096, 8_192, 12_288, 16_384, 65_536),
}


class Drill:
    """The parts, their rows so far, and a clock."""

    def __init__(self, asked: argparse.Namespace, stack: ExitStack) -> None:
        self.asked, self.rows = asked, read(asked.out)
        self.ends = time.monotonic() + asked.seconds
        fast = Path("/dev/shm")
        place = fast if fast.is_dir() and not asked.disk else None
        self.home = Path(stack.enter_context(tempfile.TemporaryDirectory("", "drill-", place)))
        self.stack, self.references = stack, dict[str, Reference]()
        self.server: server.Server | None = None
        self.skipped: list[str] = []

    def task(self, case: Case, name: str) -> Task:
        home = self.home / name
        home.mkdir(parents=True)
        ledger = str(home / "run.db")
        if case.base == "PostgreSQL":
            if self.server is None:
                self.server = self.stack.enter_context(server.server())
            ledger = self.server.address()
        return Task(case.kind, home, ledger, self.asked.evaluation, slots=case.slots)

    def reference(self, case: Case) -> Reference:
        if case.kind not in self.references:
            task = self.task(Case(case.kind), f"unbroken-{case.kind.replace(' ', '-')}")
            self.references[case.kind] = Reference.of(task)
        return self.references[case.kind]

    def possible(self, case: Case) -> bool:
        why = server.why_not() if case.base == "PostgreSQL" else None
        if why:
            self.skipped.append(f"{case}: skipped, {why}.")
        return why is None

    def kills(self) -> Iterator[None]:
        """Kill each kind of run until its share of the kills is done."""
        cases = [case for case in KILLED if self.possible(case)]
        for number, case in enumerate(cases):
            share = self.asked.kills // len(cases) + (number < self.asked.kills % len(cases))
            while (done := self.sum("kill -9", case, "kills")) < share:
                seed, rng = self.seeded("kill -9", case)
                task = self.task(case, f"kill-{number}-{seed}")
                began, most = time.monotonic(), min(5, share - done)
                found = broken(task, self.reference(case), rng, most)
                self.add("kill -9", str(case), seed, found, began, task)
                yield

    def crowds(self) -> Iterator[None]:
        for number, case in enumerate(CROWDS):
            if not self.possible(case):
                continue
            while self.count("4 evaluators", case) < self.asked.crowds:
                seed, rng = self.seeded("4 evaluators", case)
                task = self.task(case, f"crowd-{number}-{seed}")
                began = time.monotonic()
                found = crowd(task, self.reference(case), 4, rng)
                self.add("4 evaluators", str(case), seed, found, began, task)
                yield

    def disks(self) -> Iterator[None]:
        why = disks.why_not(self.home)
        if why:
            self.skipped.append(f"Full disks: skipped, {why}.")
            return
        for where, rooms in ROOMS.items():
            for room in rooms[: self.asked.disks]:
                case = f"{where}, {room:,} bytes left"
                if self.count("full disk", case):
                    continue
                plain = Case("two classes")
                task = self.task(plain, f"disk-{where[:4]}-{room}")
                began = time.monotonic()
                found = disks.full(task, self.reference(plain), where, room)
                self.add("full disk", case, 0, found, began, task)
                yield

    def damaged(self) -> Iterator[None]:
        if self.asked.damaged and not self.count("damaged ledger", "all ways"):
            began, found = time.monotonic(), Outcome()
            said = damage(self.home / "damage", self.asked.damaged, random.Random(self.asked.seed))
            for how, counts in said.items():
                wrong = {k: n for k, n in counts.items() if k not in ("refused", "harmless")}
                found.evaluations += sum(counts.values())
                found.different += sum(wrong.values())
                found.said += [f"{how}: {wrong}"] if wrong else []
            self.add("damaged ledger", "all ways", self.asked.seed, found, began)
            yield

    def hostile(self) -> Iterator[None]:
        if self.asked.hostile and not self.count("hostile input", "tells"):
            began = time.monotonic()
            for kind, counts in hostile(self.asked.hostile, self.asked.seed).items():
                elsewhere = counts.pop("written elsewhere", 0)
                found = Outcome(different=counts.pop("unclear", 0), files=elsewhere)
                found.evaluations = sum(counts.values())
                self.add("hostile input", kind, self.asked.seed, found, began)
            yield

    def seeded(self, part: str, case: Case) -> tuple[int, random.Random]:
        seed = self.asked.seed + self.count(part, case)
        return seed, random.Random(crc32(f"{part} {case} {seed}".encode()))

    def count(self, part: str, case: object) -> int:
        return sum(row["part"] == part and row["case"] == str(case) for row in self.rows)

    def sum(self, part: str, case: object, name: str) -> int:
        rows = [row for row in self.rows if row["part"] == part and row["case"] == str(case)]
        return sum(int(row[name]) for row in rows)

    def add(
        self,
        part: str,
        case: str,
        seed: int,
        found: Outcome,
        began: float,
        task: Task | None = None,
    ) -> None:
        counts = {name: str(getattr(found, name)) for name in COUNTS}
        row = {"part": part, "case": case, "seed": str(seed), **counts}
        row["seconds"] = f"{time.monotonic() - began:.1f}"
        self.rows.append(row)
        if self.asked.out is not None:
            write(self.asked.out, self.rows)
        if found.violations:
            print(f"VIOLATION in {part}, {case}, seed {seed}:", *found.said, sep="\n  ")
        elif task is not None:
            shutil.rmtree(task.home, ignore_errors=True)

    def run(self) -> bool:
        """Run until all is done or the time is up; return whether all is done."""
        parts = (self.kills, self.crowds, self.disks, self.damaged, self.hostile)
        for _ in chain.from_iterable(part() for part in parts):
            if time.monotonic() > self.ends:
                return False
        return True


def read(path: Path | None) -> list[dict[str, str]]:
    if path is None or not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    scratch = path.with_suffix(".part")
    with scratch.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    scratch.replace(path)


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return the sums of each case as a table."""
    head = ("part", "case", "runs", *COUNTS)
    cases = dict.fromkeys((row["part"], row["case"]) for row in rows)
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    for part, case in cases:
        own = [row for row in rows if (row["part"], row["case"]) == (part, case)]
        sums = [str(sum(int(row[name]) for row in own)) for name in COUNTS]
        lines.append(f"| {part} | {case} | {len(own)} | {' | '.join(sums)} |")
    return "\n".join(lines)


def wrong(rows: Sequence[dict[str, str]]) -> int:
    return sum(int(row[name]) for row in rows for name in BAD)


def page(rows: Sequence[dict[str, str]], skipped: Sequence[str]) -> str:
    names = ("anymetric", "numpy", "scipy", "scikit-learn", "hypothesis", "sqlalchemy", "psycopg")
    made = ", ".join(f"{name} {version(name)}" for name in names)
    kills = sum(int(row["kills"]) for row in rows if row["part"] in ("kill -9", "4 evaluators"))
    return "\n\n".join(
        [
            "# Drill",
            f"{kills} kills with SIGKILL at random moments, violations: {wrong(rows)}. Made by "
            "`make drill`.",
            table(rows),
            "`kills`: of a full disk, whether the message names it. `evaluations`: programs that "
            "were started, or cases. `unrecorded`: those that were under way at a kill or a full "
            "disk, the only ones that are made again. The others are violations: recorded "
            "evaluations `repeated` or `lost`, results `different` from those of the unbroken run "
            "(or input without a clear end), `orphans` left running, `files` left over or written "
            "elsewhere.",
            *skipped,
            f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {made}, "
            f"{platform.system()} {platform.release()}.",
            "",
        ]
    )


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    line = argparse.ArgumentParser(description=__doc__)
    line.add_argument("--kills", type=int, default=200)
    line.add_argument("--crowds", type=int, default=5, help="runs of 4 evaluators of each case")
    line.add_argument("--disks", type=int, default=6, help="full disks of each kind")
    line.add_argument("--damaged", type=int, default=1000, help="damaged ledgers")
    line.add_argument("--hostile", type=int, default=4000, help="cases of each kind of input")
    line.add_argument("--evaluation", type=float, default=0.03, help="seconds of an evaluation")
    line.add_argument("--seed", type=int, default=0)
    line.add_argument("--seconds", type=float, default=1e9, help="go on another time after these")
    line.add_argument("--disk", action="store_true", help="work on the disk, not in memory")
    line.add_argument("--out", type=Path, help="a CSV to continue; the table is written beside it")
    return line.parse_args(words)


def main(words: Sequence[str] | None = None, say: Callable[[str], object] = print) -> int:
    """Run the drill; return 0 if nothing was violated, 1 if something was, 75 if more is to do."""
    asked = parsed(words)
    with ExitStack() as stack:
        drill = Drill(asked, stack)
        done = drill.run()
    say(table(drill.rows))
    for skipped in drill.skipped:
        say(skipped)
    if asked.out is not None and done:
        asked.out.with_suffix(".md").write_text(page(drill.rows, drill.skipped))
    bad = wrong(drill.rows)
    say(f"{bad} violations; {'all is done' if done else 'to be gone on with'}.")
    return 1 if bad else 0 if done else 75


if __name__ == "__main__":
    sys.exit(main())
