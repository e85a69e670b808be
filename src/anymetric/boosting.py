"""Boosting: Algorithm 1 for trees; without parameters, it works on the scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.weights import plain_weights
from anymetric.diagnosis import around_scores
from anymetric.gradients import Estimate, Subspace
from anymetric.ledger import BudgetSpent, Ledger, Probe, add_call_number
from anymetric.metrics import MetricError
from anymetric.models import Ensemble, Scorer
from anymetric.models.boosted import Boosted
from anymetric.models.trees import Rounds
from anymetric.problem import Problem
from anymetric.projections import Projection
from anymetric.solution import Iteration, Solution, Status, keeping
from anymetric.summary import Summary

Floats64 = NDArray[np.float64]
Watcher = Callable[[Iteration], bool | None]


@dataclass(frozen=True)
class BoostedDescent:
    """Algorithm 1 with boosted trees.

    The gradient is estimated by moving the scores of the validation rows along the surrogates'
    gradients (Algorithm 2). The projection is boosting: each round adds a tree fitted to the
    gradient of ``sum_k ((l_k - target_k)_+)^2`` by the scores of the training rows, until the
    target is reached or the rounds are used up.

    Parameters
    ----------
    learner : Boosted
        Its plain model is the start; its settings are those of the rounds.
    iterations : int
    step : float
        How far the target moves in the first iteration.
    rounds : int
        Trees in an iteration, at most.
    decay : float
        The t-th step is ``step / t**decay``.
    gradient : Subspace
    patience : int
        Iterations without a lower cost before the end.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2))
    >>> data = Data(X, np.where(X[:, 0] * X[:, 1] > 0.8, 1.0, -1.0))
    >>> parts = data.take(np.arange(400)), data.take(np.arange(400, 600))
    >>> problem = Problem(parts[0], per_class("logistic"), as_metric("gmean"), parts[1])
    >>> solution = BoostedDescent(Boosted(trees=50), iterations=5).run(Ledger(problem), [], rng)
    >>> solution.cost <= solution.iterations[0].cost < 0.2
    True
    """

    takes_starts: ClassVar[bool] = False
    cross_fits: ClassVar[bool] = False

    learner: Boosted
    iterations: int = 40
    step: float = 0.1
    rounds: int = 5
    decay: float = 0.3
    gradient: Subspace = field(default_factory=lambda: Subspace(m=16))
    patience: int = 12

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Descend from the plain model; `starts` are not needed and not read."""
        problem, iterations = ledger.problem, list[Iteration]()
        check_slices(problem)
        classes = 0 if problem.labels is None else 2
        start = self.learner.learn(problem.train, problem.train.weights, rng, classes=classes)
        status, run = Status.COMPLETED, None
        with keeping(lambda cut: run.solution(iterations, cut) if run and iterations else None):
            try:
                run = BoostedRun.begun(self.learner, ledger, start, rng)
                iterations.append(run.first)
                status = self._follow(run, iterations, rng, watch)
            except BudgetSpent:
                status = Status.BUDGET
        if run is None:
            raise ValueError(f"max_metric_calls must allow one evaluation; got {ledger.max_calls}.")
        return run.solution(iterations, status)

    def _follow(
        self,
        run: BoostedRun,
        iterations: list[Iteration],
        rng: np.random.Generator,
        watch: Watcher | None,
    ) -> Status:
        """Iterate until all are done, nothing improves, or the caller stops."""
        for number in range(1, self.iterations + 1):
            iterations.append(self._advance(run, iterations[-1], number, rng))
            if watch is not None and watch(iterations[-1]):
                return Status.STOPPED
            estimate = iterations[-1].estimate
            if estimate is not None and estimate.flat:
                # A few probes of equal cost are no evidence of a flat metric.
                cut = estimate.calls < 2 * self.gradient.m
                return Status.BUDGET if cut else Status.FLAT
            if (
                number - int(np.argmin([iteration.cost for iteration in iterations]))
                >= self.patience
            ):
                return Status.CONVERGED
        return Status.COMPLETED

    def _advance(
        self, run: BoostedRun, last: Iteration, number: int, rng: np.random.Generator
    ) -> Iteration:
        """Estimate, step, project, evaluate."""
        began = time.perf_counter()
        estimate = run.estimate(self.gradient, last.cost, rng)
        length = float(np.linalg.norm(estimate.gradient)) or 1.0
        target = last.here.profile - self.step / number**self.decay * estimate.gradient / length
        projection = run.project(target, self.rounds)
        here = Probe(np.zeros(0), projection.profile, run.evaluate())
        seconds = time.perf_counter() - began
        return Iteration(
            number, 0, here, here.profile, target, estimate, projection, run.ledger.calls, seconds
        )


def check_slices(problem: Problem) -> None:
    """Refuse surrogates whose slices the validation rows lack.

    Trees have no parameters to perturb: a probe moves the scores of validation rows by slice.
    """
    needed = {column for one in problem.profiler.surrogates for column in one.needs}
    missing = sorted(needed - set(problem.valid.side))
    if missing:
        raise ValueError(
            f"The surrogates are by {', '.join(missing)}, which the validation rows do not have: a "
            "descent with boosted trees moves the scores of those rows, slice by slice. Leave "
            f"{missing[0]} out, or use method='auto', which learns a weight for each source."
        )


@dataclass(eq=False)
class BoostedRun:
    """The state of a run: scores of both samples, and the trees so far."""

    ledger: Ledger
    start: Scorer
    offset: float
    boosting: Rounds
    begun_at: tuple[Floats64, Floats64]
    first: Iteration
    trees: list[int] = field(default_factory=lambda: [0])

    def __post_init__(self) -> None:
        self.train, self.valid = self.begun_at

    @classmethod
    def begun(
        cls, learner: Boosted, ledger: Ledger, start: Scorer, rng: np.random.Generator
    ) -> BoostedRun:
        """Begin at a model, at its best threshold if there is one to tune."""
        problem = ledger.problem
        train, valid = start.scores(problem.train.X), start.scores(problem.valid.X)
        shift, cost = 0.0, None
        if problem.decides:
            swept = ledger.sweep(valid, 50)
            shift, cost = float(swept.shifts[swept.best]), float(swept.costs[swept.best])
        else:
            cost = ledger.cost(valid)
        profile = np.asarray(problem.profiler.values(train + shift))
        here = Probe(np.zeros(0), profile, cost)
        first = Iteration(0, 0, here, profile, calls=ledger.calls)
        boosting = learner.rounds(problem.train, rng, [problem.valid])
        return cls(ledger, start, shift, boosting, (train + shift, valid + shift), first)

    def estimate(self, gradient: Subspace, cost: float, rng: np.random.Generator) -> Estimate:
        """Estimate the slopes by moving the scores of the validation rows."""
        problem = self.ledger.problem
        on_valid = replace(problem, train=problem.valid, valid=problem.valid)
        near, theta = around_scores(on_valid, self.valid)
        inner = Ledger(near, self.ledger.rest, self.ledger.n_jobs)
        try:
            here = Probe(theta, np.asarray(near.profiler.values(self.valid)), cost)
            return gradient.estimate(inner, here, rng)
        except MetricError as error:
            add_call_number(error, self.ledger.calls + (error.call or 0))
            raise
        finally:
            self.ledger.count(inner.calls)

    def project(self, target: Floats64, rounds: int) -> Projection:
        """Boost until the profile is at or below the target, or the rounds are used up."""
        profiler = self.ledger.problem.profiler
        profile, used = np.asarray(profiler.values(self.train)), 0
        while used < rounds and np.any(profile > target):
            pull = 2.0 * np.maximum(profile - target, 0.0)
            if not self.boosting.add(np.asarray(pull @ profiler.slopes(self.train))):
                break
            gained = zip(self.begun_at, self.boosting.reached(), strict=True)
            self.train, self.valid = (first + since for first, since in gained)
            profile, used = np.asarray(profiler.values(self.train)), used + 1
        over = np.maximum(profile - target, 0.0)
        gap = float(over @ over)
        none = np.zeros(0)
        return Projection(none, profile, profile, gap, gap, 1.0, None, 2.0 * over, used)

    def evaluate(self) -> float:
        """Evaluate the present trees, and record their number."""
        cost = self.ledger.cost(self.valid)
        self.trees.append(self.boosting.count)
        return cost

    def solution(self, iterations: list[Iteration], status: Status) -> Solution:
        """Return the best iteration, and the trees up to it."""
        best = int(np.argmin([iteration.cost for iteration in iterations]))
        members: tuple[Scorer, ...] = (self.start,)
        if self.trees[best] > 0:
            members = (*members, self.boosting.cut(self.trees[best]))
        scorer = Ensemble(members, (1.0,) * len(members), self.offset)
        summary = Summary(chosen={"trees": self.trees[best]})
        calls = self.ledger.calls
        weights = self._weights(iterations[best])
        return Solution(
            iterations[best], status, tuple(iterations), calls, summary, weights, scorer=scorer
        )

    def _weights(self, iteration: Iteration) -> dict[str, float]:
        """Return the learned weights of the surrogates; those of the rows in the plain model."""
        problem = self.ledger.problem
        if iteration.weights is None:
            return plain_weights(problem)
        return dict(zip(problem.names, iteration.weights.tolist(), strict=True))
