"""Class x group weights: the walk does not stop while plain weighted fits improve."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from anymetric import MetricClassifier
from anymetric.auto.proposals.groups import MOST_FITS, group_search
from anymetric.auto.records import Assessment, Candidate, Predictions, Proposal, Weighting
from anymetric.metrics import as_metric


def walked(cost_of, metric="penalised_demographic_parity"):
    """Return the factors that a walk tries where a fit costs what a function of them says."""
    data = SimpleNamespace(side={"groups": np.array(["a", "b"] * 5)})
    task = SimpleNamespace(many=False, numbers=False)
    sample = SimpleNamespace(stock=data, task=task, source="all")
    problem = SimpleNamespace(metric=as_metric(metric))
    table, seen = Predictions(), []

    def add(proposal):
        factors = {(y, g): f for y, g, f in proposal.weighting.cells}
        cost = cost_of(factors)
        zeros = np.zeros((2, 1))
        one = Assessment(np.zeros(1), cost, np.array([cost]), zeros)
        table.add(Candidate(proposal, None, zeros), one)
        seen.append(factors)

    add(Proposal(Weighting("all")))
    for proposal in group_search(sample, problem, table):
        add(proposal)
    return seen, [one.cost for one in table.assessments]


def tilt(factors):
    return np.log2(factors.get((1.0, "b"), 1.0)) - np.log2(factors.get((-1.0, "b"), 1.0))


@pytest.mark.parametrize("best", [-8.0, 0.0, 10.0])
def test_the_walk_goes_on_while_fits_improve_and_then_stops(best):
    seen, costs = walked(lambda factors: 0.1 + 0.01 * abs(tilt(factors) - best))
    assert min(costs) <= 0.1 + 0.01 * 0.5 + 1e-9
    assert len(seen) <= 1 + MOST_FITS


def test_a_metric_without_groups_proposes_nothing():
    assert len(walked(lambda factors: 0.0, "f1")[0]) == 1


@pytest.mark.parametrize("inside", [True, False])
def test_parity_costs_no_more_than_fifteen_weighted_regressions(inside):
    def sample(seed, n):
        rng = np.random.default_rng(seed)
        group = (rng.random(n) < 0.4).astype(int)
        X = rng.normal(size=(n, 4)) + np.outer(group, [1.2, -0.5, 0.0, 0.0])
        y = (X @ [1.0, 0.8, 0.5, 0.0] + 0.6 * group + rng.logistic(size=n) > 0.4).astype(int)
        return np.column_stack([X, group]) if inside else X, y, group

    def cost(y, decided, group):
        return np.mean(y != decided) + abs(decided[group == 0].mean() - decided[group == 1].mean())

    (X, y, group), (new, truth, other) = sample(110, 1200), sample(111, 8000)
    ours = MetricClassifier("penalised_demographic_parity", random_state=0).fit(X, y, groups=group)
    best = np.inf, None
    for a in (0.25, 0.5, 1.0, 2.0, 4.0):
        for b in (1 / 3, 1.0, 3.0):
            weights = np.select([(group == 1) & (y == 1), group == 1], [a, b], 1.0)
            line = LogisticRegression().fit(X, y, weights)
            best = min(best, (cost(y, line.predict(X), group), line), key=lambda one: one[0])
    plain = cost(truth, best[1].predict(new), other)
    assert cost(truth, ours.predict(new), other) < plain + 0.01
