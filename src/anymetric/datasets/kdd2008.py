"""KDD Cup 2008: the paper's ranking data, from the files of a user who has them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets.dataset import Dataset, no_groups
from anymetric.datasets.tables import dense_text
from anymetric.errors import DataError

_FEATURES = 117
_INFO = [
    "label",
    "image_finding",
    "study_finding",
    "image",
    "patient",
    "left_breast",
    "mlo",
    "x",
    "y",
    "nipple_x",
    "nipple_y",
]
_WHOLE = ["image_finding", "study_finding", "image", "patient", "left_breast", "mlo"]
_DESCRIPTION = (
    "A row is a suspicious region of a mammogram; positive: malignant. KDD Cup 2008, Siemens "
    "Medical Solutions; to be had from the organisers only, under their terms of use."
)


def load_kdd_cup_2008(folder: str | os.PathLike[str]) -> Dataset:
    """Load KDD Cup 2008 from ``Features.txt`` and ``Info.txt`` in a folder of yours.

    The training files have 102,294 rows: 117 features, and 11 columns of information of which
    the first is the label, +1 or -1. They are not shipped and not downloaded.

    Parameters
    ----------
    folder : path
        Where the two files are.

    Returns
    -------
    Dataset
        No groups; metadata columns are the other ten columns of ``Info.txt``: ``image_finding``,
        ``study_finding``, ``image``, ``patient``, ``left_breast``, ``mlo``, ``x``, ``y``,
        ``nipple_x`` and ``nipple_y``. Beware of ``patient``: it gives the label away.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     features = pathlib.Path(folder, "Features.txt").write_text("0.5 " * 117 + "\\n")
    ...     info = pathlib.Path(folder, "Info.txt").write_text("1 7 7 3 9 1 0 10 20 30 40\\n")
    ...     load_kdd_cup_2008(folder)
    Dataset('kdd_cup_2008', 1 x 117, 100.00 % positive, groups: all)
    """
    X = _table(Path(folder) / "Features.txt", _FEATURES)
    info = _table(Path(folder) / "Info.txt", len(_INFO))
    if len(X) != len(info):
        raise DataError(
            f"Features.txt and Info.txt must have the same rows; got {len(X)} and {len(info)}."
        )
    columns = dict(zip(_INFO, info.T, strict=True))
    label = columns.pop("label")
    if not np.isin(label, (-1.0, 1.0)).all():
        raise DataError(f"Labels must be -1 or +1; got {np.unique(label)[:5].tolist()}.")
    side = {name: col.astype(np.int64) if name in _WHOLE else col for name, col in columns.items()}
    y = (label > 0).astype(np.int64)
    names = [f"feature_{k}" for k in range(1, _FEATURES + 1)]
    return Dataset("kdd_cup_2008", X, y, no_groups(len(y)), names, side, _DESCRIPTION)


def _table(file: Path, columns: int) -> NDArray[np.float64]:
    if not file.is_file():
        raise DataError(f"{file.name} was not found in {file.parent}.")
    try:
        return dense_text(file.read_bytes(), columns)
    except ValueError as error:
        raise DataError(f"{file.name} is not as expected: {error}") from error
