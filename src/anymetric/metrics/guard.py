"""Guard: programs that this process starts do not outlive it, whatever ends it.

A small process of its own waits at a pipe. It is told of every program and every folder of work
files before they begin; when the pipe closes, it ends and removes what is left of them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

WATCH = """
import os, shutil, signal, sys
groups, folders = set(), set()
kept = {b"g": groups, b"f": folders}
for line in sys.stdin.buffer:
    sign, kind, what = line[:1], line[1:2], line[2:].rstrip(b"\\n")
    kept[kind].add(what) if sign == b"+" else kept[kind].discard(what)
for group in groups:
    try:
        os.killpg(int(group), signal.SIGKILL)
    except OSError:
        pass
for folder in folders:
    shutil.rmtree(folder, ignore_errors=True)
"""
# The program waits for the word to go, which comes when the guard knows of it.
GATE = 'read -r go && exec "$@" <"$0"'


class Guard:
    """One for each process; see `guard`.

    Examples
    --------
    >>> with guard().folder() as folder:
    ...     out = folder / "out"
    ...     with out.open("wb") as file:
    ...         with guard().program(["echo", "0.5"], {}, os.devnull, file, file) as program:
    ...             code = program.wait()
    ...     (code, out.read_text(), oct(folder.stat().st_mode & 0o777))
    (0, '0.5\\n', '0o700')
    >>> folder.exists()
    False
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", WATCH],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )

    def _tell(self, text: str) -> None:
        pipe = self._watcher.stdin
        assert pipe is not None
        with self._lock:
            pipe.write(os.fsencode(f"{text}\n"))
            pipe.flush()

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Give a private folder that is gone afterwards."""
        home = Path(tempfile.gettempdir()) / f"anymetric-{secrets.token_hex(8)}"
        self._tell(f"+f{home}")
        home.mkdir(mode=0o700)
        try:
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)
            self._tell(f"-f{home}")

    @contextmanager
    def program(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        given: str,
        out: object,
        err: object,
        cwd: str | None = None,
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start a program in a group of its own, which is gone afterwards with all its children."""
        program = subprocess.Popen(  # type: ignore[call-overload]
            ["/bin/sh", "-c", GATE, given, *words],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
        try:
            self._tell(f"+g{program.pid}")
            self._running.add(program.pid)
            program.stdin.write(b"go\n")
            program.stdin.close()
            yield program
        finally:
            end(program.pid)
            program.wait()
            self._running.discard(program.pid)
            self._tell(f"-g{program.pid}")

    def stop(self) -> None:
        """End every program that runs now."""
        for group in tuple(self._running):
            end(group)


def end(group: int) -> None:
    """End a group of processes, if any of it is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


_guards: dict[int, Guard] = {}
_making = threading.Lock()


def guard() -> Guard:
    """Return the guard of this process."""
    with _making:
        pid = os.getpid()
        if pid not in _guards:
            _guards.clear()  # those of a process that this one was forked from
            _guards[pid] = Guard()
        return _guards[pid]
