"""Runs: a folder for each run, which holds what is finished from the first moment on."""

from __future__ import annotations

import json
import math
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from anymetric.cli.faults import UserError, full
from anymetric.cli.progress import Course
from anymetric.cli.tables import writable
from anymetric.errors import LedgerError
from anymetric.estimators._ledger import begin
from anymetric.store import Store, open_store
from anymetric.store.files import synced, tidy, whole

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # no such locks there: a run is then never said to be at work
    fcntl = None

HOME = Path("anymetric-runs")
LEDGER, ASKED, DONE, MODEL = "run.db", "settings.json", "run.json", "model.skops"
PROGRESS = "progress.json"
# Seconds between two writes of how far a run has come.
PAUSE = 1.0
QUESTIONS = "questions"
FORMAT, VERSION = "anymetric settings", 1


def slug(text: str) -> str:
    """Return text as a part of a file's name.

    Examples
    --------
    >>> slug("mymodule:profit"), slug("precision@1%")
    ('mymodule-profit', 'precision-1')
    """
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")[:60] or "run"


def new_folder(metric: str, now: datetime) -> Path:
    """Make the folder of a run that was given none, by time and metric; no two get the same.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     before = os.getcwd()
    ...     os.chdir(home)
    ...     made = [new_folder("macro_f1", datetime(2020, 7, 13, 12, 0)) for _ in range(2)]
    ...     os.chdir(before)
    >>> [folder.as_posix() for folder in made]
    ['anymetric-runs/20200713-120000-macro_f1', 'anymetric-runs/20200713-120000-macro_f1-1']
    """
    first = HOME / f"{now:%Y%m%d-%H%M%S}-{slug(metric)}"
    number = 0
    while True:
        folder = first.with_name(f"{first.name}-{number}") if number else first
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1


def unfinished(folder: Path) -> bool:
    """Whether a folder is that of a run that can go on."""
    return (folder / ASKED).is_file() and not (folder / DONE).exists()


def check_free(folder: Path) -> None:
    """Refuse a folder that is taken, or whose place cannot be written to, before any work.

    Examples
    --------
    >>> check_free(Path("."))
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: . exists already: name another folder with --run.
    """
    if unfinished(folder):
        return
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        what = "is a finished run" if (folder / DONE).is_file() else "exists already"
        raise UserError(f"{folder} {what}: name another folder with --run.")
    parent = folder.parent
    while not parent.exists():
        parent = parent.parent
    writable(parent)


def same_run(asked: Mapping[str, Any], told: Mapping[str, Any]) -> Path | None:
    """Return the latest folder of the same command on the same rows that was cut off."""
    for folder in sorted(HOME.glob("*/"), reverse=True):
        with suppress(UserError, LedgerError):
            if not unfinished(folder) or read_settings(folder) != asked or busy(folder):
                continue
            store = open_run(folder)
            before = store.fingerprint()
            store.close()
            if before == told:
                return folder
    return None


def busy(folder: Path) -> bool:
    """Whether a process is at a run now: each holds a lock, which ends with it."""
    if fcntl is None or not (folder / ASKED).is_file():
        return False
    with (folder / ASKED).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def open_run(folder: Path) -> Store:
    """Open the ledger of a run; refuse a folder that has none."""
    if not (folder / LEDGER).is_file():
        what = "it has no run.db" if folder.is_dir() else "there is no such folder"
        raise UserError(f"{folder} is no run of `anymetric fit`: {what}.")
    return open_store(folder / LEDGER)


def read_settings(folder: Path) -> dict[str, Any]:
    """Return what a run was asked for."""
    path = folder / ASKED
    if not path.is_file():
        raise UserError(f"{folder} is no run that can go on: it has no {ASKED}.")
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if (stored["format"], stored["version"]) != (FORMAT, VERSION):
            raise ValueError(stored["version"])
        return dict(stored["fit"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} was not written by this anymetric: it is left alone.") from error


def read_progress(folder: Path) -> dict[str, Any]:
    """Return how far training has come; nothing before a first candidate.

    Examples
    --------
    >>> read_progress(Path("/nowhere"))
    {}
    """
    with suppress(OSError, ValueError):
        found = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


@dataclass
class RunFolder:
    """A run that is open: its folder, its ledger, and whether this process made it.

    Parameters
    ----------
    path : Path
    store : Store
    made : list of Path
        The folders that were made for it.
    """

    path: Path
    store: Store
    made: list[Path] = field(default_factory=list)
    lock: IO[bytes] | None = None
    wrote: float = -math.inf

    @classmethod
    def open(
        cls, folder: Path | None, name: str, asked: dict[str, Any], told: dict[str, Any]
    ) -> RunFolder:
        """Make the folder of a run, or open one that was cut off; another run is refused."""
        folder = folder or same_run(asked, told)
        homes = [HOME] if folder is None else [folder.parent, *folder.parent.parents]
        made = [place for place in homes if not place.exists()]
        if folder is None:
            folder = new_folder(name, datetime.now())
            made = [folder, *made]
        elif not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            made = [folder, *made]
        try:
            write_settings(folder, asked)
            run = cls(folder, open_store(folder / LEDGER), made, locked(folder))
        except BaseException as error:
            remove(made)
            if full(error):
                error = UserError(f"{folder}: no space is left on the disk")
            if made and isinstance(error, UserError | LedgerError):
                raise UserError(f"{str(error).rstrip('.')}; nothing was kept.") from error
            raise
        try:
            begin(run.store, told)  # type: ignore[no-untyped-call]
            tidy(folder)
        except BaseException:
            run.leave()
            raise
        return run

    @property
    def recorded(self) -> int:
        """How many answers there are."""
        return sum(not one.failed for one in self.store.known().values())

    def keep_progress(self, course: Course, now: bool = False) -> None:
        """Write how far training has come, now or once a second, for `anymetric status`."""
        late = time.monotonic() - self.wrote >= PAUSE
        if not (now or late) or not math.isfinite(course.lowest):
            return
        self.wrote = time.monotonic()
        with suppress(OSError), whole(self.path / PROGRESS) as scratch:
            found = {"best": course.best_value, "iterations": course.iterations}
            scratch.write_text(json.dumps(found), encoding="utf-8")

    def kept(self, trained: bool = False) -> str:
        """Return what there is and how to go on, in words; empty if there is nothing."""
        try:
            count = self.recorded
        except (LedgerError, OSError):
            count = 0
        parts = []
        if (self.path / MODEL).exists():
            what = "the model" if trained else "the best model so far"
            parts.append(f"{what} is kept: {self.path / MODEL}")
        if count:
            calls = f"{count} evaluation{'s' if count > 1 else ''}"
            parts.append(f"{calls}: {self.path / LEDGER}")
        if not parts:
            return ""
        return f"{'; '.join(parts)}. `anymetric resume {self.path}` goes on from there"

    def leave(self) -> None:
        """Let go of the run; one that this process made and that holds nothing is removed."""
        empty = not self.kept()
        self.store.close()
        if self.lock is not None:
            self.lock.close()
        if empty and self.made and not busy(self.path):
            remove(self.made)


def write_settings(folder: Path, asked: Mapping[str, Any]) -> None:
    """Write down what a run is asked for, unless it is there already."""
    if not (folder / ASKED).exists():
        with whole(folder / ASKED) as scratch:
            text = json.dumps({"format": FORMAT, "version": VERSION, "fit": asked}, indent=1)
            scratch.write_text(text + "\n", encoding="utf-8")
        synced(folder.parent)


def locked(folder: Path) -> IO[bytes] | None:
    """Say that this process is at a run, for as long as the file is open."""
    if fcntl is None:
        return None
    file = (folder / ASKED).open("rb")
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return file


def remove(made: list[Path]) -> None:
    """Remove the folders that were made, the first with all that is in it."""
    if made:
        shutil.rmtree(made[0], ignore_errors=True)
    for place in made[1:]:
        with suppress(OSError):
            place.rmdir()


@contextmanager
def at_work(run: RunFolder) -> Iterator[RunFolder]:
    """Let go of a run at the end, however it comes."""
    try:
        yield run
    finally:
        run.leave()
