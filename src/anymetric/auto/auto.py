"""Auto: the default method, from proposals to one model.

Proposals describe what to train; families train them and score the validation rows out of fold; a
judge evaluates scores on bootstrap resamples, at the best setting of a decision rule; a selection
maps costs to shares; the answer is the average of the candidates by their shares, with its own
decision rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.answer import Answer, answer_of
from anymetric.auto.build import families_of, judge_of, query_rows, row_gains, rule_of, sample_of
from anymetric.auto.constants import FEWEST_ROWS
from anymetric.auto.decisions import Decision
from anymetric.auto.families.linear import LinearFamily
from anymetric.auto.judges.base import Judge
from anymetric.auto.proposals.ranking import ranking_proposals
from anymetric.auto.proposals.regression import (
    few_numbers,
    regression_proposals,
    regression_trees,
)
from anymetric.auto.proposals.weights import few_proposals, linear_proposals, tree_proposals
from anymetric.auto.records import LINEAR, Proposal
from anymetric.auto.screening import larger_sample, screened
from anymetric.auto.search import Search, Watcher
from anymetric.auto.selection import BootstrapSelection, Selection
from anymetric.auto.summary import averaged_solution, refitted, single_solution
from anymetric.engines.rows import HeldRows, Rows, RowsLost
from anymetric.ledger import BudgetSpent, Ledger
from anymetric.metrics import MetricError
from anymetric.models import Learner
from anymetric.solution import Solution, Status, keeping

Floats64 = NDArray[np.float64]


@dataclass(frozen=True)
class Auto:
    """The default method; it works without settings.

    Parameters
    ----------
    resamples : int
        Bootstrap resamples of the validation rows.
    use_validation : "auto" or bool
        Whether candidates may train on the validation rows too, which are then scored
        out-of-fold. True: no other candidates. False: validation rows do not train, and where only
        one sample is given, some rows are held out.
    selection : Selection
        `BootstrapSelection()`, `GreedySelection()` or `SingleBest()`.
    transfer : bool
        Whether training rows may be used in threshold tuning.
    importance_weighting : bool
        Whether training rows may be weighted by the density ratio of validation to training rows.
    decision : str, ("top", number or share) or DecisionRule
        The decision rule. ``auto``: depends on the metric. ``threshold``: one threshold.
        ``group``: one for each group, where that improves beyond noise. ``row``: by the gains of
        each row. ``offsets``: one for each of many classes. ``("top", 0.05)``: the best-scored
        rows. ``none``: scores as they are. Or a rule of your own.
    max_seconds : float, optional
        After this time no further candidate is trained.
    learners : tuple of Learner
        Families beside linear models, such as boosted trees.
    linear : bool
        Whether linear models are candidates.
    categorical : tuple of int
        Columns of category codes, one-hot encoded for linear models.
    standardize : bool
        Whether the ridge of linear models sees standardised features.
    judge : callable, optional
        ``(ledger, sample, weights of the resamples) -> Judge``, instead of the default.
    rows : Rows, optional
        All training rows, in files or on other machines, where the problem has but a sample of
        them (`anymetric.engines.rows`); `fit` sets it.

    Examples
    --------
    >>> from anymetric.data import Data
    >>> from anymetric.metrics import as_metric
    >>> from anymetric.problem import Problem
    >>> from anymetric.surrogates import per_class
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> data = Data(X, np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 1.0, 1.0, -1.0))
    >>> problem = Problem(data, per_class("logistic"), as_metric("f1"), labels=(0, 1))
    >>> Auto().run(Ledger(problem), [], rng).cost < 0.35
    True
    """

    takes_starts: ClassVar[bool] = False

    resamples: int = 100
    use_validation: Literal["auto"] | bool = "auto"
    selection: Selection = field(default_factory=BootstrapSelection)
    transfer: bool = True
    importance_weighting: bool = True
    decision: Decision = "auto"
    max_seconds: float | None = None
    learners: tuple[Learner, ...] = ()
    linear: bool = True
    categorical: tuple[int, ...] = ()
    standardize: bool = True
    judge: Callable[..., Judge] | None = None
    rows: Rows | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise ValueError(f"resamples must be at least 1; got {self.resamples}.")
        if not self.linear and not self.learners:
            raise ValueError("linear=False leaves no family to train: give learners.")

    @property
    def cross_fits(self) -> bool:
        """Whether, without validation rows, all rows are cross-fitted."""
        return self.use_validation is not False

    def run(
        self,
        ledger: Ledger,
        starts: Sequence[Floats64],
        rng: np.random.Generator,
        watch: Watcher | None = None,
    ) -> Solution:
        """Train, evaluate, select and decide; `starts` are not used."""
        small, search = screened(ledger, rng), None

        def best(cut: Status) -> Solution | None:
            return single_solution(search, cut) if search and len(search.table) else None

        with keeping(best):
            search = self._search(small, rng)
            status = search.run(self._proposals(search), watch)
            if not len(search.table):
                raise no_costs(ledger, status)
            if search.flat:
                return single_solution(search, Status.FLAT)
            try:
                answer = answer_of(search, self.selection, self.transfer)
            except BudgetSpent:  # by retries, for instance
                answer, status = None, Status.BUDGET
            if answer is None:
                return single_solution(search, status)
            if small is ledger and self.rows is None:
                return averaged_solution(search, answer, status)
            if small is not ledger:
                ledger.calls += small.calls
            rows = HeldRows(ledger.problem.train) if self.rows is None else self.rows
            larger = partial(self._families_only, ledger, search, answer)
            try:
                return refitted(search, answer, status, rows, larger)
            except RowsLost as lost:
                lost.best = averaged_solution(search, answer, Status.FAILED)
                raise

    def _search(self, ledger: Ledger, rng: np.random.Generator) -> Search:
        """Build the families, the judge and the decision rule."""
        problem = ledger.problem
        rows = query_rows(problem, rng)
        sample, features = sample_of(problem, rows, rng, self)
        families = families_of(problem, sample, rows, features, self)
        judge = judge_of(ledger, sample, rows, next(iter(families.values())), rng, self)
        rule = rule_of(problem, sample, rows, judge, self)
        return Search(ledger, sample, families, judge, rule, rng, self.max_seconds)

    def _families_only(self, ledger: Ledger, search: Search, answer: Answer) -> Search:
        """Build the families on all rows, or on as many as memory holds."""
        if self.rows is not None:
            ledger = larger_sample(ledger, self.rows, search.rng)
        used = np.flatnonzero(answer.shares)
        like = any(answer.table.candidates[k].proposal.weighting.importance for k in used)
        settings = replace(self, importance_weighting=self.importance_weighting and like)
        sample, features = sample_of(ledger.problem, None, search.rng, settings)
        families = families_of(ledger.problem, sample, None, features, settings)
        return Search(ledger, sample, families, search.judge, search.rule, search.rng)

    def _proposals(self, search: Search) -> Iterator[Proposal]:
        """Yield what to train, the plainest first."""
        only = self.use_validation is True and not search.sample.single
        for name in search.families:
            for proposal in self._of_family(search, name):
                if not only or proposal.weighting.rows != "train":
                    yield proposal

    def _of_family(self, search: Search, name: str) -> Iterator[Proposal]:
        sample, table, family = search.sample, search.table, search.families[name]
        use = self.use_validation is not False and len(sample.valid) >= FEWEST_ROWS
        if hasattr(family, "rows"):
            return ranking_proposals(family.rows, table, self.use_validation, name)
        if sample.task.numbers and isinstance(family, LinearFamily):
            rows, model = family.sample, family.model
            if sample.few:
                return few_numbers(rows, model)
            return regression_proposals(rows, model, table, use)
        if sample.few:
            return few_proposals(name)
        if sample.task.numbers:
            return regression_trees(sample, table, use, name)
        if name == LINEAR:
            only = self.use_validation is True and not sample.single
            return linear_proposals(family.sample, search.problem, table, use, only)
        by_row = row_gains(search.problem, search.judge) is not None
        return tree_proposals(sample, search.problem, table, use, name, by_row)


def no_costs(ledger: Ledger, status: Status) -> Exception:
    """Return the error of a run in which no candidate has a cost."""
    if status is Status.BUDGET:
        return ValueError(f"max_metric_calls must allow one candidate; got {ledger.max_calls}.")
    name = ledger.problem.metric.name
    return MetricError(f"Metric {name!r} has no answer for any candidate: see why it fails.")
