"""Limits: what `subject_to` asked for, what came of it, and what it cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anymetric.metrics import Constraint
from anymetric.report.markup import Markup, number, table, tag, with_error
from anymetric.report.parts import EMPTY, chart, choices, folded, points_of, section, spoken
from anymetric.report.run import Run
from anymetric.report.sample import Sample
from anymetric.report.table import spread

RESAMPLES = 60


def limits_of(model: Any, sample: Sample, rng: np.random.Generator) -> dict[str, Any]:
    """Return each limit with its value for every method, and the trade-off; empty without limits.

    Parameters
    ----------
    model : fitted estimator
    sample : Sample
        The rows of the report, which chose nothing.
    rng : numpy Generator
        For the bootstrap resamples behind the errors.
    """
    found = getattr(model, "constraints_", ())
    if not found:
        return {}
    certificate = getattr(model, "certificate_", None)
    return {
        "limits": [limit_row(one.limit, one.value, sample, rng) for one in found],
        "objective": sample.metric.name,
        "value": model.validation_score_,
        "certificate": "" if certificate is None else str(certificate),
        "curve": getattr(model, "trade_off_", {}),
    }


def limit_row(
    limit: Constraint, validation: float, sample: Sample, rng: np.random.Generator
) -> dict[str, Any]:
    """Return a limit, its value on the validation rows, and every method's on these."""
    values = errors = np.full(len(sample.scores), np.nan)
    own = replace(sample, metric=limit.metric)
    if own.affords(len(values)):
        try:
            values = own.values()
            errors = np.array([spread(column) for column in own.resamples(RESAMPLES, rng).T])
        except ValueError:  # a column or class that the limit reads is not there
            pass
    return {
        "text": str(limit),
        "name": limit.metric.name,
        "bound": limit.bound,
        "direction": limit.direction,
        "validation": validation,
        "kept": limit.satisfied(validation),
        "values": values,
        "errors": errors,
        "kept_here": [limit.satisfied(v) if np.isfinite(v) else None for v in values],
    }


def limits(run: Run) -> Markup:
    """Return what each limit came to, method by method, and the trade-off with the objective."""
    found = run.limits.get("limits")
    if not found:
        return EMPTY
    said = tag("ul", *(tag("li", sentence(one)) for one in found), class_="said")
    head = ["method", run.metric["name"], *(one["text"] for one in found)]
    rows = [
        [m["name"], with_error(m.get("value"), m.get("error")), *(kept(one, k) for one in found)]
        for k, m in enumerate(run.methods)
    ]
    return section(
        "limits",
        "Limits and what they cost",
        said,
        tag("p", run.limits["certificate"]) if run.limits.get("certificate") else EMPTY,
        table(head, rows),
        trade_off(run),
        lead=f"Trained for the best {run.metric['name']} that keeps "
        f"{'the limit' if len(found) == 1 else 'all limits'}.",
    )


def sentence(one: dict[str, Any]) -> str:
    """Say what came of a limit on the validation rows and on the rows of the report.

    Examples
    --------
    >>> one = {"text": "recall >= 0.7", "validation": 0.72, "kept": True}
    >>> sentence({**one, "values": [0.66], "errors": [0.05], "kept_here": [False]})
    'recall >= 0.7: 0.7200 on the validation rows, kept; 0.660 ± 0.050 on the rows here, not kept.'
    """
    here = ""
    if one["kept_here"][0] is not None:
        value = with_error(one["values"][0], one["errors"][0])
        here = f"; {value} on the rows here, {word(one['kept_here'][0])}"
    validation = f"{number(one['validation'])} on the validation rows, {word(one['kept'])}"
    return f"{one['text']}: {validation}{here}."


def word(kept: bool) -> str:
    """Return whether a limit is kept, in words."""
    return "kept" if kept else "not kept"


def kept(one: dict[str, Any], k: int) -> str:
    """Return the value of a limited metric for a method, and whether it keeps the limit."""
    known = one["kept_here"][k]
    value = with_error(one["values"][k], one["errors"][k])
    return value if known is None else f"{value}, {word(known)}"


def trade_off(run: Run) -> Markup:
    """Return the objective against a limited metric as the threshold moves, where it is known."""
    curve, found = run.limits.get("curve"), run.limits["limits"]
    if not curve:
        return EMPTY
    name = run.metric["name"]
    picks = [(str(k), one["name"]) for k, one in enumerate(found)]
    control = tag("div", choices("limit", "Against", picks), class_="choices")
    own = [f"the model {number(run.limits['value'])} at {number(found[0]['validation'])}"]
    caption = (
        "Each point of the line is a threshold, on out-of-fold scores of the validation rows. The "
        "dashed line is the limit; on the shaded side it is broken. The dot is the model."
    )
    rows = [
        [number(curve["objective"][k]), *(number(values[k]) for values in curve["limits"])]
        for k in points_of(len(curve["objective"]))
    ]
    return tag(
        "div",
        tag("h3", "The trade-off"),
        control if len(found) > 1 else EMPTY,
        chart("limits", spoken(f"{name} against {found[0]['name']}", own), caption),
        folded("Some of the numbers", table([name, *(one["name"] for one in found)], rows)),
    )
