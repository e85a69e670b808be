"""Cuts: confusion counts, the metric by group, and the metric by threshold or list length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from anymetric.metrics import DemographicParity, EqualisedOdds
from anymetric.metrics.thresholds import Thresholds
from anymetric.report.sample import Sample, answers
from anymetric.report.table import spread

Floats = NDArray[np.float64]
# More groups than a report can show: the largest stay.
MOST_GROUPS = 60
# Bootstrap resamples of a group: enough for an error bar.
RESAMPLES = 60
# Thresholds of a ready-made metric, and of one that must be called for each; seconds for those.
LEVELS, CALLS, SECONDS = 160, 32, 10.0
# Points of a curve down a list.
STEPS = 100


def outcomes(y: Floats, scores: Floats) -> dict[str, int]:
    """Return the four counts at the model's own threshold.

    Examples
    --------
    >>> import numpy as np
    >>> outcomes(np.array([1.0, 1.0, -1.0]), np.array([1.0, -1.0, 2.0]))
    {'tp': 1, 'fn': 1, 'fp': 1, 'tn': 0}
    """
    real, said = y > 0.0, scores > 0.0
    return {
        "tp": int(np.sum(real & said)),
        "fn": int(np.sum(real & ~said)),
        "fp": int(np.sum(~real & said)),
        "tn": int(np.sum(~real & ~said)),
    }


def counted(sample: Sample, scores: Floats) -> NDArray[np.intp]:
    """Return how many rows of each class are called each: ``(C, C)``, the true ones down."""
    classes = np.arange(len(sample.labels or ()))
    return np.asarray(confusion_matrix(sample.codes, sample.decisions(scores), labels=classes))


def confusion_of(sample: Sample) -> list[dict[str, Any]]:
    """Return the four outcomes of every method; of many classes, their table."""
    if sample.many:
        return [
            {"name": name, "counts": counted(sample, scores)}
            for name, scores in sample.scores.items()
        ]
    return [
        {"name": name, **outcomes(sample.data.y, scores)} for name, scores in sample.scores.items()
    ]


def classes_of(sample: Sample) -> list[dict[str, Any]]:
    """Return recall, precision and F-measure of each class, for every method."""
    if not sample.many or sample.labels is None:
        return []
    return [
        {"class": str(label), "method": name, **one}
        for name, scores in sample.scores.items()
        for label, one in zip(sample.labels, by_class(counted(sample, scores)), strict=True)
    ]


def by_class(counts: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Return what a confusion matrix says of each class; NaN where nobody could be counted.

    Examples
    --------
    >>> import numpy as np
    >>> first, second = by_class(np.array([[3, 1], [0, 4]]))
    >>> first["n"], first["recall"], first["precision"], second["precision"]
    (4, 0.75, 1.0, 0.8)
    """
    right, true, called = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        recall, precision = right / true, right / called
        f1 = 2.0 * right / (true + called)
        error = np.sqrt(recall * (1.0 - recall) / true)
    columns = {"n": true, "recall": recall, "error": error, "precision": precision, "f1": f1}
    return [{name: column[k].item() for name, column in columns.items()} for k in range(len(true))]


def rates(counts: dict[str, int]) -> dict[str, float]:
    """Return the rates that people ask about in a group; NaN where nobody could be counted.

    Examples
    --------
    >>> rates({"tp": 1, "fn": 1, "fp": 1, "tn": 0})["recall"]
    0.5
    """
    tp, fn, fp, tn = (counts[key] for key in ("tp", "fn", "fp", "tn"))

    def share(part: int, whole: int) -> float:
        return part / whole if whole else float("nan")

    return {
        "selected": share(tp + fp, tp + fn + fp + tn),
        "recall": share(tp, tp + fn),
        "fallout": share(fp, fp + tn),
        "precision": share(tp, tp + fp),
    }


def groups_of(
    sample: Sample, decides: bool, column_name: str, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the metric and the rates in each group, for every method; empty without groups."""
    column = sample.data.side.get("groups")
    if column is None:
        return {}
    names, member, sizes = np.unique(column, return_inverse=True, return_counts=True)
    largest = np.argsort(-sizes, kind="stable")[:MOST_GROUPS]
    rows = [
        {"group": str(names[g]), "n": int(sizes[g]), **one}
        for g in sorted(largest)
        for one in in_group(sample.take(np.flatnonzero(member == g)), decides, rng)
    ]
    return {
        "column": column_name,
        "rows": rows,
        "left_out": len(names) - len(largest),
        "measured": splits(sample),
    }


def splits(sample: Sample) -> bool:
    """Return whether the metric says anything of a single group."""
    return not isinstance(sample.metric, DemographicParity | EqualisedOdds)


def in_group(sample: Sample, decides: bool, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return one row a method for the rows of a group."""
    m = len(sample.scores)
    values, errors = np.full(m, np.nan), np.full(m, np.nan)
    if splits(sample) and sample.affords(m):
        try:
            values = sample.values()
            if not sample.called:
                resamples = sample.resamples(RESAMPLES, rng)
                errors = np.array([spread(column) for column in resamples.T])
        except ValueError:  # a class that the metric needs has no row here
            pass
    rows = []
    for k, (name, scores) in enumerate(sample.scores.items()):
        if sample.many:
            known = {"right": float(np.mean(sample.decisions(scores) == sample.codes))}
        else:
            known = rates(outcomes(sample.data.y, scores)) if decides else {}
        rows.append({"method": name, "value": values[k], "error": errors[k], **known})
    return rows


def curves_of(sample: Sample, decides: bool) -> dict[str, Any]:
    """Return what changes with the share of rows flagged, taken or covered, method by method."""
    if sample.many:  # no single threshold decides
        return {}
    if sample.labels is None:
        kind, make = "errors", covered
    elif sample.metric.decides and decides:
        kind, make = "threshold", swept
    else:
        kind, make = "list", listed
    return {
        "kind": kind,
        "lines": [
            {"method": name, **make(sample, np.asarray(scores, dtype=np.float64))}
            for name, scores in sample.scores.items()
        ],
    }


def swept(sample: Sample, scores: Floats) -> dict[str, Any]:
    """Return the metric by the share of rows flagged, and where the model itself stands."""
    limit = LEVELS
    own = answers(sample.bound, scores[:, np.newaxis])[0]
    here = [float(np.mean(scores > 0.0)), float(own)]
    if sample.called:
        if not sample.affords(CALLS * len(sample.scores)):
            return {"x": [here[0]], "y": [here[1]], "own": here}
        limit = int(np.clip(SECONDS / max(sample.price(), 1e-9), 2, CALLS))
    cuts = Thresholds.of(scores, limit)
    if sample.called:
        values = np.concatenate(
            [answers(sample.bound, (scores + s)[:, np.newaxis]) for s in cuts.shifts]
        )
    else:
        values = sample.bound.sweep(scores, limit).values
    return {"x": cuts.flagged / len(scores), "y": values, "own": here}


def listed(sample: Sample, scores: Floats) -> dict[str, Any]:
    """Return precision and recall by the share of rows taken from the top of the list."""
    order = np.argsort(-scores, kind="stable")
    found = np.cumsum(sample.data.y[order] > 0.0)
    n = len(scores)
    taken = np.unique(np.linspace(1, n, min(STEPS, n)).round().astype(int))
    return {
        "x": taken / n,
        "y": found[taken - 1] / taken,
        "recall": found[taken - 1] / max(int(found[-1]), 1),
    }


def covered(sample: Sample, scores: Floats) -> dict[str, Any]:
    """Return the absolute error within which a share of the rows lies."""
    shares = np.linspace(0.0, 1.0, STEPS + 1)[:-1]
    return {"x": shares, "y": np.quantile(np.abs(scores - sample.data.y), shares)}
