"""Train a model for the metric you care about, even when that metric is a black box."""

__version__ = "0.1.0"
