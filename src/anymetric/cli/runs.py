"""Runs: a folder for each run, there as a whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from anymetric.cli.faults import UserError, all_or_nothing
from anymetric.cli.tables import writable

HOME = Path("anymetric-runs")


def slug(text: str) -> str:
    """Return text as a part of a file's name.

    Examples
    --------
    >>> slug("mymodule:profit"), slug("precision@1%")
    ('mymodule-profit', 'precision-1')
    """
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")[:60] or "run"


def run_name(metric: str, now: datetime) -> Path:
    """Return the folder of a run that was given none: by time and metric.

    Examples
    --------
    >>> run_name("macro_f1", datetime(2020, 7, 13, 12, 0)).as_posix()
    'anymetric-runs/20200713-120000-macro_f1'
    """
    first = HOME / f"{now:%Y%m%d-%H%M%S}-{slug(metric)}"
    names = (first.with_name(f"{first.name}-{k}") if k else first for k in range(1000))
    return next(name for name in names if not name.exists())


def check_free(folder: Path) -> None:
    """Refuse a folder that is taken, or whose place cannot be written to, before any work.

    Examples
    --------
    >>> check_free(Path("."))
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: . exists already: name another folder with --run.
    """
    if folder.exists():
        raise UserError(f"{folder} exists already: name another folder with --run.")
    parent = folder.parent
    while not parent.exists():
        parent = parent.parent
    writable(parent)


@contextmanager
def run_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to; it gets its name when everything is written.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with run_folder(Path(home) / "runs" / "one") as scratch:
    ...         _ = (scratch / "a.txt").write_text("a")
    ...     sorted(path.name for path in Path(home).rglob("*"))
    ['a.txt', 'one', 'runs']
    """
    check_free(folder)
    made = [place for place in (folder.parent, *folder.parent.parents) if not place.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        scratch.chmod(0o777 & ~_mask())
        with all_or_nothing():
            yield scratch
            os.rename(scratch, folder)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        for place in made:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
