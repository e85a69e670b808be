"""Surprises: what stands out in the rows and in a run, each a sentence with its number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import roc_auc_score

from anymetric.data import Data, Matrix
from anymetric.suspects.models import SoftLinear, standardised

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# A source whose rows count for less than this part of the average row is worthless.
WORTHLESS = 0.1
# Of a group so many rows of each class are needed to say anything; scores that order its rows
# better than this, one standard error counted in, are of some use.
FEWEST, USELESS = 15, 0.6
SOURCE = re.compile(r"source=([^,\]]+)")


@dataclass(frozen=True)
class Surprise:
    """Something that its user should know.

    Attributes
    ----------
    kind : {"same rows", "worthless source", "unpredictable group"}
    text : str
        A sentence.
    value : float
        Its number.

    Examples
    --------
    >>> print(Surprise("same rows", "12 of 300 validation rows are also training rows.", 12.0))
    12 of 300 validation rows are also training rows.
    """

    kind: str
    text: str
    value: float

    def __str__(self) -> str:
        return self.text


def surprises(
    fitted: Any, train: Data, clean: Data | None, held_out: tuple[Data, Floats64] | None
) -> tuple[Surprise, ...]:
    """Return what stands out in the rows of a fitted estimator.

    Parameters
    ----------
    fitted : estimator
        Its `weights_` and `row_shares_` tell what sources are worth.
    train : Data
    clean : Data or None
        Validation rows other than the training rows.
    held_out : (Data, scores) or None
        Validation rows with out-of-fold scores, of two classes.
    """
    found: list[Surprise] = []
    if clean is not None:
        found += same_rows(train, clean)
    found += worthless(getattr(fitted, "weights_", {}), getattr(fitted, "row_shares_", {}))
    if held_out is not None and "groups" in held_out[0].side:
        found += unpredictable(train, *held_out)
    return tuple(found)


def same_rows(train: Data, valid: Data) -> Iterator[Surprise]:
    """Yield how many validation rows are training rows too, if that is no accident.

    Examples
    --------
    >>> X = np.arange(200.0).reshape(100, 2)
    >>> rows = Data(X, np.ones(100))
    >>> print(*same_rows(rows.take(np.arange(80)), rows.take(np.arange(60, 100))))
    20 of 40 validation rows are also training rows: what is measured on them is optimistic.
    """
    both = repeated(hashed(train), hashed(valid))
    if both:
        yield Surprise(
            "same rows",
            f"{both:,} of {len(valid):,} validation rows are also training rows: what is measured "
            "on them is optimistic.",
            float(both),
        )


def repeated(mine: NDArray[Any], theirs: NDArray[Any]) -> int:
    """Return how many of their rows are among mine; 0 where rows repeat by themselves so often.

    Examples
    --------
    >>> repeated(np.arange(80), np.arange(60, 100)), repeated(np.arange(100) % 3, np.arange(3))
    (20, 0)
    """
    both = int(np.isin(theirs, mine).sum())
    # In a table of few values, rows repeat by themselves.
    often = 1.0 - len(np.unique(mine)) / max(len(mine), 1)
    return both if both > (0.01 + 2.0 * often) * len(theirs) else 0


def hashed(data: Data) -> NDArray[np.uint64]:
    """Return a number for each row that differs where features or label differ."""
    draws = np.random.default_rng(0).integers(1, 2**63, size=data.X.shape[1] + 1, dtype=np.uint64)
    total = bits(data.y) * draws[-1]
    for k, column in enumerate(columns(data.X)):
        total += bits(column) * draws[k]
    return np.asarray(total)


def columns(X: Matrix) -> Iterator[Floats64]:
    """Yield the columns of a matrix, dense."""
    by_column = sparse.csc_array(X) if sparse.issparse(X) else X
    for k in range(X.shape[1]):
        one = by_column[:, [k]]
        yield np.asarray(one.toarray() if sparse.issparse(one) else one, dtype=np.float64).ravel()


def bits(column: Floats64) -> NDArray[np.uint64]:
    """Return the bits of numbers, mixed so that near numbers are far apart."""
    found = np.ascontiguousarray(column + 0.0).view(np.uint64)  # -0.0 is 0.0
    return np.asarray((found ^ (found >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15))


def worthless(weights: Mapping[str, float], shares: Mapping[str, float]) -> Iterator[Surprise]:
    """Yield the sources whose rows were given next to no weight.

    Examples
    --------
    >>> weights = {"logistic[class=-1, source=A]": 0.98, "logistic[class=-1, source=B]": 0.02}
    >>> print(*worthless(weights, dict.fromkeys(weights, 0.5)))
    Source B is worthless for the metric: 50 % of the rows have 2 % of the learned loss.
    """
    totals: dict[str, list[float]] = {}
    for name, weight in weights.items():
        known = SOURCE.search(name)
        if known and name in shares:
            total = totals.setdefault(known[1], [0.0, 0.0])
            total[0] += weight
            total[1] += shares[name]
    for source, (weight, share) in totals.items():
        if weight < WORTHLESS * share:
            text = f"{100 * share:.0f} % of the rows have {100 * weight:.0f} % of the learned loss"
            ratio = weight / share
            yield Surprise(
                "worthless source", f"Source {source} is worthless for the metric: {text}.", ratio
            )


def unpredictable(train: Data, valid: Data, scores: Floats64) -> Iterator[Surprise]:
    """Yield the groups of two classes that neither the model nor a line of its own orders.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, group = rng.normal(size=(1600, 2)), np.tile(["a", "b"], 800)
    >>> known = np.where(X[:, 0] > 0, 1.0, -1.0)
    >>> y = np.where(group == "a", known, rng.choice([-1.0, 1.0], 1600))
    >>> rows = Data(X, y, side={"groups": group})
    >>> train, valid = rows.take(np.arange(800)), rows.take(np.arange(800, 1600))
    >>> print(*unpredictable(train, valid, X[800:, 0]))
    For the group b no model beats a constant: on 400 validation rows ... (0.5 is chance).
    """
    groups = valid.side["groups"]
    flat = np.asarray(scores, dtype=np.float64).reshape(len(valid), -1)
    if flat.shape[1] != 1 or not np.all(np.isin(valid.y, (-1.0, 1.0))):
        return
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        if min(np.sum(valid.y[own] > 0), np.sum(valid.y[own] < 0)) < FEWEST:
            continue
        best, error = area(valid.y[own], flat[own, 0])
        if best + error >= USELESS:
            continue
        alone = line_of_its_own(train, valid, group, own)
        if alone is not None:
            best = max(best, area(valid.y[own], alone)[0])
        if best + error < USELESS:
            yield Surprise(
                "unpredictable group",
                f"For the group {group} no model beats a constant: on {len(own):,} validation rows "
                f"the area under the ROC curve is {best:.2f} ± {error:.2f} (0.5 is chance).",
                best,
            )


def line_of_its_own(train: Data, valid: Data, group: Any, own: Ints) -> Floats64 | None:
    """Return scores of a group's validation rows by a line of its training rows."""
    if train is valid or "groups" not in train.side:
        return None
    mine = np.flatnonzero(train.side["groups"] == group)
    if len(np.unique(train.y[mine])) < 2:
        return None
    both = train.take(mine).followed_by(valid.take(own))
    weights = np.concatenate([np.ones(len(mine)), np.zeros(len(own))])
    targets = np.column_stack([both.y < 0.0, both.y > 0.0]).astype(np.float64)
    return SoftLinear(standardised(both.X)).fit(targets, weights)[len(mine) :, 1]


def area(y: Floats64, scores: Floats64) -> tuple[float, float]:
    """Return the area under the ROC curve, and its standard error at chance.

    Examples
    --------
    >>> area(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))[0]
    1.0
    """
    up, down = int(np.sum(y > 0)), int(np.sum(y < 0))
    return float(roc_auc_score(y > 0, scores)), float(np.sqrt((up + down + 1) / (12 * up * down)))
