"""Families: they solve what they say, and no row is scored by a model that knows its label."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from anymetric import Boosted, Reweighted, as_metric
from anymetric.auto.families.base import nearest
from anymetric.auto.families.features import Features
from anymetric.auto.families.learned import SMALL, LearnerFamily
from anymetric.auto.families.linear import left_out, rare_penalty
from anymetric.auto.families.ranking import QueryRows, RankingFamily, weighted_parts
from anymetric.auto.families.ranking_trees import RankingTrees, score_gradient
from anymetric.auto.records import Candidate, Proposal, Weighting
from anymetric.auto.sample import Sample
from anymetric.auto.task import Task
from anymetric.data import Data
from anymetric.losses import Huber, as_loss
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.solvers import WeightedLoss, minimise
from anymetric.surrogates import Pairwise, Softmax

from .samples import drawn, learner, linear, sample

TREE = Reweighted(DecisionTreeClassifier(max_depth=3, min_samples_leaf=3, random_state=0))
REGRESSOR = Reweighted(DecisionTreeRegressor(max_depth=3, min_samples_leaf=3, random_state=0))
BOOSTED = Boosted(trees=20, least_rows=5)
# One tree: other folds, which a row did train, say how many trees it is scored by.
ONE = Boosted(trees=1, learning_rate=1.0, least_rows=5)
FAMILIES = {
    "linear": ("two", linear),
    "linear numbers": ("numbers", linear),
    "multinomial": ("classes", linear),
    "labels": ("labels", linear),
    "tree": ("two", learner(TREE)),
    "tree of classes": ("classes", learner(TREE)),
    "tree of labels": ("labels", learner(TREE)),
    "tree of numbers": ("numbers", learner(REGRESSOR)),
    "boosted": ("two", learner(ONE)),
    "boosted numbers": ("numbers", learner(ONE)),
    "boosted classes": ("classes", learner(ONE)),
}
ROWS = {
    "train": (60, Weighting()),
    "valid": (60, Weighting("valid")),
    "both": (60, Weighting("both", 0.5)),
    "all": (0, Weighting("all")),
    "balanced": (60, Weighting("both", 0.5, balance=1.0)),
}


def another(kind, y):
    """Return a wrong label."""
    return {"two": -y, "numbers": y + 40.0, "classes": (y + 1) % 3, "labels": 5.0 - y}[kind]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_rows_own_label_changes_nothing_in_its_score(name, rows, rng):
    (kind, family), (train, weighting) = FAMILIES[name], ROWS[rows]
    found = sample(kind, rng, train=train)
    proposal = Proposal(weighting)
    before = family(found).fit(proposal, None, np.random.default_rng(0)).valid
    moved = 0
    for i in (0, 17, 44):
        y = found.valid.y.copy()
        y[i] = another(kind, y[i])
        flipped = replace(found, valid=replace(found.valid, y=y))
        after = family(flipped).fit(proposal, None, np.random.default_rng(0)).valid
        np.testing.assert_allclose(after[i], before[i], atol=5e-3 * before.std())
        moved += not np.allclose(after, before)
    assert moved or rows == "train"


@pytest.mark.parametrize("rows", ["valid", "both", "all"])
def test_how_many_trees_a_fold_is_scored_by_hardly_depends_on_it(rows):
    train, weighting = ROWS[rows]
    found = sample("two", np.random.default_rng(0), train=5 * train, valid=200)
    out = found.fold == 2
    flipped = replace(found.valid, y=np.where(out, -found.valid.y, found.valid.y))
    before, after = (
        learner(BOOSTED)(one).fit(Proposal(weighting), None, np.random.default_rng(0)).valid[out, 0]
        for one in (found, replace(found, valid=flipped))
    )
    assert np.corrcoef(before, after)[0, 1] > 0.9


@dataclass(frozen=True)
class Memory:
    """Scores a row 100 if it was trained on, and remembers it by its first feature."""

    family: str = "memory"

    def learn(self, data, rows, rng, *, classes=2, start=None):
        return Remembered(frozenset(data.X[rows > 0.0, 0].tolist()))


@dataclass(frozen=True)
class Remembered:
    seen: frozenset

    def scores(self, X):
        return np.where([value in self.seen for value in X[:, 0]], 100.0, 0.0)


@pytest.mark.parametrize("rows", ROWS)
def test_rows_are_scored_by_models_without_them_and_all_train_the_model_that_is_kept(rows, rng):
    train, weighting = ROWS[rows]
    found = sample("two", rng, train=train)
    family = LearnerFamily(Memory(), found)
    candidate = family.fit(Proposal(weighting), None, rng)
    assert not np.any(candidate.valid)
    used = {"train": found.train, "valid": found.valid}.get(rows, found.both)
    assert np.all(candidate.scorer.scores(used.X) == 100.0)
    if train:
        assert not np.any(family.train_scores(candidate, rng))


# What linear families solve.


@pytest.mark.parametrize("strength", [1.0, 30.0])
@pytest.mark.parametrize("kind", ["two", "numbers", "classes", "labels"])
def test_linear_models_are_scikit_learns_of_the_same_ridge(kind, strength, rng):
    """A ridge of s: sum of losses + s/2 |w|^2, in units of one effective row."""
    weights = rng.uniform(0.5, 2.0, 150)
    found = sample(kind, rng, train=0, valid=150, weights=weights)
    scorer = linear(found).fit(Proposal(Weighting("all"), strength), None, rng).scorer
    X = StandardScaler().fit(found.valid.X, sample_weight=weights).transform(found.valid.X)
    # The mean loss with the ridge over effective rows, as the sum of weighted losses.
    ridge = strength * np.sum(weights**2) / weights.sum()
    y, ours = found.valid.y, scorer.scores(found.valid.X)
    peer = LogisticRegression(C=1.0 / ridge, tol=1e-10, max_iter=5000)
    if kind == "numbers":
        theirs = Ridge(alpha=0.5 * ridge).fit(X, y, sample_weight=weights).predict(X)
    elif kind == "labels":
        members = found.task.members(y)
        theirs = np.column_stack(
            [peer.fit(X, own, weights).decision_function(X) for own in members.T]
        )
    else:
        theirs = peer.fit(X, y, sample_weight=weights).decision_function(X)
    if kind == "classes":
        ours, theirs = (s - s.mean(axis=1, keepdims=True) for s in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, atol=0.02 * np.std(theirs))


@pytest.mark.parametrize("d", [3, 100, 180, 400])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_out_of_fold_scores_are_those_of_models_fitted_without_the_fold(d, share, rng):
    train = 150 if share else 0
    found = sample("two", rng, train=train, valid=200, d=d)
    family = linear(found, standardize=False)
    weighting = Weighting("both", share) if share else Weighting("valid")
    scores = family.fit(Proposal(weighting, 1.0), None, rng).valid[:, 0]
    rows = found.weights(weighting)
    ridge = 1.0 * np.sum(rows.joined**2)
    data = found.both if share else found.valid
    for out in found.folds:
        left = found.weights(weighting, out).joined
        loss = WeightedLoss(Linear(), data, as_loss("logistic"), left, ridge)
        exact = Linear().scores(found.valid.X[out], minimise(loss))
        np.testing.assert_allclose(scores[out], exact, atol=0.02 * np.std(exact))


def test_wide_tables_are_trained_without_their_hessian(rng, monkeypatch):
    X = sparse.random(100, 3000, 0.02, format="csr", random_state=0)
    y = np.where(X @ rng.normal(size=3000) > 0.0, 1.0, -1.0)
    rows = Data(X, y)
    found = Sample(Task((0, 1)), rows.take(np.arange(0)), rows, np.arange(100) % 5)
    square = Linear.hessian

    def small(self, table, curvature):
        assert table.shape[1] < 3000
        return square(self, table, curvature)

    monkeypatch.setattr(Linear, "hessian", small)
    scores = linear(found).fit(Proposal(Weighting("all")), None, rng)
    assert np.mean(np.sign(scores.scorer.scores(X)) == y) > 0.9


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_least_squares_without_a_row_are_exact(kind, rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    data = Data(kind(X), y, rng.uniform(0.5, 2.0, size=30))
    share, ridge = data.weights / data.weights.sum(), 0.1
    objective = WeightedLoss(Linear(intercept=False), data, as_loss("squared"), share, ridge)
    found = left_out(objective, minimise(objective), data, share)
    for i in (0, 7, 29):
        kept = np.arange(30) != i
        theirs = Ridge(alpha=0.5 * ridge, fit_intercept=False)
        theirs.fit(X[kept], y[kept], sample_weight=share[kept])
        assert found[i] == pytest.approx(theirs.predict(X[[i]])[0], rel=1e-6)


def test_a_logistic_regression_without_a_row_is_nearly_refitted(rng):
    X, y = drawn("two", 120, rng, d=12)
    data, share = Data(X, y), np.full(120, 1 / 120)
    objective = WeightedLoss(Linear(), data, as_loss("logistic"), share, 5 / 120)
    theta = minimise(objective)
    own, found = Linear().scores(X, theta), left_out(objective, theta, data, share)
    for i in range(0, 120, 17):
        kept = np.arange(120) != i

        def value(w, kept=kept):
            margins = y[kept] * (X[kept] @ w + theta[-1])  # the intercept stays
            return np.sum(np.logaddexp(0.0, -margins)) / 120 + 2.5 / 120 * w @ w

        alone = X[i] @ minimize(value, theta[:-1], options={"gtol": 1e-7}).x + theta[-1]
        assert abs(found[i] - alone) < 0.1 * abs(own[i] - alone) + 1e-3


def test_training_rows_are_scored_as_if_left_out_where_columns_are_many():
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = sample("two", rng, train=80, valid=30, d=12)
        family = linear(rows)
        candidate = family.fit(Proposal(Weighting(), 10.0), None, rng)
        X, y = drawn("two", 2000, rng, d=12)
        fitted, apart = candidate.scorer.scores(rows.train.X), family.train_scores(candidate, rng)
        pairs = (rows.train.y, fitted), (rows.train.y, apart[:, 0])
        pairs += ((y, candidate.scorer.scores(X)),)
        found.append([np.mean(labels * scores) for labels, scores in pairs])
    trained, left, new = np.mean(found, axis=0)
    assert trained > 1.1 * new
    assert left == pytest.approx(new, rel=0.1)


@pytest.mark.parametrize("kind", ["two", "numbers", "classes", "labels"])
def test_a_handful_of_rows_repeated_is_a_handful_that_weighs_more(kind, rng):
    X, y = drawn(kind, 16, rng)
    counts = rng.integers(1, 4, 16)
    fitted = []
    for rows, weights in ((np.arange(16), counts), (np.repeat(np.arange(16), counts), None)):
        weights = np.ones(len(rows)) if weights is None else weights.astype(float)
        data = Data(X[rows], y[rows], weights)
        task = sample(kind, rng).task
        found = Sample(task, data, data, np.arange(len(rows)) % 5, few=True)
        fitted.append(linear(found).fit(Proposal(Weighting()), None, rng).scorer.scores(X))
    np.testing.assert_allclose(fitted[0], fitted[1], atol=1e-4 * np.std(fitted[0]))


@pytest.mark.parametrize("unit", [0.999, 1e-6, 1e6])
@pytest.mark.parametrize("name", ["linear", "linear numbers", "multinomial", "labels", "boosted"])
def test_the_unit_of_the_weights_does_not_count(name, unit, rng):
    kind, family = FAMILIES[name]
    found = sample(kind, rng, weights=rng.uniform(0.5, 2.0, 120))
    other = replace(
        found,
        train=replace(found.train, weights=unit * found.train.weights),
        valid=replace(found.valid, weights=unit * found.valid.weights),
    )
    for weighting in (Weighting(), Weighting("both", 0.5), Weighting("valid", balance=1.0)):
        one, two = (
            family(rows).fit(Proposal(weighting), None, np.random.default_rng(0)).valid
            for rows in (found, other)
        )
        np.testing.assert_allclose(one, two, atol=1e-3 * one.std())


def test_a_fit_begun_from_another_arrives_at_the_same(rng):
    for kind in ("two", "classes", "numbers"):
        family = linear(sample(kind, rng))
        first = family.fit(Proposal(Weighting(), 1.0), None, rng)
        proposal = Proposal(Weighting("both", 0.3), 10.0)
        cold, warm = (family.fit(proposal, near, rng).valid for near in (None, first))
        np.testing.assert_allclose(cold, warm, atol=0.01 * cold.std())


def test_a_fit_begins_from_the_candidate_most_alike():
    done = [
        Candidate(Proposal(weighting, strength, family=family), None, np.zeros(0))
        for family in ("linear", "tree")
        for strength in (1.0, 10.0)
        for weighting in (Weighting(), Weighting(balance=1.0), Weighting("valid"))
    ]
    for wanted in (Weighting(), Weighting(balance=1.0), Weighting("valid")):
        found = nearest(Proposal(wanted, 100.0, family="tree"), done).proposal
        assert (found.weighting, found.family) == (wanted, "tree")
    assert nearest(Proposal(Weighting(), family="other"), done) is None


# Penalties and features.


@pytest.mark.parametrize("share", [0.03, 0.4, 0.9])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (-3.0, 1e3), (1e-6, -2.0)])
def test_a_column_of_two_values_is_held_by_how_rare_one_is(share, form, scale, shift, rng):
    two = rng.random(200) < share
    two[:2] = False, True
    X = np.column_stack([rng.normal(size=200), scale * (shift + two), rng.integers(3, size=200)])
    found = rare_penalty(Linear.standardised(form(X)), Data(form(X), np.zeros(200)))
    p = two.mean()
    np.testing.assert_allclose(found, [1.0, 0.25 / (p * (1.0 - p)), 1.0, 1.0], rtol=1e-5)


def test_rare_values_are_held_back_in_mixtures_alone(rng):
    X = np.column_stack([rng.normal(size=300), rng.random(300) < 0.03])
    y = np.where(X[:, 0] + 2.0 * X[:, 1] + rng.normal(size=300) > 0.0, 1.0, -1.0)
    data = Data(X, y)
    found = Sample(
        Task((0, 1)), data.take(np.arange(200)), data.take(np.arange(200, 300)), np.arange(100) % 5
    )
    family = linear(found)
    held = rare_penalty(family.model, found.both)[1]
    assert held > 3.0
    for weighting, factor in ((Weighting(), 1.0), (Weighting("both", 0.5), held)):
        theta = family.fit(Proposal(weighting), None, rng).state
        rows = found.weights(weighting).joined
        part = found.train if weighting.rows == "train" else found.both
        slope = WeightedLoss(family.model, part, as_loss("logistic"), rows, 0.0)
        # The slope of the loss is what the penalty of each column makes up for.
        penalty = 10.0 * np.sum(rows**2) * np.array([1.0, factor, 0.0])
        np.testing.assert_allclose(slope.value_and_gradient(theta)[1], -penalty * theta, atol=1e-4)


def test_a_line_reads_missing_values_categories_and_outliers(rng):
    found = sample("two", rng)
    X = found.train.X.copy()
    X[::7, 0], X[::5, 2], X[3, 1] = np.nan, 4.0, 1e9
    corrupted = replace(found, train=replace(found.train, X=X))
    features = Features.of(corrupted, categorical=(2,))
    read = features.read(corrupted)
    for data in (read.train, read.valid):
        table = data.X.toarray() if sparse.issparse(data.X) else data.X
        assert np.all(np.isfinite(table))
        assert np.abs(table).max() < 1e7
    candidate = linear(corrupted, categorical=(2,)).fit(Proposal(Weighting()), None, rng)
    np.testing.assert_allclose(candidate.scorer.scores(corrupted.valid.X), candidate.valid[:, 0])


# Learners.


def test_a_family_takes_what_it_can_follow(rng):
    found = sample("two", rng)
    plain, firm = Proposal(Weighting()), Proposal(Weighting(), 2.0 * SMALL)
    lossy = Proposal(Weighting(), loss=Huber(0.1))
    blend = Proposal(Weighting(), surrogates=np.ones(2))
    asked = (plain, firm, lossy, blend)
    for family, taken in (
        (linear(found), [True, True, True, False]),
        (LearnerFamily(TREE, found), [True, False, False, False]),
        (LearnerFamily(BOOSTED, found), [True, True, True, False]),
    ):
        assert [family.takes(proposal) for proposal in asked] == taken


@pytest.mark.parametrize("name", FAMILIES)
def test_all_rows_train_the_model_that_is_trained_again(name, rng):
    """`train` on the same rows gives the candidate's own model."""
    kind, of = FAMILIES[name]
    found = sample(kind, rng)
    family = of(found)
    proposal = Proposal(Weighting())
    candidate = family.fit(proposal, None, np.random.default_rng(0))
    again = family.train(proposal, candidate, np.random.default_rng(0))
    ours, theirs = (np.ravel(one.scores(found.valid.X)) for one in (candidate.scorer, again))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.999


def test_the_same_seed_gives_the_same_trees(rng):
    family = learner(BOOSTED)(sample("two", rng))
    one, two = (
        family.fit(Proposal(Weighting("both", 0.5)), None, np.random.default_rng(3)).valid
        for _ in "ab"
    )
    np.testing.assert_array_equal(one, two)


# Queries.


def queried(rng, queries=24, size=6):
    query = np.repeat(np.arange(queries), size)
    X = rng.normal(size=(len(query), 3))
    grades = np.digitize(X[:, 0] + 0.5 * rng.normal(size=len(X)), [0.3, 1.0]).astype(float)
    return X, grades, query


def query_problem(X, grades, query, apart):
    side = {"query": query, "relevance": grades}
    data = Data(X, np.where(grades > 0.0, 1.0, -1.0), side=side)
    parts = [data.take(np.flatnonzero(part)) for part in (query < 12, query >= 12)]
    train, valid = parts if apart else (data, data)
    return Problem(train, [Pairwise(), Softmax()], as_metric("ndcg@3"), valid, labels=(0, 1))


def by_query(kind, problem, fold):
    rows = QueryRows(problem, fold)
    found = Sample.of(problem, Task((0, 1)), fold)
    if kind == "trees":
        return RankingTrees(ONE, rows, found)
    return RankingFamily.of(rows, found, Features.of(found))


@pytest.mark.parametrize("rows", ["train", "both", "all"])
@pytest.mark.parametrize("kind", ["linear", "trees"])
def test_a_querys_own_grades_change_nothing_in_its_scores(kind, rows, rng):
    X, grades, query = queried(rng)
    apart = rows != "all"
    valid = query >= 12 if apart else query >= 0
    fold = query[valid] % 5
    weighting = Weighting("both", 0.5) if rows == "both" else Weighting()
    proposal = Proposal(weighting, 30.0, surrogates=np.array([0.5, 0.5]))
    turned = np.where(valid & (query == 14), 2.0 - grades, grades)
    before, after = (
        by_query(kind, query_problem(X, given, query, apart), fold)
        .fit(proposal, None, np.random.default_rng(0))
        .valid
        for given in (grades, turned)
    )
    own = (query == 14)[valid]
    # Surrogates are measured in units of all queries.
    np.testing.assert_allclose(after[own], before[own], atol=0.03 * before.std())
    if rows != "train":
        assert not np.allclose(after, before)


def test_trees_follow_the_gradient_of_the_sum_of_surrogates(rng):
    X, grades, query = queried(rng, queries=4)
    problem = query_problem(X, grades, query, False)
    weights, scores = np.array([0.3, 0.7]), rng.normal(size=len(X))
    found = score_gradient(weighted_parts(problem, weights), scores)
    steps = 1e-5 * np.eye(len(X))
    ahead, back = (problem.profiler.values(scores[:, None] + s * steps) for s in (1, -1))
    np.testing.assert_allclose(found, (ahead - back) @ weights / 2e-5, atol=1e-6)
