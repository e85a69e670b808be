"""Report: one page about a fitted model that anybody can open, read and keep."""

from anymetric.report.gather import gather
from anymetric.report.page import page
from anymetric.report.run import Run

__all__ = ["Run", "gather", "page"]
