"""Families that train by row weights: out-of-fold scores, the average, the estimators."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from anymetric import Auto, MetricClassifier, MetricRegressor, Reweighted
from anymetric.data import Data
from anymetric.models import Ensemble, LinearScorer
from anymetric.models.reweighted import with_categories
from anymetric.models.tables import Plain
from anymetric.solution import Status


def sample(n=300, d=4, seed=0, flip=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0.3, 1.0, -1.0)
    return Data(X, np.where(rng.random(n) < flip, -y, y))


def halves(n=300, m=150, **named):
    data = sample(n + m, **named)
    return data.take(np.arange(n)), data.take(np.arange(n, n + m))


TREE = DecisionTreeClassifier(max_depth=4, min_samples_leaf=5)


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(C=0.5), TREE, make_pipeline(StandardScaler(), TREE)]
)
def test_reweighted_is_the_estimator_fitted_directly_with_the_same_weights(estimator):
    data, rng = sample(), np.random.default_rng(3)
    rows = rng.exponential(size=len(data))
    rows[:20] = 0.0
    estimator = clone(estimator).set_params(
        **{k: 7 for k in estimator.get_params() if k.endswith("random_state")}
    )
    found = Reweighted(estimator).learn(data, 5.0 * rows, rng).scores(data.X)
    weights = rows[20:] * (len(data) - 20) / rows.sum()
    last = estimator.steps[-1][0] + "__" if hasattr(estimator, "steps") else ""
    fitted = clone(estimator).fit(data.X[20:], data.y[20:] > 0, **{f"{last}sample_weight": weights})
    if hasattr(fitted, "decision_function"):
        expected = fitted.decision_function(data.X)
    else:
        share = np.clip(fitted.predict_proba(data.X), 1e-9, 1.0)
        expected = np.log(share[:, 1]) - np.log(share[:, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_reweighted_regresses_and_knows_many_classes():
    X, y = make_regression(80, 3, random_state=0)
    rng = np.random.default_rng(0)
    found = Reweighted(LinearRegression()).learn(Data(X, y), np.ones(80), rng, classes=0)
    np.testing.assert_allclose(found.scores(X), LinearRegression().fit(X, y).predict(X))
    codes = np.array([0.0, 2.0] * 40)  # the class 1 of three never occurs
    many = Reweighted(LogisticRegression()).learn(Data(X, codes), np.ones(80), rng, classes=3)
    assert many.scores(X).shape == (80, 3)
    assert set(np.argmax(many.scores(X), axis=1)) <= {0, 2}


@pytest.mark.parametrize("estimator", [RidgeClassifier(), Perceptron(random_state=0)], ids=str)
def test_many_classes_need_no_probabilities(estimator):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    found = Reweighted(estimator).learn(Data(X, y.astype(float)), np.ones(150), rng, classes=3)
    expected = clone(estimator).fit(X, y, sample_weight=np.ones(150)).predict(X)
    np.testing.assert_array_equal(np.argmax(found.scores(X), axis=1), expected)
    first = Data(X[:100], 2.0 * y[:100])  # the class 1 of three never occurs
    two = Reweighted(estimator).learn(first, np.ones(100), rng, classes=3)
    assert set(np.argmax(two.scores(X[:100]), axis=1)) == {0, 2}


def test_categories_of_a_frame_reach_an_estimator_that_asks_for_them():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, 1200)
    X = pd.DataFrame({"shop": pd.Categorical(codes), "x": rng.normal(size=1200)})
    y = rng.permutation(40)[codes] % 2  # no order of the codes tells
    trees = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5, max_leaf_nodes=4)
    clf = MetricClassifier("f1", model=Reweighted(trees), use_validation=False, random_state=0)
    clf.fit(X[:800], y[:800])
    assert clf.score(X[800:], y[800:]) > 0.95
    named = Reweighted(clone(trees).set_params(categorical_features=[1]), categorical=(0,))
    kept = with_categories(named.estimator, named.categorical, np.zeros((2, 2)))
    assert kept.categorical_features == [1]
    many = with_categories(trees, (0, 1), np.array([[0.0, 300.0]]))
    assert many.categorical_features == [0]


@pytest.mark.parametrize(
    "estimator",
    [
        VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=2))]),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
    ],
)
def test_estimators_that_hand_weights_on_are_taken(estimator):
    data = sample()
    rows = np.where(data.y > 0.0, 5.0, 1.0)
    heavy, plain = (
        Reweighted(estimator).learn(data, of, np.random.default_rng(0)).scores(data.X)
        for of in (rows, np.ones(len(data)))
    )
    assert heavy.mean() > plain.mean()


@pytest.mark.parametrize(
    ("kind", "estimator", "says"),
    [
        (MetricClassifier, Ridge(), "Ridge, a regressor, and y has 2 classes: give a classifier"),
        (MetricRegressor, RidgeClassifier(), "RidgeClassifier, a classifier, and y holds numbers"),
    ],
)
def test_an_estimator_of_another_kind_is_refused(kind, estimator, says):
    X, y = make_classification(random_state=0)
    metric, y = ("f1", y) if kind is MetricClassifier else ("r2", X[:, 0])
    with pytest.raises(TypeError, match=says):
        kind(metric, model=Reweighted(estimator)).fit(X, y)


def test_the_gain_is_measured_against_the_best_plain_model_of_any_family():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0]) + rng.normal(size=500)
    stump = Reweighted(DecisionTreeRegressor(max_depth=1))
    auto = Auto(learners=(stump,))
    clf = MetricRegressor("mean_squared_error", method=auto, random_state=0).fit(X, y)
    assert clf.summary_.families["linear"].share > 0.9
    assert abs(clf.summary_.gain) < 0.05  # over the stumps it is about five


def test_one_class_alone_gives_a_constant_of_its_sign():
    data = Data(np.arange(6.0)[:, np.newaxis], np.ones(6))
    found = Reweighted(TREE).learn(data, np.ones(6), np.random.default_rng(0)).scores(data.X)
    assert np.all(found > 0.0)


def test_an_estimator_without_row_weights_is_refused():
    X, y = make_classification(random_state=0)
    clf = MetricClassifier("f1", model=Reweighted(KNeighborsClassifier()))
    with pytest.raises(TypeError, match=r"KNeighborsClassifier.fit takes none"):
        clf.fit(X, y)


@pytest.mark.parametrize("model", ["forest", 3, DecisionTreeClassifier, LogisticRegression()])
def test_what_is_no_family_is_refused(model):
    X, y = make_classification(random_state=0)
    with pytest.raises((TypeError, ValueError), match="model must be one of auto, boosted, linear"):
        MetricClassifier("f1", model=model).fit(X, y)


def test_a_descent_asks_for_parameters():
    X, y = make_classification(random_state=0)
    clf = MetricClassifier("f1", model=Reweighted(LogisticRegression()), method="descent")
    with pytest.raises(TypeError, match="use method='auto'"):
        clf.fit(X, y)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.0, 5.0), min_size=2, max_size=4), st.integers(0, 99))
def test_an_ensemble_is_the_weighted_sum_of_its_members(weights, seed):
    rng = np.random.default_rng(seed)
    data = sample(60, seed=seed)
    half = len(weights) // 2
    members = [LinearScorer(rng.normal(size=4), rng.normal()) for _ in weights[:half]]
    members += [Reweighted(TREE).learn(data, rng.random(60), rng) for _ in weights[half:]]
    ensemble = Ensemble.of(members, weights, 0.5).moved(0.25).times(2.0)
    expected = 2.0 * (
        0.75 + sum(w * m.scores(data.X) for w, m in zip(weights, members, strict=True))
    )
    np.testing.assert_allclose(ensemble.scores(data.X), expected, rtol=1e-9, atol=1e-9)
    assert len(ensemble.members) <= np.count_nonzero(weights)
    copy = pickle.loads(pickle.dumps(ensemble))
    np.testing.assert_array_equal(copy.scores(data.X), ensemble.scores(data.X))


def test_the_answer_scores_as_its_members_average():
    train, valid = halves()
    clf = MetricClassifier("error", model=Reweighted(TREE), random_state=0)
    clf.fit(train.X, train.y, X_val=valid.X, y_val=valid.y)
    voted = [one for one in clf.summary_.candidates if one.share > 0.0]
    assert 1 <= len(clf.model_.members) <= len(voted)
    total = sum(
        w * m.scores(valid.X) for w, m in zip(clf.model_.weights, clf.model_.members, strict=True)
    )
    np.testing.assert_allclose(clf.decision_function(valid.X), total + clf.model_.offset)
    assert not hasattr(clf, "coef_")


def fitted(model="auto", metric="f1", n=240, m=120, **named):
    train, valid = halves(n, m)
    clf = MetricClassifier(metric, model=model, random_state=0, **named)
    return clf.fit(train.X, train.y, X_val=valid.X, y_val=valid.y), valid


def test_a_fit_is_reproducible_and_pickles():
    forest = Reweighted(RandomForestClassifier(4, min_samples_leaf=3))
    one, valid = fitted(forest)
    two, _ = fitted(clone(forest))
    scores = one.decision_function(valid.X)
    np.testing.assert_array_equal(scores, two.decision_function(valid.X))
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(scores, copy.decision_function(valid.X))


def test_several_processes_give_the_same_model():
    one, valid = fitted(Reweighted(TREE))
    two, _ = fitted(Reweighted(TREE), n_jobs=2)
    np.testing.assert_array_equal(one.decision_function(valid.X), two.decision_function(valid.X))


@pytest.mark.parametrize("calls", [1, 2, 5, 9, 60])
def test_the_budget_is_honoured_exactly(calls):
    clf, _ = fitted(Reweighted(TREE), max_metric_calls=calls)
    assert clf.n_metric_calls_ <= calls
    if calls < 9:
        assert clf.status_ is Status.BUDGET
        assert clf.n_metric_calls_ == calls


@pytest.mark.parametrize("calls", [1, 7, 30, 120])
def test_a_metric_of_the_users_is_called_no_more_often_than_allowed(calls):
    asked = []

    def hits(y_true, y_pred):
        asked.append(1)
        return float(np.mean(y_true == y_pred))

    train, valid = halves(120, 80)
    clf = MetricClassifier(
        hits, model=Reweighted(TREE), greater_is_better=True, max_metric_calls=calls, random_state=0
    )
    clf.fit(train.X, train.y, X_val=valid.X, y_val=valid.y)
    assert len(asked) == clf.n_metric_calls_ <= calls


def test_every_candidate_is_a_turn_of_the_history():
    clf, _ = fitted(Reweighted(TREE))
    assert len(clf.history_) == len(clf.summary_.candidates) + 1
    assert all(np.all(np.isfinite(row["profile"])) for row in clf.history_)


def test_a_search_reaches_into_the_estimator():
    X, y = make_classification(200, random_state=0)
    clf = MetricClassifier("f1", model=Reweighted(DecisionTreeClassifier()), random_state=0)
    search = GridSearchCV(clf, {"model__estimator__max_depth": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["model__estimator__max_depth"] in (1, 2)
    assert search.best_estimator_.model.estimator.max_depth in (1, 2)
    assert clf.model.estimator.max_depth is None


def test_a_family_beats_a_line_where_a_line_cannot_see():
    deep = DecisionTreeClassifier(max_depth=6, min_samples_leaf=5)
    clf, _ = fitted(Reweighted(deep), n=500, m=300)
    line, _ = fitted("linear", n=500, m=300)
    new = sample(2000, seed=9)
    scores = [one.score(new.X, new.y) for one in (clf, line)]
    assert scores[0] > scores[1] + 0.1
    assert np.isclose(clf.diagnose(new.X, new.y).cost, 1.0 - scores[0])


def test_without_validation_rows_all_train_and_are_scored_out_of_fold():
    data = sample(400)
    clf = MetricClassifier("f1", model=Reweighted(TREE), random_state=0).fit(data.X, data.y)
    assert "cross-validated" in clf.validation_
    assert clf.sample_weight_.shape == (400,)
    assert {"logistic[class=-1]", "logistic[class=+1]"} == set(clf.weights_)


@pytest.mark.parametrize("use", [True, False])
def test_validation_rows_train_if_they_may(use):
    clf, _ = fitted(Reweighted(TREE), use_validation=use)
    names = [one.name for one in clf.summary_.candidates]
    assert all(("valid" in name and "like valid" not in name) == use for name in names)


def test_a_handful_of_rows_gives_a_model():
    data = sample(20, flip=0.0)
    clf = MetricClassifier("f1", model=Reweighted(TREE), random_state=0).fit(data.X, data.y)
    assert clf.predict(data.X).shape == (20,)


def test_a_regression_by_any_family_is_in_the_users_unit():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(300, 2))
    y = 1e6 + 1e3 * X[:, 0] ** 2
    trees = Reweighted(DecisionTreeRegressor(max_depth=6))
    reg = MetricRegressor("mean_absolute_error", model=trees, random_state=0)
    reg.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    plain = MetricRegressor("mean_absolute_error", model="linear", random_state=0)
    plain.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert reg.score(X, y) < 0.4 * plain.score(X, y)
    assert abs(reg.predict(X).mean() - y.mean()) < 1e3


def test_the_linear_model_has_no_model_and_any_other_no_stale_coefficients():
    train, _ = halves(120, 80)
    clf = MetricClassifier("f1", model="linear", random_state=0).fit(train.X, train.y)
    assert hasattr(clf, "coef_")
    assert not hasattr(clf, "model_")
    clf.set_params(model=Reweighted(TREE)).fit(train.X, train.y)
    assert hasattr(clf, "model_")
    assert not hasattr(clf, "coef_")


def test_named_linear_and_the_part_itself_give_the_same_line():
    train, valid = halves(200, 100)
    found = [
        MetricClassifier("f1", random_state=0, **named)
        .fit(train.X, train.y, X_val=valid.X, y_val=valid.y)
        .coef_
        for named in ({"model": "linear"}, {"model": "linear", "method": Auto()})
    ]
    np.testing.assert_array_equal(*found)


def test_missing_values_and_categories_are_spread_out_for_a_line():
    X = np.array([[1.0, 2.0], [np.nan, 0.0], [3.0, 2.0], [5.0, np.nan]])
    plain = Plain.of(X, (1,), rare=1)
    expected = [[1, 0, 0, 1], [3, 1, 1, 0], [3, 0, 0, 1], [5, 0, 0, 0]]
    np.testing.assert_array_equal(plain.table(X), np.array(expected, dtype=float))
    assert Plain.of(X[:1]).idle
    assert not plain.idle


CODE = """
import json, warnings
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator
from anymetric import MetricClassifier, Reweighted

warnings.simplefilter("ignore")
model = Reweighted(LogisticRegression(max_iter=1000))
found = check_estimator(MetricClassifier(model=model), on_fail=None, on_skip=None)
wrong = [r for r in found if r["status"] != "passed"]
told = [(r["check_name"], r["status"], repr(r["exception"])) for r in wrong]
print(json.dumps([len(found), told]))
"""


def test_every_check_of_scikit_learn_passes_and_none_is_skipped():
    # The check of array API input is skipped unless SciPy is told so before it is imported.
    env = {**os.environ, "SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    count, wrong = json.loads(done.stdout.splitlines()[-1])
    assert wrong == []
    assert count >= 50
