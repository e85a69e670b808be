"""Facts: what there is to say of the metric, the rows, the model and the machine."""

from __future__ import annotations

import inspect
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from anymetric.metrics import (
    R2,
    ClassMatthews,
    CohenKappa,
    CostMatrix,
    FunctionMetric,
    GainMetric,
    Matthews,
    Metric,
    ScorerMetric,
)
from anymetric.metrics.multiclass import MulticlassMetric
from anymetric.report.sample import Sample, last_step
from anymetric.report.snippet import constructed

# Ready-made metrics that may fall below zero.
BELOW_ZERO = (R2, CohenKappa, ClassMatthews, Matthews, GainMetric, CostMatrix)
# Features shown.
MOST_FEATURES = 24


def described(metric: Metric) -> dict[str, Any]:
    """Return what there is to say of the metric."""
    return {
        "name": metric.name,
        "greater_is_better": bool(metric.greater_is_better),
        "decides": bool(metric.decides),
        "says": said_of(metric),
        "needs": list(metric.needs),
        "range": range_of(metric),
    }


def range_of(metric: Metric) -> tuple[float | None, float | None]:
    """Return the lowest and the highest value that a metric can have, where they are known.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> range_of(as_metric("f1")), range_of(as_metric("r2")), range_of(as_metric("error"))
    ((0.0, 1.0), (None, 1.0), (0.0, None))
    """
    of = getattr(metric, "of", metric)
    if metric.black_box or not type(of).__module__.startswith("anymetric."):
        return None, None
    high = of.ceiling if of.greater_is_better and of.ceiling else None
    return None if isinstance(of, BELOW_ZERO) else 0.0, high


def said_of(metric: Metric) -> str:
    """Return the first line of what the metric, or the user's own function, says of itself.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> said_of(as_metric("group_mean_f1"))
    'Mean over the groups of a rate in each group: the F-measure by default.'
    """
    if isinstance(metric, MulticlassMetric):
        return said_of(metric.inner)
    if isinstance(metric, ScorerMetric):
        return "One of scikit-learn's scorers."
    speaker = metric.function if isinstance(metric, FunctionMetric) else type(metric)
    if hasattr(speaker, "says"):
        return str(speaker.says)
    first = (inspect.getdoc(speaker) or "").partition("\n")[0]
    return re.sub(r" \(section [^)]*\)", "", first)


def sample_of(sample: Sample, rows: str, held_out: bool) -> dict[str, Any]:
    """Return what there is to say of the rows."""
    known: dict[str, Any] = {"rows": rows, "n": len(sample.data), "held_out": held_out}
    known["decides"] = sample.labels is not None and not sample.ranks
    known["kind"] = (
        "regression" if sample.labels is None else "ranking" if sample.ranks else "classes"
    )
    if sample.queries is not None:
        known["queries"] = len(sample.queries)
    if sample.many and sample.labels is not None:
        known["kind"], known["labels"] = "many", [str(label) for label in sample.labels]
        known["counts"] = np.bincount(sample.codes, minlength=len(sample.labels))
    elif sample.labels is not None:
        known["labels"] = [str(label) for label in sample.labels]
        known["positives"] = int(np.sum(sample.data.y > 0.0))
    return known


def coefficients_of(
    estimator: Any, sample: Sample, names: Sequence[str] | None
) -> list[dict[str, Any]]:
    """Return the features that move the scores most, each over its own spread in these rows.

    Of many classes each has an effect of its own, beside the mean of all.
    """
    model = last_step(estimator)
    if not hasattr(model, "coef_"):
        return []
    weights = np.atleast_2d(model.coef_)  # (1 or C, d)
    if names is None and isinstance(estimator, Pipeline) and len(estimator) > 1:
        names = list(estimator[:-1].get_feature_names_out())
    if names is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(weights.shape[1])])
    # What moves the scores of all classes alike decides nothing between them.
    moved = weights - weights.mean(axis=0) if sample.many else weights
    effects = moved * deviations(sample.data.X)
    size = np.abs(effects).max(axis=0)
    order = [j for j in np.argsort(-size, kind="stable")[:MOST_FEATURES] if size[j] != 0.0]
    if sample.many:
        return [
            {"name": str(names[j]), "effects": effects[:, j], "weights": weights[:, j]}
            for j in order
        ]
    return [
        {"name": str(names[j]), "effect": float(effects[0, j]), "weight": float(weights[0, j])}
        for j in order
    ]


def deviations(X: Any) -> Any:
    """Return the standard deviation of every column, dense or sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0]])
    >>> deviations(X).tolist(), deviations(sparse.csr_array(X)).tolist()
    ([1.0, 0.0], [1.0, 0.0])
    """
    if not isinstance(X, sparse.csr_array):
        return np.std(X, axis=0)
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(square - mean**2, 0.0))


def written(thing: Any) -> str:
    """Return the repr of a thing, without its place in memory.

    Examples
    --------
    >>> written(written), written("f1")
    ('<function written>', "'f1'")
    """
    return re.sub(r" at 0x[0-9a-f]+", "", repr(thing))


def made_by(model: Any, resamples: int, random_state: int) -> dict[str, Any]:
    """Return versions, settings and the time."""
    packages = ("anymetric", "numpy", "scipy", "scikit-learn")
    summary = getattr(model, "summary_", None)
    return {
        "model": written(model),
        "snippet": constructed(model),
        "settings": {name: written(v) for name, v in model.get_params(deep=False).items()},
        "chosen": {} if summary is None else summary.told,
        "versions": {name: version(name) for name in packages},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "resamples": resamples,
        "random_state": random_state,
    }
