"""Estimators: the scikit-learn interface."""

from anymetric.estimators._scorer import scorer
from anymetric.estimators.classifier import MetricClassifier
from anymetric.estimators.ranker import MetricRanker
from anymetric.estimators.regressor import MetricRegressor

__all__ = ["MetricClassifier", "MetricRanker", "MetricRegressor", "scorer"]
