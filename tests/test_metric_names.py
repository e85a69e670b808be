"""Names of metrics mean what scikit-learn's mean, and what people call them is understood."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, jaccard_score, make_scorer
from sklearn.model_selection import cross_val_score

import anymetric
from anymetric import MetricClassifier, as_metric
from anymetric.metrics.groups import MacroByGroup

RNG = np.random.default_rng(0)
Y, SCORES = RNG.integers(0, 2, 200), RNG.normal(size=200)
GROUPS = RNG.choice(["a", "b", "c"], 200)


def value(name, groups=None):
    side = {} if groups is None else {"groups": groups}
    bound = as_metric(name).bind(2.0 * Y - 1.0, side=side, labels=(0, 1))
    return float(bound.values(SCORES))


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_are_over_classes(average):
    expected = f1_score(Y, SCORES > 0, average=average)
    assert value(f"{average}_f1") == pytest.approx(expected)
    assert value(f"f1_{average}") == pytest.approx(expected)
    assert value(f"{average}_f1", GROUPS) == pytest.approx(expected)


def test_means_and_worst_of_groups_say_so():
    each = [f1_score(Y[g == GROUPS], SCORES[g == GROUPS] > 0) for g in "abc"]
    assert value("group_mean_f1", GROUPS) == pytest.approx(np.mean(each))
    assert value("worst_group_f1", GROUPS) == pytest.approx(min(each))
    assert as_metric("group_mean_f1") == MacroByGroup()
    assert MacroByGroup().name == "group_mean_f1"


def test_fairness_by_its_name_alone_is_the_gap():
    flagged = [np.mean(SCORES[g == GROUPS] > 0) for g in "abc"]
    gap = max(flagged) - min(flagged)
    assert value("demographic_parity", GROUPS) == pytest.approx(gap)
    error = np.mean((SCORES > 0) != (Y == 1))
    assert value("penalised_demographic_parity", GROUPS) == pytest.approx(error + gap)
    for name in ("equalised_odds", "equalized_odds"):
        assert value("penalised_equalised_odds", GROUPS) == pytest.approx(
            error + value(name, GROUPS)
        )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("MAE", "mean_absolute_error"),
        ("neg_mape", "neg_mean_absolute_percentage_error"),
        ("AUC", "roc_auc"),
        ("pr_auc", "average_precision"),
        ("pr-auc", "average_precision"),
        ("matthews", "mcc"),
        ("f1_score", "f1"),
        ("F1", "f1"),
        ("accuracy_score", "accuracy"),
        ("log_loss", "neg_log_loss"),
        ("macro_gmean", "gmean"),
    ],
)
def test_hints_know_what_people_say(said, meant):
    with pytest.raises(ValueError, match=rf"Did you mean .*\b{meant}\b"):
        as_metric(said)
    assert as_metric("mcc").name == "mcc"


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("auc", "roc_auc"),
        ("mae", "mean_absolute_error"),
        ("mape", "mean_absolute_percentage_error"),
        ("rmse", "root_mean_squared_error"),
        ("matthews_corrcoef", "mcc"),
    ],
)
def test_abbreviations_are_taken(short, name):
    assert as_metric(short) == as_metric(name)


@pytest.mark.parametrize("method", ["auto", "descent"])
def test_the_positive_label_may_be_either(method):
    X, y = make_classification(300, weights=[0.8], flip_y=0.1, random_state=0)
    words = np.where(y == 1, "a_rare", "z_common")
    ask = {"model": "linear", "method": method, "max_metric_calls": 60, "random_state": 0}
    named = MetricClassifier("f1", pos_label="a_rare", **ask).fit(X, words)
    # The same as with labels that are in this order by themselves.
    plain = MetricClassifier("f1", **ask).fit(X, y)
    assert named.classes_.tolist() == ["a_rare", "z_common"]
    assert named.score(X, words) == f1_score(words, named.predict(X), pos_label="a_rare")
    np.testing.assert_allclose(named.decision_function(X), -plain.decision_function(X))
    np.testing.assert_array_equal(named.predict(X) == "a_rare", plain.predict(X) == 1)
    np.testing.assert_allclose(named.predict_proba(X)[:, 0], plain.predict_proba(X)[:, 1])
    assert set(named.class_weight_) == set(named.classes_) if method == "auto" else True


def test_scorers_of_both_kinds_agree_on_a_positive_label():
    X, y = make_classification(300, weights=[0.8], flip_y=0.1, random_state=0)
    words = np.where(y == 1, "a_rare", "z_common")
    clf = MetricClassifier("f1", pos_label="a_rare", model="linear", random_state=0)
    theirs = cross_val_score(clf, X, words, cv=2, scoring=make_scorer(f1_score, pos_label="a_rare"))
    ours = cross_val_score(clf, X, words, cv=2, scoring=anymetric.scorer("f1"))
    np.testing.assert_allclose(ours, theirs)
    assert np.all(cross_val_score(clf, X, words, cv=2, scoring="roc_auc") > 0.7)
    zero = MetricClassifier("jaccard", pos_label=0, model="linear", random_state=0).fit(X, y)
    assert zero.score(X, y) == jaccard_score(y, zero.predict(X), pos_label=0)


def test_a_positive_label_that_is_none_is_refused():
    X, y = make_classification(60, n_classes=3, n_informative=4, random_state=0)
    with pytest.raises(ValueError, match="pos_label=7 is none of the classes"):
        MetricClassifier("f1", pos_label=7).fit(X, y > 0)
    with pytest.raises(ValueError, match="pos_label=1 names one of two classes"):
        MetricClassifier("macro_f1", pos_label=1).fit(X, y)
