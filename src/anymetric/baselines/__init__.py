"""Baselines: what a metric can be trained with today, at the same door as our own method."""

from anymetric.baselines._shifts import group_post_shift, post_shift
from anymetric.baselines.boosted import LightGBMPostShift
from anymetric.baselines.clean import BothLogistic, DomainWeighted, ValidationLogistic
from anymetric.baselines.cmaes import CMAES
from anymetric.baselines.fweg import FWEG
from anymetric.baselines.grouped import GroupPostShift
from anymetric.baselines.kar import KarRanker
from anymetric.baselines.logistic import (
    BalancedLogistic,
    ClassWeightSearch,
    LogisticBaseline,
    PostShift,
)
from anymetric.baselines.rates import GenRates
from anymetric.baselines.relaxed import RelaxedFM

__all__ = [
    "CMAES",
    "FWEG",
    "BalancedLogistic",
    "BothLogistic",
    "ClassWeightSearch",
    "DomainWeighted",
    "GenRates",
    "GroupPostShift",
    "KarRanker",
    "LightGBMPostShift",
    "LogisticBaseline",
    "PostShift",
    "RelaxedFM",
    "ValidationLogistic",
    "group_post_shift",
    "post_shift",
]
