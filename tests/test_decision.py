"""Decisions and probabilities: the rule can be named and read, and probabilities are calibrated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.ensemble import VotingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from anymetric import MetricClassifier
from anymetric.auto.decisions import Threshold
from anymetric.baselines import TunedThreshold
from anymetric.calibration import Isotonic, Sigmoid, calibrated
from anymetric.metrics import Classes, Profit
from anymetric.rules import OffsetRule, RowRule, ThresholdRule, TopRule

X, Y = make_classification(1200, n_informative=5, weights=[0.8], flip_y=0.1, random_state=0)
TRAIN, TEST = np.arange(700), np.arange(700, 1200)


def fitted(metric="f1", **given):
    given = {"model": "linear", "random_state": 0, **given}
    return MetricClassifier(metric, **given).fit(X[TRAIN], Y[TRAIN])


def test_the_threshold_is_a_probability_that_predict_applies():
    clf = fitted("f1")
    assert isinstance(clf.decision_rule_, ThresholdRule)
    assert 0.1 < clf.threshold_ < 0.5  # F1 of a rare class flags below one half
    flagged = clf.predict_proba(X[TEST])[:, 1] > clf.threshold_
    np.testing.assert_array_equal(clf.predict(X[TEST]), clf.classes_[flagged.astype(int)])


@pytest.mark.parametrize(
    ("metric", "top", "count"), [("precision@10%", "auto", 50), ("precision@7", "top", 7)]
)
def test_a_metric_at_the_top_flags_the_top_of_what_it_is_given(metric, top, count):
    clf = fitted(metric, decision=top)
    assert isinstance(clf.decision_rule_, TopRule)
    assert not hasattr(clf, "threshold_")
    scores, flagged = clf.decision_function(X[TEST]), clf.predict(X[TEST]) == 1
    assert flagged.sum() == count
    assert scores[flagged].min() > scores[~flagged].max()
    assert clf.score(X[TEST], Y[TEST]) == pytest.approx(Y[TEST][flagged].mean())


def test_rules_can_be_named():
    assert fitted("f1", decision=("top", 0.2)).predict(X[TEST]).sum() == 100
    assert fitted("f1", decision=("top", 3)).decision_rule_ == TopRule(3)
    assert fitted("f1", decision=Threshold()).threshold_ == fitted("f1").threshold_
    plain, none = fitted("f1"), fitted("f1", decision="none")
    assert plain.predict(X[TEST]).sum() > none.predict(X[TEST]).sum()
    gains = Profit(tp=3.0, fp=-1.0)
    assert isinstance(fitted(gains, decision="row").decision_rule_, RowRule)
    assert isinstance(fitted(gains).decision_rule_, ThresholdRule)
    assert clone(MetricClassifier(decision=("top", 0.2))).decision == ("top", 0.2)


def test_a_rule_by_costs_alike_flags_beyond_their_break_even():
    clf = fitted(Profit(tp=3.0, fp=-1.0), decision="row")
    p, flagged = clf.predict_proba(X[TEST])[:, 1], clf.predict(X[TEST]) == 1
    odds = clf.decision_rule_.scale / 3.0
    assert p[flagged].min() == pytest.approx(odds / (1.0 + odds), abs=0.03)
    np.testing.assert_array_equal(clf.decision_function(X[TEST]) > 0.0, flagged)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"decision": "median"}, "decision must be one of"),
        ({"decision": ("group", 3)}, "decision must be one of"),
        ({"decision": "row"}, r"'f1' has none. Give a Profit"),
        ({"decision": "top"}, r"Say \('top', 100\)"),
        ({"decision": "offsets"}, "y has 2 classes"),
        ({"decision": "group"}, "give groups= too"),
        ({"decision": "threshold", "metric": "roc_auc"}, "'roc_auc' reads scores"),
        ({"decision": "threshold", "fit_intercept": False}, "fit_intercept=False"),
        ({"decision": "threshold", "method": "descent"}, "needs method='auto'"),
        ({"decision": ("top", 0.0)}, "number of rows, or a share"),
    ],
)
def test_what_cannot_be_decided_is_said_before_any_work(settings, says):
    metric = settings.pop("metric", "f1")
    with pytest.raises(ValueError, match=says):
        MetricClassifier(metric, **settings).fit(X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "recall"])
@pytest.mark.parametrize("model", ["linear", "boosted"])
def test_probabilities_are_about_as_good_as_a_logistic_regressions(metric, model):
    clf = fitted(metric, model=model)
    p = clf.predict_proba(X[TEST])
    plain = LogisticRegression().fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])
    assert log_loss(Y[TEST], p) < log_loss(Y[TEST], plain) + 0.05
    assert p[:, 1].mean() == pytest.approx(Y[TEST].mean(), abs=0.05)
    order = np.argsort(clf.decision_function(X[TEST]))
    assert np.all(np.diff(p[order, 1]) >= 0.0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_probabilities_of_many_classes_and_of_labels():
    iris, species = load_iris(return_X_y=True)
    clf = MetricClassifier("macro_f1", model="linear", random_state=0).fit(iris, species)
    p = clf.predict_proba(iris)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert log_loss(species, p) < 0.25
    assert isinstance(clf.decision_rule_, OffsetRule)
    rows, sets = make_multilabel_classification(300, n_classes=3, random_state=0)
    clf = MetricClassifier("hamming_loss", model="linear", random_state=0).fit(rows, sets)
    p = clf.predict_proba(rows)
    assert p.shape == sets.shape
    np.testing.assert_allclose(p.mean(axis=0), sets.mean(axis=0), atol=0.06)


def test_other_tools_take_the_probabilities():
    ours = MetricClassifier("f1", model="linear", random_state=0)
    vote = VotingClassifier([("ours", ours), ("plain", LogisticRegression())], voting="soft")
    assert vote.fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST]) > 0.8
    pytest.importorskip("matplotlib")
    assert (
        CalibrationDisplay.from_estimator(vote.estimators_[0], X[TEST], Y[TEST]).line_ is not None
    )
    assert not hasattr(
        TunedThreshold("f1"), "predict_proba"
    )  # no rows that did not place its threshold


def test_descents_have_probabilities_too():
    clf = fitted("f1", method="descent")
    assert clf.predict_proba(X[TEST])[:, 1].mean() == pytest.approx(Y[TEST].mean(), abs=0.08)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_probabilities_rise_strictly_with_scores(seed, steps):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=300)
    y = (rng.logistic(size=300) < 2.0 * scores).astype(float)
    way = Isotonic if steps else Sigmoid
    p = way.of(scores, y, np.ones(300)).probabilities(np.sort(scores))
    assert np.all(np.diff(p) > 0.0)
    assert 0.0 < p.min() < p.max() < 1.0


def test_a_weight_of_two_is_a_row_twice(rng):
    scores, y = rng.normal(size=100), np.where(rng.random(100) < 0.4, 1.0, -1.0)
    twice = np.repeat(np.arange(100), 1 + np.arange(100) % 2)
    for way in (Sigmoid, Isotonic):
        one = way.of(scores, (y > 0) * 1.0, 1.0 + np.arange(100) % 2)
        two = way.of(scores[twice], (y[twice] > 0) * 1.0, np.ones(len(twice)))
        np.testing.assert_allclose(one.probabilities(scores), two.probabilities(scores), atol=1e-5)


def test_steps_are_taken_where_no_sigmoid_fits(rng):
    scores = rng.uniform(-1.0, 1.0, 4000)
    share = np.where(scores < -0.5, 0.05, np.where(scores < 0.6, 0.4, 0.6))
    y = np.where(rng.random(4000) < share, 1.0, -1.0)
    found = calibrated(scores, y, np.ones(4000))
    assert isinstance(found, Isotonic)
    ideal = IsotonicRegression(out_of_bounds="clip").fit(scores, y > 0).predict(scores)
    np.testing.assert_allclose(found.probabilities(scores), ideal, atol=0.01)
    names = Classes(("a", "b", "c"))
    codes = (rng.random(4000) * 3).astype(int).astype(float)
    table = calibrated(rng.normal(size=(4000, 3)), codes, np.ones(4000), names)
    assert table.probabilities(np.zeros((1, 3))).round(1).tolist() == [[0.3, 0.3, 0.3]]
