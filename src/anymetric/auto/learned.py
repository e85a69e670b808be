"""Learned: the default for families without a parameter vector, beside linear models if asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from anymetric.auto.auto import Auto
from anymetric.auto.average import Judged
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import FEWEST, Choice, choose, few, shared
from anymetric.auto.jury import Judgement
from anymetric.auto.learners import LearnerKitchen
from anymetric.auto.menu import few_courses, first_courses, mixtures
from anymetric.auto.pool import Candidate, Kitchen, Recipe, in_faster_form
from anymetric.auto.queries import AutoByQuery
from anymetric.auto.room import Room, first_alone
from anymetric.auto.walks import along, named_slices
from anymetric.auto.wild import wild_of, without_wild
from anymetric.data import stacked
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.losses import as_loss
from anymetric.models import Learner, Linear
from anymetric.models.tables import Plain
from anymetric.problem import Problem

Floats64 = NDArray[np.float64]
# Candidates with a smaller share of the votes are not worth five more fits.
HEARD = 0.03


@dataclass(frozen=True)
class AutoLearned(Auto):
    """What `Auto` does with families that train by row weights alone.

    A short list of recipes is trained by each family: on training rows as they are and as they
    look like the judging rows, on the judging rows (cross-fitted), on mixtures, then along the
    frontier of the slices. With ``linear`` the candidates of `Auto` are in the same pool. The
    replicates vote as they do there; the answer is the average of the scores by votes.

    Parameters
    ----------
    learners : tuple of Learner
    linear : bool
        Let linear candidates compete.
    categorical : tuple of int
        Columns of codes, which a linear model must have spread out.
    replicates, use_validation, pooled, frontier, averaged, domain, discovered, stakes, \
thresholds, group_thresholds
        As in `Auto`; the others are for linear candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.models import Reweighted
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = Data(X, np.where(X[:, 0] * X[:, 1] > 0.5, 1.0, -1.0))
    >>> problem = Problem(data, per_class("logistic"), as_metric("f1"), labels=(0, 1))
    >>> forest = Reweighted(RandomForestClassifier(20, min_samples_leaf=3))
    >>> AutoLearned(learners=(forest,)).run(Ledger(problem), [], rng).cost < 0.3
    True
    """

    learners: tuple[Learner, ...] = ()
    linear: bool = False
    categorical: tuple[int, ...] = ()

    def _by_query(self) -> AutoByQuery:
        """Return what runs where whole queries train and judge, for the same families."""
        return replace(
            super()._by_query(),
            learners=self.learners,
            linear=self.linear,
            categorical=self.categorical,
        )

    def _room(self, ledger: Ledger, rng: np.random.Generator) -> Room:
        """Build what trains, linear models on tables that they can read, and what judges."""
        problem = ledger.problem
        plain = Plain.of(stacked(problem.train.X, problem.valid.X), self.categorical)
        train, valid = problem.train, problem.valid
        if problem.valid is problem.train and not few(problem):
            train = train.take(np.arange(0))
        kitchen = self._linear_kitchen(problem, plain, rng)
        kitchens = {
            learner.family: LearnerKitchen(
                learner,
                train,
                valid,
                train.followed_by(valid),
                kitchen.fold,
                0 if problem.labels is None else 2,
                self.use_validation is not False,
            )
            for learner in self.learners
        }
        jury, domain = self._jury(ledger, kitchen, rng), self._domain(problem, kitchen)
        return Room(
            ledger,
            kitchen,
            jury,
            domain,
            rng,
            kitchens,
            plain,
            self._apart(kitchen),
            wild=wild_of(problem, kitchen),
        )

    def _linear_kitchen(
        self, problem: Problem, plain: Plain | None, rng: np.random.Generator
    ) -> Kitchen:
        """Return the kitchen of linear candidates; it also weighs and deals the rows."""
        if plain is None or plain.idle:
            train, valid = in_faster_form(problem)
            rows = without_wild(problem.train.X, problem.train.weights)
        else:
            train, valid = (
                replace(data, X=plain.table(data.X)) for data in (problem.train, problem.valid)
            )
            rows = without_wild(train.X, train.weights)
        model = Linear.standardised(train.X, rows)
        if problem.valid is problem.train and not few(problem):
            train = train.take(np.arange(0))
        loss = as_loss("squared" if problem.labels is None else "logistic")
        return Kitchen.build(model, train, valid, loss, rng, rare=self.rare)

    def _recipes(self, room: Room) -> Iterator[Recipe | Candidate]:
        """Yield the candidates of every family in turn; few calls begin with the plainest line."""
        if self.linear and isinstance(room.jury, CallingJury) and room.jury.brief:
            yield next(super()._recipes(room))
        for learner in self.learners:
            yield from self._by_learner(room, learner.family)
        if self.linear:
            yield from super()._recipes(room)

    def _by_learner(self, room: Room, family: str) -> Iterator[Recipe | Candidate]:
        """Yield the recipes of one family; the last follow its best candidate so far."""
        if few(room.problem):
            yield from self._cooked(room, few_courses(room, family))
            return
        use = self.use_validation is not False and len(room.problem.valid) >= FEWEST
        only = self.use_validation is True and use
        courses = first_courses(room, family, use, self.stakes)
        yield from self._cooked(room, [r for r in courses if r.valid is not None or not only])
        if use and not only:
            yield from self._cooked(room, list(mixtures(room, family)))
        if self.frontier and room.problem.labels is not None:
            yield from along(room, named_slices(room), f"{family}: walk", family)

    def _cooked(self, room: Room, recipes: list[Recipe]) -> Iterator[Recipe | Candidate]:
        """Yield the recipes; trained beforehand where several processes may do so."""
        jobs = room.ledger.n_jobs
        if jobs in (None, 1):
            yield from recipes
            return
        affordable = recipes[: int(min(room.looks, len(recipes)))]
        pairs = zip(affordable, room.rng.spawn(len(affordable)), strict=True)
        yield from Parallel(n_jobs=jobs)(
            delayed(room.kitchens[recipe.family].cook)(
                recipe, seed, first_alone(room.judged, recipe.family)
            )
            for recipe, seed in pairs
        )
        if len(affordable) < len(recipes):
            raise BudgetSpent("No look is left for another candidate.")

    def _chosen(self, room: Room, running: list[Judged]) -> Choice:
        """Let each family choose, then the replicates between the families' means.

        The best of eighty candidates looks better than it is; the means of two families hardly do.
        """
        names = sorted({one.candidate.recipe.family for one in running})
        if len(names) < 2 or room.ledger.left < (len(names) + 1) * room.jury.price:
            return super()._chosen(room, running)
        own = [[j for j in running if j.candidate.recipe.family == name] for name in names]
        choices = [super(AutoLearned, self)._chosen(room, part) for part in own]
        means = [Judged(one.mean, verdict(room, one)) for one in choices]
        last = choose(means, room.problem, self.averaged)
        share = [part * one.share for part, one in zip(last.share, choices, strict=True)]
        trust = float(last.share @ np.array([one.trust for one in choices]))
        judged = [one for choice in choices for one in choice.judged]
        return Choice(judged, np.concatenate(share), last.mean, trust=trust)

    def _placed(self, room: Room, choice: Choice) -> Choice:
        """Let training rows help, those that vote scored by models that they did not train."""
        movable = room.jury.movable if isinstance(room.jury, CallingJury) else True
        if not self.pooled or not movable or room.domain is None:
            return super()._placed(room, choice)
        loud = np.flatnonzero(choice.share > min(HEARD, choice.share.max() / 2.0))
        judged = [self._crossed(room, choice.judged[k]) for k in loud]
        share = choice.share[loud] / choice.share[loud].sum()
        return super()._placed(room, shared(judged, share, room.problem))

    def _crossed(self, room: Room, judged: Judged) -> Judged:
        """Return a candidate with honest scores on the training rows."""
        kitchen = room.kitchens.get(judged.candidate.recipe.family)
        if kitchen is None:
            return judged
        return replace(judged, candidate=kitchen.crossed(judged.candidate, room.rng.spawn(1)[0]))


def verdict(room: Room, choice: Choice) -> Judgement:
    """Judge a mean at its threshold."""
    told = choice.told or room.jury.judge(choice.mean.valid + choice.shift)
    return replace(told, shift=choice.shift)
