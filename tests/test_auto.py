"""The default method: its parts against brute force, and what it promises on data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from anymetric.auto import Auto
from anymetric.auto.average import Judged, agreeing, votes
from anymetric.auto.calling import CallingJury
from anymetric.auto.choice import flat
from anymetric.auto.domain import domain_weights
from anymetric.auto.jury import DecisionJury, Judgement, replicate_weights
from anymetric.auto.parts import Part, named
from anymetric.auto.pool import Candidate, Kitchen, Recipe
from anymetric.auto.pooled import contrary
from anymetric.auto.rarity import rarity
from anymetric.auto.recipes import STRENGTHS, climbed
from anymetric.auto.targets import FLAT, SmoothHinge, moved
from anymetric.auto.trust import Bench
from anymetric.auto.walk import Front
from anymetric.data import Data
from anymetric.datasets import corrupt_features, load_compas, load_simulated, split
from anymetric.estimators import MetricClassifier
from anymetric.ledger import Ledger
from anymetric.losses import as_loss
from anymetric.metrics import MetricError, Profit, as_metric, metric
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.solution import Status
from anymetric.solvers import WeightedLoss, minimise
from anymetric.surrogates import Slices, per_class, per_class_and_group
from conftest import blobs

DECISIONS = ["error", "gmean", "f1", "macro_f1", "worst_group_error", Profit(tp="amount", fp=-1.0)]


def judged_data(rng, n=60):
    data = blobs(rng, n=n)
    scores = np.round(data.X[:, -1] + 0.3 * rng.normal(size=n), 1)  # with ties
    return data, scores


@pytest.mark.parametrize("name", DECISIONS, ids=str)
def test_the_jury_equals_the_metric_on_every_replicate_and_threshold(name, rng):
    data, scores = judged_data(rng)
    bound = as_metric(name)
    weights = replicate_weights(len(data), 4, rng)
    jury = DecisionJury.build(bound, data, weights)
    shifts, costs = jury.curve(scores)
    for column, w in enumerate([np.ones(len(data)), *weights.T]):
        plain = bound.bind(data.y, weights=w, side=data.side)
        np.testing.assert_allclose(costs[:, column], plain.costs(scores[:, None] + shifts))
    judged = jury.judge(scores)
    np.testing.assert_allclose(judged.cost, bound.bind(data.y, side=data.side).costs(scores))


def test_the_jury_sees_every_threshold_of_the_sweep(rng):
    data, scores = judged_data(rng)
    bound = as_metric("f1").bind(data.y)
    shifts, costs = DecisionJury.build(as_metric("f1"), data, np.ones((60, 1))).curve(scores)
    sweep = bound.sweep(scores)
    assert len(shifts) == len(sweep.shifts)
    np.testing.assert_allclose(costs[:, 0], sweep.costs)


def test_calling_and_counting_juries_agree(rng):
    data, scores = judged_data(rng)
    weights = replicate_weights(len(data), 3, rng)
    counted = DecisionJury.build(as_metric("f1"), data, weights).judge(scores)
    ledger = Ledger(Problem(data, "logistic", as_metric("f1")))
    called = CallingJury.build(ledger, weights).judge(scores)
    assert called.cost == pytest.approx(counted.cost)
    np.testing.assert_allclose(called.replicates, counted.replicates)
    assert ledger.calls == 4


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9))
@settings(max_examples=50, deadline=None)
def test_votes_sum_to_one_and_follow_the_lowest_cost(seed, candidates, replicates):
    costs = np.random.default_rng(seed).integers(0, 4, (replicates, candidates)).astype(float)
    share = votes(costs)
    assert share.sum() == pytest.approx(1.0)
    never = ~(costs == costs.min(axis=1, keepdims=True)).any(axis=0)
    assert not share[never].any()


def test_opposite_directions_are_never_averaged(rng):
    s = rng.normal(size=50)
    kept = agreeing(np.array([0.51, 0.49]), [s, -s])
    assert kept.tolist() == [1.0, 0.0]


def test_domain_weights_recover_a_known_ratio(rng):
    """Between N(0, 1) and N(1, 1) the density ratio is exp(x - 1/2), here capped at two."""
    train = Data(rng.normal(0.0, 1.0, (4000, 1)), np.ones(4000))
    valid = Data(rng.normal(1.0, 1.0, (4000, 1)), np.ones(4000))
    weights = domain_weights(Linear(), train, valid)
    truth = np.minimum(np.exp(train.X[:, 0] - 0.5), 2.0)
    assert np.corrcoef(weights, truth)[0, 1] > 0.99
    assert abs(weights.mean() - truth.mean()) < 0.1


def test_judging_rows_get_scores_from_models_that_they_did_not_train(rng):
    data = blobs(rng, n=400)
    train, valid = data.take(np.arange(250)), data.take(np.arange(250, 400))
    kitchen = Kitchen.build(Linear(), train, valid, as_loss("logistic"), rng)
    recipe = Recipe("both", train.weights, valid.weights, 0.5, strength=5.0)
    candidate = kitchen.cook(recipe)
    rows = np.concatenate([np.full(250, 0.5 / 250), np.full(150, 0.5 / 150)])
    ridge = 5.0 * np.sum(rows**2)
    for k in range(5):
        out = kitchen.fold == k
        left = rows.copy()
        left[250:][out] = 0.0
        left[250:] *= 0.5 / left[250:].sum()
        exact = minimise(WeightedLoss(Linear(), kitchen.both, as_loss("logistic"), left, ridge))
        honest = Linear().scores(valid.X[out], exact)
        np.testing.assert_allclose(candidate.valid[out], honest, atol=2e-3)


@pytest.mark.parametrize(("n", "d"), [(300, 180), (400, 100)])
def test_no_row_judges_itself_where_columns_are_many(rng, n, d):
    X = rng.normal(size=(n, d))
    valid = Data(X, rng.choice([-1.0, 1.0], size=n))
    model = Linear.standardised(X)
    kitchen = Kitchen.build(model, valid.take(np.arange(0)), valid, as_loss("logistic"), rng)
    recipe = Recipe("judges", np.zeros(0), valid.weights, 1.0, strength=1.0)
    scores = kitchen.cook(recipe).valid
    for k in range(5):
        out = kitchen.fold == k
        rows = np.where(out, 0.0, 1.0)
        loss = WeightedLoss(model, valid, as_loss("logistic"), rows, 1.0 / n)
        exact = model.scores(X[out], minimise(loss))
        np.testing.assert_allclose(scores[out], exact, atol=0.02 * np.std(exact))


def test_scores_are_linearised_with_weights_as_with_repeated_rows(rng):
    y, scores = rng.choice([-1.0, 1.0], size=60), rng.normal(size=60)
    counts = rng.integers(1, 4, size=60)
    twice = np.repeat(np.arange(60), counts)
    fronts = []
    for rows, weights in ((np.arange(60), counts.astype(float)), (twice, None)):
        valid = Data(np.zeros((len(rows), 1)), y[rows], weights)
        kitchen = Kitchen.build(
            Linear(), valid.take(np.arange(0)), valid, as_loss("logistic"), np.random.default_rng(0)
        )
        recipe = Recipe("all", np.zeros(0), valid.weights, 1.0)
        one = Candidate(recipe, np.zeros(0), np.zeros(0), scores[rows])
        leader = Judged(one, Judgement(0.0, 0.5, np.zeros(0)))
        none = np.zeros(0, dtype=bool)
        parts = [Part("+", none, valid.y > 0), Part("-", none, valid.y < 0)]
        fronts.append(Front.by_scores(kitchen, leader, parts))
    np.testing.assert_allclose(fronts[0].profile, fronts[1].profile)
    np.testing.assert_allclose(fronts[0].moves[twice], fronts[1].moves)


def test_training_rows_are_trusted_only_if_their_labels_agree(rng):
    y = np.where(rng.random(3000) < 0.3, 1.0, -1.0)
    scores = y + rng.normal(size=3000)
    rows = Data(scores[:, None], y)
    train, valid = rows.take(np.arange(2700)), rows.take(np.arange(2700, 3000))
    jury = DecisionJury.build(as_metric("error"), valid, replicate_weights(300, 100, rng))
    fold = np.arange(300) % 5

    def trust_in(labels):
        lying = Data(train.X, labels)
        bench = Bench.build(as_metric("error"), lying, valid, np.ones(2700), fold)
        return bench.place(train.X[:, 0], valid.X[:, 0], jury)

    shift, trust = trust_in(train.y)
    assert trust == 1.0
    # For classes at +-1 with unit noise and 30 % positives the best threshold is ln(7/3) / 2.
    assert shift == pytest.approx(-np.log(7 / 3) / 2, abs=0.2)
    assert trust_in(np.where(train.X[:, 0] > 1.5, 1.0, -1.0))[1] < 1.0


def sample(name, seed):
    if name == "simulated":
        dataset = load_simulated(random_state=seed)
        data = Data(dataset.X, np.where(dataset.y == 1, 1.0, -1.0))
    else:
        dataset = load_compas()
        data = Data(
            dataset.X, np.where(dataset.y == 1, 1.0, -1.0), None, {"groups": dataset.groups}
        )
    parts = split(dataset, random_state=seed)
    return [data.take(rows) for rows in (parts.train, parts.validation, parts.test)]


def cost_on(test, problem, solution):
    scores = problem.model.scores(test.X, solution.theta)
    return float(problem.metric.bind(test.y, side=test.side).costs(scores))


def post_shift_cost(problem, test):
    theta = minimise(
        WeightedLoss(problem.model, problem.train, as_loss("logistic"), problem.train.weights, 1e-3)
    )
    sweep = problem.judge.sweep(problem.model.scores(problem.valid.X, theta))
    scores = problem.model.scores(test.X, theta) + sweep.shifts[sweep.best]
    return float(problem.metric.bind(test.y, side=test.side).costs(scores))


def true_gmean_cost(weights, offset):
    """The G-mean cost of a hyperplane under the distribution of section 6.1 itself."""
    length = np.linalg.norm(weights)
    direction, level = weights / length, -offset / length
    recall = stats.norm.sf(level / np.sqrt(0.2))
    sides = [stats.norm.cdf((level - s * direction.sum()) / np.sqrt(0.1)) for s in (-1, 1)]
    return 1.0 - np.sqrt(recall * np.mean(sides))


def test_the_simulated_task_is_solved():
    """The best hyperplane has 0.3151; a coin 0.5; exact post-shift about 0.46 on these draws."""
    costs = []
    for seed in range(10):
        train, valid, _ = sample("simulated", seed)
        model = Linear.standardised(train.X)
        problem = Problem(train, per_class("logistic"), as_metric("gmean"), valid, model, (0, 1))
        solution = Auto().run(Ledger(problem), [], np.random.default_rng(seed))
        costs.append(true_gmean_cost(*model.raw(solution.theta)))
    assert np.mean(costs) <= 0.32
    assert max(costs) <= 0.335


def test_noise_in_one_group_costs_little():
    """Half of the men's training features corrupted; 200 clean rows to judge."""
    gains = []
    for seed in range(4):
        train, valid, test = sample("compas", seed)
        rng = np.random.default_rng(seed)
        X = corrupt_features(train.X, train.side["groups"] == "Male", 0.5, rng)
        train = Data(X, train.y, None, train.side)
        valid = valid.take(rng.choice(len(valid), 200, replace=False))
        model = Linear.standardised(train.X)
        surrogates = per_class_and_group("logistic")
        problem = Problem(train, surrogates, as_metric("macro_f1"), valid, model, (0, 1))
        solution = Auto().run(Ledger(problem), [], np.random.default_rng(seed))
        gains.append(post_shift_cost(problem, test) - cost_on(test, problem, solution))
    assert np.mean(gains) > 0.01


def small_problem(rng, name="f1", surrogates=None, n=300):
    data = blobs(rng, n=n)
    train, valid = data.take(np.arange(n // 2)), data.take(np.arange(n // 2, n))
    labels = None if name == "mean_absolute_error" else (0, 1)
    surrogates = surrogates or per_class("logistic")
    return Problem(train, surrogates, as_metric(name), valid, Linear(), labels)


@pytest.mark.parametrize("name", ["f1", "roc_auc", "average_precision", "macro_f1", "error"])
def test_auto_serves_every_kind_of_metric(name, rng):
    problem = small_problem(rng, name)
    solution = Auto(replicates=20).run(Ledger(problem), [], rng)
    assert solution.status is Status.JUDGED
    assert solution.cost < float(problem.cost(np.zeros(5)))
    assert sum(c["votes"] for c in solution.settings["candidates"]) == pytest.approx(1.0)
    assert sum(solution.worth.values()) == pytest.approx(1.0)


def test_a_users_function_is_served_and_counted(rng):
    calls = []

    @metric(greater_is_better=True)
    def own(y_true, y_pred):
        calls.append(1)
        return np.mean(y_true == y_pred)

    data = blobs(rng, n=200)
    problem = Problem(
        data.take(np.arange(100)),
        per_class("logistic"),
        own,
        data.take(np.arange(100, 200)),
        Linear(),
        (0, 1),
    )
    ledger = Ledger(problem)
    solution = Auto(replicates=5, use_validation=False, clusters=False).run(ledger, [], rng)
    assert len(calls) == ledger.calls == solution.calls
    assert solution.cost < -0.7


def test_a_failing_function_leaves_the_best_so_far(rng):
    calls = []

    @metric(greater_is_better=True)
    def fails(y_true, y_pred):
        calls.append(1)
        if len(calls) > 100:
            raise RuntimeError("out of order")
        return np.average(y_true == y_pred, weights=np.arange(len(y_true)))

    data = blobs(rng, n=200)
    parts = data.take(np.arange(100)), data.take(np.arange(100, 200))
    problem = Problem(parts[0], per_class("logistic"), fails, parts[1], Linear(), (0, 1))
    with pytest.raises(MetricError, match="out of order") as caught:
        Auto(replicates=5).run(Ledger(problem), [], rng)
    assert caught.value.best.theta.shape == (5,)


@pytest.mark.parametrize("limit", [1, 7, 30])
def test_the_budget_is_honoured(limit, rng):
    ledger = Ledger(small_problem(rng), limit)
    solution = Auto(replicates=10).run(ledger, [], rng)
    assert ledger.calls <= limit
    assert solution.status in (Status.BUDGET, Status.JUDGED)


def test_the_same_seed_gives_the_same_model():
    runs = [
        Auto(replicates=10).run(
            Ledger(small_problem(np.random.default_rng(0))), [], np.random.default_rng(1)
        )
        for _ in "ab"
    ]
    np.testing.assert_array_equal(runs[0].theta, runs[1].theta)


def test_one_sample_is_cross_fitted(rng):
    data = blobs(rng, n=300)
    problem = Problem(data, per_class("logistic"), as_metric("f1"), None, Linear(), (0, 1))
    solution = Auto(replicates=20).run(Ledger(problem), [], rng)
    names = [c["name"] for c in solution.settings["candidates"]]
    assert not any("train" in name for name in names)
    in_sample = float(problem.cost(solution.theta))
    assert solution.cost < 0.5
    assert abs(solution.cost - in_sample) < 0.2


@pytest.mark.parametrize("cost", [0.0, 0.3, 1e-20, 1e9])
def test_rounding_is_flat_and_more_is_not_whatever_the_unit(cost, rng):
    def heard(change):
        costs = cost + change * rng.uniform(-1.0, 1.0, 20)
        recipe = Recipe("one", np.ones(1))
        tried = [Candidate(recipe, np.zeros(2), np.ones(1), rng.normal(size=2)) for _ in "ab"]
        return [Judged(one, Judgement(0.0, costs[0], costs)) for one in tried]

    unit = cost or 1.0
    assert flat(heard(0.0))
    assert flat(heard(1e-15 * unit))
    assert not flat(heard(1e-9 * unit))


def test_a_constant_metric_is_flat_and_keeps_the_plain_model(rng):
    constant = metric(lambda y_true, y_pred: 0.25, greater_is_better=False)
    data = blobs(rng, n=200)
    parts = data.take(np.arange(100)), data.take(np.arange(100, 200))
    problem = Problem(parts[0], per_class("logistic"), constant, parts[1], Linear(), (0, 1))
    solution = Auto().run(Ledger(problem), [], rng)
    assert solution.status is Status.FLAT
    assert solution.settings["candidates"][0]["votes"] == 1.0


@pytest.mark.parametrize("limit", [20, 60, 200])
def test_a_users_function_is_never_called_more_often_than_allowed(limit, rng):
    calls = []

    @metric(greater_is_better=True)
    def own(y_true, y_pred):
        calls.append(1)
        return np.mean(y_true == y_pred)

    data = blobs(rng, n=400)
    parts = data.take(np.arange(200)), data.take(np.arange(200, 400))
    problem = Problem(parts[0], per_class("logistic"), own, parts[1], Linear(), (0, 1))
    solution = Auto().run(Ledger(problem, limit), [], rng)
    assert len(calls) == solution.calls <= limit
    assert solution.cost < -0.7


def test_a_metric_that_needs_somebody_flagged_is_never_asked_about_nobody(rng):
    @metric(greater_is_better=True)
    def strict_precision(y_true, y_pred):
        assert y_pred.any()
        return np.mean(y_true[y_pred == 1])

    data = blobs(rng, n=400, positives=0.05)
    parts = data.take(np.arange(200)), data.take(np.arange(200, 400))
    problem = Problem(parts[0], per_class("logistic"), strict_precision, parts[1], Linear(), (0, 1))
    assert Auto(replicates=5).run(Ledger(problem), [], rng).cost < 0.0


def test_a_useless_source_is_worth_next_to_nothing(rng):
    """Half of the training rows carry the wrong labels; a column says which half."""
    data = blobs(rng, n=1600)
    train, valid = data.take(np.arange(1200)), data.take(np.arange(1200, 1600))
    bad = np.arange(1200) < 600
    y = np.where(bad, -train.y, train.y)
    side = {"source": np.where(bad, "vendor B", "vendor A")}
    train = Data(train.X, y, None, side)
    surrogates = Slices("logistic", ("class", "source"))
    valid = Data(valid.X, valid.y)
    problem = Problem(train, surrogates, as_metric("balanced_error"), valid, Linear(), (0, 1))
    solution = Auto(use_validation=False).run(Ledger(problem), [], rng)
    names = [c["name"] for c in solution.settings["candidates"]]
    assert "source vendor A" in names
    worth = {
        v: sum(w for n, w in solution.worth.items() if v in n) for v in ("vendor A", "vendor B")
    }
    assert worth["vendor B"] < 0.5 * worth["vendor A"]


def test_the_walk_along_slices_found_by_a_tree_pays_where_plain_losses_fail():
    """Without halves of a class, no plain loss finds a side of the simulated data."""
    costs = {True: [], False: []}
    for seed in range(100, 108):
        train, valid, _ = sample("simulated", seed)
        model = Linear.standardised(train.X)
        problem = Problem(train, per_class("logistic"), as_metric("gmean"), valid, model, (0, 1))
        for frontier, found in costs.items():
            method = Auto(replicates=50, clusters=False, frontier=frontier)
            solution = method.run(Ledger(problem), [], np.random.default_rng(seed))
            found.append(true_gmean_cost(*model.raw(solution.theta)))
    assert np.mean(costs[True]) < np.mean(costs[False]) - 0.015


@pytest.mark.parametrize("name", ["f1", "macro_f1", "roc_auc"])
def test_without_an_intercept_no_threshold_is_tuned(name, rng):
    data = blobs(rng, n=300)
    parts = data.take(np.arange(150)), data.take(np.arange(150, 300))
    model = Linear(intercept=False)
    problem = Problem(parts[0], per_class("logistic"), as_metric(name), parts[1], model, (0, 1))
    solution = Auto(replicates=5, use_validation=False).run(Ledger(problem), [], rng)
    assert solution.theta.shape == (4,)
    assert solution.cost == pytest.approx(float(problem.cost(solution.theta)))


@pytest.mark.parametrize(
    ("use", "trained"), [("auto", {True, False}), (True, {True}), (False, {False})]
)
def test_validation_rows_train_as_the_door_says(use, trained, rng):
    data = blobs(rng, n=600)
    kept = {"X_val": data.X[400:], "y_val": data.y[400:]}
    model = MetricClassifier("f1", use_validation=use, random_state=0)
    model.fit(data.X[:400], data.y[:400], **kept)
    names = [c["name"] for c in model.settings_["candidates"] if "walk" not in c["name"]]
    assert {"valid" in name.replace("like valid", "") for name in names} == trained
    assert ("validation rows" in model.weights_) <= (use is not False)


def test_rows_that_judge_only_are_held_out_where_there_is_one_sample(rng):
    data = blobs(rng, n=600)
    by_turns, held_out = (
        MetricClassifier("f1", use_validation=use, random_state=0).fit(data.X, data.y)
        for use in ("auto", False)
    )
    assert by_turns.validation_ != held_out.validation_
    assert np.count_nonzero(held_out.sample_weight_) < len(data)


@given(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4))
def test_the_ridge_rises_as_long_as_it_pays(costs):
    told, tried = iter(costs), []

    def climb():
        best = yield from climbed([Recipe("", np.ones(2))], STRENGTHS, lambda: next(told))
        tried.append(best)

    strengths = [recipe.strength for recipe in climb()]
    lower = [costs[k + 1] < costs[k] for k in range(3)]
    assert strengths == list(STRENGTHS[: 2 + np.cumprod(lower).sum()])
    assert tried == [STRENGTHS[int(np.argmin(costs[: len(strengths)]))]]


@pytest.mark.parametrize(("metric", "word"), [("f1", "balanced"), ("roc_auc", "half balanced")])
def test_mixtures_are_balanced_for_decisions_and_half_balanced_for_an_order(metric, word, rng):
    data = blobs(rng, n=600)
    train, valid = data.take(np.arange(400)), data.take(np.arange(400, 600))
    problem = Problem(train, per_class("logistic"), as_metric(metric), valid, labels=(0, 1))
    ballot = Auto(frontier=False).run(Ledger(problem), [], rng).settings["candidates"]
    mixtures = {one["name"] for one in ballot if " + valid " in one["name"]}
    words = {name.split(", ")[1] for name in mixtures if ", " in name}
    assert words == {word}


def test_where_much_ridge_is_needed_it_is_tried(rng):
    """Three hundred columns of noise beside one that tells."""
    y = np.where(rng.random(900) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(900, 300))
    X[:, 0] += y
    data = Data(X, y)
    train, valid = data.take(np.arange(500)), data.take(np.arange(500, 900))
    problem = Problem(train, per_class("logistic"), as_metric("f1"), valid, labels=(0, 1))
    plain = Auto(clusters=False, domain=False, frontier=False)
    solution = plain.run(Ledger(problem), [], rng)
    costs = {one["name"]: one["cost"] for one in solution.settings["candidates"]}
    assert {"train, 10", "train, 100", "train, 1000", "valid, 100"} <= set(costs)
    few = replace(plain, strengths=(10.0,)).run(Ledger(problem), [], rng)
    assert costs["train, 100"] < costs["train, 10"]
    assert not [one for one in few.settings["candidates"] if "100" in one["name"]]


def test_sources_are_searched_where_rows_judge_by_turns(rng):
    """Half of the rows carry random labels; a column says which half."""
    data = blobs(rng, n=1600)
    bad = np.arange(1600) < 800
    y = np.where(bad, rng.permutation(data.y), data.y)
    source = np.where(bad, "vendor B", "vendor A")
    model = MetricClassifier("balanced_error", random_state=0).fit(data.X, y, source=source)
    names = [c["name"] for c in model.settings_["candidates"]]
    assert {"source vendor A", "source vendor B"} <= set(names)
    votes = {c["name"]: c["votes"] for c in model.settings_["candidates"]}
    assert sum(v for name, v in votes.items() if "vendor B" in name) < 0.2


def profits(n=4000, **settings):
    """One feature tells who defaults, another what is at stake: profit asks for both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + 1.5 * rng.normal(size=n) > 1.0).astype(int)
    amount = np.exp(X[:, 1])
    method = Auto(replicates=50, clusters=False, **settings)
    model = MetricClassifier(Profit(tp="amount", flag_cost=0.7), method=method, random_state=0)
    model.fit(X[:2000], y[:2000], side={"amount": amount[:2000]})
    return model.score(X[2000:], y[2000:], side={"amount": amount[2000:]})


def test_amounts_that_the_metric_reads_weigh_rows():
    plain = profits(frontier=False, stakes=False)
    assert profits(frontier=False) > 1.3 * plain


def test_slices_by_a_column_that_the_user_names_are_weighed(rng):
    data = blobs(rng, n=800)
    region = np.where(rng.random(800) < 0.5, "north", "south")
    model = MetricClassifier("f1", slices="region", random_state=0)
    model.fit(data.X, data.y, side={"region": region})
    assert sum("region=north" in name for name in model.weights_) == 2
    with pytest.raises(ValueError, match="800 values"):
        MetricClassifier("f1", slices="x").fit(data.X, data.y, side={"x": data.X[:, 0]})


def test_a_users_loss_is_tried_in_a_smooth_form(rng):
    problem = small_problem(rng, surrogates=per_class("hinge"), n=800)
    solution = Auto(replicates=20).run(Ledger(problem), [], rng)
    assert any("smooth_hinge" in c["name"] for c in solution.settings["candidates"])


@given(st.floats(-5.0, 5.0), st.floats(0.05, 2.0))
def test_the_smooth_hinge_is_below_the_hinge_by_half_its_width_at_most(z, width):
    gap = as_loss("hinge").value([z])[0] - SmoothHinge(width).value([z])[0]
    assert -1e-9 <= gap <= width / 2 + 1e-9
    step = 1e-6
    low, high = SmoothHinge(width).value([z - step, z + step])
    assert SmoothHinge(width).slope([z])[0] == pytest.approx((high - low) / (2 * step), abs=1e-4)


def test_weights_that_lead_nowhere_are_noticed(rng):
    data = blobs(rng, n=400)
    train, valid = data.take(np.arange(200)), data.take(np.arange(200, 400))
    kitchen = Kitchen.build(Linear(), train, valid, as_loss("logistic"), rng)
    slices = named(Slices("logistic", ("class",)).expand(train), kitchen)
    one = kitchen.cook(Recipe("plain", train.weights))
    same = kitchen.cook(Recipe("again", 2.0 * train.weights))
    other = kitchen.cook(Recipe("balanced", np.where(train.y > 0, 5.0, 1.0)))
    assert moved(kitchen, slices, one, same) < FLAT < moved(kitchen, slices, one, other)


@pytest.mark.parametrize("limit", [60, 200])
def test_few_calls_reach_nearly_what_many_reach(limit):
    """A function of the user's, noisy features in one group: gain over post-shift on test."""

    @metric(greater_is_better=True)
    def macro(y_true, y_pred, groups):
        f1 = []
        for group in np.unique(groups):
            t, p = y_true[groups == group], y_pred[groups == group]
            f1.append(2 * np.sum(t * p) / max(np.sum(t) + np.sum(p), 1))
        return np.mean(f1)

    gains = []
    for seed in range(3):
        train, valid, test = sample("compas", seed)
        rng = np.random.default_rng(seed)
        X = corrupt_features(train.X, train.side["groups"] == "Male", 0.5, rng)
        train = Data(X, train.y, None, train.side)
        model = Linear.standardised(train.X)
        problem = Problem(train, per_class_and_group("logistic"), macro, valid, model, (0, 1))
        ready = Problem(train, "logistic", as_metric("macro_f1"), valid, model, (0, 1))
        solution = Auto().run(Ledger(problem, limit), [], np.random.default_rng(seed))
        assert solution.calls <= limit
        gains.append(post_shift_cost(ready, test) - cost_on(test, ready, solution))
    assert np.mean(gains) > 0.005


@pytest.mark.parametrize("calls", [1, 2, 4, 9, 30, 100, 400, 1600])
@pytest.mark.parametrize("judges", [30, 100, 400])
def test_every_budget_gives_a_model_and_is_kept(calls, judges, rng):
    data = blobs(rng, n=300 + judges)

    @metric
    def hit_score(y_true, y_pred):
        return np.mean(y_true == y_pred)

    train, valid = data.take(np.arange(300)), data.take(np.arange(300, 300 + judges))
    problem = Problem(train, per_class("logistic"), hit_score, valid, Linear(), (-1, 1))
    solution = Auto().run(Ledger(problem, calls), [], rng)
    assert solution.calls <= calls
    assert np.all(np.isfinite(solution.theta))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_training_rows_whose_labels_mean_something_else_are_contrary(sign, rng):
    """The better a candidate is on the judging rows, the worse on proxies; noise does not turn."""
    y = np.where(rng.random(600) < 0.5, 1.0, -1.0)
    told = sign * np.where(rng.random(600) < 0.2, -y, y)
    train, valid = Data(np.zeros((400, 0)), told[:400]), Data(np.zeros((200, 0)), y[400:])
    error = as_metric("error")
    bench = Bench.build(error, train, valid, np.ones(400), np.arange(200) % 5)
    jury = DecisionJury.build(error, valid, np.ones((200, 2)))
    judged = []
    for noise in (0.5, 1.0, 2.0, 4.0):
        scores = y + noise * rng.normal(size=600)
        one = Candidate(Recipe("", np.ones(400)), np.zeros(1), scores[:400], scores[400:])
        judged.append(Judged(one, jury.tune(one.valid)))
    assert contrary(judged, bench) == (sign < 0.0)


@given(
    share=st.floats(0.02, 0.98),
    scale=st.sampled_from([-3.0, 1e-6, 1.0, 1e6]),
    shift=st.sampled_from([0.0, -2.0, 1e3]),
    thin=st.booleans(),
)
def test_rarity_depends_on_how_often_a_value_occurs_and_on_nothing_else(share, scale, shift, thin):
    rng = np.random.default_rng(0)
    two = rng.random(200) < share
    two[:2] = False, True
    X = np.column_stack([rng.normal(size=200), scale * (shift + two), rng.integers(3, size=200)])
    X = sparse.csr_array(X) if thin else X
    found = rarity(Linear.standardised(X), X)
    p = two.mean()
    np.testing.assert_allclose(found, [1.0, 0.25 / (p * (1.0 - p)), 1.0, 1.0], rtol=1e-6)


def test_rarity_leaves_a_model_alone_that_does_not_standardise(rng):
    X = (rng.random((50, 2)) < 0.1).astype(float)
    assert rarity(Linear(), X).tolist() == [1.0, 1.0, 1.0]
    assert len(rarity(Linear.standardised(X, intercept=False), X)) == 2


def test_a_value_constant_in_training_rows_is_held_no_less_than_usual():
    train, both = np.zeros((5, 1)), np.array([[0.0], [0.0], [0.0], [1.0]])
    assert rarity(Linear.standardised(train), both).tolist() == [1.0, 1.0]


def test_mixtures_hold_rare_values_back_and_others_do_not(rng):
    X = np.column_stack([rng.normal(size=300), rng.random(300) < 0.03])
    y = np.where(X[:, 0] + 2.0 * X[:, 1] + rng.normal(size=300) > 0.0, 1.0, -1.0)
    data = Data(X, y)
    train, valid = data.take(np.arange(200)), data.take(np.arange(200, 300))
    model, loss = Linear.standardised(X), as_loss("logistic")
    plain = Kitchen.build(model, train, valid, loss, rng, rare=False)
    kitchen = replace(plain, rare=True)
    for valid_rows, share in ((None, 0.0), (np.ones(100), 1.0)):
        recipe = Recipe("alone", np.ones(200), valid_rows, share)
        np.testing.assert_array_equal(kitchen.cook(recipe).theta, plain.cook(recipe).theta)
    recipe = Recipe("mixture", np.ones(200), np.ones(100), 0.5)
    theta, usual = kitchen.cook(recipe).theta, plain.cook(recipe).theta
    assert 0.0 < theta[1] < 0.5 * usual[1]
    # The slope of the loss is what the penalty of each column makes up for.
    rows = np.append(np.full(200, 0.5 / 200), np.full(100, 0.5 / 100))
    slope = WeightedLoss(model, data, loss, rows, 0.0).value_and_gradient(theta)[1]
    p = X[:, 1].mean()
    held = 10.0 * np.sum(rows**2) * np.array([1.0, 0.25 / (p * (1.0 - p)), 0.0])
    np.testing.assert_allclose(slope, -held * theta, atol=1e-5)
