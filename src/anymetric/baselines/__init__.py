"""Baselines: simpler or published methods for the same metrics, with the same interface."""

from anymetric.baselines._thresholds import tune_group_thresholds, tune_threshold
from anymetric.baselines.boosted import LightGBMThreshold
from anymetric.baselines.clean import BothLogistic, DomainWeighted, ValidationLogistic
from anymetric.baselines.cmaes import CMAES
from anymetric.baselines.fweg import FWEG
from anymetric.baselines.grouped import GroupThresholds
from anymetric.baselines.kar import KarRanker
from anymetric.baselines.logistic import (
    BalancedLogistic,
    ClassWeightSearch,
    LogisticBaseline,
    TunedThreshold,
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
    "GroupThresholds",
    "KarRanker",
    "LightGBMThreshold",
    "LogisticBaseline",
    "RelaxedFM",
    "TunedThreshold",
    "ValidationLogistic",
    "tune_group_thresholds",
    "tune_threshold",
]
