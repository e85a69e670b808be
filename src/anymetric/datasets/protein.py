"""Protein homology: KDD Cup 2004's ranking task, the stand-in for KDD Cup 2008."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets.dataset import Dataset, no_groups
from anymetric.datasets.store import SOURCES, cache_folder, read, sha256
from anymetric.datasets.tables import dense_text

_FEATURES = 74
_DESCRIPTION = (
    "A row is a candidate protein for a query protein; positive: homologous. "
    "KDD Cup 2004, free to download from KDD."
)


def load_protein_homology() -> Dataset:
    """Load protein homology: 145,751 candidates of 153 queries, 0.89 % positive, 74 features.

    Parsing takes some seconds; the numbers are kept in the cache folder for the next time.

    Returns
    -------
    Dataset
        No groups; metadata columns ``query`` (block number) and ``example``.

    Examples
    --------
    >>> load_protein_homology()
    Dataset('protein_homology', 145751 x 74, 0.89 % positive, groups: all)
    """
    raw = read(SOURCES["protein_homology/bio_train.dat"])
    table = _remembered(raw)
    query, example, y = table[:, :3].astype(np.int64).T
    names = [f"feature_{k}" for k in range(1, _FEATURES + 1)]
    side = {"query": query, "example": example}
    X = np.ascontiguousarray(table[:, 3:])
    return Dataset("protein_homology", X, y, no_groups(len(y)), names, side, _DESCRIPTION)


def _remembered(raw: bytes) -> NDArray[np.float64]:
    file = cache_folder() / "parsed" / f"bio_train-{sha256(raw)[:16]}.npy"
    with suppress(OSError, ValueError, EOFError):  # absent or damaged: parse again
        kept: NDArray[np.float64] = np.load(file, allow_pickle=False)
        return kept
    table = dense_text(raw, columns=3 + _FEATURES)
    with suppress(OSError):  # a cache that cannot be written is no reason to fail
        _keep(table, file)
    return table


def _keep(table: NDArray[np.float64], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        part = Path(scratch) / file.name
        np.save(part, table)
        os.replace(part, file)
