"""The verdict: a clear gain is told from noise, and silent surrogates are named."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_regression

from anymetric import MetricClassifier, MetricRanker, MetricRegressor, per_class
from anymetric.datasets import load_simulated
from anymetric.diagnosis import Verdict, decide
from anymetric.gradients import Estimate


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
        (0.004, 0.003, estimate(), Verdict.POST_SHIFT),
        (-0.05, 0.02, estimate(), Verdict.POST_SHIFT),
        (-0.01, 0.02, estimate(r_squared=0.1), Verdict.MORE_SURROGATES),
        (0.01, 0.02, estimate(condition=1e9), Verdict.FEWER_SURROGATES),
        (float("nan"), float("nan"), estimate(), Verdict.COMPARE),
        (float("nan"), float("nan"), STILL, Verdict.SAME),
    ],
)
def test_each_situation_has_its_verdict(gain, error, local, verdict):
    assert decide(gain, error, local, cost=0.3) is verdict


def test_a_metric_without_thresholds_is_not_told_of_one():
    assert decide(0.0, 0.002, estimate(), 0.3, thresholds=False) is Verdict.PLAIN


def test_many_classes_have_offsets_instead_of_a_threshold():
    assert decide(0.0, 0.002, estimate(), 0.3, many=True) is Verdict.OFFSETS
    assert decide(0.0, 0.002, estimate(), 0.3, many=True, thresholds=False) is Verdict.PLAIN
    unknown = float("nan")
    assert decide(unknown, unknown, estimate(), 0.3, many=True) is Verdict.COMPARE_MANY


def test_training_that_pays_is_told_to_go():
    """On the simulated data the plain model is no better than a coin."""
    data = load_simulated(random_state=0)
    X, y = data.X, data.y
    clf = MetricClassifier("gmean", random_state=0)
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


def test_a_descent_is_diagnosed_without_replicates():
    X, y = load_breast_cancer(return_X_y=True)
    model = MetricClassifier("f1", method="descent", surrogates=per_class("logistic"))
    found = model.set_params(random_state=0).fit(X, y).diagnose(X, y)
    assert np.isnan(found.gain)
    assert found.verdict in (Verdict.COMPARE, Verdict.MORE_SURROGATES)
