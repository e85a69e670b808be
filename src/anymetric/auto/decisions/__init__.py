"""Decisions: rules from scores to decisions, their parameters tuned with a judge."""

from anymetric.auto.decisions.named import Decision, Top, check_decision, top_of
from anymetric.auto.decisions.offsets import ClassOffsets
from anymetric.auto.decisions.rows import Competing, RowThresholds
from anymetric.auto.decisions.scores import Bias, SigmoidCalibration
from anymetric.auto.decisions.thresholds import DecisionRule, GroupThresholds, NoRule, Threshold

__all__ = [
    "Bias",
    "ClassOffsets",
    "Competing",
    "Decision",
    "DecisionRule",
    "GroupThresholds",
    "NoRule",
    "RowThresholds",
    "SigmoidCalibration",
    "Threshold",
    "Top",
    "check_decision",
    "top_of",
]
