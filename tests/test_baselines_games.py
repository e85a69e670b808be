"""Relaxed F-measures, games of rates, elicited weights, precision@k: formulas against oracles."""

from itertools import combinations

import numpy as np
import pytest
from scipy import optimize
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score

from anymetric.baselines import (
    FWEG,
    GenRates,
    KarRanker,
    LogisticBaseline,
    RelaxedFM,
    TunedThreshold,
)
from anymetric.baselines._adagrad import adagrad
from anymetric.baselines._elicitation import confusion, elicited, expected_costs, probes
from anymetric.baselines._fmeasures import FMeasures
from anymetric.baselines.rates import RatioGame
from anymetric.baselines.relaxed import relaxed
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.metrics import FBeta, MacroByGroup, Profit, as_metric
from anymetric.problem import Problem
from anymetric.surrogates import AveragePrecisionAtK
from baseline_tasks import fitted, plain_macro_f1, task
from conftest import blobs

METRICS = [FBeta(), FBeta(2.0), FBeta(0.0), MacroByGroup(), MacroByGroup(FBeta(0.5))]


def differences(value, scores, rows, h=1e-6):
    """Central differences of a function of the scores, for some rows."""
    steps = h * np.eye(len(scores))[rows]
    return np.array([(value(scores + s) - value(scores - s)) / (2 * h) for s in steps])


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("centre", [0.0, -4.0])
def test_slopes_of_the_relaxed_fmeasure_are_its_derivatives(metric, centre, rng):
    measures = FMeasures.of(metric, blobs(rng, n=60))
    # At -4 the relaxed denominator is negative, and held.
    scores = rng.normal(size=60) + centre
    rows = rng.choice(60, 20, replace=False)
    _, slopes = relaxed(measures, scores)
    numeric = differences(lambda s: relaxed(measures, s)[0], scores, rows)
    np.testing.assert_allclose(slopes[rows], numeric, atol=1e-7)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_relaxed_fmeasure_is_nowhere_above_the_true_one(metric, rng):
    data = blobs(rng, n=60)
    measures, bound = FMeasures.of(metric, data), metric.bind(data.y, side=data.side)
    for scale in (0.1, 1.0, 10.0):
        scores = scale * rng.normal(size=60)
        assert relaxed(measures, scores)[0] <= float(bound.values(scores)) + 1e-12
    perfect = 2.0 * data.y
    assert relaxed(measures, perfect)[0] == pytest.approx(1.0)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_game_plays_with_the_metric_itself(metric, rng):
    data = blobs(rng, n=80)
    scores = rng.normal(size=80)
    top, bottom = RatioGame(FMeasures.of(metric, data)).rates(scores)
    value = float(metric.bind(data.y, side=data.side).values(scores))
    assert np.mean(1.0 - top / bottom) == pytest.approx(value)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("multipliers", [(1.0, 0.4), (0.5, 2.0)], ids=["usual", "alarms pay"])
def test_slopes_of_the_models_lagrangian_are_its_derivatives(metric, multipliers, rng):
    game = RatioGame(FMeasures.of(metric, blobs(rng, n=60)))
    held = np.outer(multipliers, rng.uniform(0.5, 1.0, len(game.measures)))
    scores = rng.normal(size=60)
    rows = rng.choice(60, 20, replace=False)
    _, slopes = game.lagrangian(held, scores)
    numeric = differences(lambda s: game.lagrangian(held, s)[0], scores, rows)
    np.testing.assert_allclose(slopes[rows], numeric, atol=1e-7)


@pytest.mark.parametrize("multipliers", [(1.0, 0.4), (0.5, 2.0)])
def test_the_models_lagrangian_is_nowhere_below_that_of_true_rates(multipliers, rng):
    game = RatioGame(FMeasures.of(MacroByGroup(), blobs(rng, n=60)))
    up, down = held = np.outer(multipliers, np.ones(2))
    scores = rng.normal(size=60)
    top, bottom = game.rates(scores)
    true = np.mean(up * top - down * (bottom - 2.0 * game.measures.share))
    assert game.lagrangian(held, scores)[0] >= true


def test_the_slack_players_answer_is_the_best(rng):
    game = RatioGame(FMeasures.of(FBeta(), blobs(rng, n=60)))
    rates = game.rates(rng.normal(size=60))
    (n,), (d,) = rates
    up, down = held = np.array([[1.1], [0.5]])
    c = 1.0 / (n * d)

    def lagrangian(slack):
        ratio = 0.5 * (c * slack[0] ** 2 + 1.0 / (c * slack[1] ** 2))
        return ratio - up[0] * slack[0] + down[0] * slack[1]

    box = [(low, high) for (low,), (high,) in zip(*game.box, strict=True)]
    best = optimize.minimize(lagrangian, [n, d], bounds=box, tol=1e-14)
    np.testing.assert_allclose(game.slack(held, rates).ravel(), best.x, atol=1e-5)


def test_the_multipliers_settle_at_the_slopes_of_the_ratio(rng):
    game = RatioGame(FMeasures.of(MacroByGroup(), blobs(rng, n=80)))
    rates = game.rates(rng.normal(size=80))
    held = game.start(rates) * rng.uniform(0.7, 1.4, (2, 2))
    for _ in range(200):
        held = game.ascend(held, rates, 0.5)
    h = 1e-6
    by_top = ((rates[0] + h) / rates[1] - (rates[0] - h) / rates[1]) / (2 * h)
    by_bottom = (rates[0] / (rates[1] + h) - rates[0] / (rates[1] - h)) / (2 * h)
    np.testing.assert_allclose(held, [by_top, -by_bottom], rtol=1e-5)


def stairs(seed):
    """Eight rows on each of five steps, positives more frequent on the higher ones."""
    rng = np.random.default_rng(seed)
    x = np.repeat(np.arange(-2.0, 3.0), 8)
    y = (rng.random(40) < np.repeat([0.02, 0.1, 0.25, 0.45, 0.8], 8)).astype(int)
    return x[:, np.newaxis], y, np.tile(["a", "b"], 20)


@pytest.mark.parametrize("seed", [2, 6, 11, 14, 16])
@pytest.mark.parametrize("metric", ["f1", "group_mean_f1"])
def test_genrates_reaches_the_best_fmeasure_where_logistic_regression_does_not(metric, seed):
    X, y, groups = stairs(seed)
    column = groups if metric == "group_mean_f1" else np.zeros(40)
    every = [sign * X[:, 0] > cut for sign in (1, -1) for cut in np.arange(-2.5, 3.0)]
    best = max(plain_macro_f1(y, flagged, column) for flagged in every)
    found, plain = (k(metric).fit(X, y, groups=groups) for k in (GenRates, LogisticBaseline))
    assert plain.score(X, y, groups=groups) < best - 0.05
    assert found.score(X, y, groups=groups) == pytest.approx(best)


@pytest.mark.parametrize("kind", [RelaxedFM, GenRates])
def test_a_separable_sample_gets_an_fmeasure_of_one(kind):
    X, _, groups = task()
    y = X[:, 0] > 1.0
    assert kind("group_mean_f1", random_state=0).fit(X, y, groups=groups).validation_score_ == 1.0


def test_relaxed_methods_say_which_column_the_training_rows_lack():
    X, y, groups = task()
    with pytest.raises(ValueError, match="column 'groups' is needed"):
        RelaxedFM("group_mean_f1").fit(X, y, X_val=X, y_val=y, groups_val=groups)


def test_a_group_without_positives_is_left_out_of_the_formula():
    groups = np.array(["a", "a", "b"])
    data = Data(np.zeros((3, 1)), np.array([1.0, -1.0, -1.0]), side={"groups": groups})
    assert len(FMeasures.of(MacroByGroup(), data)) == 1


def precision_at_k_program(X, y, k):
    """The least value of the surrogate over all weights, by one line a label vector."""
    rows, right = [], []
    positive = np.flatnonzero(y > 0)
    for chosen in combinations(range(len(y)), k):
        label = np.isin(np.arange(len(y)), chosen)
        true = int(label[positive].sum())
        missed = np.setdiff1d(positive, chosen)
        line = X[label & (y < 0)].sum(axis=0)
        if len(missed):
            line = line - (k - true) / (len(positive) - true) * X[missed].sum(axis=0)
        rows.append(np.append(line, -1.0))
        right.append(true - k)
    free = [(None, None)] * (X.shape[1] + 1)
    return optimize.linprog(np.append(np.zeros(X.shape[1]), 1.0), rows, right, bounds=free).fun / k


@pytest.mark.parametrize("seed", [1, 3, 6])
def test_adagrad_finds_the_least_precision_at_k_surrogate(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 2))
    y = np.where(X[:, 0] + 2.0 * rng.normal(size=9) > 0, 1.0, -1.0)
    problem = Problem(Data(X, y), AveragePrecisionAtK(2), as_metric("prbep"))
    path = adagrad(lambda t: problem.linearise(t)[1][0], np.zeros(3), 0.1, 1000)
    # An intercept cannot change an order: the linear program does without it.
    least = precision_at_k_program(X, y, 2)
    assert 0.1 < least < 0.9
    assert problem.profile(path).min() == pytest.approx(least, abs=0.005)


def test_the_ranker_of_kar_et_al_ranks_and_counts():
    X, y = make_classification(600, 8, weights=[0.85], random_state=1)
    kept = {"X_val": X[400:], "y_val": y[400:]}
    found = KarRanker("prbep", iterations=100).fit(X[:400], y[:400], **kept)
    top = np.argsort(-found.predict(X[400:]))[: y[400:].sum()]
    assert found.validation_score_ == pytest.approx(y[400:][top].mean())
    assert found.validation_score_ > 0.6
    assert found.n_metric_calls_ == 3 * 101
    least = KarRanker("prbep", k=5, step=0.1, iterations=10, max_metric_calls=4)
    assert least.fit(X, y).n_metric_calls_ <= 4
    with pytest.raises(ValueError, match="counts rows"):
        KarRanker().fit(X, y, sample_weight=np.full(600, 0.5))


def judged(metric, rng, n=200):
    """A problem validated on its training rows, decisions on them, and group indicators."""
    data = blobs(rng, n=n)
    phi = (data.column("groups")[:, np.newaxis] == np.array(["a", "b"])).astype(float)
    return Problem(data, "logistic", metric), rng.random(n), phi


def test_elicited_weights_are_those_of_a_linear_metric(rng):
    gains = rng.uniform(0.5, 3.0, (2, 2))  # class by group

    def worth(groups, row):
        return gains[row, (groups == "b").astype(int)]

    data = blobs(rng, n=200)
    side = {
        **data.side,
        "up": worth(data.side["groups"], 1),
        "down": worth(data.side["groups"], 0),
    }
    data = Data(data.X, data.y, side=side)
    problem = Problem(data, "logistic", Profit(tp="up", tn="down"))
    phi = (data.column("groups")[:, np.newaxis] == np.array(["a", "b"])).astype(float)
    nearby = probes(rng.random(200), phi, 0.1)
    costs = expected_costs(Ledger(problem), nearby, rng, 1)
    np.testing.assert_allclose(elicited(confusion(data, phi, nearby), -costs), gains, rtol=1e-8)


def test_draws_agree_with_the_expected_confusion(rng):
    def share_score(y_true, y_pred):
        return float(np.mean(y_true == y_pred))

    exact, votes, _ = judged(as_metric("accuracy"), rng)
    drawn = Problem(exact.train, "logistic", as_metric(share_score), labels=(-1, 1))
    ledger = Ledger(drawn)
    mean = expected_costs(ledger, votes[:, np.newaxis], rng, 400)
    plain = expected_costs(Ledger(exact), votes[:, np.newaxis], rng, 1)
    assert ledger.calls == 400
    # The metric of the user has no ceiling: its cost is minus its value.
    np.testing.assert_allclose(1.0 + mean, plain, atol=0.01)


def noisy_groups(seed, n=4000):
    """Six in ten positives of group b are called negative in training rows; X knows the group."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    groups = np.where(rng.random(n) < 0.5, "a", "b")
    X[:, 2] = groups == "b"
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0.3).astype(int)
    noisy = np.where((groups == "b") & (rng.random(n) < 0.6), 0, y)
    return X, y, noisy, groups


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_fweg_beats_its_start_where_one_group_is_noisy(seed):
    X, y, noisy, groups = noisy_groups(seed)
    train, valid, test = slice(0, 2000), slice(2000, 2600), slice(2600, None)
    found = FWEG("accuracy", random_state=0).fit(
        X[train],
        noisy[train],
        groups=groups[train],
        X_val=X[valid],
        y_val=y[valid],
        groups_val=groups[valid],
    )
    first = found.history_[0]["cost"]
    assert found.cost_ < first - 0.03
    plain = np.mean((X[test] @ found.coef_[0] + found.intercept_[0] > 0) == y[test])
    assert found.score(X[test], y[test], groups=groups[test]) > plain + 0.03
    labels = found.draw(X[test], groups=groups[test], random_state=0)
    assert np.mean(labels == y[test]) > plain
    with pytest.raises(ValueError, match="needs them here too"):
        found.predict(X)


def test_fweg_finds_the_threshold_of_a_cost_sensitive_metric():
    X, y, _ = task(n=3000)
    # Where a miss costs four times a false alarm, rows with p > 1/5 are to be flagged.
    metric = Profit(tp=4.0, tn=1.0)
    found = FWEG(metric, rounds=1, standardize=False).fit(X, y, X_val=X, y_val=y)
    p = 1.0 / (1.0 + np.exp(-(X @ found.coef_[0] + found.intercept_[0])))
    np.testing.assert_array_equal(found.predict(X) == "yes", p > 0.2)


def test_clusters_are_found_again_when_predicting():
    found = fitted(FWEG("f1", clusters=3, rounds=3, random_state=0))
    X, y, groups = task()
    assert found.basis_.of(X, groups).sum() == 2 * len(X)
    assert found.score(X[160:], y[160:], groups=groups[160:]) == found.validation_score_


def test_fweg_needs_decisions():
    with pytest.raises(ValueError, match="needs a metric of decisions; 'roc_auc'"):
        fitted(FWEG("roc_auc"))


def test_a_tuned_threshold_and_fweg_agree_on_one_group_of_clean_rows():
    X, y, _ = task(n=2000)
    found, shifted = (k("f1", C=1.0).fit(X, y, X_val=X, y_val=y) for k in (FWEG, TunedThreshold))
    value = f1_score(y, found.predict(X), pos_label="yes")
    assert found.score(X, y) == pytest.approx(value)
    assert value == pytest.approx(shifted.validation_score_, abs=0.02)
