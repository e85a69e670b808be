"""Recommendation: one rule, from paired comparisons with baselines to the model to use.

The rule reads comparisons on rows that no method was trained on: rows held out, or out-of-fold
scores. The table of `anymetric fit`, the report, `diagnose` and ``--json`` all state what
`recommend` returns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import isfinite, nan
from typing import Any

# A difference of at most so many standard errors is none.
CLEAR = 2.0
MODEL = "this model"


class Choice(Enum):
    """What a comparison came to.

    Examples
    --------
    >>> Choice.EQUAL.value
    'equally good'
    """

    MODEL = "use the model"
    EQUAL = "equally good"
    BASELINE = "use the baseline"
    UNKNOWN = "not compared"


@dataclass(frozen=True)
class Comparison:
    """A baseline beside the model, on the same rows.

    Attributes
    ----------
    name : str
    improvement, error : float
        By how much the model is better, and the standard error of that paired difference; NaN
        where it is not known.
    validation, model_validation : float
        The metric of the baseline, and of the model, on the rows that chose them: out-of-fold or
        validation values. They choose between equals.
    breaks : str
        The limit that the baseline breaks on these rows, if it breaks one.

    Examples
    --------
    >>> Comparison("tuned threshold", 0.02, 0.005).clear
    True
    """

    name: str
    improvement: float
    error: float = nan
    validation: float = nan
    model_validation: float = nan
    breaks: str = ""

    @property
    def clear(self) -> bool:
        """Whether the difference is beyond noise."""
        return abs(self.improvement) > CLEAR * self.error


@dataclass(frozen=True)
class Recommendation:
    """The model to use, and why.

    Attributes
    ----------
    choice : Choice
    model : str
        The name of the model to use.
    trained, baseline : str
        The names of the trained model and of the strongest baseline.
    improvement, error : float
        Of the trained model over that baseline, and its standard error.
    says : str
        The whole of it as a sentence or two.

    Examples
    --------
    >>> print(recommend([Comparison("tuned threshold", 0.083, 0.012)]))
    Use this model: it improves on tuned threshold by 0.083 ± 0.012.
    """

    choice: Choice
    model: str
    trained: str
    says: str
    baseline: str = ""
    improvement: float = nan
    error: float = nan

    @property
    def own(self) -> bool:
        """Whether the trained model is the one to use."""
        return self.model == self.trained

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        found = {**self.__dict__, "choice": self.choice.name.lower()}
        numbers = {k: v if isfinite(v) else None for k, v in found.items() if isinstance(v, float)}
        return {**found, **numbers}

    def __str__(self) -> str:
        return self.says


def recommend(
    comparisons: Sequence[Comparison],
    model: str = MODEL,
    *,
    breaks: str = "",
    greater: bool = True,
    evidence: str = "out-of-fold",
    absent: str = "",
    held_out: bool = True,
) -> Recommendation:
    """Return which model to use.

    The strongest baseline is the one over which the improvement is smallest. An improvement of
    more than two standard errors over it recommends the model, a loss of as much the baseline. In
    between they are equally good, and the better value on the rows that chose them decides.
    A baseline that breaks a limit is never recommended, nor is a model that breaks one beyond
    noise where a baseline keeps it.

    Parameters
    ----------
    comparisons : sequence of Comparison
    model : str
        What the trained model is called.
    breaks : str
        The limit that the model breaks beyond noise, if it breaks one.
    greater : bool
        Whether the metric is better where it is greater.
    evidence : str
        What the values are that choose between equals.
    absent : str
        Why there is nothing to compare with, if there is not.
    held_out : bool
        Whether the comparisons are of rows held out; otherwise of the values on the rows that
        chose the models, which have no standard error.

    Examples
    --------
    >>> level = Comparison("logistic", 0.001, 0.004, validation=0.71, model_validation=0.70)
    >>> found = recommend([level, Comparison("constant", 0.3, 0.01)], "anymetric")
    >>> found.choice.name, found.model, found.baseline
    ('EQUAL', 'logistic', 'logistic')
    >>> recommend([Comparison("logistic", -0.02, 0.004, breaks="recall >= 0.8")]).choice.name
    'MODEL'
    """
    known = [one for one in comparisons if isfinite(one.improvement)]
    keeping = [one for one in known if not one.breaks]
    if not keeping:
        return _alone(model, known, breaks, absent)
    best = min(keeping, key=lambda one: one.improvement)
    several = len(comparisons) > 1
    given: dict[str, Any] = {
        "baseline": best.name,
        "improvement": best.improvement,
        "error": best.error,
    }
    if breaks:
        says = f"Use {best.name}: {model} breaks the limit {breaks}, and {best.name} keeps it."
        return Recommendation(Choice.BASELINE, best.name, model, says, **given)
    if best.clear and best.improvement > 0.0:
        over = f"the best baseline, {best.name}," if several else best.name
        says = f"Use {model}: it improves on {over} by {_difference(best)}."
        return Recommendation(Choice.MODEL, model, model, says, **given)
    if best.clear:
        says = f"Use {best.name}: {model} is worse by {_difference(best)}."
        return Recommendation(Choice.BASELINE, best.name, model, says, **given)
    chosen, why = _between(best, model, greater, evidence)
    says = f"{_level(best, model, several, evidence if not held_out else '')} {why}"
    return Recommendation(Choice.EQUAL, chosen, model, says, **given)


def _alone(model: str, known: list[Comparison], breaks: str, absent: str) -> Recommendation:
    """Return the model where no baseline can be recommended."""
    if known and breaks:
        says = f"All methods break a limit on these rows ({breaks}): relax it, or add features."
        return Recommendation(Choice.UNKNOWN, model, model, says)
    if known:
        says = f"Use {model}: every baseline breaks the limit {known[0].breaks}."
        return Recommendation(Choice.MODEL, model, model, says)
    says = absent or "Not compared with any baseline."
    return Recommendation(Choice.UNKNOWN, model, model, says)


def _level(best: Comparison, model: str, several: bool, evidence: str) -> str:
    cap = f"{model[:1].upper()}{model[1:]}" if model == MODEL else model
    called = f"{best.name}, the best baseline," if several else best.name
    if best.improvement == 0.0 and not best.error > 0.0:
        return f"{cap} and {called} have the same value."
    if not isfinite(best.error):
        side = "ahead of" if best.improvement > 0.0 else "behind"
        far = digits(abs(best.improvement))
        why = "there are too few evaluations"
        if evidence:
            far, why = f"{far} in {evidence} value", "no rows were held out"
        return f"{cap} is {side} {called} by {far}; {why} to tell how sure that is."
    return (
        f"{cap} and {called} are equally good: the difference is "
        f"{digits(best.improvement, best.error, sign=True)} ± {digits(best.error, best.error)}."
    )


def _between(best: Comparison, model: str, greater: bool, evidence: str) -> tuple[str, str]:
    """Return the better of two equals, and what that rests on."""
    ours, theirs = best.model_validation, best.validation
    if isfinite(ours) and isfinite(theirs):
        own = ours > theirs if greater else ours < theirs
        shown = [digits(value, best.error) for value in (ours, theirs)]
        high, low = shown if own else reversed(shown)
        why = f"the better {evidence} value ({high} against {low})"
        if high == low:
            why = f"an {evidence} value as good ({high})"
    else:
        own = best.improvement > 0.0
        why = "the better value" if best.improvement else "the same value"
        why += " on these rows"
    if own:
        return model, f"Use {model}, which has {why}; {best.name} is simpler."
    return best.name, f"Use {best.name}, which is simpler and has {why}."


def _difference(one: Comparison) -> str:
    return f"{digits(abs(one.improvement), one.error)} ± {digits(one.error, one.error)}"


def digits(value: float, error: float = nan, *, sign: bool = False) -> str:
    """Return a number with the digits that its error deserves, or four.

    Examples
    --------
    >>> digits(0.68927, 0.0094), digits(12345.678, 120.0), digits(0.5), digits(-0.02, 0.004)
    ('0.6893', '12,346', '0.5000', '-0.0200')
    """
    size = error if isfinite(error) and error > 0.0 else abs(value)
    figures = 2 if size is error else 4
    decimals = 4 if size == 0.0 else figures - 1 - math.floor(math.log10(size))
    form = f",.{min(max(decimals, 0), 6)}f"
    return f"{value + 0.0:{'+' if sign and value else ''}{form}}"
