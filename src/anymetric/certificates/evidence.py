"""Evidence: which statistics belong to which metric. A metric of one's own may register others.

@evidence.register
def _(metric: MyMetric, rows): return Rate(top=..., bottom=...)
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from anymetric.certificates.formulas import (
    balanced_error,
    balanced_rate,
    difference,
    geometric_mean,
    mean,
    weighted_sum,
)
from anymetric.certificates.readers import (
    RATES,
    Bootstrap,
    ClassRate,
    Evidence,
    Furthest,
    Gain,
    Parts,
    Rate,
)
from anymetric.metrics import (
    Accuracy,
    BalancedAccuracy,
    BalancedError,
    ClassAccuracy,
    DemographicParity,
    EqualisedOdds,
    ErrorRate,
    FBeta,
    GainMetric,
    GMean,
    MacroByGroup,
    MeanRecall,
    Metric,
    OddsGap,
    Precision,
    RateGap,
    Recall,
    RecallGMean,
    Rows,
    SelectionRate,
    WorstClassRecall,
    WorstGroup,
)
from anymetric.metrics.classes import Classes
from anymetric.metrics.groups import GapPenalty


@singledispatch
def evidence(metric: Metric, rows: Rows) -> Evidence:
    """Return the reader of rows for a metric; `rows` determine the groups and classes.

    Examples
    --------
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2))
    >>> evidence(Precision(), rows)
    Rate(top=(1, 0, 0, 0), bottom=(1, 1, 0, 0), within=None, approximate=False)
    """
    return Bootstrap(metric)


def _rate(metric: Metric, rows: Rows) -> Evidence:
    return Rate(*RATES[metric.name])


for _kind in (Precision, Recall, Accuracy, ErrorRate, SelectionRate):
    evidence.register(_kind)(_rate)


@evidence.register
def _f_measure(metric: FBeta, rows: Rows) -> Evidence:
    square = metric.beta**2
    return Rate((1.0 + square, 0.0, 0.0, 0.0), (1.0 + square, 1.0, square, 0.0))


@evidence.register
def _profit(metric: GainMetric, rows: Rows) -> Evidence:
    return Gain(metric)


def _two_recalls(formula: Any, sign: int) -> Evidence:
    return Parts((Rate(*RATES["recall"]), Rate(*RATES["specificity"])), formula, (sign, sign))


@evidence.register
def _gmean(metric: GMean, rows: Rows) -> Evidence:
    return _two_recalls(geometric_mean, 1)


@evidence.register
def _balanced_accuracy(metric: BalancedAccuracy, rows: Rows) -> Evidence:
    return _two_recalls(balanced_rate, 1)


@evidence.register
def _balanced_error(metric: BalancedError, rows: Rows) -> Evidence:
    return _two_recalls(balanced_error, -1)


def each_group(of: Metric, column: str, rows: Rows) -> tuple[Rate, ...] | None:
    """Return the evidence in each group; None where the rate is not a single ratio.

    Examples
    --------
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2), {"groups": np.array(["a", "b"])})
    >>> [part.within for part in each_group(Recall(), "groups", rows)]
    [('groups', 'a'), ('groups', 'b')]
    """
    base = evidence(of, rows)
    if type(base) is not Rate:
        return None
    names = np.unique(rows.side[column]).tolist()
    return tuple(replace(base, within=(column, name)) for name in names)


@evidence.register
def _group_mean(metric: MacroByGroup, rows: Rows) -> Evidence:
    parts = each_group(metric.of, metric.groups, rows)
    return Bootstrap(metric) if parts is None else Parts(parts, mean, (1,) * len(parts))


@evidence.register
def _worst_group(metric: WorstGroup, rows: Rows) -> Evidence:
    parts = each_group(metric.of, metric.groups, rows)
    worst_is_largest = not metric.greater_is_better
    return Bootstrap(metric) if parts is None else Furthest(parts, worst_is_largest)


def spread(parts: tuple[Evidence, ...]) -> list[Evidence]:
    """Return the differences of every two parts, in both orders.

    Examples
    --------
    >>> len(spread((Rate(*RATES["recall"]), Rate(*RATES["fallout"]))))
    2
    """
    pairs = [(a, b) for i, a in enumerate(parts) for j, b in enumerate(parts) if i != j]
    return [Parts(pair, difference, (1, -1)) for pair in pairs]


def widest(rates: tuple[Metric, ...], column: str, rows: Rows) -> Evidence | None:
    """Return the largest gap between groups in any of several rates; None if one is no ratio.

    Examples
    --------
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2), {"groups": np.array(["a", "b"])})
    >>> len(widest((Recall(), Accuracy()), "groups", rows).parts)
    4
    """
    parts = [each_group(rate, column, rows) for rate in rates]
    if any(part is None for part in parts):
        return None
    found = [pair for part in parts for pair in spread(part or ())]
    # One group is as far from itself as that.
    return Furthest(tuple(found) or (Rate((0, 0, 0, 0), (1, 1, 1, 1)),), largest=True)


def odds(column: str, rows: Rows) -> Evidence:
    """Return the larger of the gaps in true-positive and in false-positive rate.

    Examples
    --------
    >>> rows = Rows(np.array([1.0, -1.0]), np.ones(2), {"groups": np.array(["a", "b"])})
    >>> len(odds("groups", rows).parts)
    4
    """
    names = np.unique(rows.side[column]).tolist()
    rates = [[Rate(*RATES[x], within=(column, g)) for g in names] for x in ("recall", "fallout")]
    found = [pair for rate in rates for pair in spread(tuple(rate))]
    return Furthest(tuple(found) or (Rate((0, 0, 0, 0), (1, 1, 1, 1)),), largest=True)


@evidence.register
def _gap(metric: RateGap, rows: Rows) -> Evidence:
    return widest((metric.of,), metric.groups, rows) or Bootstrap(metric)


@evidence.register
def _odds_gap(metric: OddsGap, rows: Rows) -> Evidence:
    return odds(metric.groups, rows)


def _penalty(metric: GapPenalty, gap: Evidence | None, rows: Rows) -> Evidence:
    if gap is None:
        return Bootstrap(metric)
    sign = -1 if metric.base.greater_is_better else 1
    formula = weighted_sum(metric.base.ceiling if sign < 0 else 0.0, (float(sign), metric.weight))
    return Parts((evidence(metric.base, rows), gap), formula, (sign, 1))


@evidence.register
def _parity(metric: DemographicParity, rows: Rows) -> Evidence:
    return _penalty(metric, widest((SelectionRate(),), metric.groups, rows), rows)


@evidence.register
def _odds(metric: EqualisedOdds, rows: Rows) -> Evidence:
    return _penalty(metric, odds(metric.groups, rows), rows)


@evidence.register
def _class_accuracy(metric: ClassAccuracy, rows: Rows) -> Evidence:
    return ClassRate() if isinstance(rows.labels, Classes) else Rate(*RATES["accuracy"])


def _class_recalls(rows: Rows) -> tuple[Evidence, ...]:
    return tuple(ClassRate(int(code)) for code in np.unique(rows.y))


@evidence.register
def _worst_class(metric: WorstClassRecall, rows: Rows) -> Evidence:
    return Furthest(_class_recalls(rows), largest=False)


@evidence.register
def _mean_recall(metric: MeanRecall, rows: Rows) -> Evidence:
    parts = _class_recalls(rows)
    return Parts(parts, mean, (1,) * len(parts))


@evidence.register
def _recall_gmean(metric: RecallGMean, rows: Rows) -> Evidence:
    parts = _class_recalls(rows)
    return Parts(parts, geometric_mean, (1,) * len(parts))
