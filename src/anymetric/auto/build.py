"""Build: rows, families, judge and decision rule for a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from anymetric.auto.constants import (
    CALLED_RESAMPLES,
    CLASS_FOR_TREES,
    FEWEST_ROWS,
    ROWS_FOR_TREES,
)
from anymetric.auto.covariate_shift import density_ratio
from anymetric.auto.decisions import (
    Bias,
    ClassOffsets,
    Competing,
    Decision,
    DecisionRule,
    GroupThresholds,
    NoRule,
    RowThresholds,
    SigmoidCalibration,
    Threshold,
    top_of,
)
from anymetric.auto.families.base import Family
from anymetric.auto.families.features import Features
from anymetric.auto.families.learned import LearnerFamily
from anymetric.auto.families.linear import LinearFamily
from anymetric.auto.families.multinomial import MultinomialFamily
from anymetric.auto.families.ranking import QueryRows, RankingFamily
from anymetric.auto.families.ranking_trees import Boosting, RankingTrees
from anymetric.auto.judges.base import Judge
from anymetric.auto.judges.bootstrap import bootstrap_weights
from anymetric.auto.judges.calls import CallsJudge, affordable
from anymetric.auto.judges.classes import ClassesJudge
from anymetric.auto.judges.counts import CountsJudge
from anymetric.auto.judges.gains import amounts_of, find_gains
from anymetric.auto.judges.learned import learn_formula
from anymetric.auto.judges.queries import QueriesJudge, query_resamples
from anymetric.auto.judges.study import partition_of
from anymetric.auto.records import LINEAR, Proposal, Weighting
from anymetric.auto.sample import Sample, dealt
from anymetric.auto.task import Task
from anymetric.ledger import Ledger
from anymetric.metrics import (
    BoundQueries,
    Classes,
    ConfusionMetric,
    DecisionMetric,
    GainMetric,
    LabelMetric,
)
from anymetric.metrics.ranked import QUERY
from anymetric.models import Learner
from anymetric.models.base import Bounded
from anymetric.problem import Problem


class Settings(Protocol):
    """The settings of `Auto` that are read here."""

    @property
    def resamples(self) -> int:
        """Bootstrap resamples."""

    @property
    def use_validation(self) -> Literal["auto"] | bool:
        """Whether validation rows train too."""

    @property
    def importance_weighting(self) -> bool:
        """Whether training rows are weighted by their density ratio to the validation rows."""

    @property
    def decision(self) -> Decision:
        """The decision rule."""

    @property
    def learners(self) -> tuple[Learner, ...]:
        """Families beside linear models."""

    @property
    def linear(self) -> bool:
        """Whether linear models compete."""

    @property
    def categorical(self) -> tuple[int, ...]:
        """Columns of codes."""

    @property
    def standardize(self) -> bool:
        """Whether features are standardised."""

    @property
    def judge(self) -> Callable[..., Judge] | None:
        """A judge instead of the default."""


def query_rows(problem: Problem, rng: np.random.Generator) -> QueryRows | None:
    """Return the rows by query where whole queries must train and validate; None where not."""
    there = QUERY in problem.train.side and QUERY in problem.valid.side
    needs = [problem.metric.needs, *(s.needs for s in problem.profiler.surrogates)]
    asked = any(QUERY in names for names in needs)
    by_query = there and asked and problem.labels is not None and not problem.metric.decides
    return QueryRows.of(problem, rng) if by_query else None


def sample_of(
    problem: Problem, rows: QueryRows | None, rng: np.random.Generator, settings: Settings
) -> tuple[Sample, Features]:
    """Arrange the rows, find the features of linear models and how alike the samples are."""
    task = Task(problem.labels)
    fold = dealt(problem.valid.y, rng) if rows is None else rows.fold
    sample = Sample.of(problem, task, fold)
    model = getattr(problem.model, "linear", problem.model)
    intercept = bool(getattr(model, "intercept", True))
    features = Features.of(
        sample,
        categorical=settings.categorical,
        standardize=settings.standardize,
        intercept=intercept,
        rotate=rows is None,
    )
    if not sample.single and rows is None:
        ratio = np.ones(len(sample.train))
        if settings.importance_weighting:
            read = features.read(sample)
            ratio = density_ratio(features.model, read.train, read.valid, X=read.both.X)
        sample = replace(sample, density_ratio=ratio)
    return sample, features


def families_of(
    problem: Problem,
    sample: Sample,
    rows: QueryRows | None,
    features: Features,
    settings: Settings,
) -> dict[str, Family]:
    """Return the families, linear models first; trees only where rows can feed them."""
    found: dict[str, Family] = {}
    if settings.linear:
        if rows is not None:
            found[LINEAR] = RankingFamily.of(rows, sample, features)
        elif sample.task.many:
            found[LINEAR] = MultinomialFamily.of(sample, features)
        else:
            found[LINEAR] = LinearFamily.of(sample, features)
    for learner in settings.learners:
        if found and not feeds(learner, sample, rows):
            continue
        if rows is None:
            stopping = settings.use_validation is not False and not sample.few
            found[learner.family] = LearnerFamily(learner, sample, stopping)
        elif isinstance(learner, Boosting):
            found[learner.family] = RankingTrees(learner, rows, sample)
        else:
            raise TypeError(
                "By query, linear models and boosted trees can be trained: model must be "
                f"'linear', 'boosted', 'auto' or Boosted(...); got {learner!r}."
            )
    return found


def feeds(learner: Learner, sample: Sample, rows: QueryRows | None) -> bool:
    """Return whether a family should be tried on these rows, beside others.

    Where validation rows are few and given apart, a family more is a chance more to be lucky on
    them: on five public tasks a forest costs 0.001 to 0.013 there, at four times the seconds.
    """
    if isinstance(learner, Bounded):
        apart = sample.task.many and not sample.task.exclusive
        return rows is None and sample.single and not apart and learner.suits(sample.valid)
    return enough_for_trees(sample)


def enough_for_trees(sample: Sample) -> bool:
    """Return whether there are rows enough, and of every class, for trees beside lines."""
    data = sample.stock
    classes = [int(np.count_nonzero(own)) for own in sample.task.strata(data.y)]
    if sample.task.many and not sample.task.exclusive:
        classes = []
    return len(data) >= ROWS_FOR_TREES and min(classes, default=CLASS_FOR_TREES) >= CLASS_FOR_TREES


def judge_of(
    ledger: Ledger,
    sample: Sample,
    rows: QueryRows | None,
    family: Family,
    rng: np.random.Generator,
    settings: Settings,
) -> Judge:
    """Return the judge that needs the fewest calls for the metric.

    Exact for metrics of counts; by a learned formula for functions of counts; by calling for
    everything else. A function that is found to be a sum of every row's gains is exact too.
    """
    problem, task = ledger.problem, sample.task
    metric, n = problem.metric, len(problem.valid)
    if rows is not None and settings.judge is None:
        bound = problem.judge
        if isinstance(bound, BoundQueries):
            return QueriesJudge.of(ledger, bound, settings.resamples, rng)
        thresholds, count = affordable(ledger.evaluations)
        return CallsJudge(ledger, task, query_resamples(problem, count, rng), thresholds)
    few = sample.few
    weights = np.ones((n, 1)) if few else bootstrap_weights(n, settings.resamples, rng)
    if settings.judge is not None:
        return settings.judge(ledger, sample, weights)
    if isinstance(problem.labels, Classes):
        if isinstance(metric, ConfusionMetric | LabelMetric):
            return ClassesJudge.of(metric, problem.valid, problem.labels, weights, ledger)
        return CallsJudge.of(ledger, task, weights[:, : CALLED_RESAMPLES // 2])
    if isinstance(metric, DecisionMetric) and movable(problem):
        return CountsJudge.of(metric, problem.valid, weights, ledger)
    plain = settings.decision != "none" and not few and movable(problem)
    counts = partition_of(problem) is not None
    if plain and (counts or amounts_of(problem)):
        first = family.fit(Proposal(Weighting(sample.source), family=family.name), None, rng)
        if counts:
            learned = learn_formula(ledger, first.valid, weights, rng)
            if learned is not None:
                return learned
        elif (gains := find_gains(ledger, first.valid, rng)) is not None:
            return CountsJudge.of(gains, problem.valid, weights)
    return CallsJudge.of(ledger, task, weights)


def rule_of(
    problem: Problem, sample: Sample, rows: QueryRows | None, judge: Judge, settings: Settings
) -> DecisionRule:
    """Return the decision rule that the user names, or the default of the metric."""
    decision, metric, valid = settings.decision, problem.metric, sample.valid
    if not isinstance(decision, str | tuple):
        return decision
    top = top_of(decision, metric)
    if rows is None and top is not None and not sample.task.many and not sample.task.numbers:
        return top
    gains = row_gains(problem, judge)
    if decision == "auto":
        return usual_rule(problem, sample, rows, gains)
    if decision == "threshold":
        return Threshold()
    if decision == "row":
        if gains is None:
            raise ValueError(
                f"decision='row' weighs every row's own gains; {metric.name!r} was not found to be "
                "a sum of gains that are linear in its columns. Give RowGains(f) of a function "
                "that returns each row's gain."
            )
        return RowThresholds(valid, gains)
    if decision == "group":
        both = np.concatenate([sample.train.side["groups"], valid.side["groups"]])
        names, member = np.unique(both, return_inverse=True)
        return GroupThresholds(names.tolist(), member[len(sample.train) :])
    if decision == "offsets":
        return ClassOffsets(sample.fold, valid.y, sample.task.exclusive)
    return NoRule()


def row_gains(problem: Problem, judge: Judge) -> GainMetric | None:
    """Return what each row brings: the metric's own gains, or those that were found of it."""
    return problem.metric if isinstance(problem.metric, GainMetric) else judge.gains


def usual_rule(
    problem: Problem, sample: Sample, rows: QueryRows | None, gains: GainMetric | None
) -> DecisionRule:
    """Return the default decision rule of the metric."""
    task, metric, valid = sample.task, problem.metric, sample.valid
    if rows is not None or not movable(problem):
        return NoRule()
    if task.numbers:
        return NoRule() if sample.few else Bias(valid)
    if not metric.decides:
        calibrated = metric.probabilistic and not task.many and not sample.few
        return SigmoidCalibration(valid) if calibrated else NoRule()
    if task.many:
        enough = len(valid) >= FEWEST_ROWS
        return ClassOffsets(sample.fold, valid.y, task.exclusive) if enough else NoRule()
    if gains is not None and gains.needs and not sample.few:
        # Of a function nobody has said that its columns are known when decisions are made.
        by_row = RowThresholds(valid, gains, optional=gains is not metric)
        return Competing((by_row, Threshold()))
    return Threshold()


def movable(problem: Problem) -> bool:
    """Return whether scores may be shifted: the model has an intercept."""
    return bool(getattr(problem.model, "intercept", True))
