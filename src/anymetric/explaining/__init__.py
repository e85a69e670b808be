"""Explaining: what a metric values, read from its answers and put in words."""

from anymetric.explaining.explainer import explain_metric
from anymetric.explaining.explanation import Explanation
from anymetric.explaining.prices import Price
from anymetric.explaining.record import Listening, Record

__all__ = ["Explanation", "Listening", "Price", "Record", "explain_metric"]
