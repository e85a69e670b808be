"""Baselines: simpler or published methods for the same metrics, with the same interface."""

from anymetric.baselines._thresholds import tune_group_thresholds, tune_threshold
from anymetric.baselines.boosted import LightGBMThreshold, ValidationLightGBM
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
from anymetric.baselines.numbers import RegressionBaseline
from anymetric.baselines.ranking import LambdaRank
from anymetric.baselines.rates import GenRates
from anymetric.baselines.relaxed import RelaxedFM
from anymetric.baselines.rows import RowRuleLightGBM, RowRuleLogistic

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
    "LambdaRank",
    "LightGBMThreshold",
    "LogisticBaseline",
    "RegressionBaseline",
    "RelaxedFM",
    "RowRuleLightGBM",
    "RowRuleLogistic",
    "TunedThreshold",
    "ValidationLightGBM",
    "ValidationLogistic",
    "tune_group_thresholds",
    "tune_threshold",
]
