"""The diagnosis: a clear gain is distinguished from noise, and weak surrogates are named."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification, make_regression
from sklearn.metrics import accuracy_score, average_precision_score, make_scorer

from anymetric import MetricClassifier, MetricRanker, MetricRegressor, per_class
from anymetric.data import Data
from anymetric.datasets import load_simulated
from anymetric.diagnosis import Diagnosis, Verdict, decide, diagnose
from anymetric.gradients import Estimate
from anymetric.metrics import as_metric
from anymetric.problem import Problem
from anymetric.summary import Summary


def estimate(r_squared=0.9, condition=2.0):
    return Estimate(np.ones(2), np.zeros(2), condition, r_squared)


STILL = Estimate(np.zeros(2), np.zeros(2), flat=True)


@pytest.mark.parametrize(
    ("gain", "error", "local", "verdict"),
    [
        (0.10, 0.02, estimate(), Verdict.GO),
        (0.10, 0.02, estimate(r_squared=0.0), Verdict.GO),
        (0.03, 0.02, estimate(), Verdict.MORE_ROWS),
        (0.01, 0.02, estimate(), Verdict.MORE_ROWS),
        (0.004, 0.003, estimate(), Verdict.TUNED_THRESHOLD),
        (-0.05, 0.02, estimate(), Verdict.WORSE),
        (-0.01, 0.02, estimate(r_squared=0.1), Verdict.MORE_SURROGATES),
        (0.001, 0.002, estimate(condition=1e9), Verdict.TUNED_THRESHOLD),
        (float("nan"), float("nan"), estimate(), Verdict.COMPARE),
        (float("nan"), float("nan"), estimate(condition=1e9), Verdict.FEWER_SURROGATES),
        (float("nan"), float("nan"), STILL, Verdict.SAME),
    ],
)
def test_each_situation_has_its_recommendation(gain, error, local, verdict):
    assert decide(gain, error, local, cost=0.3) is verdict


def test_a_metric_without_thresholds_is_not_advised_of_one():
    assert decide(0.0, 0.002, estimate(), 0.3, thresholds=False) is Verdict.PLAIN


def test_many_classes_have_offsets_instead_of_a_threshold():
    assert decide(0.0, 0.002, estimate(), 0.3, many=True) is Verdict.OFFSETS
    assert decide(0.0, 0.002, estimate(), 0.3, many=True, thresholds=False) is Verdict.PLAIN
    unknown = float("nan")
    assert decide(unknown, unknown, estimate(), 0.3, many=True) is Verdict.COMPARE_MANY
    assert decide(unknown, unknown, estimate(), 0.3, thresholds=False) is Verdict.COMPARE_PLAIN


def right(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


@pytest.mark.parametrize("metric", ["accuracy", right, make_scorer(accuracy_score)])
def test_a_function_of_decisions_is_evaluated_as_a_named_metric_is(metric):
    asked = as_metric(metric, greater_is_better=None if isinstance(metric, str) else True)
    data = Data(np.linspace(-1.0, 1.0, 40)[:, np.newaxis], np.repeat([-1.0, 1.0], 20))
    problem = Problem(data, per_class("logistic"), asked, labels=(0, 1))
    run = Summary(gain=0.0, gain_error=0.0001)
    found = diagnose(problem, np.array([1.0, 0.3]), run, np.random.default_rng(0), pairs=16)
    assert found.verdict is Verdict.TUNED_THRESHOLD


def test_a_metric_of_the_order_alone_has_no_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    data = Data(X, np.where(X[:, 0] + rng.normal(size=400) > 0.0, 1.0, -1.0))
    problem = Problem(data, per_class("logistic"), as_metric("roc_auc"), labels=(0, 1))
    run = Summary(gain=0.0, gain_error=0.0001)
    found = diagnose(problem, np.array([0.2, 0.5, 0.3]), run, rng)
    assert found.verdict is Verdict.PLAIN


def test_a_regression_by_default_is_not_advised_to_change_surrogates_that_were_not_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = 1e6 * X[:, 0] + 1e5 * rng.normal(size=600)
    model = MetricRegressor("r2", random_state=0).fit(X[:400], y[:400])
    found = model.diagnose(X[400:], y[400:])
    assert found.verdict is not Verdict.FEWER_SURROGATES


def test_what_cannot_be_known_is_said_to_be_so():
    found = Diagnosis(0.1, 0.1, 0.0, 0.1, 0.0, 0.0, np.nan, 1.0, 0.0, {}, {}, Verdict.SAME)
    assert "nan %" not in str(found)
    assert "no probe tells" in str(found)


def test_training_that_pays_is_advised_to_go():
    """On the simulated data the plain model is no better than a coin."""
    data = load_simulated(random_state=0)
    X, y = data.X, data.y
    clf = MetricClassifier("gmean", model="linear", random_state=0)
    clf.fit(X[:2500], y[:2500], X_val=X[2500:4000], y_val=y[2500:4000])
    found = clf.diagnose(X[4000:], y[4000:])
    assert found.verdict is Verdict.GO
    assert found.gain > 2 * found.gain_error > 0
    assert found.optimism > 0
    assert "GO" in str(found)
    assert "logistic[class=+1]" in str(found)


@pytest.mark.parametrize(
    "model", [MetricClassifier("f1", random_state=0), MetricRanker("prbep", random_state=0)]
)
def test_every_kind_of_model_can_be_diagnosed(model):
    X, y = load_breast_cancer(return_X_y=True)
    found = model.fit(X, y).diagnose(X, y)
    assert isinstance(found.verdict, Verdict)
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
    assert found.verdict in (Verdict.COMPARE, Verdict.MORE_SURROGATES)


def test_what_looks_better_by_choosing_alone_is_no_gain():
    """Nor is a loss to a plain model whose threshold was chosen on the same rows."""
    for gain in (0.03, -0.03):
        assert decide(gain, 0.01, estimate(), 0.3, optimism=0.02) not in (Verdict.GO, Verdict.WORSE)
    assert decide(0.05, 0.01, estimate(), 0.3, optimism=0.02) is Verdict.GO
    assert decide(-0.05, 0.01, estimate(), 0.3, optimism=0.02) is Verdict.WORSE
    assert decide(0.03, 0.01, estimate(), 0.3, optimism=float("nan")) is Verdict.GO


def test_a_handful_of_resamples_shows_no_gain():
    X, y = make_classification(400, 5, weights=[0.8], random_state=0)

    def order(y_true, y_score):  # no formula of counts, so every cost is a call
        return average_precision_score(y_true, y_score)

    clf = MetricClassifier(order, greater_is_better=True, max_metric_calls=50, random_state=0)
    clf.fit(X, y)
    assert np.isnan(clf.summary_.gain)
    assert clf.diagnose(X, y).verdict is Verdict.COMPARE_PLAIN


def test_sources_can_be_given_to_the_diagnosis():
    X, y = make_classification(400, 5, weights=[0.7], random_state=0)
    source = np.where(np.arange(400) % 2, "a", "b")
    clf = MetricClassifier("f1", random_state=0).fit(X, y, source=source)
    slopes = clf.diagnose(X, y, source=source).slopes
    assert any("source=a" in name for name in slopes)
