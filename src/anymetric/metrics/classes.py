"""Classes: more than two of them, or labels of which a row has any number."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats
from anymetric.metrics.base import BoundMetric, MetricError
from anymetric.metrics.thresholds import Sweep


@dataclass(frozen=True, eq=False)
class Classes(Sequence[Any]):
    """What the codes of many classes stand for; it is given to metrics as `labels`.

    A row has one score for each class: its target is a code, and its decision the class of the
    highest score. Where a row may have several labels, its code is a row of `sets`, and every
    label with a score above zero is given.

    Parameters
    ----------
    names : tuple
        The user's names of the C classes or labels.
    sets : array of shape (U, C), optional
        The sets of labels that occur; None where each row has one class.

    Examples
    --------
    >>> import numpy as np
    >>> three = Classes(("a", "b", "c"))
    >>> three.members(np.array([2.0, 0.0])).tolist()
    [[False, False, True], [True, False, False]]
    >>> three.decided(np.array([[1.0, 3.0, 2.0]])).tolist()
    [[False, True, False]]
    """

    names: tuple[Any, ...]
    sets: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, k: Any) -> Any:
        return self.names[k]

    @property
    def exclusive(self) -> bool:
        """Whether each row has one class."""
        return self.sets is None

    @cached_property
    def table(self) -> NDArray[np.bool_]:
        """Which classes each code has, ``(codes, C)``."""
        return np.eye(len(self), dtype=bool) if self.sets is None else self.sets

    def members(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which classes each row has, ``(n, C)``."""
        return np.asarray(self.table[codes.astype(np.intp)])

    def decided(self, scores: Floats) -> NDArray[np.bool_]:
        """Return which classes scores ``(n, C)`` decide for."""
        if self.sets is not None:
            return np.asarray(scores > 0.0)
        return np.asarray(np.eye(len(self), dtype=bool)[np.argmax(scores, axis=1)])

    def shown(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return targets as the user knows them: names, or a table of zeros and ones."""
        if self.sets is not None:
            return self.members(codes).astype(np.int64)
        names: NDArray[Any] = np.asarray(self.names)
        return names[codes.astype(np.intp)]

    def labels_of(self, scores: Floats) -> NDArray[Any]:
        """Return the decisions as the user knows them."""
        if self.sets is not None:
            return self.decided(scores).astype(np.int64)
        names: NDArray[Any] = np.asarray(self.names)
        return np.asarray(names[np.argmax(scores, axis=1)])


@dataclass(frozen=True, eq=False)
class BoundClasses(BoundMetric):
    """A metric on rows of many classes: one score vector is ``n C`` long, row after row.

    So the rest of the method, which knows score vectors only, need not know of classes. Scores
    of shape ``(n, C)`` are taken as one score vector.
    """

    classes: Classes = field(kw_only=True)

    def values(self, scores: Floats) -> NDArray[np.float64]:
        """Return the value ``()`` of scores ``(n C,)`` or ``(n, C)``, ``(m,)`` of ``(n C, m)``."""
        scores = np.asarray(scores)
        if scores.shape == (len(self.rows), len(self.classes)):
            scores = scores.reshape(-1)
        return super().values(scores)

    def sweep(self, scores: Floats, limit: int | None = None) -> Sweep:
        """Refuse: among many classes no single threshold decides."""
        raise ValueError(
            f"Metric {self.metric.name!r} is bound to {len(self.classes)} classes: a threshold is "
            "for two. Many classes have an offset each, which method='auto' finds."
        )

    def _checked(self, scores: Floats, dimensions: tuple[int, ...]) -> Floats:
        n, C = len(self.rows), len(self.classes)
        if scores.ndim not in dimensions or len(scores) != n * C:
            raise ValueError(
                f"Metric {self.metric.name!r} is bound to {n} rows of {C} classes; got scores of "
                f"shape {scores.shape}: give ({n}, {C})."
            )
        unreal = np.flatnonzero(~np.isfinite(scores.reshape(n * C, -1).sum(axis=0)))
        if unreal.size:
            raise MetricError(
                f"Metric {self.metric.name!r} got scores that are not finite at probe {unreal[0]}.",
                probe=int(unreal[0]),
            )
        return scores

    def _values(self, scores: Floats) -> NDArray[np.float64]:
        n, C = len(self.rows), len(self.classes)
        tables = np.ascontiguousarray(scores.T).reshape(-1, n, C)
        return np.array([self.one(i, table) for i, table in enumerate(tables)], dtype=np.float64)

    @abstractmethod
    def one(self, probe: int, scores: Floats) -> float:
        """Return the value of scores ``(n, C)``."""
