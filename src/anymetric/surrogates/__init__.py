"""Surrogates: scores to a profile of K numbers that training can lower."""

from anymetric.surrogates.base import Bound, Slopes, Surrogate
from anymetric.surrogates.classes import ClassLoss, class_losses
from anymetric.surrogates.profiler import Profiler, Spec, bind, expand
from anymetric.surrogates.queries import ByQuery, Pairwise, Softmax
from anymetric.surrogates.ranking import AveragePrecisionAtK, PrecisionAtRecall
from anymetric.surrogates.slices import (
    Sliced,
    Slices,
    lp_family,
    per_class,
    per_class_and_group,
    per_class_group_and_source,
    per_group,
    per_source,
)

__all__ = [
    "AveragePrecisionAtK",
    "Bound",
    "ByQuery",
    "ClassLoss",
    "Pairwise",
    "PrecisionAtRecall",
    "Profiler",
    "Sliced",
    "Slices",
    "Slopes",
    "Softmax",
    "Spec",
    "Surrogate",
    "bind",
    "class_losses",
    "expand",
    "lp_family",
    "per_class",
    "per_class_and_group",
    "per_class_group_and_source",
    "per_group",
    "per_source",
]
