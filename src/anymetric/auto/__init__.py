"""Auto: the default method. Candidates propose, replicates of the judging rows dispose."""

from anymetric.auto.auto import Auto
from anymetric.auto.learned import AutoLearned

__all__ = ["Auto", "AutoLearned"]
