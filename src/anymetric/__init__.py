"""Train a model for the metric you care about, even when that metric is a black box.

>>> from sklearn.datasets import make_classification
>>> from anymetric import MetricClassifier
>>> X, y = make_classification(500, weights=[0.9], random_state=0)
>>> round(MetricClassifier("f1", random_state=0).fit(X, y).validation_score_, 1)
0.7
"""

from anymetric.auto import Auto
from anymetric.descent import Descent
from anymetric.errors import MissingExtra
from anymetric.estimators import MetricClassifier, MetricRanker, MetricRegressor, scorer
from anymetric.gradients import FiniteDifferences, LinearInterpolation, Subspace, TwoStep
from anymetric.metrics import Metric, MetricError, as_metric, metric, metric_names
from anymetric.projections import LBFGS, Adagrad, Exact, GaussNewton
from anymetric.solution import Solution, Status
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
    "Descent",
    "Exact",
    "FiniteDifferences",
    "GaussNewton",
    "LinearInterpolation",
    "Metric",
    "MetricClassifier",
    "MetricError",
    "MetricRanker",
    "MetricRegressor",
    "MissingExtra",
    "PrecisionAtRecall",
    "Sliced",
    "Slices",
    "Solution",
    "Status",
    "Subspace",
    "Tuned",
    "TwoStep",
    "__version__",
    "as_metric",
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
