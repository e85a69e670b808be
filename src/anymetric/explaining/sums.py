"""Sums: forms times numbers, fitted to answers, their numbers rounded as far as they may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.cells import Cells
from anymetric.explaining.forms import Form, Mistakes, Sum
from anymetric.explaining.sample import EXACT, Sample, mistakes, simplest

Floats64 = NDArray[np.float64]
# Answers beyond the numbers of a formula, so that it can fail.
SPARE = 4
# Prices below this are told per row.
TINY = 0.02


def fitted(sample: Sample, forms: Sequence[Form], *, constant: bool = True) -> Form | None:
    """Return the sum of these forms that fits the answers, its numbers rounded as far as they may.

    None if it does not fit, or if there are too few answers to tell.
    """
    columns = [one.values(sample.counts) for one in forms]
    design = np.column_stack([np.ones(len(sample)), *columns] if constant else columns)
    if len(sample) < design.shape[1] + SPARE:
        return None
    size = np.maximum(np.abs(design).max(axis=0), 1e-300)
    factors, _, rank, _ = np.linalg.lstsq(design / size, sample.values, rcond=1e-10)
    if rank < design.shape[1]:
        return None
    factors = factors / size
    form = summed(factors, forms, constant)
    if not sample.fits(form):
        return None
    return rounded_sum(sample, factors, design, forms, constant) or by_row(form, len(sample.cells))


def rounded_sum(
    sample: Sample, factors: Floats64, design: Floats64, forms: Sequence[Form], constant: bool
) -> Form | None:
    """Return the sum with rounder numbers, if it fits as well; shares of rows where these are."""
    rest = sample.values - design @ factors
    freedom = max(len(sample) - design.shape[1], 1)
    noise = max(float(np.sqrt(rest @ rest / freedom)), 1e-9 * sample.scale)
    errors = noise * np.sqrt(np.maximum(np.diag(np.linalg.pinv(design.T @ design)), 0.0))
    most = float(rest @ rest) + (2.0 * noise + EXACT * sample.scale) ** 2
    found = []
    for per in (1.0, float(len(sample.cells))):
        moved = [one.per(per) if isinstance(one, Mistakes) else one for one in forms]
        of_forms = [per if isinstance(one, Mistakes) else 1.0 for one in forms]
        scale = np.array([1.0] * constant + of_forms)
        for width in (2.0, 1.0, 0.3):
            wide = np.maximum(width * errors, 1e-7 * np.abs(factors)) * scale
            round_ = [simplest(a - w, a + w) for a, w in zip(factors * scale, wide, strict=True)]
            form = summed(np.array(round_), moved, constant)
            if len(sample) * sample.error(form) ** 2 <= most:
                tiny = per == 1.0 and max(map(abs, round_[constant:])) < TINY
                found.append((tiny, sum(map(digits, round_)), per, form))
                break
    return min(found, key=lambda one: one[:3])[-1] if found else None


def by_row(form: Sum, rows: int) -> Sum:
    """Return a sum whose prices of single mistakes are tiny with prices per row."""
    counted = [f for f, one in form.terms if isinstance(one, Mistakes) and one.rows == 1.0]
    if not counted or max(map(abs, counted)) >= TINY:
        return form
    n = float(rows)
    terms = (
        (f * n, one.per(n)) if isinstance(one, Mistakes) else (f, one) for f, one in form.terms
    )
    return Sum(form.constant, tuple(terms))


def digits(number: float) -> int:
    """Return how many digits a number has, without the zeros at its ends.

    Examples
    --------
    >>> digits(0.25), digits(1200.0), digits(0.0)
    (2, 2, 0)
    """
    return len(f"{abs(number):.6e}".split("e")[0].replace(".", "").strip("0"))


def summed(factors: Floats64, forms: Sequence[Form], constant: bool) -> Sum:
    """Return a sum; forms that count for nothing are left out."""
    own = factors[1:] if constant else factors
    terms = tuple((float(f), one) for f, one in zip(own, forms, strict=True) if f != 0.0)
    return Sum(float(factors[0]) if constant else 0.0, terms)


def merged(form: Form, groups: int) -> Form:
    """Return a sum with one term for all groups where a kind of decision has one price in all."""
    if not isinstance(form, Sum):
        return form
    kinds: dict[tuple[float, Mistakes], list[Mistakes]] = {}
    for factor, one in form.terms:
        if isinstance(one, Mistakes) and one.group >= 0:
            whole = replace(one, group=-1, label=one.label.rsplit(" in ", 1)[0])
            kinds.setdefault((factor, whole), []).append(one)
    same = {whole: own for (_, whole), own in kinds.items() if len(own) == groups}
    gone = {one for own in same.values() for one in own}
    terms = [(factor, whole) for factor, whole in kinds if whole in same]
    return Sum(form.constant, (*terms, *(one for one in form.terms if one[1] not in gone)))


def bases(cells: Cells, by_group: bool, amounts: bool) -> list[list[Mistakes]]:
    """Return what a sum of prices may be written in: mistakes, or with two classes also hits."""
    kinds = mistakes(cells, by_group, amounts)
    if len(cells.classes) > 2:
        return [kinds]
    return [
        [hit(cells, one) if one.true in turned else one for one in kinds]
        for turned in ((), (1,), (0,), (0, 1))
    ]


def hit(cells: Cells, kind: Mistakes) -> Mistakes:
    """Return the right decisions about the rows of a class, in the place of its mistakes."""
    name = f"found {cells.classes[1]}" if kind.true else "true negatives"
    name = name if kind.group < 0 else f"{name} in {cells.groups[kind.group]}"
    name = name if kind.measure == 0 else f"{list(cells.amounts)[kind.measure - 1]} of {name}"
    return replace(kind, predicted=kind.true, label=name)


def near(number: float, part: float = 1e-5) -> float:
    """Return a rounder number within this part of a number.

    Examples
    --------
    >>> near(4.9999999)
    5.0
    """
    return simplest(*around(number, part * abs(number)))


def around(number: float, width: float) -> tuple[float, float]:
    """Return the interval of so much about a number."""
    return number - width, number + width
