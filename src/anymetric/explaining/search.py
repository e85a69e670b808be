"""Search: all formulas that fit the answers within noise or rounding, the plainest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from anymetric.explaining.composed import Rounded
from anymetric.explaining.fits import plain_formulas
from anymetric.explaining.forms import Form, Sum
from anymetric.explaining.limits import limited_formulas
from anymetric.explaining.sample import Sample, simplest
from anymetric.explaining.sums import by_row, summed

Floats64 = NDArray[np.float64]
# Steps that people round to; the smallest part of the answers' spread that counts.
DIGITS, SMALLEST = (1.0, 0.5, 0.25, 0.2), 2e-3
# The standard deviation of what rounding takes off, in steps.
ROUNDING = 12.0**-0.5
# Rounded values must be right for such a share of the answers.
RIGHT = 0.9
# Fewer answers than this name no formula.
FEWEST = 8


def formulas(sample: Sample) -> list[Form]:
    """Return formulas that fit all answers, the plainest first; none if none does.

    Examples
    --------
    >>> from anymetric.explaining.cells import Cells
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], [60, 40])
    >>> cells = Cells(truth, ("no", "yes"), np.zeros(100, int), ("all rows",))
    >>> counts = cells.counts(rng.random((100, 20)) < rng.random(20))
    >>> tp, fp = counts[:, 0, 0, 1, 1], counts[:, 0, 0, 0, 1]
    >>> formulas(Sample(cells, counts, 5.0 * tp / (5.0 * tp + fp + 4.0 * (40 - tp))))[0].text()
    'F-beta with beta 2'
    """
    if len(sample) < FEWEST:
        return []
    found = plain_formulas(sample) or limited_formulas(sample)
    if not found and sample.noise == 0.0:
        found = rounded(sample, plain_formulas) or rounded(sample, limited_formulas)
    if sample.noise > 0.0:
        found = sorted(found, key=lambda form: criterion(sample, form))
    return found


def criterion(sample: Sample, form: Form) -> float:
    """Return the Bayesian information criterion of a formula."""
    rest = max(sample.error(form), 1e-300)
    return float(2.0 * len(sample) * np.log(rest) + form.size * np.log(len(sample)))


def rounded(sample: Sample, search: Callable[[Sample], list[Form]]) -> list[Form]:
    """Return formulas whose rounded values are the answers."""
    step = common_step(sample)
    if step is None:
        return []
    best: list[Rounded] = []
    for down in (False, True):
        values = sample.values + (0.5 * step if down else 0.0)
        found = search(replace(sample, values=values, noise=ROUNDING * step))
        moved = replace(sample, values=values)
        whole = [Rounded(sharpened(moved, form, step), step, down) for form in found]
        best += [form for form in whole if share_right(sample, form) >= RIGHT]
    return [*sorted(best, key=lambda form: (-round(share_right(sample, form), 2), form.size))]


def share_right(sample: Sample, form: Rounded) -> float:
    """Return the share of the answers that are the rounded values of a formula."""
    return float(np.mean(np.abs(sample.missed(form)) <= 0.01 * form.step))


def sharpened(sample: Sample, form: Form, step: float) -> Form:
    """Return a sum with the roundest numbers that keep all values within half a step."""
    if not isinstance(form, Sum):
        return form
    parts = [one for _, one in by_row(form, len(sample.cells)).terms]
    constant = form.constant != 0.0
    columns = [one.values(sample.counts) for one in parts]
    design = np.column_stack([np.ones(len(sample)), *columns] if constant else columns)
    size = np.abs(design).max(axis=0)
    rows = np.vstack([design, -design]) / size
    most = np.concatenate([sample.values, -sample.values]) + 0.5 * step * (1.0 + 1e-9)
    fixed: list[tuple[float | None, float | None]] = [(None, None)] * len(size)
    for k in range(len(size)):
        ends = [end_of(k, sign, rows, most, fixed) for sign in (1.0, -1.0)]
        if None in ends:
            return form
        number = simplest(*sorted(float(end) / size[k] for end in ends if end is not None))
        fixed[k] = (number * size[k], number * size[k])
    return summed(np.array([float(one[0] or 0.0) for one in fixed]) / size, parts, constant)


def end_of(
    k: int,
    sign: float,
    rows: Floats64,
    most: Floats64,
    fixed: list[tuple[float | None, float | None]],
) -> float | None:
    """Return the lowest or highest number that keeps all values; None if none does."""
    goal = np.zeros(rows.shape[1])
    goal[k] = sign
    found = linprog(goal, A_ub=rows, b_ub=most, bounds=fixed, method="highs")
    return None if found.status != 0 or found.x is None else float(found.x[k])


def common_step(sample: Sample) -> float | None:
    """Return the largest step of which all answers are multiples; None if it is tiny."""
    values, spread = sample.values, sample.spread
    if spread == 0.0:
        return None
    for power in range(int(np.floor(np.log10(spread))), -8, -1):
        for digit in DIGITS:
            step = digit * 10.0**power
            if SMALLEST * spread <= step <= spread and multiples(values, step):
                return float(f"{step:.12g}")
    return None


def multiples(values: Floats64, step: float) -> bool:
    """Return whether all values are multiples of a step.

    Examples
    --------
    >>> multiples(np.array([0.25, 0.5]), 0.25), multiples(np.array([0.3]), 0.25)
    (True, False)
    """
    steps = values / step
    return bool(np.all(np.abs(steps - np.rint(steps)) <= 1e-6 * np.maximum(np.abs(steps), 1.0)))
