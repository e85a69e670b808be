"""Decision: our decision rule for the scores of another model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anymetric.auto import Auto
from anymetric.auto.build import rule_of
from anymetric.auto.judges.base import Judge
from anymetric.auto.judges.bootstrap import bootstrap_weights
from anymetric.auto.judges.calls import CallsJudge
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.sample import Sample, dealt
from anymetric.auto.task import Task
from anymetric.exports.target import Target, columns_of
from anymetric.ledger import Ledger
from anymetric.metrics import ConfusionMetric, DecisionMetric, LabelMetric
from anymetric.problem import Problem
from anymetric.rules import FittedRule

Floats64 = NDArray[np.float64]
# Bootstrap resamples that a threshold is tuned on.
RESAMPLES = 60


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision rule for scores: one threshold, one a group, offsets of classes, and so on.

    `tune` places it for the metric on scores of rows that did not train their model, by the same
    code as `MetricClassifier`: on bootstrap resamples, and further thresholds only where they pay
    beyond noise.

    Parameters
    ----------
    target : Target
    decision : str or tuple
        The kind of rule, as in `MetricClassifier`.
    scale, offsets, rule
        What `tune` found: scores are multiplied, then moved, then read by the rule.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> scores = y + rng.normal(scale=0.3, size=300)
    >>> decision = Decision(Target(as_metric("f1"), (0, 1), (0, 1))).tune(scores, y)
    >>> 0.3 < decision.threshold < 0.7, bool(np.mean(decision.predict(scores) == y) > 0.9)
    (True, True)
    """

    target: Target
    decision: Any = "auto"
    scale: float = 1.0
    offsets: tuple[float, ...] = ()
    rule: FittedRule | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of metadata that `predict` reads."""
        return () if self.rule is None else self.rule.needs

    @property
    def threshold(self) -> float:
        """The score above which rows are given the second label, where that is one number."""
        if self.needs or len(self.offsets) != 1 or self.target.labels is None:
            raise AttributeError("threshold is there only where one threshold decides.")
        return -self.target.direction * self.offsets[0] / self.scale

    def tune(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        side: Mapping[str, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        random_state: int = 0,
    ) -> Decision:
        """Return the rule that is best for the metric on these rows.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, C)
            Of rows that did not train the model: held out, or out of fold (`cross_fit`). Of two
            classes, higher for the second of the sorted labels.
        y : array-like of shape (n,)
            Labels as in `fit`.
        groups, side, sample_weight : optional
            As in `fit`; what the metric reads.
        random_state : int
            Of the bootstrap resamples.
        """
        table = self._table(scores)
        columns = columns_of(len(table), groups, side)
        data = self.target.rows(self.target.coded(y), sample_weight, columns)
        metric, rng = self.target.metric, np.random.default_rng(random_state)
        problem = Problem(data, "logistic", metric, labels=self.target.labels)
        task = Task(self.target.labels)
        sample = Sample.of(problem, task, dealt(data.y, rng))
        judge = judge_for(problem, task, rng)
        settings = Auto(decision=self.decision)
        found = rule_of(problem, sample, None, judge, settings).assess(table, judge)
        offsets = tuple(np.ravel(found.offsets).tolist())
        return replace(self, scale=float(found.scale), offsets=offsets, rule=found.rule)

    def decision_function(
        self,
        scores: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        side: Mapping[str, ArrayLike] | None = None,
    ) -> Floats64:
        """Return scores moved by the rule: above zero, or the highest of a row, is decided for.

        Of two classes they are positive for the second label, as `decision_function` has it; of
        numbers, predictions.
        """
        moved = self._moved(scores, groups, side)
        if self.target.labels is None:
            unit = self.target.unit
            return moved if unit is None else np.asarray(unit.large(moved))
        return moved if self.target.many is not None else self.target.direction * moved

    def predict(
        self,
        scores: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        side: Mapping[str, ArrayLike] | None = None,
    ) -> NDArray[Any]:
        """Return labels, or numbers.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, C)
        groups, side : optional
            Read only where the rule reads them (`needs`).
        """
        if self.target.labels is None:
            return self.decision_function(scores)
        moved, many = self._moved(scores, groups, side), self.target.many
        if many is not None:
            return many.labels_of(moved)
        return np.asarray(self.target.labels)[(moved > 0.0).astype(np.intp)]

    def _moved(self, scores: ArrayLike, groups: Any, side: Any) -> Floats64:
        if not self.offsets:
            raise ValueError(
                "The rule was placed for our own scores, and another model's have another scale: "
                "call tune(scores, y) first, with scores of rows that did not train that model."
            )
        table: Floats64 = self.scale * self._table(scores) + np.array(self.offsets)
        moved: Floats64 = table if self.target.many is not None else table[:, 0]
        if self.rule is None:
            return moved
        columns = columns_of(len(moved), groups, side)
        missing = [name for name in self.rule.needs if name not in columns]
        if missing:
            raise ValueError(f"The decision rule reads the column {missing[0]!r}: give it.")
        return np.asarray(self.rule.moved(moved, columns))

    def _table(self, scores: ArrayLike) -> Floats64:
        read = self.target.read(scores)
        return read.reshape(len(read), -1)


def judge_for(problem: Problem, task: Task, rng: np.random.Generator) -> Judge:
    """Return what evaluates scores of a problem's rows: exact where the metric is of counts."""
    metric, rows, many = problem.metric, problem.valid, task.many
    weights = bootstrap_weights(len(rows), RESAMPLES, rng)
    if many and isinstance(metric, ConfusionMetric | LabelMetric):
        return ClassesJudge.of(metric, rows, problem.labels, weights)  # type: ignore[arg-type]
    if not many and isinstance(metric, DecisionMetric):
        return CountsJudge.of(metric, rows, weights)
    return CallsJudge.of(Ledger(problem), task, weights)
