"""Train a model for the metric you care about, even when that metric is a black box.

>>> from sklearn.datasets import make_classification
>>> from anymetric import MetricClassifier
>>> X, y = make_classification(500, weights=[0.9], random_state=0)
>>> MetricClassifier("f1", random_state=0).fit(X, y).validation_score_ > 0.6
True
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anymetric.auto import Auto
    from anymetric.cli.loading import load
    from anymetric.descent import Descent
    from anymetric.displays import (
        DescentDisplay,
        FrontierDisplay,
        SliceWeightsDisplay,
        ThresholdDisplay,
    )
    from anymetric.engines import ParquetRows
    from anymetric.errors import MetricWarning, MissingExtra
    from anymetric.estimators import MetricClassifier, MetricRanker, MetricRegressor, scorer
    from anymetric.exports import export_onnx
    from anymetric.gradients import FiniteDifferences, LinearInterpolation, Subspace, TwoStep
    from anymetric.metrics import (
        CommandMetric,
        Constraint,
        FaultPolicy,
        Metric,
        MetricError,
        ToldMetric,
        as_metric,
        at_least,
        at_most,
        gap,
        metric,
        metric_names,
    )
    from anymetric.models import Reweighted
    from anymetric.models.boosted import Boosted
    from anymetric.models.forest import Forest
    from anymetric.models.torch import TorchModel
    from anymetric.notebook import NotebookDescent
    from anymetric.projections import LBFGS, Adagrad, Exact, GaussNewton
    from anymetric.runs import Run
    from anymetric.solution import Solution, Status
    from anymetric.summary import Summary
    from anymetric.surrogates import (
        AveragePrecisionAtK,
        PrecisionAtRecall,
        Sliced,
        Slices,
        lp_family,
        per_class,
        per_class_and_group,
        per_class_group_and_source,
        per_group,
        per_source,
    )
    from anymetric.tuning import Tuned

__version__ = "0.1.0"

__all__ = [
    "LBFGS",
    "Adagrad",
    "Auto",
    "AveragePrecisionAtK",
    "Boosted",
    "CommandMetric",
    "Constraint",
    "Descent",
    "DescentDisplay",
    "Exact",
    "FaultPolicy",
    "FiniteDifferences",
    "Forest",
    "FrontierDisplay",
    "GaussNewton",
    "LinearInterpolation",
    "Metric",
    "MetricClassifier",
    "MetricError",
    "MetricRanker",
    "MetricRegressor",
    "MetricWarning",
    "MissingExtra",
    "NotebookDescent",
    "ParquetRows",
    "PrecisionAtRecall",
    "Reweighted",
    "Run",
    "SliceWeightsDisplay",
    "Sliced",
    "Slices",
    "Solution",
    "Status",
    "Subspace",
    "Summary",
    "ThresholdDisplay",
    "ToldMetric",
    "TorchModel",
    "Tuned",
    "TwoStep",
    "__version__",
    "as_metric",
    "at_least",
    "at_most",
    "export_onnx",
    "gap",
    "load",
    "lp_family",
    "metric",
    "metric_names",
    "per_class",
    "per_class_and_group",
    "per_class_group_and_source",
    "per_group",
    "per_source",
    "scorer",
]

# Where each name lives. A name is imported when it is first used: the command line must
# answer `--help` before scikit-learn could even be loaded.
_HOMES = {
    "auto": ("Auto",),
    "cli.loading": ("load",),
    "descent": ("Descent",),
    "displays": ("DescentDisplay", "FrontierDisplay", "SliceWeightsDisplay", "ThresholdDisplay"),
    "engines": ("ParquetRows",),
    "errors": ("MetricWarning", "MissingExtra"),
    "estimators": ("MetricClassifier", "MetricRanker", "MetricRegressor", "scorer"),
    "exports": ("export_onnx",),
    "gradients": ("FiniteDifferences", "LinearInterpolation", "Subspace", "TwoStep"),
    "metrics": (
        "CommandMetric",
        "FaultPolicy",
        "Metric",
        "MetricError",
        "ToldMetric",
        "as_metric",
        "Constraint",
        "at_least",
        "at_most",
        "gap",
        "metric",
        "metric_names",
    ),
    "models": ("Reweighted",),
    "models.boosted": ("Boosted",),
    "models.forest": ("Forest",),
    "models.torch": ("TorchModel",),
    "notebook": ("NotebookDescent",),
    "projections": ("LBFGS", "Adagrad", "Exact", "GaussNewton"),
    "runs": ("Run",),
    "solution": ("Solution", "Status"),
    "summary": ("Summary",),
    "surrogates": (
        "AveragePrecisionAtK",
        "PrecisionAtRecall",
        "Sliced",
        "Slices",
        "lp_family",
        "per_class",
        "per_class_and_group",
        "per_class_group_and_source",
        "per_group",
        "per_source",
    ),
    "tuning": ("Tuned",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found = getattr(import_module(f"anymetric.{_HOME[name]}"), name)
        globals()[name] = found
        return found
    if not name.startswith("_") and find_spec(f"anymetric.{name}") is not None:
        return import_module(f"anymetric.{name}")
    raise AttributeError(f"module 'anymetric' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *(home.partition(".")[0] for home in _HOMES)})
