"""Apart: a threshold for each group, found inside every evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.pool import Candidate
from anymetric.data import Data

Floats64 = NDArray[np.float64]
GROUPS = "groups"


class Sweeps(Protocol):
    """A jury that finds thresholds for groups of its rows."""

    def apart(self, scores: Floats64, member: NDArray[np.intp], count: int) -> Floats64:
        """Return what each group adds to its rows' scores, beyond a shift of all rows."""
        ...


@dataclass(frozen=True, eq=False)
class Apart:
    """Which group each row belongs to, and candidates whose groups lie apart.

    Attributes
    ----------
    names : list
        The groups.
    train, valid : arrays of shape (n_train,) and (n_valid,)
        Each row's place among them.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.auto.pool import Recipe
    >>> rows = Data(np.zeros((2, 1)), np.ones(2), side={"groups": np.array(["b", "a"])})
    >>> apart = Apart.of(rows.take(np.arange(0)), rows)
    >>> one = Candidate(Recipe("one", np.ones(0)), np.zeros(2), np.zeros(0), np.zeros(2))
    >>> moved = apart.moved(one, np.array([1.0, 2.0]))
    >>> moved.valid.tolist(), moved.apart
    ([2.0, 1.0], {'a': 1.0, 'b': 2.0})
    """

    names: Sequence[Any]
    train: NDArray[np.intp]
    valid: NDArray[np.intp]

    @classmethod
    def of(cls, train: Data, valid: Data) -> Apart:
        """Number the groups of both samples."""
        columns = [data.side[GROUPS] for data in (train, valid)]
        names, place = np.unique(np.concatenate(columns), return_inverse=True)
        return cls(names.tolist(), place[: len(train)], place[len(train) :])

    def tuned(self, candidate: Candidate, jury: Sweeps) -> Candidate:
        """Give each group the threshold that the judging rows ask for."""
        return self.moved(candidate, jury.apart(candidate.valid, self.valid, len(self.names)))

    def moved(self, candidate: Candidate, shifts: Floats64) -> Candidate:
        """Add to the scores of each group, and keep account of it."""
        before = candidate.apart or dict.fromkeys(self.names, 0.0)
        told = {name: before[name] + float(s) for name, s in zip(self.names, shifts, strict=True)}
        train = candidate.train + shifts[self.train].astype(candidate.train.dtype)
        valid = candidate.valid + shifts[self.valid]
        return replace(candidate, train=train, valid=valid, apart=told)


def added(apart: Mapping[Any, float] | None, data: Data) -> Floats64:
    """Return what each row's group adds to its score.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Data(np.zeros((2, 1)), np.ones(2), side={"groups": np.array(["b", "a"])})
    >>> added({"a": 1.0, "b": 2.0}, rows).tolist(), added(None, rows).tolist()
    ([2.0, 1.0], [0.0, 0.0])
    """
    if apart is None:
        return np.zeros(len(data))
    names, place = np.unique(data.side[GROUPS], return_inverse=True)
    return np.array([apart[name] for name in names.tolist()])[place]


def blended(parts: Sequence[tuple[Mapping[Any, float] | None, float]]) -> dict[Any, float] | None:
    """Return the sum of what groups add in several candidates, each times its weight.

    Examples
    --------
    >>> blended([({"a": 1.0, "b": 0.0}, 0.5), ({"a": 3.0, "b": 2.0}, 0.5)])
    {'a': 2.0, 'b': 1.0}
    >>> blended([(None, 1.0)]) is None
    True
    """
    known = [(apart, weight) for apart, weight in parts if apart is not None]
    if not known:
        return None
    names = known[0][0]
    return {name: float(sum(weight * apart[name] for apart, weight in known)) for name in names}
