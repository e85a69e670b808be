"""Models: parameters to scores, and score gradients back to parameters."""

from anymetric.models.base import Model
from anymetric.models.linear import Linear

__all__ = ["Linear", "Model"]
