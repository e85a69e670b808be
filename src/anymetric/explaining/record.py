"""Record: what a fit leaves behind so that its metric can be explained: rows and answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Columns, Data
from anymetric.explaining.cells import Cells, cells_of
from anymetric.metrics import Classes, Metric
from anymetric.metrics.evaluations import Evaluations, Question
from anymetric.metrics.faults import Answer, Conduct

Floats64 = NDArray[np.float64]
# Answers of a fit that are kept.
MOST = 400


@dataclass(eq=False)
class Record:
    """The validation rows of a fit, the model's scores of them, and the answers about counts.

    Attributes
    ----------
    y : array of shape (n,)
    side : mapping from name to array of shape (n,)
    labels : pair, `Classes` or None
    scores : array of shape (n,) or (n, C)
        Of the model, out of fold, at its decision rule.
    X : array or None
        Where the metric reads it.
    counts, values : lists
        Confusion counts by group, and the metric's values of them.
    calls : int
        Calls that explanations made.
    shown : tuple
        What the classes are called in words, where that is not what the metric is given.

    Examples
    --------
    >>> record = Record(np.array([1.0, -1.0]), {}, ("ham", "spam"))
    >>> record.decisions(np.array([0.3, -2.0])).tolist()
    [1, 0]
    """

    y: Floats64
    side: dict[str, NDArray[Any]]
    labels: Sequence[Any] | None
    scores: Floats64 | None = None
    X: Any = None
    counts: list[Floats64] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    calls: int = 0
    shown: tuple[Any, ...] = ()

    @classmethod
    def of(cls, metric: Metric, rows: Data, labels: Sequence[Any] | None) -> Record:
        """Begin the record of a fit whose metric is bound to these rows."""
        X = rows.X if metric.reads_features else None
        return cls(rows.y, dict(rows.side), labels, None, X)

    @property
    def names(self) -> tuple[Any, ...]:
        """The user's names of the classes; of two, the positive one last."""
        return () if self.labels is None else tuple(self.labels)

    @property
    def decided(self) -> bool:
        """Whether each row has one of some classes."""
        return self.labels is not None and getattr(self.labels, "exclusive", True)

    def cells(self, metric: Metric) -> Cells:
        """Return the rows by class and by what the metric may read."""
        many = isinstance(self.labels, Classes)
        truth = self.y.astype(np.intp) if many else (self.y > 0.0).astype(np.intp)
        names = [str(name) for name in self.shown or self.names]
        return cells_of(truth, names, self.side, readable(metric))

    def decisions(self, scores: Floats64) -> NDArray[np.intp]:
        """Return the places of the classes that scores decide for."""
        if isinstance(self.labels, Classes):
            return np.asarray(np.argmax(scores.reshape(len(self.y), -1), axis=1), dtype=np.intp)
        return (scores.reshape(-1) > 0.0).astype(np.intp)


def readable(metric: Metric) -> tuple[str, ...] | None:
    """Return the columns that a metric may read; None for all.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> readable(as_metric("group_mean_f1"))
    ('groups',)
    """
    inner = getattr(metric, "inner", metric)
    if getattr(inner, "takes_all", False):
        return None
    return (*getattr(inner, "asks", metric.needs), *getattr(inner, "takes", ()))


@dataclass(eq=False)
class Listening:
    """Let another one answer, and note the answers about the validation rows.

    Parameters
    ----------
    inner : Evaluations
    metric : Metric
    record : Record

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.metrics.evaluations import answered_by, current
    >>> def share(y_true, y_pred):
    ...     return float(np.mean(y_pred))
    >>> metric, y = as_metric(share, greater_is_better=True), np.array([1.0, -1.0])
    >>> record = Record(y, {}, (0, 1))
    >>> with answered_by(Listening(current(), metric, record)):
    ...     bound = metric.bind(y, labels=(0, 1))
    ...     bound.values(np.array([1.0, -1.0])).item(), record.values
    (0.5, [0.5])
    """

    inner: Evaluations
    metric: Metric
    record: Record
    cells: Cells | None = None

    def __post_init__(self) -> None:
        if self.cells is None and self.record.decided and self.metric.decides:
            self.cells = replace(self.record.cells(self.metric), amounts={})

    @property
    def conduct(self) -> Conduct:
        """What becomes of failures, and how often a question is asked."""
        return self.inner.conduct

    @property
    def store(self) -> Any:
        """The ledger of the inner evaluator, if there is one."""
        return getattr(self.inner, "store", None)

    @property
    def left(self) -> float:
        """How many new questions may still be asked."""
        return float(getattr(self.inner, "left", math.inf))

    def answers(
        self, questions: Sequence[Question], n_jobs: int | None = None
    ) -> Iterator[tuple[int, Answer]]:
        """Yield the answers as they come in."""
        for k, answer in self.inner.answers(questions, n_jobs):
            if not answer.failed:
                self._note(questions[k], answer.value)
            yield k, answer

    def _note(self, question: Question, value: float) -> None:
        rows, record = question.judge.rows, self.record
        same = len(rows) == len(record.y) and rows.unweighted and np.array_equal(rows.y, record.y)
        if self.cells is None or not same or len(record.values) >= MOST:
            return
        if question.judge.metric != self.metric:
            return
        decided = record.decisions(np.asarray(question.scores))
        record.counts.append(self.cells.counts(decided[:, np.newaxis])[0])
        record.values.append(float(value))


def columns_of(side: Columns, order: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Return columns with their rows in another order."""
    return {name: column[order] for name, column in side.items()}
