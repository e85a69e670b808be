"""Explained: `metric_`, the metric of a fit, which can say what it values."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from anymetric.estimators._ledger import continuing
from anymetric.explaining import Listening, Record, explain_metric
from anymetric.metrics.evaluations import answered_by, current


class ExplainsMetric:
    """Keep what the metric answered in a fit, and hand out a metric that explains itself."""

    @property
    def metric_(self):
        """The metric; after `fit`, ``metric_.explain()`` says what it values."""
        state = self.__dict__
        if "metric_" not in state:
            raise AttributeError(f"{type(self).__name__!r} has no metric_ before fit.")
        metric, record = state["metric_"], state.get("_record")
        return metric if record is None else explainable(metric, Explain(self))

    @metric_.setter
    def metric_(self, metric):
        self.__dict__.pop("_record", None)
        self.__dict__["metric_"] = metric

    @contextmanager
    def _listening(self, problem):
        """Record the evaluations on the validation rows; keep them once there is a model."""
        metric = self.__dict__["metric_"]
        self._record = Record.of(metric, problem.valid, problem.labels)
        listener = Listening(current(), metric, self._record)
        with answered_by(listener):
            yield

    def _keep_record(self, problem, solution):
        """Keep the record, with the scores of the model on its rows."""
        record = self.__dict__.pop("_record", None)
        if record is None:
            return
        rows, scores = solution.out_of_fold or (problem.valid, None)
        if len(rows) != len(record.y) or not np.array_equal(rows.y, record.y):
            fresh = Record.of(self.__dict__["metric_"], rows, problem.labels)
            record.y, record.side, record.X = fresh.y, fresh.side, fresh.X
        if scores is None and solution.scorer is None and not np.size(solution.theta):
            scores = self._scores(rows.X)  # a baseline that is no linear model
        elif scores is None and solution.scorer is None:
            scores = problem.validation_scores(solution.theta)
        elif scores is None:
            scores = solution.scorer.scores(rows.X)
        record.scores = np.asarray(scores, dtype=np.float64)
        self._record = record


@dataclass(frozen=True, eq=False)
class Explain:
    """Explain the metric of a fitted estimator.

    Parameters
    ----------
    estimator : MetricEstimator
    """

    estimator: object

    def __reduce__(self):
        return Explain, (None,)  # a metric that is sent elsewhere does not take the rows along

    def __call__(self, max_calls=60, max_seconds=None):
        """Say in words what the metric values.

        Parameters
        ----------
        max_calls : int
            Calls of the metric at most; no more than `max_metric_calls` has left.
        max_seconds : float, optional
            No call begins later than this.

        Returns
        -------
        Explanation
            Print it.
        """
        if self.estimator is None:
            raise ValueError(
                "A metric that was pickled by itself knows no fit: pickle the estimator, and "
                "explain its metric_."
            )
        ours, state = self.estimator, self.estimator.__dict__
        record, allowed = state["_record"], getattr(ours, "max_metric_calls", None)
        if allowed is not None:
            left = allowed - ours.n_metric_calls_ - record.calls
            max_calls = max(min(max_calls, left), 0)
        labels = ours._labels() or ()
        record.shown = tuple(labels) if len(labels) == len(record.names) else ()
        with continuing(ours):
            return explain_metric(
                state["metric_"],
                record,
                max_calls=max_calls,
                max_seconds=np.inf if max_seconds is None else max_seconds,
                n_jobs=getattr(ours, "n_jobs", None),
            )


def explainable(metric, explain):
    """Return a copy of a metric with a method `explain`."""
    copied = object.__new__(type(metric))
    copied.__dict__.update(metric.__dict__)
    copied.__dict__["explain"] = explain
    return copied
