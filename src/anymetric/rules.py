"""Rules: from the scores of a fitted model, and metadata of the rows, to decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Columns
from anymetric.errors import warn
from anymetric.metrics import GainMetric, Gains

__all__ = [
    "FittedRule",
    "GroupRule",
    "OffsetRule",
    "RowRule",
    "ScoreRule",
    "ThresholdRule",
    "TopRule",
]

Floats64 = NDArray[np.float64]
# Log-odds of a row whose decision does not depend on its probability: more than a model's, and not
# so many that no other row's score matters beside it.
CERTAIN = 50.0


@runtime_checkable
class FittedRule(Protocol):
    """A decision rule with its parameters: `decision_rule_` of a fitted classifier.

    Examples
    --------
    >>> rule: FittedRule = ThresholdRule(0.3)
    >>> rule.needs
    ()
    """

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of metadata that it reads."""
        ...

    def moved(self, scores: Floats64, side: Columns) -> Floats64:
        """Return scores of which those above zero, or the highest of a row, are decided for."""
        ...


@dataclass(frozen=True)
class ThresholdRule:
    """Rows with a probability above the threshold are flagged: those of a score above zero.

    The threshold is the calibrated probability of a row whose score is zero.

    Examples
    --------
    >>> ThresholdRule(0.31)
    ThresholdRule(0.31)
    """

    threshold: float

    needs: tuple[str, ...] = ()

    def moved(self, scores: Floats64, side: Columns) -> Floats64:
        """Return the scores: zero is where the threshold is."""
        return scores

    def __repr__(self) -> str:
        return f"ThresholdRule({self.threshold:.4g})"


@dataclass(frozen=True)
class GroupRule:
    """Every group has a threshold of its own.

    Parameters
    ----------
    shifts : mapping from group to float
        What each group adds to its scores.

    Examples
    --------
    >>> rule = GroupRule({"a": 0.0, "b": -1.0})
    >>> rule.moved(np.array([0.5, 0.5]), {"groups": np.array(["a", "b"])}).tolist()
    [0.5, -0.5]
    """

    shifts: Mapping[Any, float]

    @property
    def needs(self) -> tuple[str, ...]:
        """The groups."""
        return ("groups",)

    def moved(self, scores: Floats64, side: Columns) -> Floats64:
        """Add each group's own number; a group that fit never saw has the common threshold."""
        groups = side["groups"].tolist()
        new = sorted(set(groups) - set(self.shifts), key=str)
        if new:
            warn(f"The groups {new} were never seen at fit, and get the common threshold.")
        return np.asarray(scores + np.array([self.shifts.get(group, 0.0) for group in groups]))


@dataclass(frozen=True)
class RowRule:
    """A row is flagged where that is expected to bring more than to leave it: by its own costs.

    With a probability p of being positive, flagging brings ``p * positive + (1 - p) * negative``
    more than leaving, where both are the row's own (`Gains`). That is above zero where the odds
    exceed the row's break-even, ``-negative / positive``.

    Parameters
    ----------
    gains : GainMetric
        What each outcome of a row brings, from its metadata.
    scale : float
        Factor of every row's break-even odds: above 1, fewer rows are flagged.
    otherwise : float, optional
        The log-odds above which all rows are flagged where their columns are not given. None: they
        must be.

    Examples
    --------
    Odds of 1 : 3, in two rows: one breaks even at 1 : 9, the other at 1 : 2.

    >>> from anymetric.metrics import Profit
    >>> rule = RowRule(Profit(tp="amount", fp=-1.0))
    >>> rule, rule.needs
    (RowRule(Profit(tp='amount', fp=-1.0), scale=1), ('amount',))
    >>> scores = np.log([1 / 3, 1 / 3])
    >>> (rule.moved(scores, {"amount": np.array([9.0, 2.0])}) > 0).tolist()
    [True, False]
    """

    gains: GainMetric
    scale: float = 1.0
    otherwise: float | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of gains."""
        return self.gains.needs

    @property
    def needs(self) -> tuple[str, ...]:
        """The same, where there is no other way to decide."""
        return self.reads if self.otherwise is None else ()

    def moved(self, scores: Floats64, side: Columns) -> Floats64:
        """Return by how much log-odds exceed each row's break-even."""
        missing = [name for name in self.reads if name not in side]
        if missing and self.otherwise is not None:
            warn(
                f"{self!r} reads the column(s) {', '.join(missing)}, which were not given: one "
                "threshold decides. Give side= with columns of these names to weigh each row's "
                "own gains."
            )
            return np.asarray(scores - self.otherwise)
        sign, shift = log_stakes(self.gains.gains(side, len(scores)))
        return np.asarray(sign * scores + shift - np.log(self.scale))

    def __repr__(self) -> str:
        return f"RowRule({shown_gains(self.gains)}, scale={self.scale:.3g})"


@dataclass(frozen=True)
class OffsetRule:
    """The highest score decides, each class's own number added; of labels, any above zero.

    Parameters
    ----------
    offsets : mapping from class to float
        They are in the scores already.

    Examples
    --------
    >>> OffsetRule({"a": 0.0, "b": 0.4321})
    OffsetRule(a: 0, b: +0.432)
    """

    offsets: Mapping[Any, float]

    needs: tuple[str, ...] = ()

    def moved(self, scores: Floats64, side: Columns) -> Floats64:
        """Return the scores: the offsets are in them."""
        return scores

    def __repr__(self) -> str:
        parts = [f"{name}: {x:+.3g}" if x else f"{name}: 0" for name, x in self.offsets.items()]
        return f"OffsetRule({', '.join(parts)})"


@dataclass(frozen=True)
class TopRule:
    """The best-scored rows are flagged, of those that are given together.

    Parameters
    ----------
    top : int or float
        How many rows, or below 1 which share of them; one row at the least.

    Examples
    --------
    >>> rule = TopRule(0.5)
    >>> (rule.moved(np.array([3.0, 1.0, 1.0, 2.0]), {}) > 0).tolist(), rule
    ([True, False, False, True], TopRule(50%))
    """

    top: float

    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.top > 0.0 or (self.top >= 1.0 and self.top != int(self.top)):
            raise ValueError(f"top must be a number of rows, or a share below 1; got {self.top}.")

    def count(self, n: int) -> int:
        """Return how many of n rows are flagged."""
        share = self.top < 1.0
        # 0.29 * 100 is a little under 29, and must be 29 all the same.
        return min(max(int(self.top * n * (1.0 + 1e-12)), 1) if share else int(self.top), n)

    def moved(self, scores: Floats64, side: Columns) -> Floats64:
        """Return scores above zero for the top rows; of equal ones the first are flagged."""
        order = np.argsort(-scores, kind="stable")
        k = self.count(len(scores))
        ranked = scores[order]
        last = ranked[k - 1] - 1.0 if k == len(scores) else 0.5 * (ranked[k - 1] + ranked[k])
        tiny = np.finfo(np.float64).tiny
        moved = np.empty(len(scores))
        moved[order[:k]] = np.maximum(ranked[:k] - last, tiny)
        moved[order[k:]] = np.minimum(ranked[k:] - last, -tiny)
        return moved

    def __repr__(self) -> str:
        return f"TopRule({100 * self.top:g}%)" if self.top < 1.0 else f"TopRule({int(self.top)})"


@dataclass(frozen=True)
class ScoreRule:
    """Scores are read as they are: no threshold was tuned.

    Examples
    --------
    >>> ScoreRule()
    ScoreRule()
    """

    def __repr__(self) -> str:
        return "ScoreRule()"

    @property
    def needs(self) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def moved(self, scores: Floats64, side: Columns) -> Floats64:
        """Return the scores."""
        return scores


def log_stakes(gains: Gains) -> tuple[Floats64, Floats64]:
    """Return sign and shift: ``sign * log-odds + shift`` is above zero where flagging pays.

    Where flagging pays, or does not, whatever the row is, the sign is zero. Where it pays for
    negative rows only, the sign is negative.

    Examples
    --------
    >>> rows = Gains(np.array([4.0, 1.0, -1.0]), np.array([-1.0, 1.0, 2.0]), *np.zeros((2, 3)))
    >>> sign, shift = log_stakes(rows)
    >>> sign.tolist(), shift.round(2).tolist()
    ([1.0, 0.0, -1.0], [1.39, 50.0, 0.69])
    """
    positive, negative = gains.positive, gains.negative
    opposed = positive * negative < 0.0
    sign = np.where(opposed, np.sign(positive), 0.0)
    # What can be won over what can be lost; rows that can only win or lose do not depend on it.
    logs = [np.log(np.where(opposed, np.abs(one), 1.0)) for one in (positive, negative)]
    odds = sign * (logs[0] - logs[1])
    always = np.where(positive + negative > 0.0, CERTAIN, -CERTAIN)
    return sign, np.where(opposed, odds, always)


def shown_gains(metric: GainMetric) -> str:
    """Return a metric of gains without what it leaves at zero.

    Examples
    --------
    >>> from anymetric.metrics import Profit
    >>> shown_gains(Profit(tp=5.0))
    'Profit(tp=5.0)'
    """
    names = [name for name in ("tp", "fp", "fn", "tn", "flag_cost") if hasattr(metric, name)]
    kept = {name: getattr(metric, name) for name in names}
    if not kept:
        return str(getattr(metric, "shown", metric.name))
    shown = [f"{k}={v!r}" for k, v in kept.items() if not (np.isscalar(v) and v == 0.0)]
    return f"{type(metric).__name__}({', '.join(shown)})"
