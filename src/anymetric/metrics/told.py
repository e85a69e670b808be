"""Told: a metric without code, for ask and tell: its values are given by `tell`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anymetric.metrics.functions import FunctionMetric


@dataclass(frozen=True)
class Told:
    """Stands in for a function; calling it is an error."""

    name: str

    takes_all = True

    @property
    def says(self) -> str:
        """A description for reports."""
        return "The value given for each question."

    def __call__(self, *args: Any, **columns: Any) -> float:
        """Refuse."""
        raise RuntimeError(
            f"The values of {self.name!r} are given, not computed: use anymetric.Run(estimator, X, "
            "y) with ask and tell, or `anymetric ask RUN`"
        )


def ToldMetric(
    name: str,
    *,
    greater_is_better: bool,
    on: str = "decisions",
    needs: Sequence[str] = (),
    ceiling: float = 0.0,
) -> FunctionMetric:
    """Make a metric whose values are given by people, a laboratory or an A/B test.

    Parameters
    ----------
    name : str
    greater_is_better : bool
    on : {"decisions", "scores", "probabilities"}
        What a question shows.
    needs : sequence of str
        Metadata columns that must be given.
    ceiling : float
        ``cost = ceiling - value`` where greater is better.

    Examples
    --------
    >>> ToldMetric("rating", greater_is_better=True).decides
    True
    """
    if not name.strip():
        raise ValueError("A ToldMetric needs a name.")
    return FunctionMetric(Told(name), greater_is_better, on, tuple(needs), (), name, ceiling)
