"""The default where tables or metrics are odd: rare classes, many columns, few looks, odds."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss

from anymetric.auto import Auto
from anymetric.auto.choice import still_flagging
from anymetric.auto.jury import DecisionJury
from anymetric.auto.odds import as_odds
from anymetric.auto.pool import Candidate, Kitchen, Recipe
from anymetric.auto.trust import worse
from anymetric.baselines import PostShift
from anymetric.data import Data
from anymetric.estimators import MetricClassifier, MetricRegressor
from anymetric.losses import as_loss
from anymetric.metrics import as_metric
from anymetric.models import Linear
from anymetric.problem import Problem
from anymetric.solution import Status
from anymetric.solvers import WeightedLoss, minimise
from conftest import blobs


@pytest.mark.parametrize("name", ["f1", "f0.5", "balanced_error", "gmean"])
@pytest.mark.parametrize("rare", [1.0, -1.0])
def test_the_sweep_is_exact_where_a_class_is_rare(name, rare, rng):
    y = np.where(np.arange(3000) < 60, rare, -rare)
    scores = y + rng.normal(size=3000)
    bound = as_metric(name).bind(y)
    jury = DecisionJury.build(as_metric(name), Data(np.zeros((3000, 0)), y), np.ones((3000, 1)))
    every = bound.costs(scores[:, None] - np.sort(scores) - 1e-9)
    assert jury.tune(scores).cost == pytest.approx(every.min(), abs=1e-12)


def test_rare_positives_are_found_as_post_shift_finds_them():
    """Even cuts of twenty thousand rows pass forty positives in one step."""
    rng = np.random.default_rng(0)

    def drawn(n=20_000):
        y = (np.arange(n) < 40).astype(int)
        return rng.normal(size=(n, 5)) + 5.0 * y[:, None] * (np.arange(5) == 0), y

    (X, y), (X_val, y_val), test = drawn(), drawn(), drawn()
    ours, theirs = (
        kind("f1", random_state=0).fit(X, y, X_val=X_val, y_val=y_val).score(*test)
        for kind in (MetricClassifier, PostShift)
    )
    assert ours > theirs - 0.02


def test_of_thresholds_as_good_the_middle_one_is_taken():
    """The first would flag a single row, and often none of the next sample."""
    values = []
    for seed in range(6):
        X, y = make_classification(
            450, 4, n_informative=3, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=seed
        )
        clf = MetricClassifier("precision", random_state=0).fit(X[:150], y[:150])
        assert clf.predict(X[150:]).sum() > 0
        values.append(clf.score(X[150:], y[150:]))
    assert np.mean(values) > 0.7


def test_a_model_that_its_rows_trained_still_flags_as_many_of_them():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    data = Data(np.array([[0.4], [0.3], [0.2], [0.1]]), y)
    problem = Problem(data, "logistic", as_metric("precision"), data, Linear(), (0, 1))
    by_turns = Candidate(Recipe("one", np.ones(4)), np.array([1.0, 0.0]), np.zeros(0), data.X[:, 0])
    lower = replace(by_turns, theta=np.array([1.0, -5.0]))
    assert still_flagging(problem, by_turns, -0.25) == -0.25
    shift = still_flagging(problem, lower, -0.25)
    assert (data.X[:, 0] - 5.0 + shift > 0.0).tolist() == [True, True, False, False]


@pytest.mark.parametrize("kind", [MetricClassifier, MetricRegressor])
def test_wide_tables_are_trained_without_their_hessian(kind, rng, monkeypatch):
    X = sparse.random(200, 3000, 0.02, format="csr", random_state=0)
    signal = X @ rng.normal(size=3000)
    y = signal > 0.0 if kind is MetricClassifier else signal
    square = Linear.hessian

    def small(self, table, curvature):
        assert table.shape[1] < 3000
        return square(self, table, curvature)

    monkeypatch.setattr(Linear, "hessian", small)
    metric = "f1" if kind is MetricClassifier else "median_absolute_error"
    found = kind(metric, random_state=0).fit(X, y)
    assert found.coef_.size == 3000
    assert np.corrcoef(X @ found.coef_.ravel(), signal)[0, 1] > 0.7


def test_scores_by_turns_are_those_of_full_fits_where_columns_are_many(rng):
    X = rng.normal(size=(100, 700))
    data = Data(X, np.where(X[:, 0] + rng.normal(size=100) > 0.0, 1.0, -1.0))
    kitchen = Kitchen.build(Linear(), data.take(np.arange(0)), data, as_loss("logistic"), rng)
    recipe = Recipe("all", np.zeros(0), data.weights, 1.0)
    scores = kitchen.cook(recipe).valid
    for k in range(5):
        kept = kitchen.fold != k
        # One effective row of eighty, as the recipe's own ridge has of a hundred.
        again = WeightedLoss(Linear(), data, kitchen.loss, kept.astype(float), 10.0 / 100.0)
        out = np.flatnonzero(~kept)
        expected = Linear().scores(X[out], minimise(again))
        np.testing.assert_allclose(scores[out], expected, atol=1e-3)


@pytest.mark.parametrize("calls", [1, 2, 3, 10])
def test_the_last_look_is_kept_for_the_average(calls, rng):
    data = blobs(rng, n=400)
    clf = MetricClassifier("f1", max_metric_calls=calls, random_state=0).fit(data.X, data.y)
    assert clf.n_metric_calls_ == calls
    assert len(clf.settings_["candidates"]) == max(calls - 1, 1)
    assert ("gain" in clf.settings_) == (calls > 1)


def test_a_slice_that_the_user_names_is_weighed_by_what_it_is_worth(rng):
    X = rng.normal(size=(3000, 4))
    y = X[:, 0] + 0.7 * rng.normal(size=3000) > 0.5
    region = rng.choice(["north", "south", "west"], 3000)
    train, valid = np.arange(1500), np.arange(1500, 3000)
    wrong = np.where(region == "west", ~y, y)
    clf = MetricClassifier("f1", slices="region", use_validation=False, random_state=0).fit(
        X[train],
        wrong[train],
        side={"region": region[train]},
        X_val=X[valid],
        y_val=y[valid],
        side_val={"region": region[valid]},
    )
    west = sum(weight for name, weight in clf.weights_.items() if "west" in name)
    assert west < 0.15  # a third of the rows


def test_the_learned_loss_has_the_validation_rows_too(rng):
    X = rng.normal(size=(3000, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=3000) > 0.5).astype(int)
    train, valid, test = np.split(np.arange(3000), [1500, 2000])
    wrong = np.where(rng.random(1500) < 0.45, 1 - y[train], y[train])
    weights = np.where(np.arange(500) < 400, 1.0, 0.0)
    clf = MetricClassifier("accuracy", random_state=0).fit(
        X[train], wrong, X_val=X[valid], y_val=y[valid], sample_weight_val=weights
    )
    own, judges = clf.sample_weight_, clf.sample_weight_val_
    assert own.mean() == pytest.approx(1.0)
    assert np.all(judges[400:] == 0.0)
    share = judges.sum() / (own.sum() + judges.sum())
    assert share == pytest.approx(clf.weights_["validation rows"])
    both = np.concatenate([train, valid])
    other = LogisticRegression().fit(
        X[both], np.append(wrong, y[valid]), sample_weight=np.append(own, judges)
    )
    assert other.score(X[test], y[test]) > 0.8
    again = clf.set_params(use_validation=False).fit(
        X[train], wrong, X_val=X[valid], y_val=y[valid]
    )
    assert not hasattr(again, "sample_weight_val_")


def test_few_rows_whose_candidates_tie_are_not_called_flat():
    X, y = make_classification(40, 4, random_state=0)
    status = MetricClassifier("f1", random_state=0).fit(X, y).status_
    assert status is Status.JUDGED


def test_what_the_door_is_told_of_validation_rows_holds_for_a_part_too(rng):
    data = blobs(rng, n=600)
    train, valid = data.take(np.arange(300)), data.take(np.arange(300, 600))
    clf = MetricClassifier("f1", method=Auto(clusters=False), use_validation=False, random_state=0)
    clf.fit(train.X, train.y, X_val=valid.X, y_val=valid.y)
    assert "validation rows" not in clf.weights_


@pytest.mark.parametrize("kind", ["scorer", "function"])
def test_probabilities_are_as_good_as_those_of_a_plain_model(kind):
    """A ridge of ten rows makes scores too small by a factor of three here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 10))
    y = (4.0 * X[:, 0] + 0.7 * rng.normal(size=2600) > -2.5).astype(int)

    def odds_loss(y_true, y_prob):
        return log_loss(y_true, y_prob)

    metric = "neg_log_loss" if kind == "scorer" else odds_loss
    clf = MetricClassifier(metric, random_state=0).fit(X[:600], y[:600])
    ours = log_loss(y[600:], expit(clf.decision_function(X[600:])))
    plain = LogisticRegression().fit(X[:600], y[:600]).predict_proba(X[600:])
    assert ours < log_loss(y[600:], plain)


def test_scores_that_point_the_wrong_way_are_not_turned_into_odds():
    X = np.linspace(-1.0, 1.0, 100)[:, None]
    problem = Problem(
        Data(X, np.sign(X[:, 0])), "logistic", as_metric("neg_log_loss"), labels=(0, 1)
    )
    wrong = Candidate(Recipe("", np.ones(100)), np.array([-1.0, 0.0]), X[:0, 0], -X[:, 0])
    assert as_odds(wrong, problem) is wrong


def test_a_function_with_a_cut_of_its_own_gets_scores_as_they_are():
    """Log-odds of rare positives never reach one half; balanced scores do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6500, 8))
    y = (1.2 * X[:, 0] + rng.logistic(size=6500) > 3.8).astype(int)

    def cut_score(y_true, y_prob):
        return f1_score(y_true, y_prob > 0.5)

    clf = MetricClassifier(cut_score, random_state=0).fit(X[:1500], y[:1500])
    plain = LogisticRegression().fit(X[:1500], y[:1500])
    assert clf.score(X[1500:], y[1500:]) > f1_score(y[1500:], plain.predict(X[1500:])) + 0.05


def test_a_handful_of_rows_does_not_say_how_large_its_scores_should_be():
    """Rows that a model separates would make its scores as large as can be."""
    X, y = make_classification(30, 5, random_state=0)
    clf = MetricClassifier("neg_log_loss", random_state=0).fit(X, y)
    assert np.abs(clf.decision_function(X)).max() < 10.0


def test_labels_that_are_nearly_certain_get_less_ridge():
    found, light = [], 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        w, X = rng.normal(size=20), rng.normal(size=(12_000, 20))
        y = X @ w > 2.05 * np.linalg.norm(w)
        clf = MetricClassifier("f1", random_state=0).fit(X[:2000], y[:2000])
        plain = LogisticRegression().fit(X[:2000], y[:2000])
        found.append((clf.score(X[2000:], y[2000:]), f1_score(y[2000:], plain.predict(X[2000:]))))
        light += sum(lightly(clf))
    ours, theirs = np.mean(found, axis=0)
    assert light > 0.5
    assert ours > theirs + 0.02


def lightly(clf):
    """Return the votes of candidates with less ridge than usual."""
    ends = (", 1", ", 0.1")
    return [c["votes"] for c in clf.settings_["candidates"] if c["name"].endswith(ends)]


def test_less_ridge_that_does_not_pay_has_no_vote(rng):
    data = blobs(rng, n=600)
    clf = MetricClassifier("f1", random_state=0).fit(data.X, np.where(rng.random(600) < 0.3, 1, 0))
    assert not any(lightly(clf))


def test_where_three_rows_are_all_right_an_error_is_not_zero():
    right, other = np.zeros(50), np.full(50, 0.05)
    assert worse(other, right, 1.25)
    assert not worse(other, right, 1.25, resolution=1 / 3)
