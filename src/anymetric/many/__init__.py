"""Many: the default for more than two classes, and for sets of labels."""

from anymetric.many.auto import AutoMany

__all__ = ["AutoMany"]
