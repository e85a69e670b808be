"""Quotients: products of rates, and one sum of counts over another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.cells import Cells
from anymetric.explaining.composed import Power, Quotient
from anymetric.explaining.forms import Form, Mistakes, Sum
from anymetric.explaining.sample import Sample, simplest
from anymetric.explaining.sums import SPARE, around, near

Floats64 = NDArray[np.float64]
# So many pairs of rates are fitted, those that correlate best; a column this short is constant.
PAIRS, EPS = 24, 1e-9
# Exponents are multiples of this.
EXPONENT = 1.0 / 12.0


def best_pairs(columns: Floats64, values: Floats64) -> list[tuple[int, int]]:
    """Return the pairs of columns whose plane leaves least of the values."""
    x, y = columns - columns.mean(axis=0), values - values.mean()
    length = np.sqrt((x**2).sum(axis=0))
    there = np.flatnonzero(length > EPS * max(float(length.max(initial=0.0)), EPS))
    x = x[:, there] / length[there]
    along, between = x.T @ y, x.T @ x
    free = np.maximum(1.0 - between**2, 1e-6)
    explained = (along[:, None] ** 2 + along**2 - 2.0 * np.outer(along, along) * between) / free
    explained[np.tril_indices(len(there))] = -np.inf
    explained[between**2 > 1.0 - 1e-6] = -np.inf
    explained = np.round(explained / max(float(y @ y), 1e-300), 9)  # of equals, the plainest
    first = np.argsort(-explained, axis=None, kind="stable")[:PAIRS]
    found = [divmod(int(k), len(there)) for k in first if np.isfinite(explained.flat[k])]
    return [(int(there[a]), int(there[b])) for a, b in found]


def powers(sample: Sample) -> Iterator[Form]:
    """Yield products of one or two rates with simple exponents."""
    rows = np.flatnonzero(sample.values > 0.0)
    if sample.noise > 0.0 or len(rows) < max(12, len(sample) // 2):
        return
    some = sample.take(rows)
    usable = np.flatnonzero((some.columns > 0.0).all(axis=0))
    logs, target = np.log(some.columns[:, usable]), np.log(some.values)
    for pair in best_pairs(logs, target):
        design = np.column_stack([np.ones(len(rows)), logs[:, pair]])
        found = np.linalg.lstsq(design, target, rcond=None)[0]
        powers_ = np.rint(found[1:] / EXPONENT) * EXPONENT
        factor = simplest(*around(float(np.exp(found[0])), 1e-5 * float(np.exp(found[0]))))
        terms = [
            (float(f"{power:.12g}"), sample.library[usable[k]])
            for power, k in zip(powers_, pair, strict=True)
            if power != 0.0
        ]
        form = Power(factor, tuple(terms))
        if terms and sample.fits(form):
            yield form


def quotients(sample: Sample) -> Iterator[Form]:
    """Yield a quotient of two sums of counts of two classes."""
    if sample.noise > 0.0 or len(sample.cells.classes) != 2:
        return
    kinds = [Mistakes(1, 1, label="true positives"), Mistakes(0, 1, label="false alarms")]
    base = np.column_stack([np.ones(len(sample)), *(one.values(sample.counts) for one in kinds)])
    size = np.abs(base).max(axis=0)
    v = sample.values / sample.scale
    whole = np.column_stack([base / size, -v[:, None] * base / size])
    if len(sample) < whole.shape[1] + SPARE:
        return
    _, singular, right = np.linalg.svd(whole, full_matrices=False)
    if singular[-1] > 1e-7 * singular[0] or singular[-2] < 1e-5 * singular[0]:
        return
    top = right[-1, :3] / size * sample.scale
    bottom = right[-1, 3:] / size
    least = 1e-9 * float(np.abs(top).max())
    unit = next((float(x) for x in (top[1], bottom[1], top[0]) if abs(x) > least), 1.0)
    parts = [cleared(part, unit, size) for part in (top, bottom)]
    sums = [
        Sum(near(part[0]), tuple((near(x), k) for x, k in zip(part[1:], kinds, strict=True) if x))
        for part in parts
    ]
    form = Quotient(sums[0], with_missed(sample.cells, sums[1]))
    if sample.fits(form):
        yield form


def with_missed(cells: Cells, bottom: Sum) -> Sum:
    """Return a sum of a constant and true positives with missed rows in the constant's place.

    Only where true positives then count as one, as in Tversky's index.
    """
    factors = {form: factor for factor, form in bottom.terms}
    found = next((one for one in factors if isinstance(one, Mistakes) and one.true == 1), None)
    each = bottom.constant / float(cells.sizes[:, 1].sum())
    if found is None or abs(factors[found] + each - 1.0) > 1e-6 or each == 0.0:
        return bottom
    missed = Mistakes(1, 0, label=f"missed {cells.classes[1]}")
    rest = tuple((factor, form) for factor, form in bottom.terms if form != found)
    return Sum(0.0, ((1.0, found), *rest, (near(each), missed)))


def cleared(part: Floats64, unit: float, size: Floats64) -> list[float]:
    """Return numbers in units of one, those that come to nothing as zero."""
    there = np.abs(part) * size >= 1e-6 * abs(unit) * size[1]
    return [float(x) for x in np.where(there, part / unit, 0.0)]
