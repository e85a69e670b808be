"""Metrics: the numbers that models are trained for, ready-made or the user's own."""

from anymetric.metrics.base import BoundMetric, Metric, MetricError
from anymetric.metrics.classes import Classes
from anymetric.metrics.commands import CommandMetric
from anymetric.metrics.confusion import ByGroup, ConfusionMetric, MarginMetric
from anymetric.metrics.constraints import Constraint, as_constraints, at_least, at_most, gap
from anymetric.metrics.counts import CountMetric, Counts
from anymetric.metrics.decisions import DecisionMetric
from anymetric.metrics.faults import FaultPolicy
from anymetric.metrics.functions import FunctionMetric, metric
from anymetric.metrics.gaps import ConfusionGap, GroupGap, OddsGap, RateGap, SelectionRate
from anymetric.metrics.groups import (
    DemographicParity,
    EqualisedOdds,
    MacroByGroup,
    WorstGroup,
)
from anymetric.metrics.kept import LimitValue, limit_values
from anymetric.metrics.labelled import (
    Hamming,
    InstanceF,
    LabelF,
    LabelMetric,
    SubsetAccuracy,
)
from anymetric.metrics.macro import (
    ClassAccuracy,
    ClassF,
    ClassMatthews,
    CohenKappa,
    CostMatrix,
    MeanRecall,
    RecallGMean,
    WorstClassRecall,
)
from anymetric.metrics.meaning import meant
from anymetric.metrics.median import MedianAbsoluteError
from anymetric.metrics.profit import GainMetric, Gains, Profit, RowGains
from anymetric.metrics.queries import (
    NDCG,
    QueryAveragePrecision,
    QueryPrecisionAtK,
    ReciprocalRank,
    by_query,
)
from anymetric.metrics.ranked import BoundQueries, QueryMetric, Ranked, relevance
from anymetric.metrics.ranking import AveragePrecision, RankingMetric, RecallAtPrecision, RocAuc
from anymetric.metrics.rates import (
    Accuracy,
    BalancedAccuracy,
    BalancedError,
    ErrorRate,
    FBeta,
    GMean,
    Matthews,
    Precision,
    Recall,
)
from anymetric.metrics.registry import as_metric, metric_names
from anymetric.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    Pinball,
    RootMeanSquaredError,
    Within,
)
from anymetric.metrics.rows import Rows
from anymetric.metrics.scorers import ScorerMetric
from anymetric.metrics.thresholds import Sweep
from anymetric.metrics.told import ToldMetric
from anymetric.metrics.top import BreakEven, PrecisionAtFraction, PrecisionAtK
from anymetric.metrics.under_limits import Limited, limited

__all__ = [
    "NDCG",
    "R2",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "BalancedError",
    "BoundMetric",
    "BoundQueries",
    "BreakEven",
    "ByGroup",
    "ClassAccuracy",
    "ClassF",
    "ClassMatthews",
    "Classes",
    "CohenKappa",
    "CommandMetric",
    "ConfusionGap",
    "ConfusionMetric",
    "Constraint",
    "CostMatrix",
    "CountMetric",
    "Counts",
    "DecisionMetric",
    "DemographicParity",
    "EqualisedOdds",
    "ErrorRate",
    "FBeta",
    "FaultPolicy",
    "FunctionMetric",
    "GMean",
    "GainMetric",
    "Gains",
    "GroupGap",
    "Hamming",
    "InstanceF",
    "LabelF",
    "LabelMetric",
    "LimitValue",
    "Limited",
    "MacroByGroup",
    "MarginMetric",
    "Matthews",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanRecall",
    "MeanSquaredError",
    "MedianAbsoluteError",
    "Metric",
    "MetricError",
    "OddsGap",
    "Pinball",
    "Precision",
    "PrecisionAtFraction",
    "PrecisionAtK",
    "Profit",
    "QueryAveragePrecision",
    "QueryMetric",
    "QueryPrecisionAtK",
    "Ranked",
    "RankingMetric",
    "RateGap",
    "Recall",
    "RecallAtPrecision",
    "RecallGMean",
    "ReciprocalRank",
    "RocAuc",
    "RootMeanSquaredError",
    "RowGains",
    "Rows",
    "ScorerMetric",
    "SelectionRate",
    "SubsetAccuracy",
    "Sweep",
    "ToldMetric",
    "Within",
    "WorstClassRecall",
    "WorstGroup",
    "as_constraints",
    "as_metric",
    "at_least",
    "at_most",
    "by_query",
    "gap",
    "limit_values",
    "limited",
    "meant",
    "metric",
    "metric_names",
    "relevance",
]
