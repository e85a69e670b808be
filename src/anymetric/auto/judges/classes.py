"""Classes: metrics of the confusion matrix or of sets of labels, exact on rows and resamples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from anymetric.auto.judges.base import Bools, ExactJudge, Floats64, Ints
from anymetric.auto.judges.sweeps import Tally, along_class, along_label
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import Classes, ConfusionMetric, LabelMetric, Rows
from anymetric.metrics.confusion import reads_margins
from anymetric.metrics.labelled import LabelCountMetric, LabelRowMetric

# Prior corrections from which a search for class offsets may begin, in units of the log of the
# classes' shares.
CORRECTIONS = (0.0, -0.5, 0.5, -1.0)


@dataclass(frozen=True, eq=False)
class ClassesJudge(ExactJudge):
    """A judge for metrics of many classes, or of labels, that are formulas of counts.

    Attributes
    ----------
    metric : ConfusionMetric or LabelMetric
    classes : Classes
    y, group : arrays of shape (n,)
    groups : int
    weights : array of shape (n, 1 + B)
        Of the rows themselves first, then of the resamples.
    ledger : Ledger, optional
        Counts an evaluation as one call.

    Examples
    --------
    >>> from anymetric.metrics import ClassAccuracy
    >>> data = Data(np.zeros((3, 1)), np.array([0.0, 1.0, 2.0]))
    >>> judge = ClassesJudge.of(ClassAccuracy(), data, Classes(("a", "b", "c")), np.ones((3, 1)))
    >>> scores = np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    >>> judge.evaluate(scores).round(3).tolist()
    [0.333, 0.333]
    >>> shifts, costs = judge.sweep(scores, 1)
    >>> float(costs.min().round(3))
    0.0
    """

    metric: ConfusionMetric | LabelMetric
    classes: Classes
    y: Ints
    group: Ints
    groups: int
    weights: Floats64
    ledger: Ledger | None = None

    @classmethod
    def of(
        cls,
        metric: ConfusionMetric | LabelMetric,
        data: Data,
        classes: Classes,
        resamples: Floats64,
        ledger: Ledger | None = None,
    ) -> ClassesJudge:
        """Bind the metric to the rows and to every resample ``(n, B)`` of them."""
        group, groups = np.zeros(len(data), dtype=np.intp), 1
        if isinstance(metric, ConfusionMetric):
            group, groups = metric.grouped(Rows(data.y, data.weights, data.side))
        weights = np.column_stack([data.weights, resamples * data.weights[:, np.newaxis]])
        return cls(metric, classes, data.y.astype(np.intp), group, groups, weights, ledger)

    @cached_property
    def true(self) -> Bools:
        """Which labels each row has, ``(n, L)``."""
        return np.asarray(self.classes.table[self.y])

    def evaluate(self, scores: Floats64) -> Floats64:
        """Return the costs of the decisions as they are; one call."""
        self._count()
        metric = self.metric
        if isinstance(metric, ConfusionMetric):
            decided = np.argmax(scores, axis=1)
            return metric.joint_costs(lambda part: self._decided(part, decided))
        given, true = scores > 0.0, self.true
        if isinstance(metric, LabelRowMetric):
            counts = (x.sum(axis=1).astype(np.float64) for x in (given & true, true, given))
            each = metric.of_rows(*counts)
            return np.asarray(metric.cost(each @ self.weights / self.weights.sum(axis=0)))
        assert isinstance(metric, LabelCountMetric)
        sums = [self.weights.T @ x for x in (given & true, true, given)]
        total = self.weights.sum(axis=0)[:, np.newaxis]
        return np.asarray(metric.cost(metric.of_counts(sums[0], sums[1], sums[2], total)))

    def sweep(
        self,
        scores: Floats64,
        output: int = 0,
        moving: Bools | None = None,
        tally: Tally | None = None,
    ) -> tuple[Floats64, Floats64]:
        """Return shifts of a class ``(t,)`` and the costs on the rows ``(t, 1)``; not counted."""
        own = self.weights[:, 0]
        if isinstance(self.metric, ConfusionMetric):
            where = self.y, self.group, self.groups
            shifts, costs = along_class(self.metric, *where, own, scores, output)
        else:
            shifts, costs = along_label(self.metric, self.true, own, scores, output, tally)
        return shifts, costs[:, np.newaxis]

    def tally(self, scores: Floats64, before: Tally | None = None, output: int = 0) -> Tally | None:
        """Return the counts of all labels; after one of them has moved, from those before.

        With a thousand labels, counting them all for each would be a million counts.
        """
        if not isinstance(self.metric, LabelCountMetric):
            return None
        own = self.weights[:, 0]
        if before is None:
            return Tally.of(self.true, own, scores)
        return before.moved(self.true, own, scores, output)

    def take(self, rows: Ints) -> ClassesJudge:
        """Return a judge of some rows only, without resamples; nothing is counted."""
        weights = self.weights[rows, :1]
        return replace(self, y=self.y[rows], group=self.group[rows], weights=weights, ledger=None)

    def starts(self, outputs: int) -> list[Floats64]:
        """Return prior corrections of several strengths; of labels none, they stand alone."""
        if not self.classes.exclusive:
            return [np.zeros(outputs)]
        return prior_corrections(self.y, self.weights[:, 0], outputs)

    def varies(self, scores: Floats64) -> bool:
        """Return whether some offset changes the cost."""
        return any(np.ptp(self.sweep(scores, c)[1]) > 0.0 for c in range(scores.shape[1]))

    def _decided(self, metric: Any, decided: Ints) -> Floats64:
        """Return the values of decisions; whole matrices are built only where they are read."""
        C = len(self.classes)
        if not reads_margins(metric):
            cell = (self.group * C + self.y) * C + decided
            return np.asarray(metric.of_groups(self._sums(cell, C, C)))
        pairs = self._sums(2 * (self.group * C + decided) + (self.y == decided), C, 2)
        return metric.of_group_margins(pairs[..., 1], self._true_sums, pairs.sum(axis=-1))

    @cached_property
    def _true_sums(self) -> Floats64:
        C = len(self.classes)
        return self._sums(self.group * C + self.y, C)

    def _sums(self, cell: Ints, *shape: int) -> Floats64:
        """Return the weights in each cell, ``(1 + B, groups, *shape)``."""
        n, size = len(self.y), self.groups * math.prod(shape)
        member = sparse.csr_array((np.ones(n), (cell, np.arange(n))), shape=(size, n))
        return np.asarray(member @ self.weights).T.reshape(-1, self.groups, *shape)


def prior_corrections(y: Ints, weights: Floats64, classes: int) -> list[Floats64]:
    """Return parts of the log of the classes' shares as offsets, the zeros first.

    A class counts as half a row at least; the unit of the weights does not matter.

    Examples
    --------
    >>> most = prior_corrections(np.array([0, 0, 0, 1]), np.full(4, 0.1), 2)[-1]
    >>> np.exp(most - most[0]).round(3).tolist()
    [1.0, 3.0]
    """
    share = np.bincount(y, weights, minlength=classes)
    share *= np.count_nonzero(weights) / share.sum()
    logs = np.log(np.maximum(share, 0.5) / share.sum())
    return [part * (logs - logs.mean()) for part in CORRECTIONS]
