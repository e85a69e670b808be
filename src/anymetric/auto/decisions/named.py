"""Named: what `decision=` may say, and what must be there for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.decisions.thresholds import DecisionRule, NoRule
from anymetric.auto.judges.base import Judge
from anymetric.auto.records import Assessment
from anymetric.metrics import GainMetric, Metric
from anymetric.metrics.top import PrecisionAtFraction, PrecisionAtK
from anymetric.rules import TopRule

Floats64 = NDArray[np.float64]
Decision: TypeAlias = str | tuple[str, float] | DecisionRule
NAMES = ("auto", "threshold", "group", "row", "offsets", "top", "none")


@dataclass(frozen=True)
class Top:
    """The best-scored rows are flagged, of those that are given together.

    Parameters
    ----------
    rule : TopRule
    decides : bool
        Whether the metric reads decisions; otherwise it reads the order, and the rule only decides.

    Examples
    --------
    >>> from anymetric.auto.judges.counts import CountsJudge
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    >>> judge = CountsJudge.of(as_metric("precision"), data, np.ones((4, 1)))
    >>> found = Top(TopRule(1)).assess(np.array([[2.0], [1.0], [4.0], [0.0]]), judge)
    >>> found.rule, round(found.cost, 6)
    (TopRule(1), 0.0)
    """

    rule: TopRule
    decides: bool = True

    def assess(self, scores: Floats64, judge: Judge) -> Assessment:
        """Evaluate the top of the rows."""
        moved = self.rule.moved(scores[:, 0], {})[:, np.newaxis] if self.decides else scores
        found = NoRule().assess(moved, judge)
        return Assessment(found.offsets, found.cost, found.resampled, moved, rule=self.rule)


def top_of(decision: Decision, metric: Metric) -> Top | None:
    """Return the rule of a top: as the user says it, or as the metric does; None if neither.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> top_of(("top", 0.1), as_metric("f1")).rule, top_of("auto", as_metric("precision@5%")).rule
    (TopRule(10%), TopRule(5%))
    """
    if isinstance(decision, tuple):
        return Top(TopRule(decision[1]), metric.decides)
    if decision not in ("auto", "top"):
        return None
    if isinstance(metric, PrecisionAtK):
        return Top(TopRule(metric.k), metric.decides)
    if isinstance(metric, PrecisionAtFraction) and metric.fraction < 1.0:
        return Top(TopRule(metric.fraction), metric.decides)
    return None


def check_decision(decision: Any, metric: Metric, classes: int, groups: tuple[bool, bool]) -> None:
    """Refuse a rule that there can be none of, before any work.

    Parameters
    ----------
    decision : as in `Auto`
    metric : Metric
    classes : int
        How many y has; of labels, how many labels.
    groups : pair of bool
        Whether training rows and validation rows have groups.

    Examples
    --------
    >>> from anymetric.metrics import as_metric
    >>> check_decision("row", as_metric("f1"), 2, (False, False))
    Traceback (most recent call last):
    ...
    ValueError: decision='row' weighs every row's own gains; the metric 'f1' has none. Give a ...
    """
    if hasattr(decision, "assess") and not isinstance(decision, type):
        return
    name = decision[0] if isinstance(decision, tuple) and len(decision) == 2 else decision
    if not isinstance(name, str) or name not in NAMES or (name != "top" and name != decision):
        raise ValueError(
            f"decision must be one of {list(NAMES)}, ('top', number or share), or a part with "
            f"assess(scores, judge); got {decision!r}."
        )
    named = f"decision={decision!r}"
    if name in ("threshold", "group", "row", "top") and classes != 2:
        raise ValueError(f"{named} decides between two classes; y has {classes}.")
    if name in ("threshold", "group", "row") and not metric.decides:
        raise ValueError(f"{named} tunes decisions; the metric {metric.name!r} reads scores.")
    if name == "row" and not (isinstance(metric, GainMetric) or metric.black_box):
        raise ValueError(
            f"{named} weighs every row's own gains; the metric {metric.name!r} has none. Give a "
            "Profit(...), or RowGains(f) of a function that returns each row's gain."
        )
    if name == "offsets" and classes == 2:
        raise ValueError(f"{named} is for more than two classes, or labels; y has 2 classes.")
    if decision == "top" and top_of("top", metric) is None:
        raise ValueError(
            f"{named} takes the number of rows from a metric such as precision@5%; the metric is "
            f"{metric.name!r}. Say ('top', 100), or ('top', 0.05) for a share."
        )
    for there, argument in zip(groups, ("groups", "groups_val"), strict=True):
        if name == "group" and not there:
            raise ValueError(f"{named} places a threshold for each group: give {argument}= too.")
