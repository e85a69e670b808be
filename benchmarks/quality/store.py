"""Store: one row of results for each task, method and seed, in a CSV that many may write to."""

from __future__ import annotations

import csv
import io
import os
import platform
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("anymetric", "numpy", "scipy", "scikit-learn", "lightgbm", "cma")


class Cell(NamedTuple):
    """Where a result stands: which method on which task with which seed."""

    task: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row:
    """One result: the metric on test and validation rows, and what it took to get there.

    A row with an `error` has no numbers, and its cell is tried again.
    """

    task: str
    method: str
    seed: int
    value: float = float("nan")
    cost: float = float("nan")
    validation_value: float = float("nan")
    seconds: float = float("nan")
    calls: float = float("nan")
    versions: str = ""
    when: str = ""
    error: str = ""

    @property
    def cell(self) -> Cell:
        """The row's place."""
        return Cell(self.task, self.method, self.seed)

    @property
    def good(self) -> bool:
        """Whether the method came to an end."""
        return not self.error


HEADER = [field.name for field in fields(Row)]
_KINDS = [{"str": str, "int": int, "float": float}[str(field.type)] for field in fields(Row)]


@dataclass(frozen=True)
class Store:
    """A CSV of rows. A row is written in one piece, so that no writer cuts into another's.

    Where a cell has several rows, the last good one counts.
    """

    path: Path

    def rows(self) -> dict[Cell, Row]:
        """Return the row of every cell that has one; lines cut short are passed over."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        read = [row for row in map(_parsed, lines) if row is not None]
        bad = {row.cell: row for row in read if not row.good}
        return {**bad, **{row.cell: row for row in read if row.good}}

    def done(self) -> set[Cell]:
        """Return the cells that need no more work."""
        return {cell for cell, row in self.rows().items() if row.good}

    def append(self, row: Row) -> None:
        """Add a row at the end of the file, which is made if it is not there."""
        self._begin()
        line = _line(asdict(row).values())
        file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        try:
            # A writer that was killed may have left half a line.
            start = "" if _ends_whole(file) else "\n"
            os.write(file, f"{start}{line}".encode())
        finally:
            os.close(file)

    def _begin(self) -> None:
        if self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.path.parent) as scratch:
            header = Path(scratch) / "header"
            header.write_text(_line(HEADER), encoding="utf-8")
            with suppress(FileExistsError):  # another writer was first
                os.link(header, self.path)


@cache
def versions() -> str:
    """Return what the numbers were made with; a version alone does not tell edits apart."""
    found = [f"python {platform.python_version()}", f"code {fingerprint()}"]
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return "; ".join([*found, platform.machine()])


def fingerprint() -> str:
    """Return eight letters that change with any line of the package."""
    spec = find_spec("anymetric")
    folders = (spec.submodule_search_locations or []) if spec else []
    digest = sha256()
    for file in sorted(file for folder in folders for file in Path(folder).rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def _line(values: Iterable[object]) -> str:
    text = io.StringIO()
    clean = [" ".join(value.split()) if isinstance(value, str) else value for value in values]
    csv.writer(text, lineterminator="\n").writerow(clean)
    return text.getvalue()


def _ends_whole(file: int) -> bool:
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1) == b"\n"


def _parsed(line: str) -> Row | None:
    # Line by line: a quote left open by half a line must not swallow the next.
    texts = next(csv.reader([line]), [])
    if len(texts) != len(HEADER) or texts == HEADER:
        return None
    try:
        return Row(*(as_(text) for as_, text in zip(_KINDS, texts, strict=True)))
    except ValueError:
        return None
