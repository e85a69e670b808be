"""Auto: candidates from weighted losses, judged with replicates, averaged by their votes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import (
    Judged,
    agreeing,
    average,
    lifted,
    row_weights,
    shared_out,
    spread,
    votes,
)
from anymetric.auto.choice import (
    FEWEST,
    Choice,
    affordable,
    ballot,
    few,
    flat,
    helpful,
    measured,
    on_both,
    rejudged,
    single_best,
    worth_of,
)
from anymetric.auto.domain import domain_weights, label_weights
from anymetric.auto.jury import (
    CallingJury,
    CountedJury,
    DecisionJury,
    Jury,
    replicate_weights,
)
from anymetric.auto.pool import Kitchen, Recipe
from anymetric.auto.recipes import (
    classifier_recipes,
    cluster_recipes,
    few_recipes,
    regressor_recipes,
    slice_recipes,
    source_recipes,
)
from anymetric.auto.trust import Bench
from anymetric.data import Data
from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.losses import as_loss
from anymetric.metrics import DecisionMetric, MetricError
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]
# The best of some forty candidates looks better than it is by up to this many standard errors.
LUCK = 2.0


@dataclass(frozen=True)
class Auto:
    """The default: no setting needs to be touched.

    Linear candidates are trained on weighted slices of the rows: plain, balanced, as much as they
    look like the judging rows, on the judging rows themselves (cross-fitted), on mixtures, on
    halves of a class. Each is judged at its best threshold on replicates of the judging rows;
    in each replicate the best candidate gets a vote, and the answer is the average of the
    candidates' scores by votes: again one linear model. Its threshold is placed with the help of
    training rows, as far as they can be trusted.

    Parameters
    ----------
    replicates : int
    use_validation : "auto" or False
        Whether candidates may train on the judging rows too; a row never judges a model that it
        trained.
    clusters : bool
        Whether to try halves of a class.
    pooled : bool
        Whether training rows may help to place the threshold.
    frontier : bool
        Whether to move the weights of single slices of the best candidate.
    averaged : bool
        Whether to average by votes; otherwise the best candidate on average wins.
    domain : bool
        Whether to weight training rows by how much they look like the judging rows.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> data = Data(X, np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 1.0, 1.0, -1.0))
    >>> ledger = Ledger(Problem(data, per_class("logistic"), as_metric("f1")))
    >>> Auto().run(ledger, [], rng).cost < 0.3
    True
    """

    # For the door: rows judge by turns, and no starting models are asked for.
    cross_fits: ClassVar[bool] = True
    takes_starts: ClassVar[bool] = False

    replicates: int = 100
    use_validation: Literal["auto", False] = "auto"
    clusters: bool = True
    pooled: bool = True
    frontier: bool = True
    averaged: bool = True
    domain: bool = True

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Train, judge and average; `starts` are not needed and not read."""
        problem = ledger.problem
        kitchen, jury = self._furnish(ledger, rng)
        domain = self._domain(problem)
        turns: list[Turn] = []
        judged: list[Judged] = []
        warm: dict[str, Floats64] = {}
        status = Status.JUDGED
        try:
            for recipe in self._recipes(problem, kitchen, domain, judged, rng):
                began = time.perf_counter()
                candidate = kitchen.cook(recipe, warm.get(recipe.kin))
                warm[recipe.kin] = candidate.theta
                judged.append(Judged(candidate, jury.tune(candidate.valid)))
                turns.append(judged[-1].turn(problem, len(turns), ledger.calls, began))
                if watch is not None and watch(turns[-1]):
                    status = Status.STOPPED
                    break
        except BudgetSpent:
            status = Status.BUDGET
        except MetricError as error:
            error.best = single_best(problem, judged, turns, ledger, Status.FAILED)
            raise
        if not judged:
            raise ValueError(f"max_metric_calls must allow one candidate; got {ledger.max_calls}.")
        if flat(judged):
            status = Status.FLAT
        if ledger.left < jury.price or status is Status.FLAT:
            chosen = single_best(problem, judged, turns, ledger, status)
            assert chosen is not None
            return chosen
        return self._conclude(ledger, kitchen, jury, judged, domain, turns, status, rng)

    def _furnish(self, ledger: Ledger, rng: np.random.Generator) -> tuple[Kitchen, Jury]:
        """Build what trains and what judges."""
        problem = ledger.problem
        if not isinstance(problem.model, Linear):
            raise TypeError(f"Auto trains linear models; got {type(problem.model).__name__}.")
        loss = as_loss("squared" if problem.labels is None else "logistic")
        train = problem.train
        if problem.valid is train and not few(problem):
            train = train.take(np.arange(0))
        kitchen = Kitchen.build(problem.model, train, problem.valid, loss, rng)
        n = len(problem.valid)
        weights = np.ones((n, 1)) if few(problem) else replicate_weights(n, self.replicates, rng)
        if isinstance(problem.metric, DecisionMetric) and problem.model.intercept:
            return kitchen, CountedJury(
                DecisionJury.build(problem.metric, problem.valid, weights), ledger
            )
        thresholds, replicates = affordable(ledger.max_calls)
        return kitchen, CallingJury.build(ledger, weights[:, :replicates], thresholds)

    def _domain(self, problem: Problem) -> Floats64 | None:
        """Return how much each training row looks like the judging rows; None if they are one."""
        if problem.valid is problem.train:
            return None
        if not self.domain:
            return np.ones(len(problem.train))
        assert isinstance(problem.model, Linear)
        return domain_weights(problem.model, problem.train, problem.valid)

    def _recipes(
        self,
        problem: Problem,
        kitchen: Kitchen,
        domain: Floats64 | None,
        judged: list[Judged],
        rng: np.random.Generator,
    ) -> Iterator[Recipe]:
        """Yield recipes; the last follow the best candidate so far along the slices."""
        if few(problem):
            yield from few_recipes(kitchen, problem.labels is None)
            return
        use = self.use_validation == "auto" and len(problem.valid) >= FEWEST
        if problem.labels is None:
            yield from regressor_recipes(kitchen, domain, use)
            return
        yield from classifier_recipes(kitchen, domain, use)
        yield from source_recipes(kitchen)
        if self.clusters and domain is not None:
            yield from cluster_recipes(kitchen, rng)
        slices = shared_out(problem)
        if self.frontier and judged and all(on_both(s, problem) for s in slices):
            leader = min(judged, key=lambda j: float(np.mean(j.tuned.replicates)))
            yield from slice_recipes(kitchen, leader.candidate.recipe, slices)

    def _conclude(
        self,
        ledger: Ledger,
        kitchen: Kitchen,
        jury: Jury,
        judged: list[Judged],
        domain: Floats64 | None,
        turns: list[Turn],
        status: Status,
        rng: np.random.Generator,
    ) -> Solution:
        """Average by votes, place the threshold, and say what each slice was worth."""
        problem = ledger.problem
        choice = self._choose(judged, problem)
        if self.pooled and domain is not None and helpful(problem, jury):
            assert isinstance(jury, CountedJury)
            choice = self._pooled(problem, kitchen, jury.inner, choice, domain, rng)
        mean, shift = choice.mean, choice.shift
        theta = lifted(mean.theta, shift)
        verdict = jury.judge(mean.valid + shift)
        here = Probe(theta, problem.profile(theta), verdict.cost)
        best = Turn(len(turns), 0, here, here.profile, calls=ledger.calls)
        settings = {
            "candidates": ballot(choice.judged, choice.share),
            "trust": choice.trust,
            "error": float(verdict.replicates.std()),
            **measured(judged, verdict),
        }
        worth = worth_of(problem, choice.judged, choice.share, mean.recipe)
        rows = row_weights(problem, mean.recipe)
        return Solution(best, status, (*turns, best), ledger.calls, settings, worth, rows)

    def _choose(self, judged: list[Judged], problem: Problem) -> Choice:
        """Return the candidates' shares, and the mean of those that agree."""
        replicates = np.stack([j.tuned.replicates for j in judged], axis=1)
        share = votes(replicates)
        if not self.averaged:
            share = np.eye(len(judged))[int(np.argmin(replicates.mean(axis=0)))]
        share = agreeing(share, [j.candidate.valid for j in judged])
        sizes = [1.0 for _ in judged]
        if problem.labels is not None:
            sizes = [spread(j.candidate.valid, problem.valid.weights) for j in judged]
        return Choice(judged, share, average(judged, share, sizes))

    def _pooled(
        self,
        problem: Problem,
        kitchen: Kitchen,
        jury: DecisionJury,
        choice: Choice,
        domain: Floats64,
        rng: np.random.Generator,
    ) -> Choice:
        """Let training rows help as far as the judging rows say that they can be trusted."""
        assert isinstance(problem.metric, DecisionMetric)
        mean, train = choice.mean, problem.train
        looks = Data(train.X, train.y, train.weights * domain)
        alike = domain * label_weights(looks, problem.valid, (mean.train, mean.valid))
        bench = Bench.build(problem.metric, train, problem.valid, alike, kitchen.fold)
        placed = choice.placed(bench, jury)
        if placed.trust == 0.0:
            return placed
        # Rows that can be trusted may tell the candidates apart better too.
        pooled = bench.jury(placed.trust, self.replicates, rng)
        anew = [rejudged(j, pooled) for j in choice.judged]
        again = self._choose(anew, problem).placed(bench, jury)
        excess = again.verdict(jury).replicates - placed.verdict(jury).replicates
        return again if excess.mean() <= LUCK * excess.std() else placed
