"""History: the iterates of a run as plain values, and as a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from anymetric.errors import import_extra

# Entries of a row with a number for each surrogate.
VECTORS = ("profile", "target", "gradient", "weights")


class History(list[dict[str, Any]]):
    """The iterates of a run, a dictionary each: what `history_` is.

    Parameters
    ----------
    rows : iterable of dict
    surrogates : sequence of str
        The names of a profile's entries.

    Examples
    --------
    >>> row = {"iteration": 0, "cost": 0.5, "profile": np.array([0.4, 0.6]), "gradient": None}
    >>> history = History([row], ["hinge[class=-1]", "hinge[class=+1]"])
    >>> history[0]["cost"]
    0.5
    >>> history.to_frame()["profile hinge[class=+1]"].tolist()
    [0.6]
    """

    def __init__(self, rows: Iterable[dict[str, Any]] = (), surrogates: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self.surrogates = tuple(surrogates)

    def __reduce__(self) -> tuple[Any, ...]:
        return History, (list(self), self.surrogates)

    def to_frame(self) -> Any:
        """Return the iterates as a pandas data frame, a column for each number.

        Returns
        -------
        DataFrame
            ``start``, ``iteration``, ``cost``, ``condition``, ``gap``, ``calls``, ``seconds`` and,
            for each surrogate,  ``profile``, ``target``, ``gradient`` and ``weights``.
        """
        pandas = import_extra("pandas", needed_by="history_.to_frame()", extra="cli")
        return pandas.DataFrame([self._flat(row) for row in self])

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        for key, value in row.items():
            if key not in VECTORS:
                flat[key] = value
                continue
            numbers = np.full(len(self.surrogates), np.nan) if value is None else value
            pairs = zip(self.surrogates, numbers, strict=True)
            flat |= {f"{key} {name}": float(number) for name, number in pairs}
        return flat
