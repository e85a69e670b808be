"""Boosted trees as a family: LightGBM is the oracle; stopping, gaps, categories, descent."""

import pickle

import lightgbm as gbm
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_friedman1

from anymetric import Boosted, MetricClassifier, MetricRanker, MetricRegressor
from anymetric.boosting import BoostedDescent, BoostedRun
from anymetric.data import Data
from anymetric.ledger import Ledger
from anymetric.losses import Huber, Lp, Squared
from anymetric.metrics import as_metric
from anymetric.models.boosted import drawn
from anymetric.models.trees import Patience, best_tree
from anymetric.problem import Problem
from anymetric.solution import Status
from anymetric.surrogates import per_class, per_class_and_group

QUICK = Boosted(trees=30, least_rows=5)


def crossed(n=600, seed=0, flip=0.05):
    """Rows whose classes no line tells apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0.3, 1.0, -1.0)
    return Data(X, np.where(rng.random(n) < flip, -y, y))


def direct(data, rows, trees, seed, goal="binary", **settings):
    """Return LightGBM's own raw scores."""
    label = (data.y > 0.0).astype(float) if goal == "binary" else data.y
    named = {
        "objective": goal,
        "learning_rate": 0.1,
        "num_leaves": 15,
        "lambda_l2": 1.0,
        "feature_fraction_bynode": 0.7,
        "max_bin": 127,
        "min_data_in_leaf": 5,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "feature_pre_filter": False,
        "verbosity": -1,
        **settings,
    }
    train = gbm.Dataset(data.X, label, weight=rows * len(rows) / rows.sum())
    return gbm.train(named, train, trees).predict(data.X, raw_score=True)


@pytest.mark.parametrize(("classes", "goal"), [(2, "binary"), (0, "regression")])
def test_it_is_lightgbm_fitted_directly_with_the_same_weights(classes, goal):
    data = crossed()
    rows = np.random.default_rng(1).exponential(size=len(data))
    family = Boosted(trees=20, least_rows=5, held_out=0.0)
    found = family.learn(data, 3.0 * rows, np.random.default_rng(5), classes=classes)
    rng = np.random.default_rng(5)
    drawn(data.y, 0.0, rng)
    expected = direct(data, rows, 20, int(rng.integers(2**31)), goal)
    np.testing.assert_allclose(found.scores(data.X), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "least"), [(5, 2), (40, 4), (199, 19), (200, 20), (5000, 20)], ids=str
)
def test_leaves_of_few_rows_are_small(n, least):
    rng, y = np.random.default_rng(0), np.ones(n)
    assert Boosted().parameters(rng, y, 2)["min_data_in_leaf"] == least
    assert Boosted(least_rows=7).parameters(rng, y, 2)["min_data_in_leaf"] == 7


@pytest.mark.parametrize(
    ("load", "each", "metric"),
    [(load_breast_cancer, 25, "f1"), (load_iris, 8, "accuracy")],
    ids=["breast cancer", "iris"],
)
def test_a_few_dozen_rows_are_enough_for_trees(load, each, metric):
    X, y = load(return_X_y=True)
    few = np.concatenate([np.flatnonzero(y == code)[:each] for code in np.unique(y)])
    rest = np.setdiff1d(np.arange(len(y)), few)
    clf = MetricClassifier(metric, model="boosted", random_state=0).fit(X[few], y[few])
    assert np.mean(clf.predict(X[rest]) == y[rest]) > 0.8


def test_many_classes_give_a_score_each():
    X, y = make_classification(400, 6, n_informative=4, n_classes=3, random_state=0)
    found = QUICK.learn(Data(X, y.astype(float)), np.ones(400), np.random.default_rng(0), classes=3)
    assert found.scores(X).shape == (400, 3)
    assert np.mean(np.argmax(found.scores(X), axis=1) == y) > 0.8


@settings(max_examples=40, deadline=None)
@given(st.integers(10, 300), st.floats(0.05, 0.5), st.integers(0, 99))
def test_rows_are_held_out_evenly_from_each_class(n, share, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    out = drawn(y, share, rng)
    for sign in (-1.0, 1.0):
        assert abs(out[y == sign].sum() - share * np.sum(y == sign)) <= 1.5


def test_trees_stop_where_the_rows_that_watch_ask_for_it():
    data = crossed(flip=0.3)
    new = crossed(300, seed=1, flip=0.3)
    family = Boosted(trees=400, least_rows=5, patience=10)
    watch = [(new, new.weights)]
    grown = family.grow(data, data.weights, np.random.default_rng(0), watch=watch)
    assert len(grown.curves) == grown.best + 10 < 400
    losses = [
        np.mean(np.log1p(np.exp(-new.y * grown.scores(new.X, t)))) for t in (1, grown.best, 200)
    ]
    np.testing.assert_allclose(grown.curves[grown.best - 1, 0], losses[1], rtol=1e-6)
    assert losses[1] <= min(losses)
    assert grown.cut(grown.best).best_iteration_ == grown.best


def test_a_watcher_does_not_end_what_the_others_would_have_seen():
    """Where one watches wrong labels: the stop without it is that of training without it."""
    data, some, more = crossed(flip=0.1), crossed(200, seed=1), crossed(200, seed=2)
    wrong = Data(more.X, -more.y)
    family = Boosted(trees=200, least_rows=5, patience=5)
    pairs = [(one, one.weights) for one in (wrong, some, more)]
    grown = family.grow(data, data.weights, np.random.default_rng(0), watch=pairs)
    alone = family.grow(data, data.weights, np.random.default_rng(0), watch=pairs[1:])
    misled = family.grow(data, data.weights, np.random.default_rng(0), watch=pairs[:1])
    assert grown.best_without(0) == alone.best > len(misled.curves)


def test_the_best_tree_is_that_of_all_rows_together():
    curves = np.array([[0.3, 0.9], [0.2, 0.8], [0.4, 0.7]])
    assert best_tree(curves, np.array([1.0, 0.0]), 5) == 2
    assert best_tree(curves, np.array([1.0, 9.0]), 5) == 3


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30), st.integers(1, 40))
def test_patience_sees_the_least_loss_before_it_is_lost(losses, limit):
    told = Patience(limit)
    seen = [told.see(loss) for loss in losses]
    known = losses[: told.count]
    assert told.best == 1 + int(np.argmin(known))
    assert seen == [k < told.best + limit for k in range(1, len(losses) + 1)]


def fitted(model="boosted", metric="f1", n=500, m=250, **named):
    data = crossed(n + m)
    train, valid = data.take(np.arange(n)), data.take(np.arange(n, n + m))
    clf = MetricClassifier(metric, model=model, random_state=0, **named)
    return clf.fit(train.X, train.y, X_val=valid.X, y_val=valid.y), crossed(2000, seed=9)


def test_by_name_it_solves_what_a_line_cannot():
    clf, new = fitted()
    line, _ = fitted("linear")
    assert clf.score(new.X, new.y) > 0.85 > line.score(new.X, new.y) + 0.1
    booster = clf.model_.members[0].booster_
    assert isinstance(booster, gbm.Booster)
    assert clf.model_.members[0].best_iteration_ == booster.num_trees()


def test_it_pickles_as_text_and_predicts_the_same():
    clf, new = fitted(QUICK)
    clf.predict(new.X)
    copy = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(copy.decision_function(new.X), clf.decision_function(new.X))
    assert set(clf.model_.members[0].__getstate__()) == {"text"}


def test_a_clone_has_the_same_settings_and_a_refit_the_same_trees():
    model = Boosted(trees=20, leaves=7, categorical=(1,))
    copy = clone(MetricClassifier("f1", model=model))
    assert copy.model is not model
    assert copy.model.get_params() == model.get_params()
    one, new = fitted(QUICK)
    two, _ = fitted(QUICK)
    np.testing.assert_array_equal(one.decision_function(new.X), two.decision_function(new.X))


def test_sparse_rows_are_read_as_they_are():
    data = crossed(300)
    X = np.where(np.abs(data.X) < 0.5, 0.0, data.X)
    found = [
        QUICK.learn(Data(rows, data.y), data.weights, np.random.default_rng(0)).scores(rows)
        for rows in (X, sparse.csr_array(X))
    ]
    np.testing.assert_allclose(found[0], found[1])


@pytest.mark.parametrize("model", ["boosted", "auto", "linear"])
def test_missing_values_are_read(model):
    rng = np.random.default_rng(0)
    data = crossed(700)
    X = data.X.copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    # What is missing tells: in the last column it gives the label away.
    X[data.y > 0, 3] = np.where(rng.random(np.sum(data.y > 0)) < 0.9, np.nan, 0.0)
    clf = MetricClassifier("f1", model=model, random_state=0).fit(X[:500], data.y[:500])
    assert clf.score(X[500:], data.y[500:]) > 0.85
    with pytest.raises(ValueError, match="NaN"):
        MetricClassifier("f1", method="descent").fit(X, data.y)


def table(n=700, seed=0):
    """A frame whose first column is a category that tells the class by its parity."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, n)
    y = np.where((codes % 2 == 0) == (rng.random(n) < 0.9), 1, 0)
    names = np.array([f"town {k}" for k in range(12)])
    frame = pd.DataFrame({"town": pd.Categorical(names[codes]), "size": rng.normal(size=n)})
    return frame, y


@pytest.mark.parametrize("model", ["boosted", "auto", "linear"])
def test_a_frames_categories_are_read(model):
    frame, y = table()
    clf = MetricClassifier("accuracy", model=model, random_state=0).fit(frame[:500], y[:500])
    assert clf.score(frame[500:], y[500:]) > 0.85
    # In another order and with a town never seen.
    other = frame[500:].copy()
    other["town"] = other["town"].astype(str).astype("category")
    np.testing.assert_array_equal(clf.predict(other), clf.predict(frame[500:]))
    new = frame[:5].assign(town=pd.Categorical(["elsewhere"] * 5))
    assert clf.predict(new).shape == (5,)


def test_trees_know_which_columns_hold_categories():
    frame, y = table()
    clf = MetricClassifier("accuracy", model="boosted", random_state=0).fit(frame, y)
    assert "cat_threshold" in clf.model_.members[0].text
    assert "num_cat=0" not in clf.model_.members[0].text.split("Tree=1")[0]


def test_the_pool_of_both_says_which_family_won_and_by_how_much():
    clf, new = fitted("auto")
    families = clf.summary_.families
    assert set(families) == {"boosted", "linear"}  # validation rows are given: no forest
    assert families["boosted"].behind == 0.0 < families["linear"].behind
    assert np.isclose(sum(one.share for one in families.values()), 1.0)
    told = str(clf.diagnose(new.X, new.y))
    assert "boosted won" in told
    assert "linear is" in told


def test_a_linear_answer_of_the_pool_has_coefficients():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X @ rng.normal(size=12) + 0.5 * rng.normal(size=400) > 0.0
    clf = MetricClassifier("accuracy", model="auto", random_state=0).fit(X, y)
    assert clf.summary_.families["linear"].share > 0.5
    if hasattr(clf, "coef_"):
        np.testing.assert_allclose(
            clf.decision_function(X), X @ clf.coef_.ravel() + clf.intercept_[0], atol=1e-9
        )


@pytest.mark.parametrize("metric", ["median_absolute_error", "r2"])
def test_a_regression_learns_from_corrupted_rows(metric):
    X, y = make_friedman1(700, noise=0.3, random_state=0)
    rng = np.random.default_rng(0)
    corrupted = np.where(rng.random(400) < 0.2, y[:400] + rng.normal(size=400) * 50.0, y[:400])
    reg = MetricRegressor(metric, model=Boosted(trees=80), random_state=0)
    reg.fit(X[:400], corrupted, X_val=X[400:500], y_val=y[400:500])
    line = MetricRegressor(metric, model="linear", random_state=0)
    line.fit(X[:400], corrupted, X_val=X[400:500], y_val=y[400:500])
    better = 1.0 if metric == "r2" else -1.0
    assert better * reg.score(X[500:], y[500:]) > better * line.score(X[500:], y[500:])


@pytest.mark.parametrize(
    ("loss", "goal"),
    [(Squared(), "regression"), (Huber(0.2), "huber"), (Lp(1.1), "regression_l1")],
)
def test_a_loss_is_put_in_lightgbms_words(loss, goal):
    assert QUICK.with_loss(loss).settings["objective"] == goal
    assert QUICK.settings is None


def by_group(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 3] = rng.integers(0, 2, n)
    f = X[:, 0] * X[:, 1] + X[:, 2] + np.where(X[:, 3] == 1.0, -1.2, 0.3)
    y = np.where(f + 0.5 * rng.normal(size=n) > 0.6, 1.0, -1.0)
    return Data(X, y, side={"groups": X[:, 3].astype(int)})


def test_the_descent_lowers_the_cost_of_the_plain_trees_at_their_best_threshold():
    data = by_group()
    parts = [data.take(np.arange(a, b)) for a, b in ((0, 1000), (1000, 2000), (2000, 3000))]
    problem = Problem(
        parts[0],
        per_class_and_group("logistic"),
        as_metric("group_mean_f1"),
        parts[1],
        labels=(0, 1),
    )
    ledger = Ledger(problem)
    # Few trees: a start that leaves something to gain.
    solution = BoostedDescent(Boosted(trees=20)).run(ledger, [], np.random.default_rng(0))
    assert solution.cost < solution.iterations[0].cost
    assert solution.calls == ledger.calls
    scores = solution.scorer.scores(parts[1].X)
    assert np.isclose(float(problem.judge.costs(scores)), solution.cost)
    iteration = solution.iterations[1]
    assert np.all(iteration.projection.multipliers >= 0.0)


def test_a_target_within_reach_is_reached_by_boosting():
    data = by_group()
    problem = Problem(data, per_class("logistic"), as_metric("error"), labels=(0, 1))
    ledger, rng = Ledger(problem), np.random.default_rng(0)
    walk = BoostedRun.begun(
        Boosted(), ledger, Boosted(5, held_out=0.0).learn(data, data.weights, rng), rng
    )
    target = walk.first.here.profile - np.array([0.02, 0.05])
    reached = walk.project(target, rounds=40)
    assert np.all(reached.profile <= target)
    assert 0 < reached.iterations < 40
    assert np.all(reached.multipliers == 0.0)
    again = (
        walk.start.scores(data.X)
        + walk.offset
        + walk.boosting.cut(reached.iterations).scores(data.X)
    )
    np.testing.assert_allclose(walk.train, again, atol=1e-9)


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 6, 11])
def test_a_few_calls_do_not_make_the_descent_worse_than_its_start(calls):
    def right_score(y_true, y_pred):
        return float(np.mean(y_true == y_pred))

    one, new = fitted(QUICK, right_score, method="descent", max_metric_calls=1)
    clf, _ = fitted(QUICK, right_score, method="descent", max_metric_calls=calls)
    assert clf.n_metric_calls_ <= calls
    assert clf.validation_score_ >= one.validation_score_
    assert clf.score(new.X, new.y) > 0.85


def test_a_descent_cut_to_a_pair_of_probes_does_not_call_the_metric_flat():
    def top_score(y_true, y_score):
        return float(y_true[np.argmax(y_score)])

    data = crossed(300)
    ranker = MetricRanker(top_score, model=QUICK, method="descent", max_metric_calls=4)
    ranker.set_params(random_state=0).fit(data.X, data.y > 0)
    assert ranker.n_metric_calls_ == 4
    assert ranker.status_ is Status.BUDGET


@pytest.mark.parametrize("calls", [1, 20, 100])
def test_the_descent_honours_the_budget(calls):
    clf, _ = fitted(QUICK, "error", method="descent", max_metric_calls=calls)
    assert clf.n_metric_calls_ <= calls
    assert clf.status_ in (Status.BUDGET, Status.CONVERGED)


def test_the_descents_model_is_what_it_was_evaluated_by():
    clf, new = fitted(QUICK, "gmean", method="descent")
    assert clf.cost_ <= clf.history_[0]["cost"]
    assert np.isclose(sum(clf.weights_.values()), 1.0)
    assert clf.score(new.X, new.y) > 0.7


@pytest.mark.parametrize(("positives", "rate"), [(200, 0.1), (9, 0.05)])
def test_trees_are_added_more_slowly_where_a_class_is_rare(positives, rate):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    data = Data(X, np.where(np.argsort(np.argsort(-X[:, 0])) < positives, 1.0, -1.0))
    grown = [
        family.grow(data, np.ones(1000), np.random.default_rng(1))
        for family in (Boosted(3), Boosted(3, learning_rate=rate))
    ]
    np.testing.assert_array_equal(*(one.scores(X, 3) for one in grown))


def test_the_descent_of_a_regression_begins_at_trees_of_numbers(rng):
    X = rng.normal(size=(400, 3))
    y = 100.0 + 10.0 * np.abs(X[:, 0]) + rng.normal(size=400)
    reg = MetricRegressor("mean_absolute_error", model="boosted", method="descent", random_state=0)
    reg.fit(X, y)
    assert reg.history_[0]["cost"] < 2.0


def test_a_descent_by_sources_that_the_validation_rows_do_not_have_says_what_to_do(rng):
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0.0).astype(int)
    clf = MetricClassifier("f1", model="boosted", method="descent", random_state=0)
    source = np.repeat(["a", "b"], 100)
    with pytest.raises(ValueError, match=r"by source.*method='auto'"):
        clf.fit(X, y, source=source, X_val=X[:50], y_val=y[:50])
