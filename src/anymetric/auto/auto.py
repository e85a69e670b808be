"""Auto: candidates from weighted losses, judged with replicates, averaged by their votes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.average import Judged, lifted, row_weights, shared_out
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import (
    CALLS,
    FEWEST,
    affordable,
    among,
    ballot,
    choose,
    few,
    flat,
    helpful,
    measured,
    single_best,
    worth_of,
)
from anymetric.auto.domain import domain_weights
from anymetric.auto.jury import CountedJury, DecisionJury, replicate_weights
from anymetric.auto.parts import Part, by_class, named, where_it_errs
from anymetric.auto.pool import Candidate, Kitchen, Recipe, in_faster_form, nearest
from anymetric.auto.pooled import Pooled
from anymetric.auto.queries import AutoByQuery, ranks_by_query
from anymetric.auto.recipes import (
    STRENGTHS,
    classifier_recipes,
    cluster_recipes,
    few_recipes,
    regressor_recipes,
    source_recipes,
    stake_recipes,
)
from anymetric.auto.targets import FLAT, PRICE, moved, own_loss, reached
from anymetric.auto.walk import Walk, best, pays
from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.losses import as_loss
from anymetric.metrics import DecisionMetric, MetricError
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]


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
    use_validation : "auto" or bool
        Whether candidates may train on the judging rows too; a row never judges a model that it
        trained. True: no other candidates. False: rows judge only, and where there is but one
        sample, some are held out for it.
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
    discovered : bool
        Whether to walk along slices that a tree finds, too.
    stakes : bool
        Whether to weight rows by the amounts that the metric reads.
    thresholds : bool
        Whether each candidate is judged at its best threshold, or at zero.
    strengths : tuple of float
        Ridges to try, in units of one effective row.

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

    # For the door: no starting models are asked for.
    takes_starts: ClassVar[bool] = False

    replicates: int = 100
    use_validation: Literal["auto"] | bool = "auto"
    clusters: bool = True
    pooled: bool = True
    frontier: bool = True
    averaged: bool = True
    domain: bool = True
    discovered: bool = True
    stakes: bool = True
    thresholds: bool = True
    strengths: tuple[float, ...] = STRENGTHS

    @property
    def cross_fits(self) -> bool:
        """Whether, without validation rows, all rows judge by turns."""
        return self.use_validation is not False

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Train, judge and average; `starts` are not needed and not read."""
        problem = ledger.problem
        if ranks_by_query(problem):
            return AutoByQuery(self.replicates, self.averaged).run(ledger, rng, watch)
        kitchen, jury = self._furnish(ledger, rng)
        domain = self._domain(problem, kitchen)
        turns: list[Turn] = []
        judged: list[Judged] = []
        refused: list[Judged] = []
        status = Status.JUDGED
        try:
            for recipe in self._recipes(ledger, kitchen, jury, domain, judged, refused, rng):
                began = time.perf_counter()
                candidate = cooked(kitchen, recipe, judged)
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
        running = [one for one in judged if all(one is not other for other in refused)]
        if status is not Status.FLAT and isinstance(jury, CallingJury):
            running = jury.heard(running)
        if ledger.left < jury.price or not running or status is Status.FLAT:
            chosen = single_best(problem, judged, turns, ledger, status)
            assert chosen is not None
            return chosen
        return self._conclude(ledger, kitchen, jury, judged, running, domain, turns, status, rng)

    def _furnish(
        self, ledger: Ledger, rng: np.random.Generator
    ) -> tuple[Kitchen, CountedJury | CallingJury]:
        """Build what trains and what judges."""
        problem = ledger.problem
        if not isinstance(problem.model, Linear):
            raise TypeError(f"Auto trains linear models; got {type(problem.model).__name__}.")
        loss = as_loss("squared" if problem.labels is None else "logistic")
        train, valid = in_faster_form(problem)
        if problem.valid is problem.train and not few(problem):
            train = train.take(np.arange(0))
        kitchen = Kitchen.build(problem.model, train, valid, loss, rng)
        n = len(problem.valid)
        weights = np.ones((n, 1)) if few(problem) else replicate_weights(n, self.replicates, rng)
        if isinstance(problem.metric, DecisionMetric) and problem.model.intercept:
            jury = DecisionJury.build(problem.metric, problem.valid, weights)
            return kitchen, CountedJury(replace(jury, moves=self.thresholds), ledger)
        thresholds, replicates = affordable(ledger.max_calls)
        brief = (thresholds, replicates) != CALLS
        called = CallingJury.build(ledger, weights[:, :replicates], thresholds, brief)
        return kitchen, replace(called, moves=self.thresholds)

    def _domain(self, problem: Problem, kitchen: Kitchen) -> Floats64 | None:
        """Return how much each training row looks like the judging rows; None if they are one."""
        if problem.valid is problem.train:
            return None
        if not self.domain:
            return np.ones(len(problem.train))
        return domain_weights(kitchen.model, kitchen.train, kitchen.valid, X=kitchen.both.X)

    def _recipes(
        self,
        ledger: Ledger,
        kitchen: Kitchen,
        jury: CountedJury | CallingJury,
        domain: Floats64 | None,
        judged: list[Judged],
        refused: list[Judged],
        rng: np.random.Generator,
    ) -> Iterator[Recipe | Candidate]:
        """Yield recipes; the last follow the best candidate so far along the slices."""
        problem = ledger.problem
        if few(problem):
            yield from few_recipes(kitchen, problem.labels is None)
            return
        only = self.use_validation is True and len(problem.valid) >= FEWEST
        for recipe in self._plain(problem, kitchen, domain, rng):
            if recipe.valid is not None or not only:
                yield recipe
        if self.frontier and problem.labels is not None:
            yield from self._walks(ledger, kitchen, jury, judged, refused, rng)

    def _plain(
        self,
        problem: Problem,
        kitchen: Kitchen,
        domain: Floats64 | None,
        rng: np.random.Generator,
    ) -> Iterator[Recipe]:
        """Yield the recipes that need not wait for the metric."""
        use = self.use_validation is not False and len(problem.valid) >= FEWEST
        if problem.labels is None:
            yield from regressor_recipes(kitchen, domain, use)
            return
        yield from classifier_recipes(kitchen, domain, use, self.strengths)
        yield from source_recipes(kitchen)
        if self.stakes:
            yield from stake_recipes(kitchen, problem.metric.needs)
        if self.clusters:
            yield from cluster_recipes(kitchen, rng)

    def _walks(
        self,
        ledger: Ledger,
        kitchen: Kitchen,
        jury: CountedJury | CallingJury,
        judged: list[Judged],
        refused: list[Judged],
        rng: np.random.Generator,
    ) -> Iterator[Recipe | Candidate]:
        """Walk from the best candidate along its slices, then along slices found by a tree."""
        leader, loss = best(judged), own_loss(ledger.problem, kitchen.loss)
        if loss is not None:
            recipe = leader.candidate.recipe
            yield replace(recipe, name=f"{recipe.name}, {loss.name}", loss=loss)
        slices = named(shared_out(ledger.problem), kitchen)
        leader = best(judged)
        yield from Walk(kitchen, jury, slices, "walk", refused).steps(judged, rng)
        if refused and self._flat(ledger, kitchen, slices, leader, refused[0]):
            yield reached(ledger, kitchen, leader, rng)
            if not pays(judged[-1], leader, 1.0 + np.sqrt(len(slices))):
                refused.append(judged[-1])
        if not self.discovered:
            return
        found = where_it_errs(kitchen, best(judged), int(rng.integers(2**31)))
        finer = by_class(found, kitchen)
        yield from Walk(kitchen, jury, finer, "walk by tree", refused).steps(judged, rng)

    def _flat(
        self, ledger: Ledger, kitchen: Kitchen, slices: list[Part], leader: Judged, step: Judged
    ) -> bool:
        """Return whether weights lead nowhere from here, and targets can be asked for."""
        candidate = leader.candidate
        separate = candidate.recipe.valid is None and ledger.left >= PRICE + 2
        return separate and moved(kitchen, slices, candidate, step.candidate) < FLAT

    def _conclude(
        self,
        ledger: Ledger,
        kitchen: Kitchen,
        jury: CountedJury | CallingJury,
        judged: list[Judged],
        running: list[Judged],
        domain: Floats64 | None,
        turns: list[Turn],
        status: Status,
        rng: np.random.Generator,
    ) -> Solution:
        """Average by votes, place the threshold, and say what each slice was worth."""
        problem = ledger.problem
        choice = choose(running, problem, self.averaged)
        if self.pooled and self.thresholds and domain is not None and helpful(problem, jury):
            pooled = Pooled(problem, kitchen.fold, domain, self.replicates, self.averaged)
            if isinstance(jury, CountedJury):
                choice = pooled.place(choice, jury.inner, rng)
            else:
                choice = pooled.called(choice, jury, rng)
        mean, shift = choice.mean, choice.shift
        theta = lifted(mean.theta, shift)
        verdict = choice.told or jury.judge(mean.valid + shift)
        here = Probe(theta, problem.profile(theta), verdict.cost)
        best = Turn(len(turns), 0, here, here.profile, calls=ledger.calls)
        settings = {
            "candidates": ballot(judged, among(judged, choice)),
            "trust": choice.trust,
            "error": float(verdict.replicates.std()),
            **measured(running, verdict),
        }
        worth = worth_of(problem, choice.judged, choice.share, mean.recipe)
        rows = row_weights(problem, mean.recipe)
        return Solution(best, status, (*turns, best), ledger.calls, settings, worth, rows)


def cooked(kitchen: Kitchen, recipe: Recipe | Candidate, judged: Sequence[Judged]) -> Candidate:
    """Return the candidate of a recipe, trained from the nearest one so far."""
    if isinstance(recipe, Candidate):
        return recipe
    return kitchen.cook(recipe, nearest(recipe, [one.candidate for one in judged]))
