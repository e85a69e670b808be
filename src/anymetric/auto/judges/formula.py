"""Formula: a function of the share flagged in each cell, learned from its answers.

Many a function of decisions reads no more than how many rows of each class, in each group, were
flagged. That is a smooth function of a few shares: some dozens of answers tell it, and what
it would say of another threshold or resample need not be asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.special import expit, logit
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from anymetric.auto.judges.shapes import Shapes, leave_one_out
from anymetric.threads import unwarned

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# The kernel is refitted where there are this many times more answers than at the last fit.
GROWN = 1.25
# What is left beside a line, in units of the largest answer, is rounding below this.
ROUNDING = 1e-9
# One of the usual formulas must predict so much better than a line to take its place, and answers
# to within this part of their spread, or so many times as well as they vary.
SIMPLER, EXACT, WITHIN = 0.8, 1e-6, 1.5
# After so many evaluations without an answer none is made in mere hope.
CORNERS = 3


@dataclass(eq=False)
class Formula:
    """A function of the share flagged in each cell, by what it has answered.

    A line in the shares, or one of the usual formulas, or both, whichever predicts answers best
    that were left out; and a Gaussian process in the log-odds of the shares for what these do not
    explain. In log-odds most formulas are smooth, a rare class counts as much as a frequent one,
    and where nothing is known nothing is promised.

    Parameters
    ----------
    sizes : array of shape (K,)
        Rows in each cell.
    shapes : Shapes, optional
        The usual formulas.
    noise : float
        The standard deviation of one answer, where answers vary from call to call.

    Examples
    --------
    >>> import numpy as np
    >>> formula = Formula(np.array([100.0, 50.0]))
    >>> counts = np.array([[a, b] for a in (5, 20, 50, 80) for b in (5, 15, 30, 45)])
    >>> formula.tell(counts, (counts[:, 0] + 50.0 - counts[:, 1]) / 150.0)
    >>> float(formula.costs(np.array([[0.3, 0.7]]))[0].round(2))
    0.3
    """

    sizes: Floats64
    shapes: Shapes | None = None
    noise: float = 0.0
    answers: dict[tuple[int, ...], float] = field(default_factory=dict)  # means of what was said
    times: dict[tuple[int, ...], int] = field(default_factory=dict)  # how often
    skipped: set[tuple[int, ...]] = field(default_factory=set)  # what had no answer
    model: GaussianProcessRegressor | None = None
    basis: tuple[bool, int | None] = (True, None)  # whether a line; which of the shapes
    slopes: Floats64 = field(default_factory=lambda: np.zeros(0))
    spread: float = 1.0  # of what is left for the process
    learned: int = 0  # answers when basis and kernel were last fitted

    def tell(self, counts: NDArray[np.integer], costs: Floats64) -> None:
        """Learn what some numbers of flagged rows ``(m, K)`` cost; NaN where that was skipped."""
        for row, cost in zip(map(tuple, counts.tolist()), costs.tolist(), strict=True):
            if not np.isfinite(cost):
                self.skipped.add(row)
                continue
            times = self.times.get(row, 0) if self.noise > 0.0 else 0
            before = self.answers.get(row, 0.0)
            self.answers[row] = (times * before + cost) / (times + 1)
            self.times[row] = times + 1
        if self.answers:
            self._fit()

    def believing(self, counts: Ints) -> Formula:
        """Return what the formula will be if some counts ``(m, K)`` are answered as predicted.

        Examples
        --------
        >>> formula = Formula(np.array([50.0, 50.0]))
        >>> formula.tell(np.array([[5, 5], [10, 30], [20, 20]]), np.array([0.0, 1.0, 0.5]))
        >>> asked = np.array([[40, 10]])
        >>> bool(formula.predicted(asked)[1] > formula.believing(asked).predicted(asked)[1])
        True
        """
        learned = len(self.answers) + len(counts)  # the kernel stays as it is
        believed = replace(
            self, answers=dict(self.answers), times=dict(self.times), learned=learned
        )
        believed.tell(counts, self.predicted(counts)[0])
        return believed

    def _fit(self) -> None:
        shares, told = np.array(list(self.answers)) / self.sizes, np.array([*self.answers.values()])
        times = np.array([self.times.get(row, 1) for row in self.answers])
        refit = len(self.answers) >= GROWN * self.learned
        if refit:
            self.learned = len(self.answers)
            self.basis = self._chosen(shares, told)
        design = self._design(shares, self.basis)
        weight = np.sqrt(times)
        self.slopes = np.linalg.lstsq(design * weight[:, np.newaxis], told * weight, rcond=None)[0]
        rest = told - design @ self.slopes
        rest[np.abs(rest) < ROUNDING * np.abs(told).max()] = 0.0
        self.spread = float(rest.std()) or ROUNDING
        white = 1.0 if self.noise > 0.0 else 0.1
        kernel = self.model.kernel_ if self.model else first_kernel(len(self.sizes), white)
        varied = (self.noise / self.spread) ** 2 / times
        model = GaussianProcessRegressor(kernel, alpha=1e-10 + varied, optimizer=None)
        if refit:
            model.optimizer = "fmin_l_bfgs_b"
        with unwarned():  # a formula that does not read some cell has no length there
            self.model = model.fit(self._odds(shares), rest / self.spread)

    def _chosen(self, shares: Floats64, told: Floats64) -> tuple[bool, int | None]:
        """Return the basis that predicts answers best which were left out.

        One of the usual formulas only where it leaves no more than noise: a kink in the wrong place
        harms.
        """
        rounding = EXACT * float(np.std(told))
        exact = max(rounding, WITHIN * self.noise)
        best: tuple[bool, int | None] = (True, None)
        least = leave_one_out(with_constant(shares), told)
        if self.shapes is None or least <= rounding:
            return best
        for k in range(len(self.shapes.names)):
            column = self.shapes.value(shares, k)
            for line in (False, True):
                parts = with_constant(shares) if line else np.ones((len(shares), 1))
                error = leave_one_out(np.column_stack([parts, column]), told)
                if error <= exact and error < SIMPLER * least:
                    best, least = (line, k), error
        return best

    def _design(self, shares: Floats64, basis: tuple[bool, int | None]) -> Floats64:
        line, shape = basis
        parts = with_constant(shares) if line else np.ones((len(shares), 1))
        if shape is None or self.shapes is None:
            return parts
        return np.column_stack([parts, self.shapes.value(shares, shape)])

    @property
    def name(self) -> str:
        """What of the usual formulas it is built on; empty if it is none of them."""
        shape = self.basis[1]
        return "" if shape is None or self.shapes is None else self.shapes.names[shape]

    @property
    def hopeful(self) -> bool:
        """Whether there may be asked where little is known: many a function fails in corners."""
        return len(self.skipped) < CORNERS

    @property
    def lowest(self) -> float:
        """The lowest cost that was answered; where answers vary, that is likely."""
        if self.noise == 0.0:
            return min(self.answers.values())
        return float(self.costs(np.array(list(self.answers)) / self.sizes).min())

    def costs(self, shares: Floats64) -> Floats64:
        """Return the likely costs ``(m,)`` of shares flagged ``(m, K)``."""
        assert self.model is not None
        costs = np.asarray(self._design(shares, self.basis) @ self.slopes)
        if self.spread > ROUNDING:
            costs += self.spread * self.model.predict(self._odds(shares))
        return costs

    def predicted(self, counts: Ints) -> tuple[Floats64, Floats64]:
        """Return the costs ``(m,)`` of numbers of flagged rows ``(m, K)``, and their errors.

        Where there is an answer it is right, unless answers vary.
        """
        assert self.model is not None
        shares = counts / self.sizes
        rest, errors = self.model.predict(self._odds(shares), return_std=True)
        missed, expected = self._missed()
        # A formula with kinks is predicted worse than the process believes.
        worse = max(1.0, float(np.sqrt(np.mean((missed / expected) ** 2))))
        costs = self._design(shares, self.basis) @ self.slopes + self.spread * rest
        errors = worse * self.spread * errors
        for place, row in enumerate(map(tuple, counts.tolist())):
            if row in self.skipped:
                errors[place] = 0.0
            if row in self.answers and self.noise == 0.0:
                costs[place], errors[place] = self.answers[row], 0.0
        return costs, errors

    def error(self, counts: Ints | None = None) -> float:
        """Return the leave-one-out error, over all answers or over those about some counts.

        How much answers vary by themselves is taken off.
        """
        missed, rows = self._missed()[0], list(self.answers)
        if counts is not None:
            wanted = {tuple(row) for row in counts.tolist()}
            missed = missed[[k for k, row in enumerate(rows) if row in wanted]]
            rows = [row for row in rows if row in wanted]
        varied = self.noise**2 / np.array([self.times.get(row, 1) for row in rows])
        if self.noise > 0.0:  # the first few answers may have told too little
            varied = varied + self.spread**2 * white_of(self.model)
        square = float(np.mean(missed**2 - varied))
        return float(np.sqrt(max(square, 0.0)))

    def _missed(self) -> tuple[Floats64, Floats64]:
        """Return by how much each answer misses what all others predict, and the error of that."""
        assert self.model is not None
        ones = np.eye(len(self.answers))
        precision = np.diag(cho_solve((self.model.L_, True), ones))
        missed = self.spread * self.model.alpha_.ravel() / precision
        return missed, self.spread / np.sqrt(precision)

    def around(self, counts: Ints, many: Floats64, width: float) -> Ints:
        """Return numbers of flagged rows about others: points of a unit cube, as log-odds.

        No cell is flagged in full, or not at all.
        """
        odds = self._odds(counts / self.sizes) + width * (2.0 * many - 1.0)
        return np.clip(np.rint(expit(odds) * self.sizes), 1.0, self.sizes - 1.0).astype(np.intp)

    def _odds(self, shares: Floats64) -> Floats64:
        return np.asarray(logit((shares * self.sizes + 0.5) / (self.sizes + 1.0)))


def first_kernel(cells: int, white: float = 1e-1) -> object:
    """Return the kernel of a formula before anything is known of it; `white` is the most noise."""
    lengths = Matern(np.full(cells, 2.0), (0.3, 100.0), nu=2.5)
    return ConstantKernel(1.0, (1e-2, 1e4)) * lengths + WhiteKernel(1e-6, (1e-10, white))


def white_of(model: GaussianProcessRegressor | None) -> float:
    """Return the variance that a fitted process takes for noise."""
    assert model is not None
    return float(model.kernel_.k2.noise_level)


def with_constant(shares: Floats64) -> Floats64:
    """Return shares ``(m, K)`` with a column of ones before them."""
    return np.insert(shares, 0, 1.0, axis=1)
