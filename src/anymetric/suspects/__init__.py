"""Suspects: training rows whose label or features the clean rows contradict."""

from anymetric.suspects.door import find
from anymetric.suspects.table import Part, Suspects

__all__ = ["Part", "Suspects", "find"]
