"""Study: ask, fit, check; what was found of a metric, before it is put in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anymetric.explaining.asking import Asker
from anymetric.explaining.cells import Cells
from anymetric.explaining.composed import Rounded
from anymetric.explaining.design import spanning, telling
from anymetric.explaining.forms import Form
from anymetric.explaining.learned import Learned, learned
from anymetric.explaining.limits import bounds_tried, sharp
from anymetric.explaining.sample import EACH, EXACT, Sample
from anymetric.explaining.search import RIGHT, formulas, share_right

Floats64 = NDArray[np.float64]
# Decisions asked about first, and in every round that follows; at most so many answers of the fit.
FIRST, ROUND, FROM_FIT = 22, 6, 120
# Answers to the same question, where the first two differ.
REPEATS = 8
# Values that vary from call to call by this part of how they differ are noise.
# With less than the other part there is something else to learn.
NOISE, LITTLE = 0.7, 0.2
# Formulas that further questions distinguish.
MOST = 8


@dataclass(frozen=True, eq=False)
class Finding:
    """What the answers say.

    Attributes
    ----------
    form : Form or None
        The formula, or a Gaussian process; None if neither predicts the answers.
    sample : Sample
        All answers.
    base : array of shape (M, G, C, C)
        The counts of the model's own decisions.
    value : float
        The metric's value there.
    reads_rows : bool
        Whether its value changes when other rows of the same class and group are decided so.
    reads_order : bool
        Whether its value changes when the same rows come in another order.
    calls : int
        Calls that were made.
    checked : int
        Answers that the formula predicted before they were asked for.
    failed : int
        Questions without an answer.
    """

    form: Form | None
    sample: Sample
    base: Floats64
    value: float
    reads_rows: bool = False
    reads_order: bool = False
    calls: int = 0
    checked: int = 0
    failed: int = 0

    @property
    def named(self) -> bool:
        """Whether a formula was found."""
        return self.form is not None and not isinstance(self.form, Learned)

    @property
    def understood(self) -> bool:
        """Whether values of unseen decisions can be predicted."""
        return self.named or (isinstance(self.form, Learned) and self.form.known)

    @property
    def pure_noise(self) -> bool:
        """Whether answers vary from call to call, and cannot be predicted otherwise."""
        total = spread_of(self.sample)
        return self.sample.noise > LITTLE * total and not self.understood


@dataclass(eq=False)
class Study:
    """Questions and answers about one metric on fixed rows.

    Parameters
    ----------
    cells : Cells
    asker : Asker
    base : int array of shape (n,)
        The model's own decisions.
    known : (counts, values)
        Answers that were collected in the fit.
    reordered : callable
        From a permutation of the rows to the value of the model's decisions about them.
    rng : numpy Generator
    """

    cells: Cells
    asker: Asker
    base: NDArray[np.intp]
    known: tuple[Floats64, Floats64]
    reordered: Callable[[NDArray[np.intp]], float]
    rng: np.random.Generator
    failed: int = 0
    checked: int = 0

    def run(self) -> Finding:
        """Ask until a formula is found and confirmed, or nothing more may be asked."""
        plain = replace(self.cells, amounts={})
        even = np.full((1, *plain.sizes.shape, len(plain.classes)), 1.0 / len(plain.classes))
        tests = np.column_stack([self.base, plain.drawn(even, self.rng)[:, 0]])
        first = self._asked(tests)
        again = self._asked(tests[:, :1], 1)
        noise = self._noise(first[0], again[0])
        others = np.column_stack([plain.shuffled(one, self.rng) for one in tests.T])
        moved = self._asked(others)
        values = np.abs(np.append(first, moved))
        scale = max(float(values[np.isfinite(values)].max(initial=0.0)), 1e-12)
        apart = np.abs(moved - first) > max(EXACT * scale, EACH * 1.5 * noise)
        reads = bool(np.any(apart))
        cells = self.cells if reads else plain
        decisions = np.column_stack([tests, others])
        sample = self._sample(cells, decisions, np.append(first, moved), noise)
        order = reads and self._order_matters(first[0], scale, noise)
        if not reads:
            sample = joined(sample, self._from_fit(cells))
        form = None
        if not order:
            form, sample = self._searched(sample)
        if form is None and not reads and sample.noise <= NOISE * spread_of(sample):
            form = learned(sample)
        base = cells.counts(self.base[:, np.newaxis])[0]
        counts = self.asker.calls, self.checked, self.failed
        return Finding(form, sample, base, float(first[0]), reads, order, *counts)

    def _counts(self, cells: Cells) -> Floats64:
        return np.asarray(cells.counts(self.base[:, np.newaxis])[0])

    def _asked(self, decisions: NDArray[np.integer], again: int = 0) -> Floats64:
        before = self.asker.left
        found = self.asker.values(decisions, again)
        asked = int(min(before, decisions.shape[1]))
        self.failed += int(np.isnan(found[:asked]).sum())
        return found

    def _noise(self, first: float, second: float) -> float:
        """Return how much one answer varies from call to call."""
        if not abs(first - second) > EXACT * max(abs(first), 1e-12):
            return 0.0
        more = [self._asked(self.base[:, np.newaxis], k)[0] for k in range(2, REPEATS)]
        same = np.array([first, second, *more])
        return float(np.std(same[np.isfinite(same)], ddof=1))

    def _sample(
        self, cells: Cells, decisions: NDArray[np.integer], values: Floats64, noise: float
    ) -> Sample:
        there = np.isfinite(values)
        return Sample(cells, cells.counts(decisions[:, there]), values[there], noise)

    def _from_fit(self, cells: Cells) -> Sample:
        counts, values = self.known
        if len(values) > FROM_FIT:  # evenly over the run
            rows = np.linspace(0, len(values) - 1, FROM_FIT).astype(np.intp)
            counts, values = counts[rows], values[rows]
        return Sample(cells, counts, values)

    def _searched(self, sample: Sample) -> tuple[Form | None, Sample]:
        """Ask, fit and check until one formula is left; return it with all answers."""
        base = self._counts(sample.cells)[0]
        if self.asker.left < 1:
            return self._held_out(sample), sample
        shares = spanning(sample.cells, base, FIRST, self.rng)
        sample = self._more(sample, sample.cells.drawn(shares, self.rng))
        found: list[Form] = []
        while sample.noise <= NOISE * spread_of(sample):
            found = [form for form in found if fits(sample, form)] or formulas(sample)[:MOST]
            if self.asker.left < 1:
                break
            if not found:
                shares = spanning(sample.cells, base, ROUND, self.rng)
                sample = self._more(sample, sample.cells.drawn(shares, self.rng))
                continue
            tried = [*found, *(one for form in found[:2] for one in bounds_tried(sample, form))]
            asked, differ = telling(sample, tried, base, ROUND, self.rng)
            new = len(sample)
            sample = self._more(sample, asked)
            right = self._predicted(sample.take(np.arange(new, len(sample))), found, differ)
            if right and sharp(sample, inner_of(found[0])):
                return (formulas(sample) or found)[0], sample
        if found and self.checked == 0:  # no call was left to see it predict
            return self._held_out(sample), sample
        return (found[0] if found else None), sample

    def _held_out(self, sample: Sample) -> Form | None:
        """Return a formula of some of the answers that is right for the others too."""
        third = np.arange(len(sample)) % 3 == 0
        first, second = sample.take(~third), sample.take(third)
        found = [form for form in formulas(first)[:MOST] if fits(second, form)]
        self.checked = len(second) if found else 0
        return next(iter(formulas(sample)[:1] if found else []), None)

    def _predicted(self, new: Sample, found: list[Form], differ: bool) -> bool:
        """Return whether one formula alone has predicted enough answers, its bound included."""
        right = len(new) > 0 and fits(new, found[0])
        self.checked = self.checked + len(new) if right else 0
        alone = not differ or not any(fits(new, form) for form in found[1:])
        return self.checked >= ROUND and alone

    def _more(self, sample: Sample, decisions: NDArray[np.integer]) -> Sample:
        values = self._asked(decisions)
        return joined(sample, self._sample(sample.cells, decisions, values, sample.noise))

    def _order_matters(self, value: float, scale: float, noise: float) -> bool:
        if self.asker.left < 1:
            return False
        other = self.reordered(self.rng.permutation(len(self.cells)))
        return bool(abs(other - value) > max(EXACT * scale, EACH * 1.5 * noise))


def spread_of(sample: Sample) -> float:
    """Return the standard deviation of all answers; zero of none."""
    return float(np.std(sample.values)) if len(sample) else 0.0


def joined(first: Sample, second: Sample) -> Sample:
    """Return the answers of both."""
    return replace(
        first,
        counts=np.concatenate([first.counts, second.counts]),
        values=np.concatenate([first.values, second.values]),
    )


def allowed(sample: Sample, form: Form) -> float:
    """Return how far one answer may be off: by noise, or by a step where values are rounded."""
    step = form.step if isinstance(form, Rounded) else 0.0
    return 1.5 * sample.each + 1.01 * step


def fits(sample: Sample, form: Form) -> bool:
    """Return whether a formula is right for all answers, or for most where it is rounded."""
    if isinstance(form, Rounded) and share_right(sample, form) < RIGHT:
        return False
    return bool(np.abs(sample.missed(form)).max() <= allowed(sample, form))


def inner_of(form: Form) -> Form:
    """Return a formula without its rounding."""
    return form.of if isinstance(form, Rounded) else form
