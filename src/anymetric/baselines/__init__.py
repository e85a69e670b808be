"""Baselines: what a metric can be trained with today, at the same door as our own method."""

from anymetric.baselines._shifts import group_post_shift, post_shift
from anymetric.baselines.clean import BothLogistic, DomainWeighted, ValidationLogistic
from anymetric.baselines.grouped import GroupPostShift
from anymetric.baselines.logistic import (
    BalancedLogistic,
    ClassWeightSearch,
    LogisticBaseline,
    PostShift,
)
from anymetric.baselines.rates import GenRates
from anymetric.baselines.relaxed import RelaxedFM

__all__ = [
    "BalancedLogistic",
    "BothLogistic",
    "ClassWeightSearch",
    "DomainWeighted",
    "GenRates",
    "GroupPostShift",
    "LogisticBaseline",
    "PostShift",
    "RelaxedFM",
    "ValidationLogistic",
    "group_post_shift",
    "post_shift",
]
