"""Curves: positives and negatives counted down the ranking, tied scores together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats

# Scores sorted at once: what a block needs then stays near the processor.
BLOCK = 1 << 17


@dataclass(frozen=True, eq=False)
class Curve:
    """m rankings laid end to end: one entry for every run of tied scores, best first.

    Attributes
    ----------
    start : array of shape (m,)
        Where each ranking begins.
    tp, fp : arrays of shape (entries,)
        Weight of the positives and of the negatives down to and with this run.
    tp_before, fp_before : arrays of shape (entries,)
        The same above this run.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> curve = Curve.of(np.array([[-3.0, -2.0, -2.0, -1.0]]), y > 0, np.ones(4))
    >>> curve.tp.tolist(), curve.fp.tolist(), curve.tp_before.tolist()
    ([1.0, 2.0, 2.0], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    """

    start: NDArray[np.intp]
    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    tp_before: NDArray[np.float64]
    fp_before: NDArray[np.float64]

    @classmethod
    def of(
        cls, keys: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> Curve:
        """Sort keys ``(m, n)``, each row by itself, lowest first: see `downhill`."""
        order = np.argsort(keys, axis=1)
        keys = np.take_along_axis(keys, order, axis=1)
        last = np.ones(keys.shape, dtype=bool)
        np.not_equal(keys[:, 1:], keys[:, :-1], out=last[:, :-1])
        tp = np.cumsum((weights * positive)[order], axis=1)[last]
        fp = np.cumsum((weights * ~positive)[order], axis=1)[last]
        lengths = np.count_nonzero(last, axis=1)
        start = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        return cls(start, tp, fp, _before(tp, start), _before(fp, start))

    def total(self, entries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum entries over each ranking."""
        return np.add.reduceat(entries, self.start)

    def largest(self, entries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest entry of each ranking."""
        return np.maximum.reduceat(entries, self.start)


def downhill(scores: Floats) -> Iterator[NDArray[np.float64]]:
    """Turn scores ``(n, m)`` into blocks ``(b, n)`` of ``-scores.T``: sorted, the best come first.

    Examples
    --------
    >>> import numpy as np
    >>> [block.tolist() for block in downhill(np.array([[1.0], [2.0]]))]
    [[[-1.0, -2.0]]]
    """
    for block in column_blocks(scores):
        yield np.negative(block.T, order="C", dtype=np.float64)


def column_blocks(scores: Floats) -> Iterator[Floats]:
    """Cut scores ``(n, m)`` into blocks of columns that are cheap to hold and to copy.

    Examples
    --------
    >>> import numpy as np
    >>> [part.shape for part in column_blocks(np.zeros((BLOCK // 2, 5)))]
    [(65536, 2), (65536, 2), (65536, 1)]
    """
    width = max(BLOCK // len(scores), 1)
    for start in range(0, scores.shape[1], width):
        yield scores[:, start : start + width]


def _before(running: NDArray[np.float64], start: NDArray[np.intp]) -> NDArray[np.float64]:
    before = np.empty_like(running)
    before[1:] = running[:-1]
    before[start] = 0.0
    return before
