"""Store: rows of results, one for each cell, in a CSV that many may write to."""

from __future__ import annotations

import csv
import io
import os
import platform
import tempfile
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

fcntl: Any = None
with suppress(ImportError):  # not on every system
    import fcntl

PACKAGES = ("anymetric", "numpy", "scipy", "scikit-learn", "lightgbm", "cma")


class Kept(Protocol):
    """What a store needs of a row, which is a dataclass of texts and numbers."""

    @property
    def cell(self) -> Hashable:
        """The row's place."""
        ...

    @property
    def good(self) -> bool:
        """Whether the work came to an end; if not, the cell is tried again."""
        ...


R = TypeVar("R", bound=Kept)
KINDS = {"str": str, "int": int, "float": float}


@dataclass(frozen=True)
class Store(Generic[R]):
    """A CSV of rows. A row is written in one piece, so that no writer cuts into another's.

    Where a cell has several rows, the last good one counts.

    Parameters
    ----------
    path : Path
    kind : dataclass
        Of the rows: fields of type str, int and float, and `Kept`.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder) / "rows.csv", Row)
    ...     store.append(Row("table2", "simulated", "logistic", 0, "any", cost=1.0))
    ...     [row.cost for row in store.rows().values()]
    [1.0]
    """

    path: Path
    kind: type[R]

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in fields(self.kind)]  # type: ignore[arg-type]

    def rows(self) -> dict[Any, R]:
        """Return the row of every cell that has one; lines cut short are passed over."""
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        read = [row for row in map(self._parsed, lines) if row is not None]
        bad = {row.cell: row for row in read if not row.good}
        return {**bad, **{row.cell: row for row in read if row.good}}

    def done(self) -> set[Any]:
        """Return the cells that need no more work."""
        return {cell for cell, row in self.rows().items() if row.good}

    def append(self, row: R) -> None:
        """Add a row at the end of the file, which is made if it is not there."""
        self._begin()
        line = csv_line(asdict(row).values())  # type: ignore[call-overload]
        file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        try:
            # Half a line may be a killed writer's, but not that of one at work.
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            start = "" if ends_whole(file) else "\n"
            os.write(file, f"{start}{line}".encode())
        finally:
            os.close(file)

    def _begin(self) -> None:
        if self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.path.parent) as scratch:
            header = Path(scratch) / "header"
            header.write_text(csv_line(self.header), encoding="utf-8")
            with suppress(FileExistsError):  # another writer was first
                os.link(header, self.path)

    def _parsed(self, line: str) -> R | None:
        # Line by line: a quote left open by half a line must not swallow the next.
        texts = next(csv.reader([line]), [])
        if len(texts) != len(self.header) or texts == self.header:
            return None
        kinds = [KINDS[str(field.type)] for field in fields(self.kind)]  # type: ignore[arg-type]
        try:
            return self.kind(*(as_(text) for as_, text in zip(kinds, texts, strict=True)))
        except ValueError:
            return None


class Cell(NamedTuple):
    """Where a result stands.

    `experiment` names the file that it is kept in: cells that two experiments share are computed
    once. `scale` is ``any`` where the answer does not depend on it.

    Examples
    --------
    >>> Cell("table2", "simulated", "logistic", 0, "any").method
    'logistic'
    """

    experiment: str
    task: str
    method: str
    seed: int
    scale: str


@dataclass(frozen=True)
class Row:
    """One result: the metric on test, train and validation rows, and what it took.

    A row with an `error` has no numbers, and its cell is tried again.

    Examples
    --------
    >>> Row("table2", "simulated", "logistic", 0, "any", error="ValueError: no").good
    False
    """

    experiment: str
    task: str
    method: str
    seed: int
    scale: str
    value: float = float("nan")
    cost: float = float("nan")
    train_value: float = float("nan")
    validation_value: float = float("nan")
    seconds: float = float("nan")
    calls: float = float("nan")
    detail: str = ""
    versions: str = ""
    when: str = ""
    error: str = ""

    @property
    def cell(self) -> Cell:
        """The row's place."""
        return Cell(self.experiment, self.task, self.method, self.seed, self.scale)

    @property
    def good(self) -> bool:
        """Whether the method came to an end."""
        return not self.error

    @property
    def current(self) -> bool:
        """Whether this version of the code, on packages of these versions, made it."""
        return self.versions == versions()


@cache
def versions(*more: str) -> str:
    """Return the versions that the numbers were made with, and a hash of the source.

    Parameters
    ----------
    *more : str
        Further packages to name.

    Examples
    --------
    >>> versions().startswith("python 3")
    True
    """
    found = [f"python {platform.python_version()}", f"code {fingerprint()}"]
    for package in (*PACKAGES, *more):
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return "; ".join([*found, platform.machine()])


@cache
def fingerprint() -> str:
    """Return eight letters that change with any line of the package.

    Examples
    --------
    >>> len(fingerprint())
    8
    """
    spec = find_spec("anymetric")
    folders = (spec.submodule_search_locations or []) if spec else []
    digest = sha256()
    for file in sorted(file for folder in folders for file in Path(folder).rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def csv_line(values: Iterable[object]) -> str:
    """Return one line of a CSV; breaks within a text become spaces.

    Examples
    --------
    >>> csv_line(["two\\nlines", 0.5])
    'two lines,0.5\\n'
    """
    text = io.StringIO()
    clean = [" ".join(value.split()) if isinstance(value, str) else value for value in values]
    csv.writer(text, lineterminator="\n").writerow(clean)
    return text.getvalue()


def ends_whole(file: int) -> bool:
    """Return whether an open file's last line is whole."""
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1) == b"\n"
