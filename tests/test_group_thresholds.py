"""A threshold for each group: tuned inside every evaluation, needed wherever rows are scored."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anymetric import Auto, MetricClassifier, scorer
from anymetric.displays import ThresholdDisplay
from anymetric.metrics import as_metric
from anymetric.models import Reweighted


def apart(n=1200, gap=1.0, seed=0):
    """Two groups of one feature, positive above ``gap`` in one and above ``-gap`` in the other."""
    rng = np.random.default_rng(seed)
    groups = np.where(rng.random(n) < 0.5, "left", "right")
    X = rng.normal(size=(n, 2))
    edge = np.where(groups == "left", -gap, gap)
    y = (X[:, 0] + 0.2 * rng.normal(size=n) > edge).astype(int)
    return X, y, groups


def fitted(metric="accuracy", *, rows=600, **settings):
    X, y, groups = apart()
    settings = {"model": "linear", "random_state": 0, **settings}
    clf = MetricClassifier(metric, decision="group", **settings)
    return clf.fit(X[:rows], y[:rows], groups=groups[:rows]), (X[rows:], y[rows:], groups[rows:])


def hits(y_true, y_pred):
    return np.mean(y_true == y_pred)


@pytest.mark.parametrize("metric", ["accuracy", "group_mean_f1", "worst_group_error"])
def test_groups_that_lie_apart_get_their_own_thresholds(metric):
    clf, (X, y, groups) = fitted(metric)
    common = MetricClassifier(metric, model="linear", random_state=0).fit(
        *apart()[:2], groups=apart()[2]
    )
    assert np.mean(clf.predict(X, groups=groups) == y) > 0.9  # noise of the labels alone: 0.95
    assert np.mean(common.predict(X) == y) < 0.75
    per_unit = clf.coef_[0, 0]
    assert (clf.shifts_["left"] - clf.shifts_["right"]) / per_unit == pytest.approx(2.0, abs=0.3)


def test_without_a_reason_groups_hardly_lie_apart():
    X, y, _ = apart(gap=0.0)
    groups = np.where(np.random.default_rng(1).random(len(y)) < 0.5, "a", "b")
    asked, plain = (
        MetricClassifier("accuracy", decision=of, model="linear", random_state=0).fit(
            X, y, groups=groups
        )
        for of in ("group", "auto")
    )
    assert max(map(abs, asked.shifts_.values())) < 0.1 * np.abs(asked.coef_).max()
    assert np.mean(asked.predict(X, groups=groups) == plain.predict(X)) > 0.97
    assert not hasattr(plain, "shifts_")


def test_validation_rows_place_the_thresholds():
    X, y, groups = apart(2000)
    train, valid, test = np.split(np.arange(2000), [1000, 1300])
    clf = MetricClassifier("group_mean_f1", decision="group", model="linear", random_state=0).fit(
        X[train],
        y[train],
        groups=groups[train],
        X_val=X[valid],
        y_val=y[valid],
        groups_val=groups[valid],
    )
    assert clf.score(X[test], y[test], groups=groups[test]) > 0.9


def test_a_function_is_asked_about_thresholds_of_the_answer_within_the_budget():
    calls = []

    def hits(y_true, y_pred):
        calls.append(1)
        return np.mean(y_true == y_pred)

    clf, (X, y, groups) = fitted(hits, greater_is_better=True, max_metric_calls=400)
    assert len(calls) == clf.n_metric_calls_ <= 400
    assert clf.shifts_["left"] > clf.shifts_["right"]
    assert np.mean(clf.predict(X, groups=groups) == y) > 0.8


@pytest.mark.parametrize("calls", [1, 2, 7, 30])
def test_any_budget_gives_a_model(calls):
    clf, (X, y, groups) = fitted("group_mean_f1", max_metric_calls=calls)
    assert clf.n_metric_calls_ <= calls
    assert clf.predict(X, groups=groups).shape == y.shape


@pytest.mark.parametrize("metric", ["accuracy", hits])
@pytest.mark.parametrize("validation", ["out-of-fold", "other rows"])
def test_other_families_have_them_too(metric, validation):
    X, y, groups = apart()
    train, valid, test = np.split(np.arange(1200), [500, 800])
    own = {"X_val": X[valid], "y_val": y[valid], "groups_val": groups[valid]}
    clf = MetricClassifier(
        metric,
        model=Reweighted(LogisticRegression()),
        decision="group",
        greater_is_better=True,
        random_state=0,
    )
    clf.fit(
        X[train], y[train], groups=groups[train], **(own if validation != "out-of-fold" else {})
    )
    assert clf.score(X[test], y[test], groups=groups[test]) > 0.85


def test_groups_are_asked_for_where_rows_are_decided_on():
    clf, (X, y, groups) = fitted()
    for call in (clf.predict, clf.decision_function, lambda X: clf.score(X, y)):
        with pytest.raises(ValueError, match=r"needs them here too: give groups=.*'left', 'right'"):
            call(X)
    with pytest.warns(UserWarning, match=r"\['up'\] were never seen .* the common threshold"):
        common = clf.decision_function(X, groups=np.full(len(X), "up"))
    own = clf.decision_function(X, groups=groups)
    np.testing.assert_allclose(own - common, [clf.shifts_[group] for group in groups])
    with pytest.raises(ValueError, match="one value for each of the 600 rows"):
        clf.predict(X, groups=groups[:-1])


def test_the_score_is_that_of_the_decisions():
    clf, (X, y, groups) = fitted("f1")
    bound = as_metric("f1").bind(np.where(y == 1, 1.0, -1.0))
    decided = np.where(clf.predict(X, groups=groups) == 1, 1.0, -1.0)
    assert clf.score(X, y, groups=groups) == pytest.approx(float(bound.values(decided)))
    with config_context(enable_metadata_routing=True):
        judge = scorer("f1").set_score_request(groups=True)
        assert judge(clf, X, y, groups=groups) == clf.score(X, y, groups=groups)


def test_it_searches_pickles_clones_and_sits_in_a_pipeline():
    clf, (X, y, groups) = fitted()
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict(X, groups=groups), clf.predict(X, groups=groups))
    assert clone(clf).decision == "group"
    pipe = make_pipeline(StandardScaler(), clone(clf))
    with config_context(enable_metadata_routing=True):
        pipe[-1].set_fit_request(groups=True).set_predict_request(groups=True)
        judge = scorer("accuracy").set_score_request(groups=True)
        found = cross_validate(pipe, X, y, scoring=judge, cv=3, params={"groups": groups})
    assert found["test_score"].min() > 0.85


def test_it_can_be_diagnosed_and_drawn():
    clf, (X, y, groups) = fitted()
    found = clf.diagnose(X, y, groups=groups)
    assert found.cost == pytest.approx(1.0 - clf.score(X, y, groups=groups))
    display = ThresholdDisplay.from_estimator(clf, X, y, groups=groups)
    assert display.figure_ is not None


def test_a_second_fit_forgets_the_thresholds_of_the_first():
    clf, _ = fitted()
    X, y, _ = apart()
    clf.set_params(decision="auto").fit(X, y)
    assert not hasattr(clf, "shifts_")
    assert clf.predict(X).shape == y.shape


def test_a_group_without_validation_rows_adds_nothing():
    X, y, groups = apart()
    groups = np.where(np.arange(1200) < 40, "elsewhere", groups)
    rows = {"X_val": X[600:], "y_val": y[600:], "groups_val": groups[600:]}
    alone = MetricClassifier(
        "accuracy",
        method=Auto(transfer=False),
        decision="group",
        model="linear",
        random_state=0,
    )
    helped = MetricClassifier("accuracy", decision="group", model="linear", random_state=0)
    alone, helped = (
        one.fit(X[:600], y[:600], groups=groups[:600], **rows) for one in (alone, helped)
    )
    assert alone.shifts_["elsewhere"] == 0.0
    assert alone.shifts_["left"] != 0.0
    assert list(helped.shifts_) == ["elsewhere", "left", "right"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"method": "descent"}, "needs method='auto'"),
        ({"metric": "roc_auc"}, "'roc_auc' reads scores"),
        ({"fit_intercept": False}, "fit_intercept=False"),
        ({"groups": None}, "give groups= too"),
        ({"y": np.arange(1200) % 3}, "between two classes; y has 3"),
    ],
)
def test_where_there_can_be_none_it_is_said_before_any_work(settings, says):
    X, y, groups = apart()
    given = {"y": y, "groups": groups, "metric": "accuracy"} | settings
    y, groups, metric = (given.pop(name) for name in ("y", "groups", "metric"))
    with pytest.raises(ValueError, match=says):
        MetricClassifier(metric, decision="group", **given).fit(X, y, groups=groups)


def test_the_part_takes_the_setting_as_the_estimator_does():
    X, y, groups = apart()
    door = MetricClassifier("accuracy", decision="group", model="linear", random_state=0)
    part = MetricClassifier(
        "accuracy", method=Auto(decision="group"), model="linear", random_state=0
    )
    one, two = (clf.fit(X, y, groups=groups) for clf in (door, part))
    assert one.shifts_ == two.shifts_
