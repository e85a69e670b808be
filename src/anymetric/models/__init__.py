"""Models: parameters to scores and back, and families that need but weights for their rows."""

from anymetric.models.base import Learner, Model, Scorer
from anymetric.models.ensemble import Ensemble, LinearScorer
from anymetric.models.linear import Linear
from anymetric.models.outputs import Outputs
from anymetric.models.reweighted import Reweighted

__all__ = [
    "Ensemble",
    "Learner",
    "Linear",
    "LinearScorer",
    "Model",
    "Outputs",
    "Reweighted",
    "Scorer",
]
