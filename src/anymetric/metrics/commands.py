"""Commands: a program of any language as a metric, given predictions, asked for a number."""

from __future__ import annotations

import errno
import json
import os
import select
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anymetric.errors import WorkspaceError
from anymetric.metrics.digests import digest
from anymetric.metrics.evaluations import STOPPING
from anymetric.metrics.exchange import FORMATS, number, predictions_table, write_table
from anymetric.metrics.functions import FunctionMetric
from anymetric.metrics.guard import guard
from anymetric.metrics.identity import hashed_text
from anymetric.metrics.watcher import end

# Where a command finds the file of predictions; without it they are its standard input.
PLACE = "{predictions}"
# Of our own environment a command is given these, and what `env` says.
PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
# Bytes of output that are read; a program that writes more is ended.
SHOWN, MOST = 4_000, 1 << 24
# Faults of the machine, not of the program; bytes that are free on a disk that is not full.
SHORT = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
SPARE = 1 << 14


class CommandError(RuntimeError):
    """A command gave no number; the message has its exit code and its standard error.

    Examples
    --------
    >>> raise CommandError("score.R ended with exit code 1.")
    Traceback (most recent call last):
    anymetric.metrics.commands.CommandError: score.R ended with exit code 1.
    """


@dataclass(frozen=True)
class Command:
    """Run a program on predictions and read the number that it prints; see `CommandMetric`."""

    words: tuple[str, ...]
    on: str = "decisions"
    format: str = "csv"
    field: str | None = None
    timeout: float = 3600.0
    retries: int = 0
    backoff: float = 1.0
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    slots: int = 1

    takes_all = True

    def __call__(self, y_true: Any, second: Any, /, **columns: Any) -> float:
        """Return the number; after a failure try again, waiting twice as long each time."""
        table = predictions_table(y_true, second, columns, self.on)
        stopping = STOPPING.get() or threading.Event()
        attempt = 0
        while True:
            try:
                return self._once(table)
            except CommandError as error:
                if attempt == self.retries or stopping.wait(self.backoff * 2.0**attempt):
                    tries = f" (the last of {attempt + 1} attempts)" if attempt else ""
                    raise CommandError(f"{error}{tries}") from None
            attempt += 1

    def stop(self) -> None:
        """End the commands of those who are stopping now."""
        guard().stop()

    def identified(self) -> dict[str, Any]:
        """Return what changes the answers: not how long is waited, and secrets only as hashes."""
        told = {name: getattr(self, name) for name in ("words", "on", "format", "field")}
        return {**told, "env": hashed_text(dict(self.env)), "files": self._files()}

    def _files(self) -> dict[str, str]:
        """Return hashes of the scripts among the words: another script is another metric."""
        found = {}
        for word in self.words:
            path = Path(self.cwd or ".") / word
            with suppress(OSError, ValueError):
                ours = str(path.parent) not in os.get_exec_path()
                if ours and path.is_file() and path.stat().st_size <= MOST:
                    found[word] = digest(path.read_bytes())[:16]
        return found

    @property
    def name(self) -> str:
        """The program's name."""
        return Path(self.words[0]).name

    @property
    def says(self) -> str:
        """What there is to say of it."""
        return f"What `{shlex.join(self.words)}` prints."

    def _once(self, table: dict[str, Any]) -> float:
        env = {key: os.environ[key] for key in PASSED if key in os.environ}
        known = dict(self.env).get("PATH", env.get("PATH", os.defpath))
        if shutil.which(self.words[0], path=known) is None and self.cwd is None:
            raise CommandError(f"the program {self.words[0]!r} is not found")
        try:
            with guard().folder() as folder:
                return self._within(folder, table, {**env, "TMPDIR": str(folder), **dict(self.env)})
        except OSError as error:
            if error.errno not in SHORT:
                raise
            said = f"No room to run {self.name}: {error.strerror}"
            place = error.filename or tempfile.gettempdir()
            raise WorkspaceError(error.errno, said, str(place)) from error

    def _within(self, folder: Path, table: dict[str, Any], env: dict[str, str]) -> float:
        path = folder / f"predictions.{self.format}"
        write_table(table, path, self.format)
        words = [word.replace(PLACE, str(path)) for word in self.words]
        given = os.devnull if words != list(self.words) else str(path)
        out, err = folder / "out", folder / "err"
        try:
            self._run(words, env, given, out, err)
            return self._number(tail(out, MOST), err)
        except CommandError:
            if shutil.disk_usage(folder).free < SPARE:  # it could not even have said a number
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from None
            raise

    def _run(self, words: list[str], env: dict[str, str], given: str, out: Path, err: Path) -> None:
        with (
            out.open("wb") as outs,
            err.open("wb") as errs,
            guard().program(words, env, given, outs, errs, self.cwd) as program,
        ):
            why = waited(program, self.timeout, (out, err))
        if why is not None:
            raise CommandError(f"{self.name} {why}{said(err)}")
        if program.returncode:
            raise CommandError(f"{self.name} ended with exit code {program.returncode}{said(err)}")

    def _number(self, text: str, err: Path) -> float:
        lines = [line for line in text.splitlines() if line.strip()]
        last = lines[-1].strip() if lines else ""
        try:
            if self.field is None:
                return number(last)
            found = _document(text, last)[self.field]
            if isinstance(found, bool) or not isinstance(found, int | float):
                raise TypeError
            return float(found)
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            what = "a number" if self.field is None else f"JSON with a number as {self.field!r}"
            message = f"{self.name} printed {last[:80]!r} as its last line, not {what}{said(err)}"
            raise CommandError(message) from None


def _document(text: str, last: str) -> Any:
    """Return the JSON that is the last line, or the whole output."""
    try:
        return json.loads(last)
    except ValueError:
        return json.loads(text)


def waited(program: subprocess.Popen[bytes], seconds: float, files: Sequence[Path]) -> str | None:
    """Wait for a program; one that takes too long or writes too much is ended, and why is said."""
    ends = time.monotonic() + seconds
    while True:
        left = ends - time.monotonic()
        if left <= 0.0:
            end(program.pid)
            return f"took longer than the time-out of {seconds:g} seconds and was ended"
        if max(file.stat().st_size for file in files) > MOST:
            end(program.pid)
            return f"wrote more than {MOST >> 20} MB and was ended"
        if _ended(program, min(left, 1.0)):
            return None


def _ended(program: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the end of a program, not a moment longer; return whether it has come."""
    if not hasattr(os, "pidfd_open"):
        try:
            program.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True
    handle = os.pidfd_open(program.pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(int(1000 * seconds) + 1)
    finally:
        os.close(handle)
    return program.poll() is not None


def said(path: Path) -> str:
    """Return the end of a program's standard error as the end of a sentence."""
    text = tail(path, SHOWN).strip()
    return f"; its standard error: {text}" if text else "; its standard error is empty"


def tail(path: Path, size: int) -> str:
    """Return the last bytes of a file as text."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - size, 0))
        return file.read(size).decode("utf-8", "replace")


def CommandMetric(
    command: str | Sequence[str],
    *,
    greater_is_better: bool,
    on: str = "decisions",
    name: str | None = None,
    needs: Sequence[str] = (),
    ceiling: float = 0.0,
    format: str = "csv",
    field: str | None = None,
    timeout: float = 3600.0,
    retries: int = 0,
    backoff: float = 1.0,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    shell: bool = False,
    slots: int = 1,
) -> FunctionMetric:
    """Make a program a metric: it gets predictions as a file and prints a number.

    The table has a line for each row: ``row``, its number among the rows that were given to `fit`;
    ``y_true``; ``prediction``, ``score`` or ``probability`` (of many classes one column each); and
    all metadata. The program's children end with it, and with this process, even if that is
    killed; for this a POSIX system is required.

    Parameters
    ----------
    command : sequence of str
        Program and arguments. ``{predictions}`` in one of them becomes the path of the file;
        without it the table is the standard input. One text is taken with ``shell=True`` only.
    greater_is_better : bool
    on : {"decisions", "scores", "probabilities"}
        What the program reads.
    name : str, optional
        The program's by default.
    needs : sequence of str
        Metadata that must be there.
    ceiling : float
        ``cost = ceiling - value`` where greater is better.
    format : {"csv", "jsonl", "parquet"}
        Of the table.
    field : str, optional
        The program prints JSON, and the number is in this field. By default its last line is the
        number.
    timeout : float
        Seconds, after which the program and its children are ended.
    retries : int
        How often a failing program is tried again, after `backoff` seconds and then twice as many.
    env : mapping, optional
        The program's environment, beside PATH, HOME and what says language and time zone. TMPDIR is
        a private folder that is removed after each evaluation.
    cwd : str, optional
        The folder that it runs in.
    shell : bool
        Whether the command is one text for ``/bin/sh``.
    slots : int
        How many programs may run at the same time.

    Examples
    --------
    >>> import numpy as np
    >>> script = "NR > 1 { hits += ($2 == $3) } END { print hits / (NR - 1) }"
    >>> accuracy = CommandMetric(["awk", "-F,", script], greater_is_better=True)
    >>> bound = accuracy.bind(np.array([1.0, -1.0, 1.0, -1.0]), labels=(0, 1))
    >>> float(bound.values(np.array([1.0, -1.0, -1.0, -1.0])))
    0.75
    """
    words = _words(command, shell)
    if format not in FORMATS:
        raise ValueError(f"format={format!r} was asked; it must be one of {tuple(FORMATS)}.")
    if not timeout > 0.0 or retries < 0 or backoff < 0.0 or slots < 1:
        raise ValueError(
            "timeout must be positive, retries and backoff not negative, slots at least 1; got "
            f"timeout={timeout}, retries={retries}, backoff={backoff}, slots={slots}."
        )
    settings = tuple(sorted((env or {}).items()))
    run = Command(words, on, format, field, timeout, retries, backoff, settings, cwd, slots)
    return FunctionMetric(
        run, greater_is_better, on, tuple(needs), (), name or _title(command, run), ceiling
    )


def _words(command: str | Sequence[str], shell: bool) -> tuple[str, ...]:
    if shell != isinstance(command, str):
        raise ValueError(
            f"A list of words was expected, or with shell=True one text; got {command!r} with "
            f"shell={shell}."
        )
    words = ("/bin/sh", "-c", command) if isinstance(command, str) else tuple(map(str, command))
    if not words or any("\0" in word for word in words):
        raise ValueError(f"The command {command!r} has no words, or a zero byte in one.")
    return words


def _title(command: str | Sequence[str], run: Command) -> str:
    return command.split()[0] if isinstance(command, str) and command.split() else run.name
