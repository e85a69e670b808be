"""Limits: formulas with a cap, a floor, or a bound beyond which something else counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.composed import Capped, Limit
from anymetric.explaining.fits import costs, plain_formulas, single
from anymetric.explaining.forms import Constant, Form, Hinge, RateOf, Sum
from anymetric.explaining.rates import EQUALIZED_ODDS
from anymetric.explaining.sample import Sample, mistakes, simplest
from anymetric.explaining.sums import around, near

Floats64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
# A value that so many answers share is a plateau; so many answers show a formula on one side of a
# bound, and so many what counts on the other.
PLATEAU, KEPT, BROKEN = 3, 6, 3
# Parts of the answers that are tried as those that keep a bound.
PARTS = (0.2, 0.35, 0.5, 0.65, 0.8)
# Rates that people put bounds on, of all rows, over groups and in one group.
LIMITED = ("recall", "precision", "share flagged", "specificity", "accuracy", "F1")
LIMITED_OVER = ("", "worst group", "best group", "gap between groups")
# Betas of F-measures that are tried beside the usual rates.
BETAS = ("F-beta 2", "F-beta 0.5")


def limited_formulas(sample: Sample) -> list[Form]:
    """Return formulas with limits that fit, the plainest first."""
    found = list(capped(sample))
    if not found:
        found = [form for inner in inner_forms(sample) for form in bounded(sample, inner)]
    unique = {form.text(): form for form in found}
    return sorted(unique.values(), key=lambda form: form.size)


def plateaus(sample: Sample) -> list[float]:
    """Return values that several answers share: the highest, the lowest, the most frequent."""
    rounded = np.round(sample.values / max(sample.each, 1e-300) / 2.0)
    codes, place, times = np.unique(rounded, return_inverse=True, return_counts=True)
    first = [0, len(codes) - 1, int(np.argmax(times))]
    shared = [k for k in dict.fromkeys(first) if times[k] >= PLATEAU]
    return [float(np.median(sample.values[place == k])) for k in shared]


def capped(sample: Sample) -> Iterator[Form]:
    """Yield formulas that stop at their highest or lowest value."""
    v, levels = sample.values, plateaus(sample)
    low = next((p for p in levels if abs(p - v.min()) <= sample.each), None)
    high = next((p for p in levels if abs(p - v.max()) <= sample.each), None)
    for ends in ((None, high), (low, None), (low, high)):
        if ends == (None, None):
            continue
        inside = np.ones(len(v), dtype=bool)
        for end in ends:
            inside &= True if end is None else np.abs(v - end) > sample.each
        if inside.sum() < KEPT:
            continue
        for form in plain_formulas(sample.take(inside)):
            low_, high_ = (None if end is None else near(end, 1e-7) for end in ends)
            whole = Capped(form, low_, high_)
            if sample.fits(whole):
                yield whole


def inner_forms(sample: Sample) -> Iterator[Form]:
    """Yield formulas that are right for many answers, though not for all."""
    rates: list[RateOf] = [*sample.library]
    if len(sample.cells.classes) == 2:
        rates += [RateOf(name) for name in BETAS]
    for rate in rates:
        for constant, factor in ((0.0, 1.0), (1.0, -1.0), (0.0, -1.0)):
            form: Form = rate if factor == 1.0 else Sum(constant, ((factor, rate),))
            if enough(sample, right(sample, form), form):
                yield form
    for level in plateaus(sample):
        rest = np.abs(sample.values - level) > sample.each
        if rest.sum() >= KEPT:
            yield from plain_formulas(sample.take(rest), 4)
    yield from split_costs(sample)


def enough(sample: Sample, matched: Bools, form: Form) -> bool:
    """Return whether a formula is right for so many different answers that this is no accident."""
    if matched.sum() < KEPT or matched.all():
        return False
    values = np.unique(np.round(form.values(sample.counts[matched]) / sample.each / 2.0))
    return len(values) >= KEPT


def split_costs(sample: Sample) -> Iterator[Form]:
    """Yield cost matrices that are right for the answers on one side of some rate."""
    kinds, seen = mistakes(sample.cells), set()
    design = np.column_stack([np.ones(len(sample)), *(k.values(sample.counts) for k in kinds)])
    for place in limiting(sample):
        order = np.argsort(sample.columns[:, place], kind="stable")
        for count in (int(part * len(order)) for part in PARTS):
            for rows in (order[:count], order[-count:]):
                matched = on_plane(sample, design, rows)
                if matched is not None and matched.tobytes() not in seen:
                    seen.add(matched.tobytes())
                    yield from costs(sample.take(matched))


def on_plane(sample: Sample, design: Floats64, rows: NDArray[np.intp]) -> Bools | None:
    """Return which answers have the same prices as some; None if these have none in common."""
    if len(rows) < design.shape[1] + 3:
        return None
    prices = np.linalg.lstsq(design[rows], sample.values[rows], rcond=None)[0]
    matched = np.abs(sample.values - design @ prices) <= 1.5 * sample.each
    varied = len(np.unique(np.round(sample.values[rows] / sample.each / 2.0))) >= KEPT
    return matched if matched[rows].all() and varied and not matched.all() else None


def right(sample: Sample, form: Form) -> Bools:
    """Return for which answers a formula is right."""
    return np.asarray(np.abs(sample.missed(form)) <= sample.each)


def limiting(sample: Sample) -> list[int]:
    """Return the places of rates that people put bounds on."""
    return [
        k
        for k, one in enumerate(sample.library)
        if one.name in (*LIMITED, EQUALIZED_ODDS) and one.over in LIMITED_OVER
    ]


def bounded(sample: Sample, inner: Form) -> Iterator[Form]:
    """Yield this formula with bounds that separate where it is right from where it is not."""
    matched = right(sample, inner)
    if not matched.any() or matched.all():
        return
    places = limiting(sample)
    rates = [*(sample.library[k] for k in places), inner]
    columns = np.column_stack([sample.columns[:, places], inner.values(sample.counts)])
    for place, at_least in separating(columns, matched):
        rate = rates[place]
        yield from completed(sample, inner, rate, columns[:, place], matched, at_least)


def separating(columns: Floats64, matched: Bools) -> list[tuple[int, bool]]:
    """Return the columns in which all matched answers are above, or below, all others."""
    inside, outside = columns[matched], columns[~matched]
    above = inside.min(axis=0) > outside.max(axis=0) + 1e-9
    below = inside.max(axis=0) < outside.min(axis=0) - 1e-9
    return [(int(k), bool(above[k])) for k in np.flatnonzero(above | below)]


def completed(
    sample: Sample, inner: Form, rate: Form, column: Floats64, matched: Bools, at_least: bool
) -> Iterator[Form]:
    """Yield the whole formula: what counts beyond the bound, and where the bound is."""
    yield from hinged(sample, inner, rate, column, matched, at_least)
    if (~matched).sum() < BROKEN:
        return
    bound = bound_between(column[matched], column[~matched], at_least)
    rest = sample.take(~matched)
    step = float(np.median(rest.missed(inner)))
    options: list[Form] = []
    if np.ptp(rest.values) <= 2.0 * sample.each:
        options = [Constant(near(float(np.median(rest.values)), 1e-6))]
    elif np.abs(rest.missed(inner) - step).max() <= 2.0 * sample.each:
        options = [Sum(near(step, 1e-6), ((1.0, inner),))]
    elif len(rest) >= KEPT:
        options = list(single(rest))
    for otherwise in options:
        whole = Limit(inner, rate, bound, at_least, otherwise)
        if sample.fits(whole):
            yield whole


def bound_between(inside: Floats64, outside: Floats64, at_least: bool) -> float:
    """Return the roundest bound that the one keeps and the other breaks."""
    if at_least:
        return simplest(float(outside.max()) + 1e-12, float(inside.min()))
    return simplest(float(inside.max()), float(outside.min()) - 1e-12)


def hinged(
    sample: Sample, inner: Form, rate: Form, column: Floats64, matched: Bools, at_least: bool
) -> Iterator[Form]:
    """Yield the formula with a penalty that grows from the bound on."""
    x, missed = column[~matched], sample.missed(inner)[~matched]
    if len(x) < BROKEN or np.ptp(x) <= 1e-9:
        return
    slope, constant = np.polyfit(x, missed, 1)
    if np.abs(missed - slope * x - constant).max() > max(2.0 * sample.each, 1e-6 * sample.scale):
        return
    if abs(slope) < 1e-9 * sample.scale:
        return
    at = -constant / slope
    hinge = Hinge(rate, near(at, 1e-4), above=not at_least)
    factor = near(slope if not at_least else -slope, 1e-4)
    for form in (
        Sum(0.0, ((1.0, inner), (factor, hinge))),
        Sum(0.0, ((1.0, inner), (slope * (1 - 2 * at_least), Hinge(rate, at, not at_least)))),
    ):
        if sample.fits(form):
            yield form
            yield from mirrored(sample, form)
            return


def mirrored(sample: Sample, form: Sum) -> Iterator[Form]:
    """Yield the same formula, written from the other side of its bound."""
    (_, inner), (factor, hinge) = form.terms
    if not isinstance(hinge, Hinge):
        return
    beyond = hinge.of.values(sample.counts) - hinge.bound
    values = inner.values(sample.counts) + factor * (beyond if hinge.above else -beyond)
    for other in plain_formulas(replace(sample, values=values), 3)[:1]:
        whole = Sum(0.0, ((1.0, other), (factor, Hinge(hinge.of, hinge.bound, not hinge.above))))
        if sample.fits(whole):
            yield whole


def bound_interval(sample: Sample, form: Limit) -> tuple[float, float]:
    """Return between which values of its rate the bound must lie, by the answers."""
    column, kept = form.rate.values(sample.counts), form.kept(sample.counts)
    inside, outside = column[kept], column[~kept]
    if form.at_least:
        return float(outside.max(initial=-np.inf)), float(inside.min(initial=np.inf))
    return float(inside.max(initial=-np.inf)), float(outside.min(initial=np.inf))


def bounds_tried(sample: Sample, form: Form) -> list[Form]:
    """Return the same formula with its bound at either end of where it may be."""
    if not isinstance(form, Limit):
        return []
    low, high = bound_interval(sample, form)
    if not (np.isfinite(low) and np.isfinite(high)):
        return []
    ends = around((low + high) / 2.0, 0.49 * (high - low))
    return [
        Limit(form.of, form.rate, end, form.at_least, form.otherwise)
        for end in ends
        if high - low > 1e-9
    ]


def sharp(sample: Sample, form: Form) -> bool:
    """Return whether the bound of a formula, if it has one, is known to about one row."""
    if not isinstance(form, Limit):
        return True
    low, high = bound_interval(sample, form)
    return bool(high - low <= 2.0 / sample.cells.sizes.sum(axis=0).min())
