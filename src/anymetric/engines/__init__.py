"""Engines: where the sums over the training rows run."""

from anymetric.engines.engine import Engine, Local
from anymetric.engines.merging import Merged, merge
from anymetric.engines.tables import lighter

__all__ = ["Engine", "Local", "Merged", "lighter", "merge"]
