"""AutoMany: the default method for more than two classes and for sets of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.choice import FEWEST, few
from anymetric.auto.domain import domain_weights
from anymetric.auto.jury import replicate_weights
from anymetric.auto.pool import Recipe
from anymetric.auto.room import heard
from anymetric.auto.wild import noted, wild_of, without_wild
from anymetric.data import Matrix
from anymetric.engines import lighter
from anymetric.ledger import Ledger
from anymetric.losses import as_loss
from anymetric.many.asking import AskingJury
from anymetric.many.jury import Counting, CountingJury
from anymetric.many.pool import LearnerTrainer, LinearTrainer, ManyKitchen, Trainer
from anymetric.many.recipes import ENDS, evened, many_recipes, rest_recipes, source_recipes
from anymetric.many.room import LINEAR, Heard, ManyRoom, average, shares, sparing, summed
from anymetric.many.verdict import concluded, flat, single
from anymetric.many.walk import slices, steps
from anymetric.metrics import Classes, ConfusionMetric, LabelMetric
from anymetric.models import Learner, Linear, Outputs
from anymetric.models.tables import Plain
from anymetric.problem import Problem
from anymetric.solution import Solution, Status, Turn, keeping

Floats64 = NDArray[np.float64]
Watcher = Callable[[Turn], bool | None]


@dataclass(frozen=True)
class AutoMany:
    """What `Auto` does with many classes, or labels.

    Candidates are trained on weighted rows: plain, half balanced and balanced, as much as they
    look like the judging rows, on the judging rows themselves (cross-fitted), on mixtures, each
    class against the rest, and along the slopes of the metric. Each gets an offset for every
    class, tuned on other rows than those that judge it. In replicates of the judging rows the best
    candidate gets a vote, and the answer is the average of the candidates' scores by votes.

    Parameters
    ----------
    replicates : int
    use_validation : "auto" or bool
        Whether candidates may train on the judging rows too; see `Auto`.
    frontier : bool
        Whether to move the weights of single slices of the best candidate.
    averaged : bool
        Whether to average by votes; otherwise the best candidate on average wins.
    domain : bool
        Whether to weight training rows by how much they look like the judging rows.
    thresholds : bool
        Whether classes get offsets.
    learners : tuple of Learner
        Other families than linear models.
    linear : bool
    categorical : tuple of int
        Columns of codes, which a linear model must have spread out.

    Examples
    --------
    >>> import numpy as np
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import ClassF
    >>> from anymetric.surrogates import class_losses
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> data = Data(X, np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), [-1.0, 1.0]).astype(float))
    >>> three = Classes(("low", "middle", "high"))
    >>> surrogates = class_losses("auto", three, data)
    >>> model = Outputs(Linear(), 3)
    >>> problem = Problem(data, surrogates, ClassF(), model=model, labels=three)
    >>> AutoMany().run(Ledger(problem), [], rng).cost < 0.2
    True
    """

    # For the door: no starting models are asked for.
    takes_starts: ClassVar[bool] = False

    replicates: int = 100
    use_validation: Literal["auto"] | bool = "auto"
    frontier: bool = True
    averaged: bool = True
    domain: bool = True
    thresholds: bool = True
    learners: tuple[Learner, ...] = ()
    linear: bool = True
    categorical: tuple[int, ...] = ()

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
        room = self._room(ledger, rng)
        with keeping(lambda cut: single(room, cut) if room.heard else None):
            found = self._answer(room, heard(room.hear, self._recipes(room), watch))
            return noted(found, room.wild & room.sparing)

    def _answer(self, room: ManyRoom, status: Status) -> Solution:
        """Return the average of the candidates, or one of them where no more can be said."""
        if not room.heard:
            most = room.ledger.max_calls
            raise ValueError(f"max_metric_calls must allow one candidate; got {most}.")
        if flat(room.heard):
            return single(room, Status.FLAT)
        running = room.running()
        if room.ledger.left < room.jury.price or not running:
            return single(room, status)
        return self._conclude(room, running, status)

    def _room(self, ledger: Ledger, rng: np.random.Generator) -> ManyRoom:
        """Build what trains and what judges."""
        problem = ledger.problem
        classes = problem.labels
        assert isinstance(classes, Classes)
        train, valid = problem.train, problem.valid
        if valid is train and not few(problem):
            train = train.take(np.arange(0))
        kitchen = ManyKitchen.build(train, valid, classes, rng)
        plain = Plain.of(kitchen.both.X, self.categorical) if self.learners else None
        readable_kitchen = in_plain_form(kitchen, None if plain is None or plain.idle else plain)
        trainers: dict[str, Trainer] = {
            one.family: LearnerTrainer(one, classes, rng) for one in self.learners
        }
        kitchens = dict.fromkeys(trainers, kitchen)
        if self.linear or not self.learners:
            trainers[LINEAR] = LinearTrainer(self._model(problem, readable_kitchen), classes)
        kitchens[LINEAR] = readable_kitchen
        domain = self._domain(problem, readable_kitchen)
        jury = self._jury(ledger, kitchen, rng)
        wild = wild_of(problem, readable_kitchen)
        return ManyRoom(ledger, classes, kitchens, trainers, jury, domain, rng, plain, wild=wild)

    def _model(self, problem: Problem, kitchen: ManyKitchen) -> Outputs:
        if isinstance(problem.model, Outputs) and not self.learners:
            return problem.model
        assert isinstance(problem.labels, Classes)
        stock = kitchen.stock
        rows = without_wild(stock.X, stock.weights)
        return Outputs(Linear.standardised(stock.X, rows), len(problem.labels))

    def _jury(
        self, ledger: Ledger, kitchen: ManyKitchen, rng: np.random.Generator
    ) -> CountingJury | AskingJury:
        problem, n = ledger.problem, len(ledger.problem.valid)
        small = n < FEWEST
        weights = np.ones((n, 1)) if few(problem) else replicate_weights(n, self.replicates, rng)
        moves = self.thresholds and not small
        if not self.learners:
            moves = moves and getattr(problem.model, "intercept", True)
        if isinstance(problem.metric, ConfusionMetric | LabelMetric):
            counting = Counting.build(problem.metric, problem.valid, kitchen.classes, weights)
            return CountingJury(counting, kitchen.fold, ledger, moves)
        return AskingJury.build(ledger, kitchen.classes, weights, moves, kitchen.fold)

    def _domain(self, problem: Problem, kitchen: ManyKitchen) -> Floats64 | None:
        """Return how much each training row looks like the judging rows; None if they are one."""
        if problem.valid is problem.train:
            return None
        if not self.domain:
            return np.ones(len(problem.train))
        model = Linear.standardised(kitchen.train.X, kitchen.train.weights)
        return domain_weights(model, kitchen.train, kitchen.valid, X=kitchen.both.X)

    def _recipes(self, room: ManyRoom) -> Iterator[Recipe]:
        """Yield recipes, family by family; the last of each follow its best candidate so far."""
        for family in room.trainers:
            plain = (replace(one, family=family) for one in self._plain(room, family))
            if family == LINEAR and np.any(room.wild) and not few(room.problem):
                yield from sparing(room, plain)
            yield from plain
            if self.frontier and not few(room.problem):
                yield from steps(room, slices(room), family)

    def _plain(self, room: ManyRoom, family: str) -> Iterator[Recipe]:
        """Yield the recipes that need not wait for the metric."""
        kitchen = room.kitchens[family]
        if few(room.problem):
            loss = None if room.classes.exclusive else as_loss("logistic")
            for tag, part in ENDS:
                rows = evened(kitchen.train, kitchen.train.weights, room.classes, part)
                yield Recipe(f"few rows{tag}", rows, strength=1.0, loss=loss)
            return
        enough = len(room.problem.valid) >= FEWEST
        use = self.use_validation is not False and enough
        only = self.use_validation is True and enough
        trainer = room.trainers[family]
        first = many_recipes(kitchen, room.domain, use)
        for recipe in chain(first, source_recipes(kitchen), rest_recipes(kitchen)):
            if trainer.takes(recipe) and (recipe.valid is not None or not only):
                yield recipe

    def _conclude(self, room: ManyRoom, running: list[Heard], status: Status) -> Solution:
        """Average by votes, tune the offsets of the average, and say what each slice was worth."""
        exclusive = room.classes.exclusive
        share = shares(running, self.averaged, exclusive)
        mean = average(running, share, exclusive)
        told = room.jury.tune(mean.valid) if room.jury.price == 1 else room.jury.judge(mean.valid)
        plain = running[0].told
        model = summed([(mean.model, 1.0, told.offsets)])
        recipe = mean.recipe
        if plain.mean < told.mean:
            # Never behind the plain model at its best offsets.
            told, share = plain, np.eye(len(running))[0]
            model = summed([(running[0].served.model, 1.0, plain.offsets)])
            recipe = running[0].served.recipe
        return concluded(room, running, share, model, recipe, told, status)


def in_plain_form(kitchen: ManyKitchen, plain: Plain | None) -> ManyKitchen:
    """Return the kitchen with features that linear models can read, in their faster form."""

    def form(X: Matrix) -> Matrix:
        return lighter(X if plain is None else plain.table(X))

    train, valid = (replace(data, X=form(data.X)) for data in (kitchen.train, kitchen.valid))
    return replace(kitchen, train=train, valid=valid, both=train.followed_by(valid))
