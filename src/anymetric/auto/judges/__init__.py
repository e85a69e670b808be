"""Judges: what turns scores of the validation rows into costs."""

from anymetric.auto.judges.base import Judge

__all__ = ["Judge"]
