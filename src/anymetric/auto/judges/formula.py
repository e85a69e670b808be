"""Formula: a function of the share flagged in each cell, learned from its answers.

Many a function of decisions reads no more than how many rows of each class, in each group, were
flagged. That is a smooth function of a few shares: some dozens of answers tell it, and what
it would say of another threshold or resample need not be asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from anymetric.data import Columns
from anymetric.metrics import DecisionMetric, Rows
from anymetric.metrics.cells import Cells
from anymetric.metrics.counts import ratio

Floats64 = NDArray[np.float64]
Ints = NDArray[np.intp]
# The kernel is fitted anew where there are so many times more answers than when it last was.
GROWN = 1.25
# Of a sweep with resamples, only so many of the thresholds that are best for all rows count.
PROMISING = 24
# What is left beside a line, in units of the largest answer, is rounding below this.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows in cells: each class of each group, by columns with few values.

    Attributes
    ----------
    columns : tuple of str
    values : list of arrays
        The distinct values of each column, sorted.
    codes : array of int
        The cells that there are, as numbers in the product of classes and values, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> side = {"groups": np.array(["n", "s", "s", "n"])}
    >>> partition = Partition.by(np.array([-1.0, -1.0, 1.0, -1.0]), side, ["groups"])
    >>> partition.of(np.array([1.0, -1.0, 1.0]), {"groups": np.array(["s", "n", "n"])}).tolist()
    [2, 0, 3]
    """

    columns: tuple[str, ...]
    values: list[NDArray[np.generic]]
    codes: Ints

    @classmethod
    def by(cls, y: Floats64, side: Columns, columns: Sequence[str]) -> Partition:
        """Divide rows by their class and by some columns."""
        values = [np.unique(sortable(side[name])) for name in columns]
        whole = cls(tuple(columns), values, np.zeros(0, dtype=np.intp))
        return replace(whole, codes=np.unique(whole._coded(y, side)[0]))

    def __len__(self) -> int:
        return len(self.codes)

    def of(self, y: Floats64, side: Columns) -> Ints:
        """Return each row's cell; rows whose cell is not known have the number after the last."""
        code, known = self._coded(y, side)
        place = np.searchsorted(self.codes, code)
        near = np.minimum(place, len(self) - 1)
        return np.where(known & (self.codes[near] == code), place, len(self))

    def _coded(self, y: Floats64, side: Columns) -> tuple[Ints, NDArray[np.bool_]]:
        code, known = (y > 0.0).astype(np.intp), np.ones(len(y), dtype=bool)
        for name, values in zip(self.columns, self.values, strict=True):
            column = sortable(side[name])
            place = np.minimum(np.searchsorted(values, column), len(values) - 1)
            known &= values[place] == column
            code = code * len(values) + place
        return code, known


@dataclass(eq=False)
class Formula:
    """A function of the share flagged in each cell, by what it has answered.

    A line in the shares, for many a cost is no more than that, and a Gaussian process in their
    log-odds: there the usual formulas are smooth, a rare class counts as much as a frequent one,
    and where nothing is known nothing is promised.

    Parameters
    ----------
    sizes : array of shape (K,)
        Rows in each cell.

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
    answers: dict[tuple[int, ...], float] = field(default_factory=dict)
    model: GaussianProcessRegressor | None = None
    slopes: Floats64 = field(default_factory=lambda: np.zeros(0))
    spread: float = 1.0  # of what is not linear
    learned: int = 0  # answers when the kernel was last fitted
    failed: bool = False  # whether the function has failed: nothing is asked in mere hope then

    def tell(self, counts: NDArray[np.integer], costs: Floats64) -> None:
        """Learn what some numbers of flagged rows ``(m, K)`` cost."""
        for row, cost in zip(counts.tolist(), costs.tolist(), strict=True):
            self.answers[tuple(row)] = cost
        counts = np.array(list(self.answers), dtype=np.float64)
        told = np.array(list(self.answers.values()))
        shares, odds = counts / self.sizes, self._odds(counts / self.sizes)
        self.slopes = np.linalg.lstsq(with_constant(shares), told, rcond=None)[0]
        rest = told - with_constant(shares) @ self.slopes
        rest[np.abs(rest) < ROUNDING * np.abs(told).max()] = 0.0
        self.spread = float(rest.std()) or ROUNDING
        kernel = first_kernel(len(self.sizes)) if self.model is None else self.model.kernel_
        model = GaussianProcessRegressor(kernel, optimizer=None)
        if len(self.answers) >= GROWN * self.learned:
            model.optimizer = "fmin_l_bfgs_b"
            self.learned = len(self.answers)
        with warnings.catch_warnings():
            # A formula that does not read some cell has no length there.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model = model.fit(odds, rest / self.spread)

    def costs(self, shares: Floats64) -> Floats64:
        """Return the likely costs ``(m,)`` of shares flagged ``(m, K)``."""
        assert self.model is not None
        rest = self.spread * self.model.predict(self._odds(shares))
        return np.asarray(with_constant(shares) @ self.slopes + rest)

    def predicted(self, counts: Ints) -> tuple[Floats64, Floats64]:
        """Return the costs ``(m,)`` of numbers of flagged rows ``(m, K)``, and their errors.

        Where there is an answer it is right.
        """
        assert self.model is not None
        shares = counts / self.sizes
        rest, errors = self.model.predict(self._odds(shares), return_std=True)
        missed, expected = self._missed()
        # A formula with kinks is predicted worse than the process believes.
        worse = max(1.0, float(np.sqrt(np.mean((missed / expected) ** 2))))
        costs = with_constant(shares) @ self.slopes + self.spread * rest
        errors = worse * self.spread * errors
        for place, row in enumerate(map(tuple, counts.tolist())):
            if row in self.answers:
                costs[place], errors[place] = self.answers[row], 0.0
        return costs, errors

    def error(self, counts: Ints | None = None) -> float:
        """Return the leave-one-out error, over all answers or over those about some counts."""
        missed = self._missed()[0]
        if counts is not None:
            place = {row: k for k, row in enumerate(self.answers)}
            missed = missed[[place[tuple(row)] for row in np.unique(counts, axis=0).tolist()]]
        return float(np.sqrt(np.mean(missed**2)))

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


@dataclass(frozen=True, eq=False)
class LearnedMetric(DecisionMetric):
    """A metric of decisions by a formula that is being learned: a cost, lower is better.

    The classes and groups are as large as where it was learned, whatever rows it is bound to.

    Attributes
    ----------
    name : str
    partition : Partition
    formula : Formula
    ends : bool
        Whether flagging nobody, or everybody, has an answer.
    """

    name: str
    partition: Partition
    formula: Formula
    ends: bool = True

    greater_is_better = False
    additive = True

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns by which rows are partition."""
        return self.partition.columns

    def cells(self, rows: Rows) -> tuple[Cells, Floats64]:
        """Return the cells, and one more for rows whose cell is not known."""
        cells = Cells(self.partition.of(rows.y, rows.side), rows.weights, len(self.partition) + 1)
        return cells, cells.totals

    def from_sums(self, sums: Floats64, kept: Floats64) -> Floats64:
        """Return likely costs of the weights flagged in each cell.

        Of a sweep with resamples ``(t, 1 + B, cells)``, thresholds that promise nothing on the
        rows themselves, which come first, cost infinitely much.
        """
        shares = ratio(sums[..., :-1], np.broadcast_to(kept[..., :-1], sums[..., :-1].shape))
        if shares.ndim < 3 or len(shares) <= PROMISING:
            return self._costs(shares)
        costs = np.full(shares.shape[:-1], np.inf)
        costs[:, 0] = self._costs(shares[:, 0])
        first = np.argsort(costs[:, 0], kind="stable")[:PROMISING]
        costs[first] = self._costs(shares[first])
        return costs

    def _costs(self, shares: Floats64) -> Floats64:
        flat = np.clip(shares, 0.0, 1.0).reshape(-1, shares.shape[-1])
        costs = self.formula.costs(flat)
        if not self.ends:
            costs[np.all(flat == 0.0, axis=1) | np.all(flat == 1.0, axis=1)] = np.inf
        return costs.reshape(shares.shape[:-1])


def first_kernel(cells: int) -> object:
    """Return the kernel of a formula before anything is known of it."""
    lengths = Matern(np.full(cells, 2.0), (0.3, 100.0), nu=2.5)
    return ConstantKernel(1.0, (1e-2, 1e4)) * lengths + WhiteKernel(1e-6, (1e-10, 1e-1))


def with_constant(shares: Floats64) -> Floats64:
    """Return shares ``(m, K)`` with a column of ones before them."""
    return np.insert(shares, 0, 1.0, axis=1)


def sortable(column: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return a column whose values can be sorted."""
    return column.astype(str) if column.dtype == object else column
