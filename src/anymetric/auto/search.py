"""Search: proposals are trained and assessed one after another, until a stopping rule applies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anymetric.auto.decisions import DecisionRule
from anymetric.auto.families.base import Family, nearest
from anymetric.auto.judges.base import Judge
from anymetric.auto.records import Assessment, Candidate, Predictions, Proposal
from anymetric.auto.sample import Sample
from anymetric.ledger import BudgetSpent, Ledger, Probe
from anymetric.metrics.evaluations import decided
from anymetric.metrics.subjects import about
from anymetric.models import Ensemble, Linear, Outputs, Scorer
from anymetric.models.ensemble import single_linear
from anymetric.problem import Problem
from anymetric.solution import Iteration, Status

Floats64 = NDArray[np.float64]
Watcher = Callable[[Iteration], bool | None]
# Scores of a candidate that are kept in double precision: 32 MB.
MANY = 1 << 22


@dataclass(eq=False)
class Search:
    """The state of one run: rows, families, a judge, a rule, and the predictions table.

    Attributes
    ----------
    ledger : Ledger
    sample : Sample
    families : mapping from name to Family
        In the order in which they are tried.
    judge : Judge
    rule : DecisionRule
    rng : numpy Generator
    max_seconds : float, optional
        After so many no further proposal is trained.
    table : Predictions
    iterations : list of Iteration
        One for every line of the table.
    """

    ledger: Ledger
    sample: Sample
    families: Mapping[str, Family]
    judge: Judge
    rule: DecisionRule
    rng: np.random.Generator
    max_seconds: float | None = None
    table: Predictions = field(default_factory=Predictions)
    iterations: list[Iteration] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    @property
    def problem(self) -> Problem:
        """The problem that is solved."""
        return self.ledger.problem

    def run(self, proposals: Iterator[Proposal], watch: Watcher | None = None) -> Status:
        """Train and assess proposals until there are no more, or no calls, or no time."""
        try:
            for proposal in proposals:
                if len(self.table) and self.judge.spent:
                    return Status.BUDGET
                if len(self.table) and self._late():
                    return Status.TIME
                if self.families[proposal.family].takes(proposal):
                    iteration = self.add(proposal)
                    if iteration is not None and watch is not None and watch(iteration):
                        return Status.STOPPED
        except BudgetSpent:
            return Status.BUDGET
        return Status.SELECTED

    def add(self, proposal: Proposal) -> Iteration | None:
        """Write a line of the table; a candidate for which there is no answer has none."""
        began = time.perf_counter()
        family = self.families[proposal.family]
        near = nearest(proposal, self.table.candidates)
        candidate = family.fit(proposal, near, self.rng.spawn(1)[0])
        what = {"stage": "candidate", "iteration": len(self.iterations), **proposal.about}
        with about(**what):
            assessment = replace(self.rule.assess(candidate.valid, self.judge), about=what)
        if not np.isfinite(assessment.cost):
            return None
        here = self.probe(candidate.scorer, assessment)
        seconds = time.perf_counter() - began
        iteration = Iteration(
            len(self.iterations),
            0,
            here,
            here.profile,
            calls=self.ledger.calls,
            seconds=seconds,
            family=proposal.family,
        )
        self.table.add(*thinned(candidate, assessment))
        self.iterations.append(iteration)
        return iteration

    def probe(self, scorer: Scorer, found: Assessment) -> Probe:
        """Return scores at their decision rule as one evaluation with its profile.

        Where there is but one sample, the profile is that of the out-of-fold scores.
        """
        problem = self.problem
        scores = found.scores
        if problem.valid is not problem.train:
            raw = np.asarray(scorer.scores(problem.train.X), dtype=np.float64)
            scores = found.scale * raw.reshape(len(problem.train), -1) + found.offsets
        profile = np.asarray(problem.profiler.values(scores.reshape(-1)))
        return Probe(parameters_of(problem, scorer, found), profile, found.cost)

    def finalists(self) -> Predictions:
        """Return the candidates that may be selected, with costs on resamples."""

        def again(k: int, judge: Judge) -> Assessment:
            return self.rule.assess(self.table.candidates[k].valid, judge)

        found = self.judge.finalists(self.table.assessments, again)
        kept = [k for k, one in enumerate(found) if one is not None and one.resampled.size]
        parts: tuple[list[Candidate], list[Assessment]] = ([], [])
        for k in kept:
            parts[0].append(self.table.candidates[k])
            one = found[k]
            assert one is not None
            parts[1].append(one)
        return Predictions(*parts)

    @property
    def flat(self) -> bool:
        """Whether no candidate, threshold or resample changes the cost.

        Candidates that say the same prove nothing.
        """
        found = self.table.assessments
        costs = np.concatenate([np.append(one.resampled, one.cost) for one in found])
        first = self.table.candidates[0].valid
        differ = any(not np.array_equal(first, c.valid) for c in self.table.candidates[1:])
        # A metric that is as good as it can be costs the rounding of its best value.
        metric = self.problem.metric
        best = abs(metric.ceiling) if metric.greater_is_better else 0.0
        unit = max(float(np.abs(costs).max()), best)
        same = differ and bool(np.ptp(costs) <= 1e-14 * unit)
        return same and not self.judge.varies(first)

    def _late(self) -> bool:
        most = self.max_seconds
        if most is None:
            return False
        name = f"the time is up after {len(self.table)} candidates"
        return bool(decided(name, lambda: time.perf_counter() - self.began > most))


def thinned(candidate: Candidate, found: Assessment) -> tuple[Candidate, Assessment]:
    """Return both with scores in single precision, where these are many millions.

    Examples
    --------
    >>> one = Candidate(None, None, np.zeros((2, 1)))
    >>> thinned(one, Assessment(np.zeros(1), 0.0, np.zeros(1), one.valid))[0] is one
    True
    """
    if candidate.valid.size <= MANY:
        return candidate, found
    valid: Any = candidate.valid.astype(np.float32)
    scores: Any = valid if found.scores is candidate.valid else found.scores.astype(np.float32)
    return replace(candidate, valid=valid), replace(found, scores=scores)


def parameters_of(problem: Problem, scorer: Scorer, found: Assessment) -> Floats64:
    """Return the parameters of a line at its decision rule; none of any other model."""
    line = single_linear(scorer if isinstance(scorer, Ensemble) else Ensemble((scorer,), (1.0,)))
    if line is None or not isinstance(problem.model, Linear | Outputs):
        return np.zeros(0)
    weights, offset = line
    moved = found.scale * np.asarray(offset) + (
        found.offsets if isinstance(problem.model, Outputs) else found.offsets[0]
    )
    if isinstance(problem.model, Outputs):
        return problem.model.parameters(found.scale * weights, moved)
    return problem.model.parameters(found.scale * weights, float(moved))
