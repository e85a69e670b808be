"""Guard: programs that this process starts do not outlive it, whatever ends it.

A small watcher process waits at a pipe. It is sent every program and every folder of work
files before they begin; when the pipe closes, it ends and removes what is left of them. This needs
a POSIX system. A program that makes a session of its own, as daemons do, is beyond its reach.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from anymetric.metrics import watcher
from anymetric.metrics.evaluations import STOPPING
from anymetric.metrics.watcher import end, remove
from anymetric.store.owners import gone, machine, owner

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
        self._lock = threading.Lock()
        self._running: dict[int, threading.Event | None] = {}
        self._registered: dict[str, None] = {}
        self._watcher = _started()
        tidy(Path(tempfile.gettempdir()))

    def _tell(self, sign: str, what: str) -> None:
        """Send a line to the watcher; one that has ended is replaced, and sent all lines."""
        with self._lock:
            if sign == "+":
                self._registered[what] = None
            else:
                self._registered.pop(what, None)
            try:
                _write(self._watcher, [f"{sign}{what}"])
            except OSError:
                self._watcher = _started()
                _write(self._watcher, [f"+{one}" for one in self._registered])

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Give a private folder that is gone afterwards."""
        home = Path(tempfile.gettempdir()) / f"{_prefix(owner())}-{secrets.token_hex(8)}"
        self._tell("+", f"f{home}")
        try:
            home.mkdir(mode=0o700)
            yield home
        finally:
            remove(str(home))
            self._tell("-", f"f{home}")

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
            self._tell("+", f"g{program.pid}")
            self._running[program.pid] = STOPPING.get()
            with suppress(BrokenPipeError):  # it is gone already, and will be seen to be
                program.stdin.write(b"go\n")
                program.stdin.close()
            yield program
        finally:
            end(program.pid)
            program.wait()
            self._running.pop(program.pid, None)
            self._tell("-", f"g{program.pid}")

    def stop(self) -> None:
        """End the programs of the threads that are stopping; all, if that is unknown."""
        whose = STOPPING.get()
        for group, of in tuple(self._running.items()):
            if whose is None or of is whose:
                end(group)

    def close(self) -> None:
        """Let the watcher end: it ends and removes what is left."""
        with self._lock, suppress(OSError, subprocess.TimeoutExpired):
            self._watcher.communicate(timeout=10.0)

    def forget(self) -> None:
        """Leave the watcher to the process that this one was forked from."""
        pipe = self._watcher.stdin
        assert pipe is not None
        with suppress(OSError):
            os.close(pipe.fileno())
        self._watcher.returncode = 0  # not ours to wait for


def _leave() -> None:
    """At the end of this process, let the watcher end before it."""
    for one in _guards.values():
        one.close()


atexit.register(_leave)


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", watcher.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
        cwd="/",
    )


def _write(process: subprocess.Popen[bytes], lines: Sequence[str]) -> None:
    assert process.stdin is not None
    for line in lines:
        process.stdin.write(os.fsencode(f"{line}\n"))


def _prefix(who: str) -> str:
    """Return how the folders of a process are called: a short name of the machine, and when."""
    _, pid, started = who.split("/")
    return f"anymetric-{hashlib.sha256(machine().encode()).hexdigest()[:8]}-{pid}-{started}"


def tidy(place: Path) -> None:
    """Remove folders whose process and watcher were both killed."""
    for left in place.glob(f"{_prefix(f'{machine()}/*/*')}-*"):
        _, _, pid, started, _ = left.name.split("-", 4)
        with suppress(OSError):
            ours = left.lstat().st_uid == os.getuid() and left.is_dir() and not left.is_symlink()
            if ours and gone(f"{machine()}/{pid}/{started}"):
                remove(str(left))


_guards: dict[int, Guard] = {}
_making = threading.Lock()


def guard() -> Guard:
    """Return the guard of this process."""
    with _making:
        pid = os.getpid()
        if pid not in _guards:
            _guards[pid] = Guard()
        return _guards[pid]


def _forked() -> None:
    """Let the watcher see the end of this process's parent, not of both."""
    global _making
    _making = threading.Lock()
    for one in _guards.values():
        one.forget()
    _guards.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
