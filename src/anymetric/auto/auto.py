"""Auto: candidates from weighted losses, judged with replicates, averaged by their votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.apart import Apart
from anymetric.auto.average import Judged, judge_weights, probe, row_weights
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import (
    CALLS,
    FEWEST,
    Choice,
    affordable,
    among,
    ballot,
    by_family,
    choose,
    few,
    flat,
    helpful,
    lying_below,
    measured,
    single_best,
    still_flagging,
    told_apart,
    worth_of,
)
from anymetric.auto.domain import domain_weights
from anymetric.auto.foretold import divides, foretelling
from anymetric.auto.jury import CountedJury, DecisionJury, replicate_weights
from anymetric.auto.ordered import Ordered, ordered
from anymetric.auto.pool import Candidate, Kitchen, Recipe, in_faster_form
from anymetric.auto.pooled import LUCK, Pooled
from anymetric.auto.queries import AutoByQuery, ranks_by_query
from anymetric.auto.recipes import (
    STRENGTHS,
    classifier_recipes,
    cluster_recipes,
    few_recipes,
    scout,
    sliced_by,
    source_recipes,
    stake_recipes,
)
from anymetric.auto.regressions import (
    few_numbers,
    held_back,
    regressor_recipes,
    relative_recipes,
    tilted_recipes,
)
from anymetric.auto.room import Room, heard, sparing
from anymetric.auto.trust import settled, worse
from anymetric.auto.walk import mean_cost
from anymetric.auto.walks import walks
from anymetric.auto.wild import noted, wild_of
from anymetric.ledger import Ledger
from anymetric.losses import as_loss
from anymetric.metrics import DecisionMetric
from anymetric.models import Ensemble, Linear
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn, keeping

# An answer that surprises a jury is chosen anew so often at most.
AGAIN = 4

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]


@dataclass(frozen=True)
class Auto:
    """The default: no setting needs to be touched.

    Linear candidates are trained on weighted slices of the rows: plain, balanced, as much as they
    look like the judging rows, on the judging rows themselves (cross-fitted), on mixtures, on
    halves of a class; the ridge rises as long as that pays. Rows with wild values train only where
    that pays. Each is judged at its best threshold on replicates of the judging rows; in each
    replicate the best candidate gets a vote, and the answer is the average of the candidates'
    scores by votes: again one linear model. Its threshold is placed with the help of training
    rows, as far as they can be trusted.

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
    group_thresholds : bool
        Whether each group has a threshold of its own, where that pays beyond noise. A function that
        must be called for every threshold is asked about them once, of the answer; other metrics
        for every candidate.
    rare : bool
        Whether mixtures of training and judging rows hold the weights of rare values back harder.
    strengths : tuple of float
        Ridges to try, in units of one effective row, rising: as long as a higher one is better.

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
    >>> Auto().run(ledger, [], rng).cost < 0.35
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
    group_thresholds: bool = False
    rare: bool = True
    strengths: tuple[float, ...] = STRENGTHS

    def __post_init__(self) -> None:
        if self.replicates < 1:
            raise ValueError(f"replicates must be at least 1; got {self.replicates}.")
        if not self.strengths or min(self.strengths) < 0.0:
            raise ValueError(f"strengths must be ridges, zero or more; got {self.strengths}.")

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
            return self._by_query().run(ledger, rng, watch)
        room = self._room(ledger, rng)
        with keeping(lambda cut: self._single(room, cut) if room.judged else None):
            found = self._answer(room, heard(room.hear, self._recipes(room), watch))
            return noted(found, room.wild & room.sparing)

    def _answer(self, room: Room, status: Status) -> Solution:
        """Return the average of the candidates, or one of them where no more can be said."""
        if not room.judged:
            most = room.ledger.max_calls
            raise ValueError(f"max_metric_calls must allow one candidate; got {most}.")
        if flat(room.judged) and not room.jury.varies(room.judged[0].candidate.valid):
            return self._single(room, Status.FLAT)
        running = room.running()
        if room.jury.left < room.jury.price or not running:
            return self._single(room, status)
        return self._conclude(room, running, status)

    def _by_query(self) -> AutoByQuery:
        """Return what runs where whole queries train and judge."""
        return AutoByQuery(self.replicates, self.averaged, self.use_validation)

    def _single(self, room: Room, status: Status, best: Candidate | None = None) -> Solution:
        """Return a candidate, that of the lowest cost if none is named."""
        return single_best(room.problem, room.judged, room.turns, room.ledger, status, best)

    def _room(self, ledger: Ledger, rng: np.random.Generator) -> Room:
        """Build what trains and what judges."""
        problem = ledger.problem
        if not isinstance(problem.model, Linear):
            raise TypeError(f"Auto trains linear models; got {type(problem.model).__name__}.")
        train, valid = in_faster_form(problem)
        if problem.valid is problem.train and not few(problem):
            train = train.take(np.arange(0))
        loss = as_loss("squared" if problem.labels is None else "logistic")
        kitchen = Kitchen.build(problem.model, train, valid, loss, rng, rare=self.rare)
        jury, domain = self._jury(ledger, kitchen, rng), self._domain(problem, kitchen)
        wild = wild_of(problem, kitchen)
        return Room(ledger, kitchen, jury, domain, rng, apart=self._apart(kitchen), wild=wild)

    def _apart(self, kitchen: Kitchen) -> Apart | None:
        """Return the groups, if each is to have a threshold of its own."""
        return Apart.of(kitchen.train, kitchen.valid) if self.group_thresholds else None

    def _jury(
        self, ledger: Ledger, kitchen: Kitchen, rng: np.random.Generator
    ) -> CountedJury | CallingJury:
        problem, n = ledger.problem, len(ledger.problem.valid)
        weights = np.ones((n, 1)) if few(problem) else replicate_weights(n, self.replicates, rng)
        if isinstance(problem.metric, DecisionMetric) and getattr(problem.model, "intercept", True):
            jury = DecisionJury.build(problem.metric, problem.valid, weights)
            return CountedJury(replace(jury, moves=self.thresholds), ledger)
        if self.thresholds and not few(problem) and divides(problem) is not None:
            found = foretelling(ledger, kitchen.cook(scout(kitchen)).valid, weights, rng)
            if found is not None:
                return found
        thresholds, count = affordable(ledger.max_calls)
        brief = (thresholds, count) != CALLS
        called = CallingJury.build(ledger, weights[:, :count], thresholds, brief)
        return replace(called, moves=self.thresholds)

    def _domain(self, problem: Problem, kitchen: Kitchen) -> Floats64 | None:
        """Return how much each training row looks like the judging rows; None if they are one."""
        if problem.valid is problem.train:
            return None
        if not self.domain:
            return np.ones(len(problem.train))
        return domain_weights(kitchen.model, kitchen.train, kitchen.valid, X=kitchen.both.X)

    def _recipes(self, room: Room) -> Iterator[Recipe | Candidate]:
        """Yield recipes; the last follow the best candidate so far along the slices."""
        problem = room.problem
        if few(problem):
            yield from (few_numbers if problem.labels is None else few_recipes)(room.kitchen)
            return
        only = self.use_validation is True and len(problem.valid) >= FEWEST
        plain = (one for one in self._plain(room) if one.valid is not None or not only)
        if np.any(room.wild):
            yield from sparing(room, plain)
        yield from plain
        if self.frontier and problem.labels is not None:
            yield from walks(room, self.discovered)

    def _plain(self, room: Room) -> Iterator[Recipe]:
        """Yield the recipes for which the metric says no more than how much ridge they need."""
        problem, kitchen = room.problem, room.kitchen
        use = self.use_validation if len(problem.valid) >= FEWEST else False
        if problem.labels is None:
            given = kitchen, room.domain, use is not False, held_back(kitchen)
            yield from regressor_recipes(*given)
            yield from relative_recipes(*given)
            if isinstance(room.jury, CallingJury) and room.jury.leans:
                level = lying_below(problem.valid, min(room.judged, key=mean_cost))
                yield from tilted_recipes(*given, level)
            return
        yield from classifier_recipes(
            kitchen,
            room.domain,
            use,
            self.strengths,
            lambda: mean_cost(room.judged[-1]),
            problem.metric.decides,
        )
        yield from source_recipes(kitchen, sliced_by(problem))
        if self.stakes:
            yield from stake_recipes(kitchen, problem.metric.needs)
        if self.clusters:
            yield from cluster_recipes(kitchen, room.rng)

    def _conclude(self, room: Room, running: list[Judged], status: Status) -> Solution:
        """Average by votes, place the threshold, and say what each slice was worth."""
        problem = room.problem
        choice = self._chosen(room, running)
        for _ in range(AGAIN):
            if not room.jury.mistaken(choice.mean.valid + choice.shift):
                break
            running = room.running()
            choice = self._chosen(room, running)
        mean = choice.mean
        verdict = choice.told or room.jury.judge(mean.valid + choice.shift)
        alone = min(running, key=mean_cost)
        if worse(verdict.replicates, alone.tuned.replicates, LUCK):
            # What each does well, the average may do badly: flag nobody, for instance.
            single = self._single(room, status, alone.candidate)
            error = float(alone.tuned.replicates.std())
            told = {"error": error, **measured(problem, running, alone.tuned)}
            own = {**single.settings, **told}
            return replace(single, settings=own, replicates=alone.tuned.replicates)
        shift = still_flagging(problem, mean, choice.shift)
        here = probe(problem, mean, shift, verdict.cost)
        calls = room.ledger.calls
        last = Turn(len(room.turns), 0, here, here.profile, calls=calls)
        settings = {
            "candidates": ballot(room.judged, among(room.judged, choice)),
            "trust": choice.trust,
            "error": float(verdict.replicates.std()),
            **measured(problem, running, verdict),
            **by_family(running, among(running, choice)),
            **told_apart(mean),
            **room.jury.noted(),
        }
        worth = worth_of(problem, choice.judged, choice.share, mean.recipe)
        rows, judges = (of(problem, mean.recipe) for of in (row_weights, judge_weights))
        scorer = mean.scorer.moved(shift) if isinstance(mean.scorer, Ensemble) else None
        rest = settings, worth, rows, scorer, judges, verdict.replicates
        return Solution(last, status, (*room.turns, last), calls, *rest)

    def _chosen(self, room: Room, running: list[Judged]) -> Choice:
        """Return the candidates' shares, their mean and its threshold."""
        choice = self._placed(room, choose(running, room.problem, self.averaged))
        beyond = room.jury.steadied(choice.mean.valid + choice.shift)
        return replace(choice, shift=choice.shift + beyond, told=None) if beyond else choice

    def _placed(self, room: Room, choice: Choice) -> Choice:
        """Let training rows help to choose and to place the threshold, if they can."""
        problem, domain = room.problem, room.domain
        choice = replace(choice, mean=room.shaped(choice.mean))
        if domain is None:
            return replace(choice, shift=self._settled(room, choice))
        if not self.pooled or not self.thresholds:
            return choice
        if not helpful(problem, room.jury):
            return choice
        settings = self.replicates, self.averaged, room.apart
        stands = room.jury.inner.metric if isinstance(room.jury, CountedJury) else problem.metric
        pooled = Pooled(problem, stands, room.kitchen.fold, domain, *settings)
        if isinstance(room.jury, CountedJury):
            return pooled.place(choice, room.jury.inner, room.rng)
        if ordered(problem, room.kitchen, room.jury, choice):
            both = Ordered(problem, pooled.alike(choice.mean), self.averaged)
            return both.choose(choice, room.jury, room.rng)
        return pooled.called(choice, room.jury, room.rng)

    def _settled(self, room: Room, choice: Choice) -> float:
        """Return where the threshold lies by likely labels, of rows that judged by turns."""
        if not self.thresholds or few(room.problem) or not isinstance(room.jury, CountedJury):
            return choice.shift
        mean = choice.mean.valid
        return settled(room.problem.valid, mean, choice.shift, room.jury.inner)
