"""The diagnosis: its recommendation follows the rule, and silent surrogates are named."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification, make_regression
from sklearn.metrics import accuracy_score, average_precision_score, make_scorer

from anymetric import MetricClassifier, MetricRanker, MetricRegressor, per_class
from anymetric.data import Data
from anymetric.datasets import load_simulated
from anymetric.diagnosis import Diagnosis, Hint, diagnose, hint, out_of_fold, plain_model
from anymetric.gradients import Estimate
from anymetric.metrics import ClassAccuracy, Classes, as_metric
from anymetric.problem import Problem
from anymetric.recommendation import Choice, Comparison, recommend
from anymetric.summary import Summary


def estimate(r_squared=0.9, condition=2.0):
    return Estimate(np.ones(2), np.zeros(2), condition, r_squared)


STILL = Estimate(np.zeros(2), np.zeros(2), flat=True)


UNKNOWN = float("nan")
CLEAR = recommend([Comparison("plain", 0.1, 0.02)])
LEVEL = recommend([Comparison("plain", 0.01, 0.02)])


@pytest.mark.parametrize(
    ("found", "local", "measured", "expected"),
    [
        (CLEAR, estimate(r_squared=0.0), True, None),
        (CLEAR, STILL, True, None),
        (LEVEL, estimate(), True, None),
        (LEVEL, STILL, True, Hint.FLAT),
        (LEVEL, estimate(r_squared=0.1), True, Hint.MORE_SURROGATES),
        (LEVEL, estimate(condition=1e9), True, None),
        (LEVEL, estimate(condition=1e9), False, Hint.FEWER_SURROGATES),
    ],
)
def test_hints_are_for_models_without_a_clear_difference(found, local, measured, expected):
    assert hint(found, local, measured=measured) is expected


def test_the_plain_model_is_called_by_what_is_tuned():
    def plain(metric, labels):
        data = Data(np.zeros((3, 1)), np.array([0.0, 1.0, 2.0]))
        return plain_model(Problem(data, [], metric, labels=labels))

    three = Classes(("a", "b", "c"))
    assert plain(as_metric("mean_absolute_error"), None) == "the plain model"
    assert plain(ClassAccuracy(), three) == "the plain model with tuned offsets"


def right(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


@pytest.mark.parametrize("metric", ["accuracy", right, make_scorer(accuracy_score)])
def test_a_function_of_decisions_is_evaluated_as_a_named_metric_is(metric):
    asked = as_metric(metric, greater_is_better=None if isinstance(metric, str) else True)
    data = Data(np.linspace(-1.0, 1.0, 40)[:, np.newaxis], np.repeat([-1.0, 1.0], 20))
    problem = Problem(data, per_class("logistic"), asked, labels=(0, 1))
    run = Summary(gain=0.0, gain_error=0.0001)
    found = diagnose(problem, np.array([1.0, 0.3]), run, np.random.default_rng(0), pairs=16)
    assert found.recommendation.choice is Choice.EQUAL
    assert found.recommendation.model == "the plain model with a tuned threshold"


def test_a_metric_of_the_order_alone_has_no_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    data = Data(X, np.where(X[:, 0] + rng.normal(size=400) > 0.0, 1.0, -1.0))
    problem = Problem(data, per_class("logistic"), as_metric("roc_auc"), labels=(0, 1))
    run = Summary(gain=0.0, gain_error=0.0001)
    found = diagnose(problem, np.array([0.2, 0.5, 0.3]), run, rng)
    assert found.recommendation.baseline == "the plain model"


def test_a_regression_by_default_is_not_advised_to_change_surrogates_that_were_not_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = 1e6 * X[:, 0] + 1e5 * rng.normal(size=600)
    model = MetricRegressor("r2", random_state=0).fit(X[:400], y[:400])
    found = model.diagnose(X[400:], y[400:])
    assert found.hint is not Hint.FEWER_SURROGATES


def test_what_cannot_be_told_is_said_to_be_so():
    found = Diagnosis(0.1, 0.1, 0.0, 0.1, 0.0, 0.0, np.nan, 1.0, 0.0, {}, {}, LEVEL, Hint.FLAT)
    assert "nan %" not in str(found)
    assert "no probe tells" in str(found)


def test_training_that_pays_is_advised_to_go():
    """On the simulated data the plain model is no better than a coin."""
    data = load_simulated(random_state=0)
    X, y = data.X, data.y
    clf = MetricClassifier("gmean", model="linear", random_state=0)
    clf.fit(X[:2500], y[:2500], X_val=X[2500:4000], y_val=y[2500:4000])
    found = clf.diagnose(X[4000:], y[4000:])
    assert found.recommendation.choice is Choice.MODEL
    assert found.gain > 2 * found.gain_error > 0
    assert found.optimism > 0
    assert str(found).startswith("Use this model: it improves on the plain model")
    assert "logistic[class=+1]" in str(found)


@pytest.mark.parametrize(
    "model", [MetricClassifier("f1", random_state=0), MetricRanker("prbep", random_state=0)]
)
def test_every_kind_of_model_can_be_diagnosed(model):
    X, y = load_breast_cancer(return_X_y=True)
    found = model.fit(X, y).diagnose(X, y)
    assert str(found).startswith(found.recommendation.says)
    assert set(found.slopes) == set(found.errors)
    assert 0.0 <= found.cost <= 1.0


def test_a_regression_can_be_diagnosed():
    X, y = make_regression(300, 5, noise=10.0, random_state=0)
    model = MetricRegressor("mean_absolute_error", random_state=0).fit(X, y)
    found = model.diagnose(X, y)
    assert found.cost == pytest.approx(model.score(X, y), rel=1e-6)
    assert found.r_squared > 0.5


def test_a_descent_is_diagnosed_without_resamples():
    X, y = load_breast_cancer(return_X_y=True)
    model = MetricClassifier("f1", method="descent", surrogates=per_class("logistic"))
    found = model.set_params(random_state=0).fit(X, y).diagnose(X, y)
    assert np.isnan(found.gain)
    assert found.recommendation.choice is Choice.UNKNOWN
    assert "was not measured: compare with anymetric.baselines" in str(found)


def test_what_looks_better_by_choosing_alone_is_no_gain():
    """Nor is a loss to a plain model whose threshold was chosen on the same rows."""
    data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    problem = Problem(data, "logistic", as_metric("f1"), labels=(0, 1))

    def choice(gain, optimism):
        return out_of_fold(Summary(gain=gain, gain_error=0.01, optimism=optimism), problem).choice

    assert choice(0.03, 0.02) is choice(-0.03, 0.02) is Choice.EQUAL
    assert choice(0.05, 0.02) is choice(0.03, UNKNOWN) is Choice.MODEL
    assert choice(-0.05, 0.02) is Choice.BASELINE


def test_comparisons_with_baselines_decide_where_they_are_given():
    X, y = make_classification(300, weights=[0.8], random_state=0)
    clf = MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    found = clf.diagnose(X, y, comparisons=[Comparison("forest", -0.1, 0.02)])
    assert found.recommendation.model == "forest"
    assert str(found).startswith("Use forest: this model is worse by 0.100 ± 0.020.")


def test_a_handful_of_resamples_shows_no_gain():
    X, y = make_classification(400, 5, weights=[0.8], random_state=0)

    def order(y_true, y_score):  # no formula of counts, so every cost is a call
        return average_precision_score(y_true, y_score)

    clf = MetricClassifier(order, greater_is_better=True, max_metric_calls=50, random_state=0)
    clf.fit(X, y)
    assert np.isnan(clf.summary_.gain)
    assert clf.diagnose(X, y).recommendation.choice is Choice.UNKNOWN


def test_sources_can_be_given_to_the_diagnosis():
    X, y = make_classification(400, 5, weights=[0.7], random_state=0)
    source = np.where(np.arange(400) % 2, "a", "b")
    clf = MetricClassifier("f1", random_state=0).fit(X, y, source=source)
    slopes = clf.diagnose(X, y, source=source).slopes
    assert any("source=a" in name for name in slopes)


def test_a_negative_optimism_does_not_make_an_error_negative():
    data = Data(np.zeros((2, 1)), np.array([1.0, -1.0]))
    problem = Problem(data, "logistic", as_metric("f1"), labels=(0, 1))
    found = out_of_fold(Summary(gain=-0.003, gain_error=0.002, optimism=-0.04), problem)
    assert found.error == pytest.approx(0.002)
