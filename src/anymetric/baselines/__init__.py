"""Baselines: what a metric can be trained with today, at the same door as our own method."""

from anymetric.baselines._shifts import group_post_shift, post_shift
from anymetric.baselines.logistic import (
    BalancedLogistic,
    ClassWeightSearch,
    LogisticBaseline,
    PostShift,
)

__all__ = [
    "BalancedLogistic",
    "ClassWeightSearch",
    "LogisticBaseline",
    "PostShift",
    "group_post_shift",
    "post_shift",
]
