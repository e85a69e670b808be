"""Watcher: ends programs and removes folders, here or as a process of its own (see `guard`).

It is run as a file by a bare interpreter, so it imports nothing but the standard library.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

# Seconds that a program being ended may still write, and between polls.
LAST, PAUSE = 5.0, 0.02


def end(group: int) -> None:
    """End a group of processes and all of its session, if any of it is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for pid in members(group):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def members(session: int) -> Iterator[int]:
    """Yield the processes of a session: `timeout` and shells make groups of their own."""
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                stat = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(stat) > 3 and int(stat[3]) == session and stat[0] not in (b"Z", b"X"):
            yield int(name)


def remove(folder: str) -> None:
    """Remove a folder, whatever its programs did to it."""
    ends = time.monotonic() + LAST
    while True:
        shutil.rmtree(folder, onerror=_opened)
        if not os.path.lexists(folder) or time.monotonic() > ends:
            return
        time.sleep(PAUSE)


def _opened(act: Callable[[str], Any], path: str, error: Any) -> None:
    """Try again what failed, with the right to do so."""
    with suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700)
        act(path)


def watch(lines: Iterable[bytes]) -> None:
    """Register what begins and ends; when the pipe closes, end and remove the rest."""
    kept: dict[bytes, set[bytes]] = {b"g": set(), b"f": set()}
    for line in lines:
        sign, kind, what = line[:1], line[1:2], line[2:].rstrip(b"\n")
        if sign == b"+":
            kept[kind].add(what)
        else:
            kept[kind].discard(what)
    for group in kept[b"g"]:
        end(int(group))
    for folder in kept[b"f"]:
        remove(os.fsdecode(folder))


if __name__ == "__main__":
    watch(sys.stdin.buffer)
