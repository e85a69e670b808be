"""Run: the iterations of a fitted estimator, for its HTML representation and the displays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from anymetric.metrics import Metric

History = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Run:
    """The iterations of a run.

    Attributes
    ----------
    costs, starts : arrays of shape (T,)
    profiles : tuple of arrays of shape (K,)
    chosen : int
        The iteration that became the model.
    sequential : bool
        Whether each iteration follows from the one before; candidates are independent.
    averaged : bool
        Whether the last iteration is the average of the others.

    Examples
    --------
    >>> iterations = [{"start": 0, "cost": c, "profile": [1.0], "target": None} for c in (3, 1, 2)]
    >>> run = Run.of_history(iterations)
    >>> run.chosen, run.best_so_far.tolist()
    (1, [3.0, 1.0, 1.0])
    """

    costs: NDArray[np.float64]
    starts: NDArray[np.intp]
    profiles: tuple[NDArray[np.float64], ...]
    chosen: int
    sequential: bool = False
    averaged: bool = False

    @classmethod
    def of_history(
        cls, history: History, chosen: int | None = None, *, averaged: bool = False
    ) -> Run:
        """Read the rows of `history_`; by default the iteration of the lowest cost is chosen."""
        if not len(history):
            raise ValueError("The history has no iterations: there is nothing to show.")
        costs = np.array([iteration["cost"] for iteration in history], dtype=np.float64)
        if chosen is None:
            chosen = int(np.nanargmin(costs)) if np.isfinite(costs).any() else 0
        return cls(
            costs,
            np.array([iteration["start"] for iteration in history], dtype=np.intp),
            tuple(np.asarray(iteration["profile"], dtype=np.float64) for iteration in history),
            chosen,
            any(iteration["target"] is not None for iteration in history),
            averaged,
        )

    @classmethod
    def of_estimator(cls, estimator: Any) -> Run:
        """Read a fitted estimator of anymetric."""
        history = estimator.history_
        candidates = estimator.summary_.candidates
        averaged = bool(candidates) and len(history) == len(candidates) + 1
        return cls.of_history(history, len(history) - 1 if averaged else None, averaged=averaged)

    @property
    def tried(self) -> NDArray[np.float64]:
        """The costs without that of the average."""
        return self.costs[:-1] if self.averaged else self.costs

    @property
    def best_so_far(self) -> NDArray[np.float64]:
        """The lowest cost tried up to each iteration."""
        return np.fmin.accumulate(self.tried)


def fitted(estimator: Any, caller: str, attribute: str = "history_") -> Any:
    """Return our estimator, taken out of pipelines and searches; refuse any other.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> fitted(DummyClassifier().fit([[0.0]], [1]), "DescentDisplay")
    Traceback (most recent call last):
    ...
    TypeError: DescentDisplay reads `history_` of a fitted estimator of anymetric; ...
    """
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            break
    if not hasattr(estimator, attribute):
        check_is_fitted(estimator)
        raise TypeError(
            f"{caller} reads `{attribute}` of a fitted estimator of anymetric; "
            f"{type(estimator).__name__} has none."
        )
    return estimator


def cost_label(metric: Metric) -> str:
    """Return a label for the cost of a metric.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> cost_label(as_metric("f1")), cost_label(as_metric("error"))
    ('cost (1 - f1)', 'cost (error)')
    """
    if not metric.greater_is_better:
        return f"cost ({metric.name})"
    best = f"{metric.ceiling:g} - " if metric.ceiling else "-"
    return f"cost ({best}{metric.name})"
