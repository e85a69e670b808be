"""Displays: a fitted model's run as pictures, in scikit-learn's Display convention.

``Display.from_estimator(model)`` draws and returns the display; its numbers are its fields, and
`plot` draws them again. matplotlib is imported only then.
"""

from anymetric.displays.descent import DescentDisplay
from anymetric.displays.frontier import FrontierDisplay
from anymetric.displays.slices import SliceWeightsDisplay
from anymetric.displays.threshold import ThresholdDisplay
from anymetric.displays.trade_off import TradeOffDisplay

__all__ = [
    "DescentDisplay",
    "FrontierDisplay",
    "SliceWeightsDisplay",
    "ThresholdDisplay",
    "TradeOffDisplay",
]
