"""Task: the type of the target, the number of scores, and class balancing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.metrics import Classes

Floats64 = NDArray[np.float64]
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Task:
    """Numbers, two classes, many classes or sets of labels: shapes of one table of scores.

    Parameters
    ----------
    labels : pair, Classes or None
        As in `Problem`: None where y holds numbers.

    Examples
    --------
    >>> Task(None).outputs, Task(("no", "yes")).outputs, Task(Classes(("a", "b", "c"))).outputs
    (1, 1, 3)
    """

    labels: Sequence[Any] | None

    @property
    def numbers(self) -> bool:
        """Whether y holds numbers."""
        return self.labels is None

    @property
    def many(self) -> bool:
        """Whether a row has several scores."""
        return isinstance(self.labels, Classes)

    @property
    def exclusive(self) -> bool:
        """Whether the highest of several scores decides."""
        return isinstance(self.labels, Classes) and self.labels.exclusive

    @property
    def outputs(self) -> int:
        """Scores of a row."""
        return len(self.labels) if isinstance(self.labels, Classes) else 1

    @property
    def classes(self) -> int:
        """The `classes` of a `Learner`: 0 for numbers, 2 for labels, learned one by one."""
        if self.numbers:
            return 0
        return self.outputs if self.exclusive else 2

    def members(self, y: Floats64) -> NDArray[np.bool_]:
        """Return which classes or labels each row has, ``(n, C)``; of two classes, the second."""
        if isinstance(self.labels, Classes):
            return self.labels.members(y)
        return y[:, np.newaxis] > 0.0

    def strata(self, y: Floats64) -> list[NDArray[np.bool_]]:
        """Return the rows of each class; of each label, those that have it; none for numbers."""
        if self.numbers:
            return []
        return list(self.members(y).T) if self.many else [y <= 0.0, y > 0.0]

    def balanced(self, y: Floats64, rows: Floats64, part: float) -> Floats64:
        """Return rows weighted so that every class has its share to the power ``1 - part``.

        Each label is balanced by itself, rows that have it against rows that have not: the
        weights are then a table.

        Examples
        --------
        >>> y, rows = np.array([-1.0, -1.0, -1.0, 1.0]), np.ones(4)
        >>> Task((0, 1)).balanced(y, rows, 1.0).round(3).tolist()
        [0.333, 0.333, 0.333, 1.0]
        """
        if self.numbers or (part == 0.0 and (not self.many or self.exclusive)):
            return rows
        if self.many and not self.exclusive:
            members = self.members(y)
            sums = np.stack([rows @ ~members, rows @ members])  # (2, L)
            scale = np.where(sums > 0.0, sums, 1.0) ** -part
            return np.asarray(rows[:, np.newaxis] * np.where(members, scale[1], scale[0]))
        found = rows.copy()
        for own in self.strata(y):
            found[own] /= max(float(rows[own].sum()), TINY) ** part
        return found

    def centred(self, scores: Floats64) -> Floats64:
        """Return scores less the mean of their row, which decides nothing between classes."""
        return scores - scores.mean(axis=1, keepdims=True) if self.exclusive else scores

    def spread(self, scores: Floats64, weights: Floats64) -> float:
        """Return how widely scores ``(n, C)`` spread; one if they do not, and for numbers.

        The farthest scores of all do not count: one row may lie anywhere.

        Examples
        --------
        >>> Task((0, 1)).spread(np.array([[-2.0], [2.0]]), np.ones(2))
        2.0
        """
        if self.numbers:
            return 1.0
        table = self.centred(scores)
        centre = 0.0 if self.exclusive else np.median(table, axis=0)
        size = np.square(table - centre).mean(axis=1)
        near = size <= 1e4 * np.quantile(size, 0.9)
        found = float(np.sqrt(np.average(size[near], weights=weights[near])))
        return found if found > 0.0 else 1.0
