"""Evaluation: the metric at its tuned threshold, as boosters call it after each round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anymetric.exports.objectives import LIBRARIES, check_library, read_rows
from anymetric.exports.target import Target, columns_of

Floats64 = NDArray[np.float64]
# Thresholds that a function is called for; a ready-made metric has all of them from one sort.
CALLED = 25


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A metric of another model's scores, at the best threshold of the rows that are evaluated.

    Of more than two classes the highest score decides; metrics of an order, of probabilities and
    of numbers read scores as they are. A threshold that is tuned and evaluated on the same rows
    looks a little better than it is: compare rounds by this number, do not report it.

    Parameters
    ----------
    target : Target
    columns : mapping from name to array, optional
        Metadata of the rows that are evaluated, in their order.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> evaluation = Evaluation(Target(as_metric("f1"), (0, 1), (0, 1)))
    >>> evaluation.value(np.array([1, 0, 1]), np.array([-1.0, -3.0, -2.0]))
    1.0
    """

    target: Target
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def value(self, y: ArrayLike, scores: Floats64, weight: ArrayLike | None = None) -> float:
        """Return the metric in its own direction; y holds 0, 1, ..., or numbers."""
        target = self.target
        return self.of_codes(target.numbered(y), target.read(scores), weight, self.columns)

    def of_codes(
        self, y: Floats64, scores: Floats64, weight: Any, columns: Mapping[str, NDArray[Any]]
    ) -> float:
        """Return the metric of labels and scores as metrics read them."""
        metric, columns = self.target.metric, columns_of(len(y), None, columns)
        if not getattr(getattr(metric, "inner", metric), "takes_weights", True):
            weight = None
        data = self.target.rows(y, weight, columns)
        bound = metric.bind(data.y, weights=data.weights, side=data.side, labels=self.target.labels)
        if self.target.labels is None or self.target.many is not None or not metric.decides:
            return float(bound.values(scores))
        values = bound.sweep(scores, CALLED if metric.black_box else None).values
        best = np.nanmax(values) if metric.greater_is_better else np.nanmin(values)
        return float(best)


@dataclass(frozen=True, eq=False)
class LightGBMMetric(Evaluation):
    """The metric as LightGBM's `eval_metric` or `feval`: its name, its value, which way is better.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> metric = LightGBMMetric(Target(as_metric("f1"), (0, 1), (0, 1)))
    >>> metric(np.array([1, 0]), np.array([0.2, 0.1]))
    ('f1', 1.0, True)
    """

    def __call__(self, y_true: Any, y_pred: Any, weight: Any = None) -> tuple[str, float, bool]:
        """Evaluate ``(y_true, y_pred, weight)``, or ``(scores, dataset)``."""
        y, scores, weight = read_rows(y_true, y_pred, weight)
        metric = self.target.metric
        return metric.name, self.value(y, scores, weight), metric.greater_is_better


@dataclass(frozen=True, eq=False)
class XGBoostMetric(Evaluation):
    """The metric as XGBoost's `eval_metric` or `custom_metric`: a cost, which it minimises.

    Of a metric that is better when greater, the cost is its best value less its value: for the F1
    score ``1 - F1``.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> metric = XGBoostMetric(Target(as_metric("f1"), (0, 1), (0, 1)))
    >>> metric(np.array([1, 0]), np.array([0.2, 0.1])), metric.__name__
    (0.0, 'f1_cost')
    """

    @property
    def __name__(self) -> str:
        metric = self.target.metric
        return f"{metric.name}_cost" if metric.greater_is_better else metric.name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Evaluate ``(y_true, y_pred)`` to a cost, ``(scores, matrix)`` to a name and a cost."""
        y, scores, weight = read_rows(y_true, y_pred, sample_weight)
        cost = float(self.target.metric.cost(self.value(y, scores, weight)))
        return (self.__name__, cost) if hasattr(y_pred, "get_label") else cost


@dataclass(eq=False)  # CatBoost writes attributes of its own
class CatBoostMetric:
    """The metric as CatBoost's `eval_metric`.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> metric = CatBoostMetric(Evaluation(Target(as_metric("f1"), (0, 1), (0, 1))))
    >>> metric.evaluate([[0.2, 0.1]], [1.0, 0.0], None), metric.is_max_optimal()
    ((1.0, 1.0), True)
    """

    evaluation: Evaluation

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Return the metric and the weight that it counts with: one."""
        table = np.stack([np.asarray(one, dtype=np.float64) for one in approxes], axis=1)
        scores = table if self.evaluation.target.many is not None else table[:, 0]
        rows = None if weight is None else np.asarray(weight, dtype=np.float64)
        return self.evaluation.value(np.asarray(target, dtype=np.float64), scores, rows), 1.0

    def is_max_optimal(self) -> bool:
        """Return whether greater is better."""
        return bool(self.evaluation.target.metric.greater_is_better)

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the metric."""
        return error / weight


def metric_for(
    library: str, target: Target, columns: Mapping[str, NDArray[Any]]
) -> Evaluation | CatBoostMetric:
    """Return the evaluation in the form that a library calls.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> target = Target(as_metric("f1"), (0, 1), (0, 1))
    >>> type(metric_for("lightgbm", target, {})).__name__
    'LightGBMMetric'
    """
    check_library(library, (*LIBRARIES, "sklearn"))
    if library == "catboost":
        return CatBoostMetric(Evaluation(target, columns))
    return {"lightgbm": LightGBMMetric, "xgboost": XGBoostMetric}[library](target, columns)
