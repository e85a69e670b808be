"""Auto: the default method. Proposals are trained, evaluated, selected and averaged."""

from anymetric.auto.auto import Auto
from anymetric.auto.selection import BootstrapSelection, GreedySelection, SingleBest

__all__ = ["Auto", "BootstrapSelection", "GreedySelection", "SingleBest"]
