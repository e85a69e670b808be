"""Many: baselines for more than two classes."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from sklearn.linear_model import LogisticRegression

from anymetric.estimators import MetricClassifier
from anymetric.metrics import ConfusionMetric, Metric
from anymetric.models.trees import lightgbm
from anymetric.starts_classes import OnValidation, Shifted

Maker = Callable[[int | None], Any]


def baselines_of_many(metric: Metric, seed: int, valid: bool = False) -> dict[str, Maker]:
    """Return by name how each baseline is made, given how often it may call the metric.

    Examples
    --------
    >>> from anymetric.metrics import ClassF
    >>> list(baselines_of_many(ClassF(), 0))[:3]
    ['logistic regression', 'balanced', 'tuned threshold']
    """

    def trained(method: Any) -> Maker:
        return lambda calls: MetricClassifier(
            metric, method=method, max_metric_calls=calls, random_state=seed
        )

    found: dict[str, Maker] = {
        "logistic regression": lambda calls: LogisticRegression(max_iter=2000),
        "balanced": lambda calls: LogisticRegression(max_iter=2000, class_weight="balanced"),
    }
    if isinstance(metric, ConfusionMetric):
        found["tuned threshold"] = trained(Shifted())
    if valid:
        found["on validation rows"] = trained(OnValidation())
        found["on both"] = trained(OnValidation(both=True))
    if find_spec("lightgbm") is not None:
        found["LightGBM"] = lambda calls: boosted(seed)
    return found


def boosted(seed: int) -> Any:
    """Return LightGBM's own classifier, on one thread: on a busy machine threads only wait."""
    return lightgbm().LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
