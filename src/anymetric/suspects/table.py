"""Table: the suspect rows, with how probable it is, why, and what mending them would gain."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.errors import import_extra

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# A row is a suspect from this probability on.
SUSPECT = 0.5


@dataclass(frozen=True)
class Part:
    """The rows of a slice or of a source.

    Attributes
    ----------
    name : str
    rows : int
    expected : float
        How many of them are expected to be wrong: the sum of their probabilities.
    suspects : int
        How many are more probably wrong than right.
    informed : float
        How much the labels say: 1 where none is wrong, 0 where they are chance. Of slices of one
        label, the probability that the label is right.
    gain_fix, gain_drop : float
        By how much the metric would improve if they were fixed, or dropped; with standard errors.

    Examples
    --------
    >>> Part("vendor B", 500, 250.0, 240, 0.02).share
    0.5
    """

    name: str
    rows: int
    expected: float
    suspects: int
    informed: float
    gain_fix: float = float("nan")
    gain_drop: float = float("nan")
    gain_fix_error: float = float("nan")
    gain_drop_error: float = float("nan")

    @property
    def share(self) -> float:
        """The share of the rows that is expected to be wrong."""
        return self.expected / max(self.rows, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Suspects:
    """Training rows whose label or features the clean rows contradict.

    Attributes
    ----------
    probability : array of shape (n,)
        That a row is wrong, for every training row; zero for rows of weight zero.
    reason : array of str of shape (n,)
        ``label``, ``features`` or ``source`` (nearly all labels of the source are chance); empty
        for rows that are no suspects.
    label, suggested : arrays of shape (n,)
        The label as it is, and the likeliest class.
    gain_fix, gain_drop : arrays of shape (n,)
        A row's part of the expected gain in the metric: those of a slice sum to the slice's.
    by_slice, by_source : tuple of Part
        Class x group, and source; those with most to gain first.
    anchored : bool
        Whether there were clean rows. Without them a label is a suspect where out-of-fold
        predictions contradict it, and nothing is known of features and gains.
    metric : str
        What the gains are in.

    Examples
    --------
    >>> found = Suspects(
    ...     np.array([0.1, 0.9, 0.6]),
    ...     np.array(["", "label", "label"]),
    ...     np.array([0, 1, 0]),
    ...     np.array([0, 0, 1]),
    ...     np.zeros(3),
    ...     np.zeros(3),
    ...     metric="f1",
    ... )
    >>> found.rows.tolist(), len(found)
    ([1, 2], 2)
    >>> found
    Suspects(2 of 3 rows: 2 label; 1.6 expected to be wrong)
    """

    probability: Floats64
    reason: NDArray[np.str_]
    label: NDArray[Any]
    suggested: NDArray[Any]
    gain_fix: Floats64
    gain_drop: Floats64
    by_slice: tuple[Part, ...] = ()
    by_source: tuple[Part, ...] = ()
    anchored: bool = True
    metric: str = ""
    side: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        why = [
            f"{count} {name}"
            for name, count in zip(
                *np.unique(self.reason[self.rows], return_counts=True), strict=True
            )
        ]
        told = f": {', '.join(why)}" if why else ""
        return (
            f"Suspects({len(self)} of {len(self.probability)} rows{told}; "
            f"{self.probability.sum():.1f} expected to be wrong)"
        )

    @property
    def rows(self) -> Ints:
        """The numbers of the suspects, counted from 0, the most probable first."""
        order = np.argsort(-self.probability, kind="stable")
        return order[self.probability[order] >= SUSPECT]

    def top(self, k: int) -> Ints:
        """Return the numbers of the k rows that are most probably wrong."""
        return np.argsort(-self.probability, kind="stable")[:k]

    @property
    def keep(self) -> NDArray[np.bool_]:
        """Which rows are no suspects: ``fit(X[keep], y[keep])`` drops the others."""
        return np.asarray(self.probability < SUSPECT)

    @property
    def fixed(self) -> NDArray[Any]:
        """The labels with those of suspects replaced by the likeliest class."""
        wrong = ~self.keep & (self.reason != "features")
        return np.where(wrong, self.suggested, self.label)

    def spread_over(self, n: int, kept: Ints) -> Suspects:
        """Return the same for n rows of which these were searched; others are no suspects."""
        if len(kept) == n:
            return self
        found: dict[str, Any] = {}
        for name in ("probability", "reason", "gain_fix", "gain_drop", "label", "suggested"):
            column = getattr(self, name)
            found[name] = empty(n, column)
            found[name][kept] = column
        side = {name: empty(n, column) for name, column in self.side.items()}
        for name, column in self.side.items():
            side[name][kept] = column
        return replace(self, **found, side=side)

    def to_frame(self) -> Any:
        """Return the suspects as a data frame, the most probable first."""
        frames = import_extra("pandas", needed_by="to_frame", extra="cli")
        rows = self.rows
        columns = {"row": rows, "probability": self.probability[rows], "reason": self.reason[rows]}
        columns |= {"label": self.label[rows], "suggested": self.suggested[rows]}
        columns |= {"gain_fix": self.gain_fix[rows], "gain_drop": self.gain_drop[rows]}
        columns |= {name: column[rows] for name, column in self.side.items()}
        return frames.DataFrame(columns)

    def parts_frame(self, of: str = "slice") -> Any:
        """Return `by_slice` or, with ``of="source"``, `by_source` as a data frame."""
        frames = import_extra("pandas", needed_by="parts_frame", extra="cli")
        parts = self.by_source if of == "source" else self.by_slice
        return frames.DataFrame([asdict(part) for part in parts])


def empty(n: int, like: NDArray[Any]) -> NDArray[Any]:
    """Return n zeros, or empty texts, of an array's type."""
    return np.zeros(n, dtype=like.dtype)
