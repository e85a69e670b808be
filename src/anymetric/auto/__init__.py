"""Auto: the default method. Candidates propose, replicates of the judging rows dispose."""

from anymetric.auto.auto import Auto

__all__ = ["Auto"]
