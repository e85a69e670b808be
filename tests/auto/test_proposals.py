"""Proposals: plain ones first, none twice, and each metric's own where it reads more."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import QuantileRegressor, Ridge
from sklearn.metrics import mean_pinball_loss

from anymetric import MetricRegressor
from anymetric.auto.constants import RIDGES, TRIED
from anymetric.auto.families.ranking import QueryRows
from anymetric.auto.proposals import regression
from anymetric.auto.proposals.ranking import ranking_proposals
from anymetric.auto.proposals.regression import Spectrum, regression_proposals, regression_trees
from anymetric.auto.proposals.weights import (
    few_proposals,
    followed,
    linear_proposals,
    mixed_shares,
    ridge_path,
    tree_proposals,
)
from anymetric.auto.records import Assessment, Candidate, Predictions, Proposal, Weighting
from anymetric.auto.sample import Sample
from anymetric.auto.task import Task
from anymetric.data import Data
from anymetric.losses import Huber, Lp, Squared
from anymetric.metrics import Profit, as_metric
from anymetric.models import Linear, LinearScorer, ensemble
from anymetric.problem import Problem
from anymetric.surrogates import Pairwise, Slices, Softmax

from .samples import sample


def told(proposals, table, cost=lambda proposal: 0.5, offset=0.0, n=120):
    """Take every proposal, and write its line as whoever asks must."""
    taken = []
    for proposal in proposals:
        taken.append(proposal)
        scores = np.zeros((n, 1))
        costs = np.full(3, cost(proposal))
        table.add(
            Candidate(proposal, None, scores),
            Assessment(np.full(1, offset), costs[0], costs, scores),
        )
    return taken


def problem_of(found, spec, **columns):
    def with_columns(data):
        rng = np.random.default_rng(len(data))
        side = {name: of(len(data), rng) for name, of in columns.items()}
        return Data(data.X, data.y, data.weights, side)

    train, valid = with_columns(found.train), with_columns(found.valid)
    one = train if len(train) else valid
    other = Sample(found.task, train, valid, found.fold, found.density_ratio)
    surrogates = Slices("logistic", ("class",)) if len(np.unique(one.y)) == 2 else []
    return other, Problem(one, surrogates, as_metric(spec), valid, labels=found.task.labels)


def groups(n, rng):
    return rng.choice(["a", "b"], n)


def source(n, rng):
    return rng.choice(["balanced", "half balanced", "other"], n)


def amount(n, rng):
    return rng.exponential(size=n)


CASES = {
    "one sample": (0, "f1", {}),
    "two samples": (120, "f1", {}),
    "an order": (120, "roc_auc", {}),
    "groups": (120, "group_mean_f1", {"groups": groups}),
    "sources": (120, "f1", {"source": source}),
    "amounts": (120, Profit(tp="amount", fp=-1.0), {"amount": amount}),
}


def proposals_of(case, rng, use=True, ratio=None):
    train, spec, columns = CASES[case]
    found, problem = problem_of(sample("two", rng, train=train, valid=120), spec, **columns)
    if ratio is not None:
        found = Sample(found.task, found.train, found.valid, found.fold, ratio)
    lines, trees = Predictions(), Predictions()
    return (
        told(linear_proposals(found, problem, lines, use), lines),
        told(tree_proposals(found, problem, trees, use, "boosted"), trees),
    )


@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_no_proposal_comes_twice(case, shifted, rng):
    ratio = rng.exponential(size=120) if shifted and CASES[case][0] else None
    for proposals in proposals_of(case, rng, ratio=ratio):
        names = [one.name for one in proposals]
        assert len(set(names)) == len(names)
        assert len({(one.weighting, one.strength, one.note) for one in proposals}) == len(names)


@pytest.mark.parametrize("case", CASES)
def test_the_plain_model_is_among_the_first(case, rng):
    for proposals in proposals_of(case, rng):
        assert any(one.plain for one in proposals[:2])
        assert len(proposals) < 80


def test_metrics_that_read_more_have_proposals_of_their_own(rng):
    for case, read in (
        ("groups", lambda one: one.cells),
        ("sources", lambda one: one.only),
        ("amounts", lambda one: one.amounts),
    ):
        lines, trees = proposals_of(case, rng)
        plain, _ = proposals_of("two samples", rng)
        assert any(read(one.weighting) for one in lines)
        assert case == "groups" or any(read(one.weighting) for one in trees)
        assert not any(read(one.weighting) for one in plain)


@pytest.mark.parametrize("use", [True, False])
def test_validation_rows_train_only_if_they_may(use, rng):
    for proposals in proposals_of("two samples", rng, use):
        assert any(one.weighting.rows != "train" for one in proposals) == use


def test_importance_weighting_is_proposed_where_the_samples_differ(rng):
    for ratio, like in ((np.ones(120), False), (rng.exponential(size=120), True)):
        for proposals in proposals_of("two samples", rng, ratio=ratio):
            assert any(one.weighting.importance > 0.0 for one in proposals) == like


@given(st.lists(st.floats(0.0, 1.0), min_size=len(RIDGES), max_size=len(RIDGES)))
@settings(max_examples=40, deadline=None)
def test_the_ridge_rises_as_long_as_it_pays(costs):
    table, best = Predictions(), []

    def climb():
        best.append((yield from ridge_path([Weighting()], table)))

    tried = [
        one.strength for one in told(climb(), table, lambda p: costs[RIDGES.index(p.strength)])
    ]
    least = [min(costs[: k + 1]) for k in range(len(costs))]
    ends = [k for k in range(TRIED - 1, len(costs)) if costs[k] >= least[k - 1]]
    assert tried == list(RIDGES[: (ends[0] + 1 if ends else len(RIDGES))])
    assert costs[RIDGES.index(best[0])] == min(costs[: len(tried)])


@pytest.mark.parametrize("like", [0.0, 1.0])
def test_mixtures_of_trees_follow_the_best_of_the_training_rows(like, rng):
    found, problem = problem_of(sample("two", rng, train=120, valid=60), "f1")
    ratio, table = rng.exponential(size=120), Predictions()
    found = Sample(found.task, found.train, found.valid, found.fold, ratio)
    cost = lambda p: 0.1 if p.weighting.importance == like else 0.5  # noqa: E731
    proposals = told(tree_proposals(found, problem, table, True, "boosted"), table, cost, n=60)
    mixed = [one for one in proposals if one.weighting.rows == "both"]
    assert mixed
    assert all(one.weighting.importance == like for one in mixed)


def test_a_handful_of_rows_gets_the_two_plainest(rng):
    proposals = list(few_proposals())
    assert [one.weighting.balance for one in proposals] == [0.0, 1.0]


# Numbers.


@pytest.mark.parametrize("leans", [False, True])
@pytest.mark.parametrize("train", [0, 120])
def test_losses_lean_where_predictions_were_moved(train, leans, rng):
    found = sample("numbers", rng, train=train, valid=120)
    table = Predictions()
    offset = 0.7 if leans else 0.0
    proposals = told(regression_proposals(found, Linear(), table, True), table, offset=offset)
    names = [one.name for one in proposals]
    assert proposals[0].plain
    assert len(set(names)) == len(names)
    assert any("tilted" in name for name in names) == leans
    assert any("+ valid" in name for name in names) == bool(train)


def test_targets_of_one_sign_have_relative_errors(rng):
    found = sample("numbers", rng, train=0, valid=120)
    for y, relative in ((np.abs(found.valid.y) + 1.0, True), (found.valid.y - 3.0, False)):
        rows = Data(found.valid.X, y)
        other, table = Sample(Task(None), rows.take(np.arange(0)), rows, found.fold), Predictions()
        proposals = told(regression_proposals(other, Linear(), table, True), table)
        assert any(one.weighting.relative for one in proposals) == relative


def test_trees_of_numbers_are_proposed_once_each(rng):
    found = sample("numbers", rng, train=120, valid=120)
    proposals = list(regression_trees(found, Predictions(), True, "boosted"))
    assert proposals[0].plain
    assert len({one.name for one in proposals}) == len({id(one) for one in proposals})


@pytest.mark.parametrize(
    ("costs", "tried"),
    [
        ({}, True),
        ({Squared(): 1.0, Huber(0.2): 1.1}, False),
        ({Squared(): 1.0, Lp(1.5): 0.9}, True),
        ({Squared(): 1.0, Lp(4.0): 0.9}, False),
    ],
)
def test_trees_have_robust_losses_where_lines_gain_by_them(rng, monkeypatch, costs, tried):
    monkeypatch.setattr(regression, "CHEAP", 100)
    found, table = sample("numbers", rng, train=120, valid=0), Predictions()
    for loss, cost in costs.items():
        one = Assessment(np.zeros(1), cost, np.full(3, cost), np.zeros((2, 1)))
        table.add(Candidate(Proposal(Weighting(), 1.0, loss), None, np.zeros((2, 1))), one)
    proposals = list(regression_trees(found, table, True, "boosted"))
    assert any(one.loss is not None for one in proposals) == tried


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_the_best_ridge_and_its_fit_are_those_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 30)), int(rng.integers(1, 8))
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    weights = rng.integers(1, 4, n).astype(float)
    ridge, fit = Spectrum.of(X, weights, True).best(y)

    def solved(strength):
        model = Ridge(alpha=0.5 * strength).fit(X, y, sample_weight=weights)
        centred = np.sqrt(weights)[:, None] * (X - np.average(X, axis=0, weights=weights))
        gram = centred.T @ centred
        kept = np.trace(np.linalg.solve(gram + 0.5 * strength * np.eye(d), gram))
        free = weights.sum() - 1 - kept
        return model.predict(X), float(weights @ (y - model.predict(X)) ** 2) / free**2

    np.testing.assert_allclose(fit, solved(ridge)[0], atol=1e-8)
    least = min(solved(one)[1] for one in regression.RIDGES)
    assert solved(ridge)[1] <= least * (1 + 1e-9)


@pytest.mark.parametrize("delta", [0.03, 0.2, 1.0])
def test_the_firmness_of_a_ridge_is_the_share_of_residuals_with_curvature(delta):
    share = 2.0 * stats.norm.cdf(delta) - 1.0
    assert regression.firmness(Huber(delta)) == pytest.approx(share, rel=0.03)
    assert regression.firmness(Squared()) == 1.0


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_lines_that_leave_little_noise_reach_the_quantile_regression(quantile):
    rng = np.random.default_rng(0)
    common = rng.normal(size=(900, 1))
    X = np.hstack([common + 0.05 * rng.normal(size=(900, 6)), rng.normal(size=(900, 2))])
    y = X @ [3.0, -2.0, 4.0, 1.0, -3.0, 2.0, 1.0, 0.5] + 0.02 * rng.standard_t(4, size=900)
    train, test = slice(0, 500), slice(500, 900)
    reg = MetricRegressor(f"pinball_{quantile}", model="linear", random_state=0)
    exact = QuantileRegressor(quantile=quantile, alpha=0.0)
    ours, theirs = (
        mean_pinball_loss(y[test], one.fit(X[train], y[train]).predict(X[test]), alpha=quantile)
        for one in (reg, exact)
    )
    assert ours < 1.05 * theirs


# Rankings.


def queries(rng, single=True):
    query = np.repeat(np.arange(40), 5)
    y = np.where(rng.random(200) < 0.4, 1.0, -1.0)
    data = Data(rng.normal(size=(200, 2)), y, side={"query": query})
    parts = (data, data) if single else (data.take(np.arange(100)), data.take(np.arange(100, 200)))
    spec = [Pairwise(), Softmax(), Pairwise("hinge")]
    problem = Problem(parts[0], spec, as_metric("map"), parts[1], labels=(0, 1))
    return QueryRows.of(problem, rng)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize(("use", "some", "every"), [(False, 0, 0), ("auto", 1, 0), (True, 1, 1)])
def test_rankings_try_each_surrogate_all_and_mixtures_of_the_best(single, use, some, every, rng):
    rows, table = queries(rng, single), Predictions()
    cost = lambda p: float(p.surrogates @ [0.1, 0.2, 0.9])  # noqa: E731
    proposals = told(ranking_proposals(rows, table, use, "linear"), table, cost)
    names = [one.name for one in proposals]
    assert len(set(names)) == len(names)
    assert all(one.surrogates.sum() == pytest.approx(1.0) for one in proposals)
    first = [tuple(one.surrogates) for one in islice(proposals, 4)]
    assert first == [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1 / 3, 1 / 3, 1 / 3)]
    assert any(tuple(one.surrogates) == (0.5, 0.5, 0.0) for one in proposals)
    joined = [one.weighting.rows == "both" for one in proposals]
    assert (any(joined), all(joined)) == (not single and some, not single and every)


def test_slices_that_the_user_names_are_proposed(rng):
    found, problem = problem_of(sample("two", rng, train=120, valid=120), "f1", region=groups)
    spec = Slices("logistic", ("class", "region"))
    named = Problem(problem.train, spec, problem.metric, problem.valid, labels=(0, 1))
    for one, there in ((problem, False), (named, True)):
        table = Predictions()
        proposals = told(linear_proposals(found, one, table, True), table)
        only = [p.weighting.only for p in proposals if p.weighting.only]
        assert any(column == "region" for column, *_ in only) == there


def test_trees_follow_the_sources_and_the_share_that_served_lines_best():
    table = Predictions()
    weightings = [Weighting(only=("source", name, True)) for name in "abc"]
    mixtures = [Weighting("both", share) for share in (0.2, 0.5)]
    for weighting, cost in zip([*weightings, *mixtures], (0.3, 0.1, 0.2, 0.4, 0.3), strict=True):
        scores = np.zeros((2, 1))
        found = Assessment(np.zeros(1), cost, np.full(3, cost), scores)
        table.add(Candidate(Proposal(weighting), None, scores), found)
    assert followed(table, weightings) == [weightings[1], weightings[2]]
    assert followed(Predictions(), weightings) == weightings
    data = Data(np.zeros((4, 1)), np.array([1.0, -1.0, 1.0, -1.0]))
    rows = Sample(Task((0, 1)), data, data, np.arange(4))
    assert mixed_shares(rows, table) == [0.5, 0.85]
    assert mixed_shares(rows, Predictions()) == [0.5, 0.85]
    assert mixed_shares(rows, table, by_row=True) == sorted({rows.natural, 0.5, 0.85})


def test_scores_by_blocks_are_those_of_all_rows(monkeypatch, rng):
    X = rng.normal(size=(10, 3)).astype(np.float32)
    line = LinearScorer(rng.normal(size=3), 0.5)
    whole = line.scores(X)
    monkeypatch.setattr(ensemble, "ROWS", 4)
    np.testing.assert_array_equal(line.scores(X), whole)
