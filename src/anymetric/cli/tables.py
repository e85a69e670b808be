"""Tables: written whole or not at all, where nothing that is read is overwritten."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anymetric.cli.faults import UserError, all_or_nothing
from anymetric.cli.reading import COLUMNAR, PACKED, READ_ONLY, TEXT, reader_of
from anymetric.store.files import whole as written_whole


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a name to write to; only what was written to the end appears at `path`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as scratch:
    ...         _ = scratch.write_text("all")
    ...     os.listdir(folder)
    ['a.txt']
    """
    if path.exists() and not path.is_file():  # a pipe or a device takes what it is given
        if path.is_dir():
            raise UserError(f"{path} is a folder; name a file in it.")
        with all_or_nothing():
            yield path
        return
    writable(path.parent)
    with all_or_nothing(), written_whole(path) as scratch:
        yield scratch


def check_out(path: Path, *inputs: Path | None, force: bool = False) -> None:
    """Refuse, before any work, an output that cannot be written or would replace an input.

    Without `force`, a file that is there is refused too.

    Examples
    --------
    >>> check_out(Path("rows.csv"), Path("rows.csv"), None)
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: rows.csv is read, and would be overwritten: name another file.
    >>> check_out(Path(__file__))
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: ... exists already: name another file, or add --force ...
    """
    if path.is_dir():
        raise UserError(f"{path} is a folder; name a file in it.")
    writable(path.parent)
    if device(path):
        return
    if any(path.resolve() == one.resolve() for one in inputs if one is not None):
        raise UserError(f"{path} is read, and would be overwritten: name another file.")
    if not force:
        check_new(path)


def check_new(path: Path) -> None:
    """Refuse a file that is there."""
    if path.is_file():
        raise UserError(f"{path} exists already: name another file, or add --force to replace it.")


def writable(folder: Path) -> None:
    """Refuse a folder that is not there or cannot be written to, before any work."""
    if not folder.is_dir():
        raise UserError(f"The folder {folder} does not exist: make it, or name another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"The folder {folder} cannot be written to: name another.")


def device(path: Path) -> bool:
    """Return whether this is no file but something to write to, such as /dev/stdout."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_kind(path: Path) -> None:
    """Refuse a file whose name says no kind that tables are written in.

    Examples
    --------
    >>> check_kind(Path("scores.html"))
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: scores.html: files may be ...; '.html' is none of them.
    """
    if device(path):
        return
    reader_of(path)
    last = path.suffix.lower()
    if last == ".zst" or last in READ_ONLY:
        raise UserError(f"{path}: tables are not written as {last}; .csv or .csv.gz will do.")


def write_table(table: Any, path: Path) -> None:
    """Write a data frame to a file, in the kind that its name says: CSV, TSV, Parquet or Arrow.

    Examples
    --------
    >>> pd = __import__("pandas")
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pd.DataFrame({"a": [1]}), Path(folder) / "a.csv")
    ...     (Path(folder) / "a.csv").read_text()
    'a\\n1\\n'
    """
    check_kind(path)
    suffixes = [".csv"] if device(path) else [suffix.lower() for suffix in path.suffixes]
    with whole(path) as scratch:
        if suffixes[-1] in COLUMNAR:
            getattr(table, f"to_{COLUMNAR[suffixes[-1]]}")(scratch)
            return
        separator = TEXT.get(next((s for s in reversed(suffixes) if s in TEXT), ".csv"), ",")
        packed: Any = PACKED.get(suffixes[-1])
        if packed == "zip":
            packed = {"method": "zip", "archive_name": path.stem}
        table.to_csv(scratch, index=False, sep=separator, compression=packed)
