"""Meaning: what a metric is where there are more than two classes, or sets of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anymetric.metrics.base import Metric
from anymetric.metrics.classes import Classes
from anymetric.metrics.confusion import ByGroup, ConfusionMetric
from anymetric.metrics.functions import FunctionMetric
from anymetric.metrics.gaps import ConfusionGap, GroupGap, RateGap
from anymetric.metrics.groups import MacroByGroup, WorstGroup
from anymetric.metrics.labelled import (
    LabelBalancedAccuracy,
    LabelF,
    LabelMetric,
    SubsetAccuracy,
    SubsetError,
    WorstLabelRecall,
)
from anymetric.metrics.macro import (
    BalancedClassError,
    ClassAccuracy,
    ClassError,
    ClassF,
    ClassMatthews,
    ClassPrecision,
    MeanRecall,
    RecallGMean,
    WorstClassRecall,
)
from anymetric.metrics.multiclass import MulticlassMetric
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
from anymetric.metrics.scorers import ScorerMetric

_SAME: dict[type[Metric], Callable[[], ConfusionMetric]] = {
    Accuracy: ClassAccuracy,
    ErrorRate: ClassError,
    BalancedAccuracy: MeanRecall,
    BalancedError: BalancedClassError,
    GMean: RecallGMean,
    Matthews: ClassMatthews,
}
_LABELS: dict[type[Metric], Callable[[], LabelMetric]] = {
    Accuracy: SubsetAccuracy,
    ClassAccuracy: SubsetAccuracy,
    ErrorRate: SubsetError,
    ClassError: SubsetError,
    BalancedAccuracy: LabelBalancedAccuracy,
    MeanRecall: LabelBalancedAccuracy,
    WorstClassRecall: WorstLabelRecall,
}


def meant(metric: Metric, classes: Classes) -> Metric:
    """Return what a metric means for these classes; one that means nothing there is refused.

    Names keep their meaning where they can: accuracy, error, balanced accuracy and gmean.
    ``group_mean_``, ``worst_group_`` and ``gap()`` are about groups, with a macro F-measure, recall
    or precision within each. Of labels, accuracy is that of the whole set.

    Parameters
    ----------
    metric : Metric
    classes : Classes

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> meant(as_metric("macro_f1"), Classes(("a", "b", "c")))
    ClassF(average='macro', beta=1.0)
    >>> meant(as_metric("f1"), Classes(("a", "b", "c")))
    Traceback (most recent call last):
    ...
    ValueError: Metric 'f1' is about one positive class, and y has 3 classes. ...
    """
    if isinstance(metric, FunctionMetric | ScorerMetric):
        return MulticlassMetric(metric)
    if isinstance(metric, GroupGap):
        return GroupGap(meant(metric.of, classes), metric.groups)
    found = _of_classes(metric) if classes.exclusive else _of_labels(metric)
    if found is not None:
        return found
    if isinstance(metric, MulticlassMetric | LabelMetric | ConfusionMetric):
        return metric  # a mismatch raises where it is bound
    raise ValueError(_refusal(metric, classes))


def _of_classes(metric: Metric) -> Metric | None:
    if type(metric) in _SAME:
        return _SAME[type(metric)]()
    if isinstance(metric, MacroByGroup | WorstGroup):
        inner = _of_classes(metric.of) or _macro(metric.of)
        if isinstance(inner, ConfusionMetric):
            return ByGroup(inner, isinstance(metric, WorstGroup), metric.groups)
    if isinstance(metric, RateGap):
        inner = _of_classes(metric.of) or _macro(metric.of)
        if isinstance(inner, ConfusionMetric):
            return ConfusionGap(inner, metric.groups)
    return None


def _macro(rate: Any) -> ConfusionMetric | None:
    if isinstance(rate, FBeta):
        return ClassF("macro", rate.beta)
    if isinstance(rate, Recall):
        return MeanRecall()
    return ClassPrecision() if isinstance(rate, Precision) else None


def _of_labels(metric: Metric) -> Metric | None:
    if type(metric) in _LABELS:
        return _LABELS[type(metric)]()
    if isinstance(metric, ClassF):
        return LabelF(metric.average, metric.beta)
    return None


def _refusal(metric: Metric, classes: Classes) -> str:
    if not classes.exclusive:
        return (
            f"Metric {metric.name!r} has no meaning for sets of labels, and y has "
            f"{len(classes)} labels. Give micro_f1, macro_f1, weighted_f1, instance_f1, "
            "hamming_loss, subset_accuracy, or a function f(y_true, y_pred) of tables."
        )
    return (
        f"Metric {metric.name!r} is about one positive class, and y has {len(classes)} classes. "
        "Give macro_f1, micro_f1, weighted_f1, balanced_accuracy, worst_class_recall, "
        "cohen_kappa, CostMatrix(costs), a scorer such as 'roc_auc_ovr', or a function "
        "f(y_true, y_pred)."
    )
