"""Advice: the rows of a table as comparisons, and what they recommend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, nan
from typing import Any

import numpy as np

from anymetric.estimators._holdout import TOO_FEW
from anymetric.metrics import Constraint
from anymetric.recommendation import CLEAR, Comparison, Recommendation, recommend
from anymetric.report.sample import Sample
from anymetric.report.table import spread

SILENT = "The metric had no answer for {} on these rows."


def method_limits(
    sample: Sample, limits: Sequence[Constraint], count: int, rng: np.random.Generator
) -> list[list[dict[str, Any]]]:
    """Return for each method what these rows say of every limit.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric, at_least
    >>> data = Data(np.zeros((4, 1)), np.array([1.0, 1.0, -1.0, -1.0]))
    >>> sample = Sample(as_metric("precision"), data, (0, 1), {"a": np.array([1.0, -1, -1, -1])})
    >>> rng = np.random.default_rng(0)
    >>> [found] = method_limits(sample, [at_least("recall", 0.8)], 50, rng)[0]
    >>> found["value"], found["kept"]
    (0.5, False)
    """
    found: list[list[dict[str, Any]]] = [[] for _ in sample.names]
    for limit in limits:
        own = replace(sample, metric=limit.metric)
        values, drawn = own.values(), own.resamples(count, rng)
        for k, value in enumerate(values):
            told = {"limit": str(limit), "value": float(value), "kept": limit.satisfied(value)}
            error = spread(drawn[:, k])
            beyond = bool(limit.violation(float(value)) > CLEAR * error)
            found[k].append({**told, "error": error, "broken": beyond})
    return found


def comparisons_of(methods: Sequence[dict[str, Any]], *, held_out: bool = True) -> list[Comparison]:
    """Return every baseline of a table beside the first method.

    Where rows were not `held_out`, out-of-fold and validation values are compared instead.

    Examples
    --------
    >>> ours = {"name": "ours", "value": 0.7, "improvement": 0.0}
    >>> other = {"name": "a", "value": 0.6, "improvement": 0.1, "improvement_error": 0.02}
    >>> comparisons_of([ours, other])[0].improvement
    0.1
    """
    ours, *others = methods
    found = []
    for other in others:
        mine, theirs = validations(ours, other)
        improvement, error = real(other.get("improvement")), real(other.get("improvement_error"))
        if not held_out:
            improvement, error = float(other.get("sign", 1.0)) * (mine - theirs), nan
        broken = [one["limit"] for one in other.get("limits", ()) if not one["kept"]]
        breaks = broken[0] if broken else ""
        found.append(Comparison(other["name"], improvement, error, theirs, mine, breaks))
    return found


def validations(ours: dict[str, Any], other: dict[str, Any]) -> tuple[float, float]:
    """Return the values on the rows that chose both models; NaN where those differ.

    NaN too where these rows trained: what fits them best is not the better model.
    """
    evidence = ours.get("evidence")
    if evidence is None or evidence != other.get("evidence") or TOO_FEW in evidence:
        return nan, nan
    return real(ours.get("validation")), real(other.get("validation"))


def real(value: float | None) -> float:
    """Return a number, NaN for none."""
    return nan if value is None else float(value)


def advice(
    methods: Sequence[dict[str, Any]], *, greater: bool, held_out: bool = True
) -> Recommendation:
    """Return what a table recommends: `methods` are its rows, the trained model first.

    Examples
    --------
    >>> ours = {"name": "ours", "value": 0.7, "improvement": 0.0}
    >>> other = {"name": "a", "value": 0.6, "improvement": 0.1, "improvement_error": 0.02}
    >>> print(advice([ours, other], greater=True))
    Use ours: it improves on a by 0.100 ± 0.020.
    """
    ours = methods[0]
    absent = ""
    if not isfinite(real(ours.get("value"))):
        absent = SILENT.format(ours["name"])
    elif len(methods) > 1:
        absent = SILENT.format("any baseline")
    kind = "out-of-fold" if "cross-validated" in str(ours.get("evidence")) else "validation"
    broken = [one["limit"] for one in ours.get("limits", ()) if one["broken"]]
    return recommend(
        comparisons_of(methods, held_out=held_out),
        ours["name"],
        breaks=broken[0] if broken else "",
        greater=greater,
        evidence=kind,
        absent=absent,
        held_out=held_out,
    )
