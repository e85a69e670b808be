"""Owners: which process holds a lease, and whether it still lives."""

from __future__ import annotations

import os
import secrets
import socket
from functools import cache
from pathlib import Path

# States of a process that has ended, and of one that is stopped.
ENDED, STOPPED = "ZX", "Tt"


def owner() -> str:
    """Return a name of this process that no other has, on this machine or another.

    Examples
    --------
    >>> gone(owner()), lives(owner())
    (False, True)
    """
    pid = os.getpid()
    return f"{machine()}/{pid}/{_started(pid)[0]}"


def worker() -> str:
    """Return a new worker name in this process: each thread at work has its own.

    Examples
    --------
    >>> worker() == worker(), lives(worker())
    (False, True)
    """
    return f"{owner()}/{secrets.token_hex(4)}"


def gone(name: str) -> bool:
    """Whether the owner was a process of this machine that has ended.

    Examples
    --------
    >>> gone(f"{machine()}/{os.getpid()}/0"), gone("elsewhere/1/0"), gone("a person")
    (True, False, False)
    """
    return _standing(name) is False


def lives(name: str) -> bool:
    """Whether the owner is a process of this machine that runs.

    Examples
    --------
    >>> lives(f"{machine()}/{os.getpid()}/0"), lives("elsewhere/1/0"), lives("a person")
    (False, False, False)
    """
    return _standing(name) is True


def _standing(name: str) -> bool | None:
    """Whether a process of this machine runs; None if that is unknown, or it is only stopped."""
    place, *rest = name.split("/")
    if place != machine() or len(rest) < 2 or not rest[0].isdecimal():
        return None
    started, state = _started(int(rest[0]))
    if started != rest[1] or state in ENDED:
        return False
    return None if state in STOPPED else True


@cache
def machine() -> str:
    """Return this machine's name, when it was started, and which of its processes can be seen."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    begun = boot.read_text(encoding="ascii").strip() if boot.exists() else ""
    try:
        seen = os.readlink("/proc/self/ns/pid")
    except OSError:
        seen = ""
    return f"{socket.gethostname()}.{begun}.{seen}".replace("/", "-")


def _started(pid: int) -> tuple[str, str]:
    """Return when a process was started, in clock ticks, and its state; "" and X if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        told = text.rpartition(")")[2].split()
        return told[19], told[0]
    except (OSError, IndexError):
        return _alive(pid)


def _alive(pid: int) -> tuple[str, str]:
    """Where there is no /proc: whether a process of this number lives."""
    if Path("/proc/self/stat").exists():
        return "", "X"
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return "", "X"
    except OSError:
        pass
    return "alive", "R"
