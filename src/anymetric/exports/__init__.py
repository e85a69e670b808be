"""Exports: the learned loss, the metric, the decision rule and the model, for use elsewhere."""

from anymetric.exports.decision import Decision
from anymetric.exports.evaluation import CatBoostMetric, Evaluation, LightGBMMetric, XGBoostMetric
from anymetric.exports.fitting import CrossFit, cross_fit
from anymetric.exports.loss import LearnedLoss
from anymetric.exports.objectives import CatBoostClassesObjective, CatBoostObjective, Objective
from anymetric.exports.onnx import export_onnx
from anymetric.exports.target import Target
from anymetric.exports.weights import RowWeights

__all__ = [
    "CatBoostClassesObjective",
    "CatBoostMetric",
    "CatBoostObjective",
    "CrossFit",
    "Decision",
    "Evaluation",
    "LearnedLoss",
    "LightGBMMetric",
    "Objective",
    "RowWeights",
    "Target",
    "XGBoostMetric",
    "cross_fit",
    "export_onnx",
]
