"""The recommendation: one rule on hand-made comparisons, and what the baselines rest on."""

import json
from math import nan

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import f1_score, mean_pinball_loss
from sklearn.model_selection import cross_val_predict

from anymetric import MetricClassifier
from anymetric.__main__ import main
from anymetric.baselines import LightGBMThreshold, RegressionBaseline, TunedThreshold
from anymetric.baselines.portable import portable
from anymetric.cli.models import load_model
from anymetric.recommendation import Choice, Comparison, recommend
from anymetric.report.advice import advice


@pytest.mark.parametrize(
    ("improvement", "error", "ours", "theirs", "choice", "model"),
    [
        (0.05, 0.02, 0.1, 0.9, Choice.MODEL, "ours"),
        (-0.05, 0.02, 0.9, 0.1, Choice.BASELINE, "simple"),
        (0.03, 0.02, 0.6, 0.7, Choice.EQUAL, "simple"),
        (-0.03, 0.02, 0.7, 0.6, Choice.EQUAL, "ours"),
        (0.01, nan, 0.6, 0.7, Choice.EQUAL, "simple"),
        (0.01, 0.02, nan, 0.7, Choice.EQUAL, "ours"),
        (-0.01, 0.02, nan, 0.7, Choice.EQUAL, "simple"),
        (nan, nan, 0.6, 0.7, Choice.UNKNOWN, "ours"),
    ],
)
def test_significance_decides_and_out_of_fold_values_between_equals(
    improvement, error, ours, theirs, choice, model
):
    found = recommend([Comparison("simple", improvement, error, theirs, ours)], "ours")
    assert (found.choice, found.model) == (choice, model)
    assert found.says.count(model) >= (choice is not Choice.UNKNOWN)


def test_the_strongest_baseline_is_the_one_to_beat():
    weak, strong = Comparison("weak", 0.3, 0.01), Comparison("strong", -0.001, 0.01)
    assert recommend([weak, strong], "ours").baseline == "strong"


def test_lower_is_better_where_it_is():
    level = Comparison("simple", 0.0, 0.1, validation=0.7, model_validation=0.6)
    assert recommend([level], "ours", greater=False).model == "ours"
    assert recommend([level], "ours", greater=True).model == "simple"


def test_who_breaks_a_limit_does_not_win():
    broken = Comparison("broken", -0.2, 0.01, breaks="recall >= 0.8")
    kept = Comparison("kept", 0.2, 0.01)
    assert recommend([broken, kept], "ours").model == "ours"
    assert recommend([broken, kept], "ours", breaks="recall >= 0.8").model == "kept"
    assert recommend([broken], "ours", breaks="recall >= 0.8").choice is Choice.UNKNOWN


def test_the_quantile_line_is_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :5]
    theirs = QuantileRegressor(quantile=0.9, alpha=0.0, solver="highs").fit(X, y).predict(X)
    model = RegressionBaseline("pinball_0.9", kind="quantile").fit(X, y)
    ours = model.predict(X) - model.shift_
    least = mean_pinball_loss(y, theirs, alpha=0.9)
    assert least <= mean_pinball_loss(y, ours, alpha=0.9) <= 1.002 * least


def test_out_of_fold_scores_choose_the_threshold_without_held_out_rows():
    X, y = load_breast_cancer(return_X_y=True)
    found = TunedThreshold("f1", n_splits=5, random_state=0).fit(X, 1 - y)
    assert "cross-validated" in found.validation_
    again = cross_val_predict(TunedThreshold("f1", n_splits=5, random_state=0), X, 1 - y, cv=5)
    assert found.validation_score_ == pytest.approx(f1_score(1 - y, again), abs=0.02)


@pytest.mark.parametrize("kind", [TunedThreshold, LightGBMThreshold])
def test_a_portable_baseline_scores_rows_alike(kind):
    X, y = load_breast_cancer(return_X_y=True)
    model = kind("f1", random_state=0).fit(X, y)
    same = portable(model, "f1")
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("method", ["threshold", "lightgbm"])
def test_a_baseline_is_trained_on_purpose_and_saved(method, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = load_breast_cancer(as_frame=True).frame.iloc[:, -6:]
    frame.to_csv("rows.csv", index=False)
    ask = ["fit", "rows.csv", "-t", "target", "-m", "f1", "--method", method, "--run", "r"]
    assert main([*ask, "--model", "linear", "--no-refit", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["recommendation"]["saved"] == found["table"][0]["name"] != "anymetric"
    assert set(load_model(tmp_path / "r" / "model.skops").predict(frame)) == {0, 1}
    assert main(["evaluate", "r/model.skops", "rows.csv"]) == 0


def test_a_method_of_another_task_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = load_breast_cancer(as_frame=True).frame.iloc[:, -3:]
    frame.to_csv("rows.csv", index=False)
    assert main(["fit", "rows.csv", "-t", "target", "-m", "f1", "--method", "ridge"]) == 2
    assert "--method ridge is not for this task; there are: auto, logistic" in " ".join(
        capsys.readouterr().err.split()
    )


@pytest.mark.parametrize("method", ["auto", "descent"])
def test_values_on_rows_that_trained_do_not_choose_between_equals(method):
    X = np.random.default_rng(0).normal(size=(40, 2))
    clf = MetricClassifier("f1", method=method, max_metric_calls=30, random_state=0)
    evidence = clf.fit(X, (X[:, 0] > 0).astype(int)).validation_
    ours = {"name": "ours", "value": 0.5, "improvement": 0.0, "validation": 0.7}
    other = {"name": "trees", "value": 0.49, "improvement": 0.01, "improvement_error": 0.1}
    methods = [ours | {"evidence": evidence}, other | {"validation": 1.0, "evidence": evidence}]
    found = advice(methods, greater=True)
    assert (found.choice.name, found.model) == ("EQUAL", "ours")
    assert "out-of-fold" not in found.says
