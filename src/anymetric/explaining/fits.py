"""Fits: formulas without limits that explain all answers, from the plainest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from anymetric.explaining.forms import Constant, Form, RateOf, Sum, short
from anymetric.explaining.quotients import EPS, best_pairs, powers, quotients
from anymetric.explaining.sample import Sample, mistakes, simplest
from anymetric.explaining.sums import around, bases, fitted, merged

Floats64 = NDArray[np.float64]
# F-measures over groups whose beta is fitted; betas that are tried before the best is refined.
GROUPED = ("worst group", "mean over groups", "gap between groups")
BETAS = np.geomspace(0.1, 10.0, 25)


def single(sample: Sample) -> Iterator[Form]:
    """Yield formulas of one rate: itself, what it lacks to one, a multiple, a line."""
    if sample.spread <= EPS * sample.scale:
        yield Constant(simplest(*around(float(sample.values.mean()), sample.each)))
        return
    for place in np.flatnonzero(promising(sample, sample.columns)):
        yield from lines(sample, sample.library[place])


def promising(sample: Sample, columns: Floats64) -> NDArray[np.bool_]:
    """Return which columns a line through the answers may fit, within noise."""
    x, y = columns - columns.mean(axis=0), sample.values - sample.values.mean()
    length = np.sqrt((x**2).sum(axis=0))
    there = length > EPS * np.sqrt(len(sample)) * np.maximum(np.abs(columns).max(axis=0), EPS)
    along = x.T @ y / np.where(there, length, 1.0)
    rest = np.maximum(y @ y - along**2, 0.0) / len(sample)
    return np.asarray(there & (rest <= 4.0 * max(sample.tolerance, 1e-6 * sample.scale) ** 2))


def lines(sample: Sample, rate: Form) -> Iterator[Form]:
    """Yield the plainest line in a rate that fits."""
    found = [one for one in plain_lines(rate) if sample.fits(one)]
    if not found or sample.noise > 0.0:
        drawn = (fitted(sample, [rate], constant=constant) for constant in (False, True))
        found += [one for one in drawn if one is not None]
    yield from found if sample.noise > 0.0 else found[:1]


def plain_lines(rate: Form) -> list[Form]:
    """Return a rate, what it lacks to one, and its negative."""
    return [rate, Sum(1.0, ((-1.0, rate),)), Sum(0.0, ((-1.0, rate),))]


def f_betas(sample: Sample) -> Iterator[Form]:
    """Yield F-measures with the beta that fits best, of all rows and over groups."""
    cells = sample.cells
    if len(cells.classes) != 2:
        return
    over = (
        ("worst group", "mean over groups", "gap between groups") if len(cells.groups) > 1 else ()
    )
    for one in ("", *over):
        beta = best_beta(sample, one)
        beta = None if beta is None else snapped_beta(sample, beta, one)
        if beta is not None and beta != 1.0:
            rate = RateOf(f"F-beta {short(beta)}", one)
            yield from (form for form in lines(sample, rate) if usual(form))


def usual(form: Form) -> bool:
    """Return whether a line in an F-measure is one that people write: itself, or per cent."""
    terms = form.terms if isinstance(form, Sum) else ((1.0, form),)
    return all(abs(factor) in (1.0, 100.0) for factor, _ in terms)


def best_beta(sample: Sample, over: str) -> float | None:
    """Return the beta whose F-measure is nearest to a line through the answers."""

    def rest(log_beta: float) -> float:
        x = RateOf(f"F-beta {float(np.exp(log_beta))!r}", over).values(sample.counts)
        return unexplained(x, sample.values)

    found = [rest(float(one)) for one in np.log(BETAS)]
    k = int(np.argmin(found))
    if not found[k] < 0.05:
        return None
    ends = np.log(BETAS[[max(k - 1, 0), min(k + 1, len(BETAS) - 1)]])
    best = minimize_scalar(rest, bounds=tuple(ends), method="bounded", options={"xatol": 1e-10})
    return float(np.exp(best.x))


def snapped_beta(sample: Sample, beta: float, over: str) -> float:
    """Return a rounder beta that fits as well, if there is one."""
    for width in (0.05, 0.01, 1e-3, 1e-5):
        shown = simplest(beta * (1.0 - width), beta * (1.0 + width))
        if any(True for _ in lines(sample, RateOf(f"F-beta {short(shown)}", over))):
            return shown
    return beta


def unexplained(x: Floats64, y: Floats64) -> float:
    """Return the part of the variance of y that a line in x leaves."""
    x, y = x - x.mean(), y - y.mean()
    both = float((x @ x) * (y @ y))
    return 1.0 - float(x @ y) ** 2 / both if both > 0.0 else 1.0


def costs(sample: Sample) -> Iterator[Form]:
    """Yield cost matrices: a price of every kind of mistake, the same for all groups or not."""
    for by_group in (False, True) if len(sample.cells.groups) > 1 else (False,):
        for amounts in (False, True) if sample.cells.amounts else (False,):
            found = [fitted(sample, one) for one in bases(sample.cells, by_group, amounts)]
            there = [merged(one, len(sample.cells.groups)) for one in found if one is not None]
            there.sort(key=lambda form: form.size)
            if there:
                yield from there if sample.noise > 0.0 else there[:1]
                return


def costs_and_rate(sample: Sample) -> Iterator[Form]:
    """Yield cost matrices with one rate beside them, such as a penalty on a gap."""
    kinds = mistakes(sample.cells)
    base = np.column_stack([np.ones(len(sample)), *(one.values(sample.counts) for one in kinds)])
    left = np.linalg.qr(base)[0]
    rest = sample.columns - left @ (left.T @ sample.columns)
    alone = replace(sample, values=sample.values - left @ (left.T @ sample.values))
    for place in np.flatnonzero(promising(alone, rest)):
        found = fitted(sample, [*kinds, sample.library[place]])
        if found is not None:
            yield found


def pairs(sample: Sample) -> Iterator[Form]:
    """Yield sums of two rates, the best by their joint correlation."""
    for first, second in best_pairs(sample.columns, sample.values):
        rates = [sample.library[first], sample.library[second]]
        for constant in (False, True):
            found = fitted(sample, rates, constant=constant)
            if found is not None:
                yield found
                break


STAGES = (single, f_betas, costs, pairs, costs_and_rate, powers, quotients)


def plain_formulas(sample: Sample, stages: int = len(STAGES)) -> list[Form]:
    """Return formulas without limits that fit, the plainest first.

    Later kinds are tried only where earlier ones fail.
    """
    steps = (0, 3, 5, len(STAGES))
    for low, high in pairwise(steps):
        found = [form for make in STAGES[low : min(high, stages)] for form in make(sample)]
        if found:
            unique = {form.text(): form for form in found}
            return sorted(unique.values(), key=lambda form: form.size)
    return []
