"""Told: a metric that no code can be asked for: its answers come from elsewhere, by `tell`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anymetric.metrics.functions import FunctionMetric


@dataclass(frozen=True)
class Told:
    """Stand where a function would: whoever calls it has no run that asks."""

    name: str

    takes_all = True

    @property
    def says(self) -> str:
        """What there is to say of it."""
        return "What was told for each question."

    def __call__(self, *args: Any, **columns: Any) -> float:
        """Refuse."""
        raise RuntimeError(
            f"{self.name!r} is told, not called: use anymetric.Run(estimator, X, y) with ask and "
            "tell, or `anymetric ask RUN`"
        )


def ToldMetric(
    name: str,
    *,
    greater_is_better: bool,
    on: str = "decisions",
    needs: Sequence[str] = (),
    ceiling: float = 0.0,
) -> FunctionMetric:
    """Make a metric whose values people, a laboratory or an A/B test will tell.

    Parameters
    ----------
    name : str
    greater_is_better : bool
    on : {"decisions", "scores", "probabilities"}
        What whoever answers is shown.
    needs : sequence of str
        Metadata that must be there.
    ceiling : float
        ``cost = ceiling - value`` where greater is better.

    Examples
    --------
    >>> ToldMetric("rating", greater_is_better=True).decides
    True
    """
    if not name.strip():
        raise ValueError("A told metric needs a name.")
    return FunctionMetric(Told(name), greater_is_better, on, tuple(needs), (), name, ceiling)
