"""Files: each appears under its name when it is whole and on the disk, and not before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anymetric.store.owners import gone, owner

# How the name of a file ends that is still being written; before it stands who writes it.
PART = ".part"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a name to write to; what was written to the end appears at `path`, durably.

    What a process left behind that was killed here is removed first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as scratch:
    ...         _ = scratch.write_text("all")
    ...     os.listdir(folder)
    ['a.txt']
    """
    tidy(path.parent, path.name)
    scratch = path.with_name(f".{path.name}~{owner().replace('/', '~')}{PART}")
    try:
        yield scratch
        synced(scratch)
        os.replace(scratch, path)
        synced(path.parent)
    finally:
        scratch.unlink(missing_ok=True)


def tidy(folder: Path, name: str = "*") -> list[str]:
    """Remove what processes that have ended left unfinished in a folder; return the names.

    Examples
    --------
    >>> tidy(Path("/nowhere"))
    []
    """
    removed = []
    for left in folder.glob(f".{_plain(name)}~*{PART}"):
        who = left.name.removesuffix(PART).split("~")[-3:]
        if gone("/".join(who)):
            with suppress(OSError):
                left.unlink()
                removed.append(left.name)
    return removed


def synced(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:  # some file systems have nothing to say of folders
        if not path.is_dir():
            raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(handle)


def _plain(name: str) -> str:
    """Return a name as a pattern that means itself."""
    return name if name == "*" else "".join(f"[{c}]" if c in "*?[" else c for c in name)
