"""Design: which decisions to ask about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from anymetric.explaining.cells import Cells
from anymetric.explaining.composed import Limit
from anymetric.explaining.forms import Form
from anymetric.explaining.sample import Sample

Floats64 = NDArray[np.float64]
# Log-odds of being flagged, the difference of positives, and the random spread between cells.
LEVELS, APART, CHANCE = (-4.0, 1.5), (0.0, 3.5), 0.7
# Every so many questions are near the model's own decisions, so far from them in log-odds.
NEAR, NEARBY = 2, 0.8
# Decisions among which those are chosen that tell formulas apart.
POOL = 160
# Where between two answers a bound is looked for.
BETWEEN = (0.5, 0.35, 0.65, 0.2, 0.8)


def spanning(cells: Cells, base: Floats64, count: int, rng: np.random.Generator) -> Floats64:
    """Return shares ``(count, G, C, C)``: how many rows of each cell are decided for each class.

    Some far and wide, some near the counts ``(G, C, C)`` of a model.
    """
    C = len(cells.classes)
    own = (base + 0.5) / (base.sum(axis=-1, keepdims=True) + 0.5 * C)
    found = [near(own, rng) if k % NEAR else wide(cells, rng) for k in range(count)]
    return np.stack(found) if found else np.zeros((0, *base.shape))


def wide(cells: Cells, rng: np.random.Generator) -> Floats64:
    """Return shares of anything between a good classifier and a bad one."""
    G, C = cells.sizes.shape
    if C == 2:
        odds = rng.uniform(*LEVELS) + rng.uniform(*APART) * np.arange(2)
        flagged = expit(odds + rng.normal(0.0, CHANCE, (G, 2)))
        return np.stack([1.0 - flagged, flagged], axis=-1)
    scores = rng.uniform(*APART) * np.eye(C) + rng.normal(0.0, 1.0, C)
    return np.asarray(softmax(scores + rng.normal(0.0, CHANCE, (G, C, C)), axis=-1))


def near(own: Floats64, rng: np.random.Generator) -> Floats64:
    """Return shares about those of a model."""
    if own.shape[-1] == 2:
        flagged = expit(logit(own[..., 1]) + rng.normal(0.0, NEARBY, own.shape[:-1]))
        return np.stack([1.0 - flagged, flagged], axis=-1)
    return np.asarray(softmax(np.log(own) + rng.normal(0.0, NEARBY, own.shape), axis=-1))


def telling(
    sample: Sample,
    forms: Sequence[Form],
    base: Floats64,
    count: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], bool]:
    """Return decisions ``(n, count)`` on which formulas disagree most, and some at random.

    Also whether there are any on which they disagree beyond noise.
    """
    cells = sample.cells
    shares = spanning(cells, base, POOL, rng)
    for form in forms[:3]:
        shares = np.concatenate([shares, *halfway(sample, form)])
    decisions = cells.drawn(shares, rng)
    counts = cells.counts(decisions)
    said = np.stack([form.values(counts) for form in forms])
    apart = np.ptp(said, axis=0) / sample.scale
    free = int(count) // 3 if np.any(apart > 1e-6) else count
    first = np.argsort(-apart, kind="stable")[: count - free]
    chosen = np.concatenate([first, rng.permutation(POOL)[:free]])
    differ = bool(np.any(np.ptp(said, axis=0) > 2.0 * sample.each))
    return np.asarray(decisions[:, np.unique(chosen)]), differ


def halfway(sample: Sample, form: Form) -> list[Floats64]:
    """Return shares between answers on both sides of a bound, nearest to it."""
    form = getattr(form, "of", form) if not isinstance(form, Limit) else form
    if not isinstance(form, Limit):
        return []
    column, kept = form.rate.values(sample.counts), form.kept(sample.counts)
    if kept.all() or not kept.any():
        return []
    distance = np.abs(column - form.bound)
    ends = [
        np.flatnonzero(side)[np.argsort(distance[side], kind="stable")[:2]]
        for side in (kept, ~kept)
    ]
    sizes = np.maximum(sample.cells.sizes[..., np.newaxis], 1.0)
    first, second = (sample.counts[end, 0] / sizes for end in ends)
    pairs = [(a, b) for a in first for b in second]
    return [np.stack([part * a + (1.0 - part) * b for a, b in pairs]) for part in BETWEEN]
