"""Training rows judge as if they had not trained, and thresholds lie by likely labels."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.metrics import f1_score

from anymetric.auto.jury import DecisionJury
from anymetric.auto.likely import chances, doubled
from anymetric.auto.pool import Kitchen, Recipe, concentration, mixed
from anymetric.auto.pulled import left_out
from anymetric.auto.trust import Bench, settled
from anymetric.baselines import BothLogistic
from anymetric.data import Data
from anymetric.estimators import MetricClassifier
from anymetric.losses import as_loss
from anymetric.metrics import Profit, as_metric
from anymetric.models import Linear
from anymetric.solvers import WeightedLoss, minimise


def noisy(rng, n=120, d=12):
    X = rng.normal(size=(n, d))
    return Data(X, np.where(X[:, 0] + rng.normal(size=n) > 0.0, 1.0, -1.0))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_least_squares_without_a_row_are_exact(kind, rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    data = Data(kind(X), y, rng.uniform(0.5, 2.0, size=30))
    share = data.weights / data.weights.sum()
    ridge = 0.1
    objective = WeightedLoss(Linear(intercept=False), data, as_loss("squared"), share, ridge)
    found = left_out(objective, minimise(objective), data, share)
    for i in (0, 7, 29):
        kept = np.arange(30) != i
        # The loss is the square of the error, the ridge half of that of the weights.
        A = (X[kept] * share[kept, None]).T @ X[kept] + 0.5 * ridge * np.eye(4)
        alone = np.linalg.solve(A, (X[kept] * share[kept, None]).T @ y[kept])
        assert found[i] == pytest.approx(X[i] @ alone, rel=1e-6)


def test_a_logistic_regression_without_a_row_is_nearly_refitted(rng):
    data = noisy(rng)
    share = np.full(120, 1 / 120)
    objective = WeightedLoss(Linear(), data, as_loss("logistic"), share, 5 / 120)
    theta = minimise(objective)
    own = np.asarray(Linear().scores(data.X, theta))
    found = left_out(objective, theta, data, share)
    for i in range(0, 120, 10):
        others = replace(objective, rows=np.where(np.arange(120) == i, 0.0, share))
        alone = data.X[i] @ refitted(others, theta) + theta[-1]
        assert abs(found[i] - alone) < 0.1 * abs(own[i] - alone) + 1e-3


def refitted(objective, theta):
    """Return the weights of the same loss on other rows, the intercept held."""
    part, ridge = objective.rows.sum(), objective.ridge
    plain = replace(objective, ridge=0.0)

    def value(w):
        cost, slope = plain.value_and_gradient(np.append(w, theta[-1]))
        return part * cost + 0.5 * ridge * w @ w, part * slope[:-1] + ridge * w

    return minimize(value, theta[:-1], jac=True, options={"gtol": 1e-9}).x


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("strength", [1.0, 10.0, 1000.0])
def test_candidates_score_training_rows_as_models_without_them(share, strength, rng):
    X, y = rng.normal(size=(90, 6)), rng.choice([-1.0, 1.0], size=90)
    train, valid = Data(X[:60], y[:60]), Data(X[60:], y[60:])
    model, loss = Linear(intercept=False), as_loss("logistic")
    kitchen = Kitchen.build(model, train, valid, loss, rng)
    both = {"valid": np.ones(30), "share": share} if share else {}
    candidate = kitchen.cook(Recipe("plain", np.ones(60), strength=strength, **both))
    data, rows = (kitchen.both if share else train), mixed(candidate.recipe)
    ridge = strength * concentration(rows, data.weights)
    own = np.asarray(model.scores(train.X, candidate.theta))
    for row in range(0, 60, 7):
        without = rows.copy()
        without[row] = 0.0
        # The others weigh what they weighed.
        other = WeightedLoss(model, data, loss, without, ridge / without.sum())
        exact = model.scores(train.X[[row]], minimise(other, candidate.theta))[0]
        moved = abs(own[row] - exact)
        np.testing.assert_allclose(candidate.train[row], exact, atol=0.1 * moved + 1e-4)


def test_where_rows_are_few_they_do_not_flatter_what_they_trained(rng):
    """Labels of noise: whoever trained on them scores them well, and others no better."""
    X = rng.normal(size=(600, 60))
    rows = Data(X, np.where(rng.random(600) < 0.5, 1.0, -1.0))
    train, valid = rows.take(np.arange(300)), rows.take(np.arange(300, 600))
    kitchen = Kitchen.build(Linear(), train, valid, as_loss("logistic"), rng)
    assert kitchen.crowded
    found = kitchen.cook(Recipe("plain", np.ones(300), strength=1.0))
    own = np.asarray(kitchen.model.scores(train.X, found.theta))
    assert np.mean(own * train.y > 0.0) > 0.62
    assert np.mean(found.train * train.y > 0.0) < 0.6


def test_rows_that_did_not_train_keep_their_scores(rng):
    rows = noisy(rng)
    train, valid = rows.take(np.arange(60)), rows.take(np.arange(60, 120))
    kitchen = Kitchen.build(Linear(), train, valid, as_loss("logistic"), rng)
    weights = (np.arange(60) < 30).astype(float)
    found = kitchen.cook(Recipe("half", weights))
    plain = np.asarray(kitchen.model.scores(train.X, found.theta))
    np.testing.assert_allclose(found.train[30:], plain[30:], rtol=1e-5)
    assert np.all(np.abs(found.train[:30] - plain[:30]) > 0.0)


def one_hot(seed, n=6000):
    """Return eight categorical columns of four to two dozen values, and a label of a fifth."""
    rng = np.random.default_rng(seed)
    parts, eta = [], np.zeros(n)
    for _ in range(8):
        size = rng.integers(4, 25)
        code = rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.7)))
        eta += 0.7 * rng.normal(size=size)[code]
        parts.append(np.eye(size)[code])
    return np.hstack(parts), (eta + rng.logistic(size=n) > np.quantile(eta, 0.8)).astype(int)


def test_few_rows_of_many_columns_are_chosen_among_as_well_as_by_the_best_rival():
    """By their own scores training rows chose what they had trained most: 0.01 behind."""
    values = []
    for seed in range(8):
        X, y = one_hot(seed)
        tables = X[:500], y[:500], X[500:1000], y[500:1000]
        for kind in (MetricClassifier, BothLogistic):
            found = kind("f1", random_state=0).fit(
                tables[0], tables[1], X_val=tables[2], y_val=tables[3]
            )
            values.append(f1_score(y[1000:], found.predict(X[1000:])))
    ours, theirs = np.reshape(values, (-1, 2)).mean(axis=0)
    assert ours > theirs


def test_likely_labels_follow_the_truth(rng):
    scores = rng.normal(size=4000)
    chance = expit(1.5 * scores - 1.0 + 0.5 * scores**2)
    y = np.where(rng.random(4000) < chance, 1.0, -1.0)
    found = chances(scores, y, np.ones(4000))
    inner = np.abs(scores) < 1.5
    assert np.abs(found - chance)[inner].max() < 0.08
    assert found.mean() == pytest.approx(np.mean(y > 0.0), abs=0.005)


def test_likely_labels_have_a_curve_for_each_group(rng):
    scores = rng.normal(size=4000)
    group = np.repeat(["a", "b"], 2000)
    chance = expit(scores + np.where(group == "a", 1.0, -1.0))
    y = np.where(rng.random(4000) < chance, 1.0, -1.0)
    data = Data(np.zeros((4000, 0)), y, side={"groups": group})
    twice = doubled(data, scores, "groups")
    found = twice.weights[:4000]
    assert np.abs(logit(found) - logit(chance))[np.abs(scores) < 1.0].max() < 0.6
    np.testing.assert_allclose(found + twice.weights[4000:], 1.0)
    assert doubled(data.take(np.arange(2010)), scores[:2010], "groups") is None


def test_a_step_of_the_chances_is_not_smoothed_over(rng):
    """A curve through it would lead the threshold astray."""
    scores = rng.normal(size=4000)
    y = np.where(rng.random(4000) < np.where(scores > 0.3, 0.7, 0.1), 1.0, -1.0)
    assert chances(scores, y, np.ones(4000)) is None
    rows = Data(np.zeros((4000, 0)), y)
    jury = DecisionJury.build(as_metric("f1"), rows, rng.standard_exponential((4000, 20)))
    assert settled(rows, scores, -0.3, jury) == -0.3


def drawn_bench(rng, metric, n=600, **side):
    scores = rng.normal(size=n)
    y = np.where(rng.random(n) < expit(2.0 * scores - 1.0), 1.0, -1.0)
    rows = Data(np.zeros((n, 0)), y, side={name: of(n) for name, of in side.items()})
    half = n // 2
    train, valid = rows.take(np.arange(half)), rows.take(np.arange(half, n))
    bench = Bench.build(metric, train, valid, np.ones(half), np.arange(half) % 5)
    jury = DecisionJury.build(metric, valid, rng.standard_exponential((half, 50)))
    return bench.place(scores[:half], scores[half:], jury)


def test_thresholds_by_likely_labels_lie_nearer_to_the_best(rng):
    """Against those of an exact sweep of the same rows, over many draws."""
    metric = as_metric("f1")
    scores = np.random.default_rng(1).normal(size=200_000)
    weights = np.concatenate([p := expit(2.0 * scores - 1.0), 1.0 - p])
    y = np.repeat([1.0, -1.0], len(scores))
    truth = DecisionJury.build(
        metric, Data(np.zeros((len(y), 0)), y, weights), np.ones((len(y), 0))
    )
    best = truth.tune(np.tile(scores, 2)).shift
    quiet, loud = [], []
    for seed in range(30):
        quiet.append(drawn_bench(np.random.default_rng(seed), metric)[0] - best)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("anymetric.auto.trust.settled", lambda data, scores, shift, *jury: shift)
            loud.append(drawn_bench(np.random.default_rng(seed), metric)[0] - best)
    assert np.mean(np.square(quiet)) < 0.7 * np.mean(np.square(loud))


def test_where_a_metric_reads_amounts_labels_count_as_they_are(rng, monkeypatch):
    monkeypatch.setattr("anymetric.auto.trust.doubled", lambda *given: 1 / 0)
    metric = Profit(tp="gain", flag_cost=0.5)
    shift, trust = drawn_bench(rng, metric, gain=lambda n: np.full(n, 2.0))
    assert np.isfinite(shift)
    assert trust > 0.0


@pytest.mark.parametrize("name", ["precision", "recall"])
def test_likely_labels_do_not_lead_to_an_end(name, rng):
    """The surest row is the best of all to flag alone, as far as anybody knows."""
    scores = rng.normal(size=600)
    y = np.where(rng.random(600) < expit(2.0 * scores), 1.0, -1.0)
    rows = Data(np.zeros((600, 0)), y)
    jury = DecisionJury.build(as_metric(name), rows, rng.standard_exponential((600, 20)))
    assert settled(rows, scores, 0.1, jury) == 0.1
