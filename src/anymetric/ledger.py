"""Ledger: every look at the metric is counted here, and none goes over the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.data import Floats, Matrix
from anymetric.metrics import BoundMetric, MetricError, Sweep
from anymetric.metrics.calls import BoundCalls
from anymetric.metrics.parallel import answers
from anymetric.problem import Problem, blocks

PLACE = "It was call {} of the run."


class BudgetSpent(Exception):  # noqa: N818 - the end of a run, not a mistake
    """The next look would go over `max_calls`; nothing was evaluated.

    Examples
    --------
    >>> raise BudgetSpent("10 calls are spent")
    Traceback (most recent call last):
    anymetric.ledger.BudgetSpent: 10 calls are spent
    """


@dataclass(frozen=True, eq=False)
class Probe:
    """One look: where, its profile, its cost.

    Examples
    --------
    >>> import numpy as np
    >>> Probe(np.zeros(2), np.ones(1), 0.5).cost
    0.5
    """

    theta: NDArray[np.float64]
    profile: NDArray[np.float64]
    cost: float


@dataclass(frozen=True, eq=False)
class Probes:
    """m looks: profiles ``(m, K)`` beside their costs ``(m,)``.

    Examples
    --------
    >>> import numpy as np
    >>> Probes(np.zeros((2, 3)), np.ones(2)).costs.tolist()
    [1.0, 1.0]
    """

    profiles: NDArray[np.float64]
    costs: NDArray[np.float64]


class Ledger:
    """A problem with a counter of metric calls and, if asked, a limit on them.

    Parameters
    ----------
    problem : Problem
    max_calls : int, optional
    n_jobs : int, optional
        Processes that share the calls of a metric of the user's, where it is slow.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> data = Data(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]))
    >>> ledger = Ledger(Problem(data, "hinge", as_metric("error")))
    >>> ledger.probe(np.zeros((3, 2))).costs.tolist(), ledger.calls
    ([0.5, 0.5, 0.5], 3)
    """

    def __init__(
        self, problem: Problem, max_calls: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.problem = problem
        self.max_calls = max_calls
        self.n_jobs = n_jobs
        self.calls = 0

    @property
    def left(self) -> float:
        """Calls that may still be made."""
        return np.inf if self.max_calls is None else self.max_calls - self.calls

    def look(self, theta: NDArray[Any]) -> Probe:
        """Look at one parameter vector."""
        cost = float(self.ask(self.problem.judge, self.problem.judged(theta)))
        return Probe(np.asarray(theta, dtype=np.float64), self.problem.profile(theta), cost)

    def probe(self, thetas: NDArray[Any], batch: Batch | None = None) -> Probes:
        """Look at ``(m, p)`` parameter vectors; with a batch, only its rows follow them."""
        problem = self.problem
        if batch is None and not problem.shared:
            parts = blocks(thetas, len(problem.valid))
            costs = [self.ask(problem.judge, problem.judged(part)) for part in parts]
            return Probes(problem.profile(thetas), np.concatenate(costs))
        profiles, costs = [], []
        for part in blocks(thetas, max(len(problem.train), len(problem.valid))):
            trained, judged = batch_scores(problem, part, batch)
            costs.append(self.ask(problem.judge, judged))
            profiles.append(problem.profiler.values(trained))
        return Probes(np.concatenate(profiles), np.concatenate(costs))

    def along(self, basis: NDArray[Any], mix: NDArray[np.float64]) -> Probes:
        """Look at mixtures ``(b, m)`` of the scores of ``(b, p)`` parameter vectors."""
        problem = self.problem
        scores = problem.judged(basis)
        mix = mix.astype(scores.dtype, copy=False)
        parts = [part.T for part in blocks(mix.T, len(problem.valid))]
        costs = [self.ask(problem.judge, scores @ part) for part in parts]
        return Probes(problem.engine.along(basis, mix), np.concatenate(costs))

    def ask(self, judge: BoundMetric, scores: Floats) -> NDArray[np.float64]:
        """Return the costs of scores ``(n,)`` or ``(n, m)``, counted.

        A failure of the metric says which call it was, counted from one.
        """
        looks = 1 if scores.ndim == 1 else scores.shape[1]
        self._afford(looks)
        try:
            costs = self._costs(judge, scores)
        except MetricError as error:
            self._note(error)
            raise
        self.calls += looks
        return costs

    def ask_each(self, asked: Sequence[tuple[BoundMetric, Floats]]) -> NDArray[np.float64]:
        """Return the costs of scores ``(n,)``, each by a judge of its own, counted."""
        called = [(judge, s) for judge, s in asked if isinstance(judge, BoundCalls)]
        if len(called) < len(asked) or not called:
            return np.array([float(self.ask(judge, scores)) for judge, scores in asked])
        self._afford(len(asked))
        try:
            values = answers(called, self.n_jobs)
        except MetricError as error:
            self._note(error)
            raise
        self.calls += len(asked)
        return np.array([j.metric.cost(v) for (j, _), v in zip(called, values, strict=True)])

    def _costs(self, judge: BoundMetric, scores: Floats) -> NDArray[np.float64]:
        if self.n_jobs in (None, 1) or scores.ndim == 1 or not isinstance(judge, BoundCalls):
            return judge.costs(scores)
        columns = [(judge, column) for column in scores.T]
        return np.asarray(judge.metric.cost(answers(columns, self.n_jobs)))

    def count(self, looks: int) -> None:
        """Count looks that a caller makes by other means than `ask`."""
        self._afford(looks)
        self.calls += looks

    def _afford(self, looks: int) -> None:
        if looks > self.left:
            raise BudgetSpent(f"{looks} calls asked, {self.left:g} of {self.max_calls} left.")

    def sweep(self, scores: Floats, limit: int | None = None) -> Sweep:
        """Return the judge's cost at every threshold of scores ``(n,)``, counted.

        A ready-made metric sees them all in one pass, which counts as one call. The user's own
        is called for each of them, and at most `limit` times.
        """
        judge = self.problem.judge
        called = isinstance(judge, BoundCalls)
        if self.left < 1 or (limit is not None and limit < 1):
            raise BudgetSpent(f"A sweep was asked, {self.left:g} of {self.max_calls} calls left.")
        most = min(self.left, np.inf if limit is None else limit) if called else np.inf
        try:
            sweep = judge.sweep(scores, int(most) if np.isfinite(most) else None)
        except MetricError as error:
            self._note(error)
            raise
        self.calls += len(sweep.shifts) if called else 1
        return sweep

    def _note(self, error: MetricError) -> None:
        tell_call(error, self.calls + error.probe + 1)
        self.calls += error.made


def tell_call(error: MetricError, call: int) -> None:
    """Say in a failure which call of the run it was, in the place of what a part had counted.

    Examples
    --------
    >>> error = MetricError("Metric 'profit' is nan.")
    >>> tell_call(error, 3)
    >>> tell_call(error, 10)
    >>> str(error), error.call
    ("Metric 'profit' is nan. It was call 10 of the run.", 10)
    """
    text, said, now = str(error), PLACE.format(error.call), PLACE.format(call)
    error.args = (text.replace(said, now) if said in text else f"{text} {now}",)
    error.call = call


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows whose scores follow the probes, while all others keep the scores of `theta`.

    Examples
    --------
    >>> import numpy as np
    >>> Batch(np.zeros(2), np.array([0]), np.array([0])).train.tolist()
    [0]
    """

    theta: NDArray[np.float64]
    train: NDArray[np.intp]
    valid: NDArray[np.intp]

    @classmethod
    def draw(
        cls, problem: Problem, theta: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> Batch:
        """Draw `size` rows of each sample without replacement; one draw if they are the same."""
        train = draw_rows(len(problem.train), size, rng)
        same = problem.valid is problem.train
        return cls(theta, train, train if same else draw_rows(len(problem.valid), size, rng))


def draw_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return `size` of n rows, or all of them, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> draw_rows(3, 10, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    return np.sort(rng.choice(n, size=min(size, n), replace=False)).astype(np.intp)


def batch_scores(
    problem: Problem, thetas: NDArray[Any], batch: Batch | None
) -> tuple[Floats, Floats]:
    """Return ``(n, m)`` scores on train and on valid, perturbed everywhere or in a batch."""
    if batch is None:
        trained = problem.scores(thetas)
        return trained, trained if problem.shared else problem.judged(thetas)

    def replaced(X: Matrix, rows: NDArray[np.intp]) -> Floats:
        base = problem.model.scores(X, batch.theta)
        scores = np.repeat(base[:, np.newaxis], len(thetas), axis=1)
        scores[rows] = problem.model.scores(X[rows], thetas)
        return scores

    of_train, of_valid = problem.tables
    return replaced(of_train, batch.train), replaced(of_valid, batch.valid)
