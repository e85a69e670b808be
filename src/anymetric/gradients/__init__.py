"""Gradients: estimators of how the cost changes with each surrogate (Algorithms 2 to 4)."""

from anymetric.gradients.base import Estimate, GradientEstimator, fit
from anymetric.gradients.differences import FiniteDifferences, TwoStep
from anymetric.gradients.interpolation import LinearInterpolation
from anymetric.gradients.subspace import Subspace

__all__ = [
    "Estimate",
    "FiniteDifferences",
    "GradientEstimator",
    "LinearInterpolation",
    "Subspace",
    "TwoStep",
    "fit",
]
