"""Loading: a saved model in Python, `anymetric.load`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anymetric.errors import import_extra

if TYPE_CHECKING:
    from anymetric.cli.models import TableModel


def load(path: str | Path) -> TableModel:
    """Return a model that `anymetric fit` saved, ready to predict rows of a data frame.

    The file is no pickle, and is opened only if it is made of known types alone: those of
    `anymetric.cli.models.TRUSTED`, skrub's encoders, and what skops trusts by itself (plain
    values, NumPy's arrays, scikit-learn's estimators). A file with any other type is refused by
    that type's name, before anything in it is run. The metric's own code is neither in the file
    nor needed.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    TableModel
        With `predict`, `predict_proba`, `decision_function` and `rank`.

    Examples
    --------
    >>> import anymetric
    >>> anymetric.load("nowhere.skops")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.skops'
    """
    for package in ("pandas", "rich", "skops", "skrub"):
        import_extra(package, needed_by="anymetric.load", extra="cli")
    from anymetric.cli.models import load_model

    return load_model(Path(path))
