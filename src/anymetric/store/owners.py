"""Owners: which process holds a lease, and whether it still lives."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path


def owner() -> str:
    """Return a name of this process that no other has, on this machine or another.

    Examples
    --------
    >>> gone(owner())
    False
    """
    return f"{machine()}/{os.getpid()}/{_started(os.getpid())}"


def gone(name: str) -> bool:
    """Whether the owner was a process of this machine that has ended.

    Examples
    --------
    >>> gone(f"{machine()}/{os.getpid()}/0"), gone("elsewhere/1/0"), gone("a person")
    (True, False, False)
    """
    place, _, rest = name.rpartition("/")[0].rpartition("/")
    if place != machine() or not rest.isdigit():
        return False
    return _started(int(rest)) != name.rpartition("/")[2]


@cache
def machine() -> str:
    """Return this machine's name and when it was started."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    begun = boot.read_text(encoding="ascii").strip() if boot.exists() else ""
    return f"{socket.gethostname()}.{begun}".replace("/", "-")


def _started(pid: int) -> str:
    """Return when a process was started, in clock ticks since the machine was; empty if gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return text.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return _alive(pid)


def _alive(pid: int) -> str:
    """Where there is no /proc: whether a process of this number lives."""
    if Path("/proc/self/stat").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "alive"
