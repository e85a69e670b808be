"""Importance: by how much the metric gets worse if a column is shuffled, on held-out rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from anymetric.metrics import Classes, MetricError
from anymetric.metrics.allowance import left
from anymetric.report.sample import OURS, Sample, directed, last_step, scored, scored_classes
from anymetric.report.shuffled import Blocks, Shuffled
from anymetric.report.table import differences, spread

Floats = NDArray[np.float64]
# Columns that are measured, and how often each is shuffled.
MOST, REPEATS = 20, 5
# Rows that are scored.
ROWS = 4000
# Bootstrap resamples behind the errors.
RESAMPLES = 60
# Seconds for the calls of a metric that is a function.
SECONDS = 5.0


def importances_of(
    estimator: Any,
    sample: Sample,
    X: Any,
    blocks: Blocks,
    *,
    group: str = "",
    held_out: bool = True,
    random_state: int = 0,
) -> dict[str, Any]:
    """Return the importances of a fitted estimator's columns, or why they are absent.

    Parameters
    ----------
    estimator : fitted estimator
    sample : Sample
        Its scores come first.
    X : array-like of shape (n, d)
        The rows of the sample, as the estimator takes them.
    blocks, group
        As in `Shuffled`.
    held_out : bool
        Whether the estimator did not train on these rows; what it learned by heart would count.
    random_state : int
    """
    if not held_out:
        return {"absent": "Not measured: it takes rows that did not train the model."}
    first, scores = next(iter(sample.scores.items()))
    one = replace(sample, scores={first: scores})
    X = X if hasattr(X, "iloc") or sparse.issparse(X) else np.asarray(X)

    def score(X: Any, groups: Any, side: Mapping[str, Any]) -> Floats:
        if isinstance(sample.labels, Classes):
            return scored_classes(estimator, X, sample.labels)
        return directed(estimator, sample.labels, scored(estimator, X, groups, side))

    rng = np.random.default_rng([random_state, 1])
    prior = prior_of(last_step(estimator), blocks)
    return importances(Shuffled(score, one, X, blocks, group, prior), rng)


def prior_of(model: Any, blocks: Blocks) -> dict[str, float]:
    """Return what a model's coefficients and the gains of its trees say of each column.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(coef_=np.array([[1.0, -2.0, 0.0]]))
    >>> prior_of(model, {"age": [0], "city": [1, 2]})
    {'age': 0.5, 'city': 1.0}
    """
    count = 1 + max(max(columns, default=-1) for columns in blocks.values())
    total = np.zeros(count)
    for name in ("coef_", "feature_importances_"):
        sizes = np.abs(np.atleast_2d(getattr(model, name, 0.0))).max(axis=0)
        if len(sizes) == count:
            total = np.maximum(total, sizes / max(sizes.max(), 1e-300))
    return {name: float(total[list(columns)].max()) for name, columns in blocks.items()}


def by_feature(X: Any, names: Sequence[str] | None = None) -> dict[str, list[int]]:
    """Return every feature as a column of its own.

    Examples
    --------
    >>> by_feature(np.zeros((3, 2)))
    {'x0': [0], 'x1': [1]}
    """
    count = np.shape(X)[1]
    known = list(getattr(X, "columns", [f"x{k}" for k in range(count)]))
    if names is not None and len(names) == count:
        known = list(names)
    return {str(name): [k] for k, name in enumerate(known)}


def importances(shuffled: Shuffled, rng: np.random.Generator, most: int = MOST) -> dict[str, Any]:
    """Return by how much the metric gets worse if a column's values are shuffled among the rows.

    A metric that is a function is called once for every shuffle, unless its calls are budgeted:
    then it is not called at all. The errors are those of bootstrap resamples of the rows; of a
    function, those of the shuffles.

    Parameters
    ----------
    shuffled : Shuffled
    rng : numpy.random.Generator
    most : int
        Columns that are measured: those that move the scores most.

    Returns
    -------
    dict
        ``rows``, a list with ``name``, ``importance`` and ``error``, the largest first; ``n`` rows,
        ``repeats``, and how many columns were ``left_out``. Or why it is ``absent``.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> data = Data(X, np.sign(X[:, 0]))
    >>> sample = Sample(as_metric("accuracy"), data, (0, 1), {"anymetric": X[:, 0]})
    >>> blocks = {"age": [0], "id": [1]}
    >>> rows = Shuffled(lambda X, groups, side: X[:, 0], sample, X, blocks)
    >>> found = importances(rows, np.random.default_rng(0))["rows"]
    >>> found[0]["name"], 0.4 < found[0]["importance"] < 0.6, found[1]["importance"]
    ('age', True, 0.0)
    """
    sample = shuffled.sample
    if sample.called and math.isfinite(left()):
        return {"absent": "Not measured: the calls of the metric are budgeted for other things."}
    outputs = len(sample.matrix) // max(len(sample.data), 1)
    shuffled = shuffled.few(max(ROWS // max(outputs, 1), 500), rng)
    names, left_out = candidates(shuffled, most, rng)
    repeats = REPEATS
    if sample.called:
        names, left_out, repeats = affordable(shuffled, names, left_out)
    if not names:
        return {"absent": "Not measured: the metric is slow to call, and each column takes calls."}
    try:
        found = measured(shuffled, names, repeats, rng)
    except (ValueError, MetricError) as error:
        return {"absent": f"Not measured: {error}"}
    found.sort(key=lambda row: -row["importance"])
    return {
        "rows": found,
        "left_out": left_out,
        "repeats": repeats,
        "n": len(shuffled.sample.data),
    }


def candidates(shuffled: Shuffled, most: int, rng: np.random.Generator) -> tuple[list[str], int]:
    """Return the columns to measure, and how many are left out: those that move scores less."""
    names = list(shuffled.blocks)
    if len(names) <= most:
        return names, 0
    moved = shuffled.moved(rng)
    kept = sorted(moved, key=lambda name: -moved[name])[:most]
    return kept, len(names) - len(kept)


def affordable(shuffled: Shuffled, names: list[str], left_out: int) -> tuple[list[str], int, int]:
    """Return the columns that a function can be called for in time, and how often for each."""
    calls = int(SECONDS / max(shuffled.sample.price(), 1e-9))
    repeats = 3 if calls >= 3 * len(names) else 1
    kept = names[: max(calls // repeats, 0)]
    return kept, left_out + len(names) - len(kept), repeats


def measured(
    shuffled: Shuffled, names: list[str], repeats: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the importance of each column with its error."""
    sample = shuffled.sample
    here = next(iter(sample.scores.values()))
    scores = {OURS: here, **dict(_shuffles(shuffled, names, repeats, rng))}
    tried = replace(sample, scores=scores)
    sign = 1.0 if sample.metric.greater_is_better else -1.0
    values = tried.values()
    drops = differences(sign, values[0], values)[1:].reshape(len(names), repeats)
    errors = drops.std(axis=1) / math.sqrt(max(repeats - 1, 1))
    if repeats == 1:
        errors = np.full(len(names), np.nan)
    resampled = np.empty((0, len(scores))) if sample.called else tried.resamples(RESAMPLES, rng)
    if len(resampled) > 1:
        paired = differences(sign, resampled[:, :1], resampled)[:, 1:]
        means = paired.reshape(len(paired), len(names), repeats).mean(axis=2)  # (B, columns)
        errors = np.array([spread(column) for column in means.T])
    return [
        {"name": name, "importance": float(drop), "error": float(error)}
        for name, drop, error in zip(names, drops.mean(axis=1), errors, strict=True)
    ]


def _shuffles(
    shuffled: Shuffled, names: list[str], repeats: int, rng: np.random.Generator
) -> Iterator[tuple[str, Floats]]:
    n = len(shuffled.sample.data)
    for k, name in enumerate(names):
        for repeat in range(repeats):
            yield f"{k} {repeat}", shuffled.scores(name, rng.permutation(n))
