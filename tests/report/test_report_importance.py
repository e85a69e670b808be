"""Permutation importance: against scikit-learn's, on wide tables, and without calls to spare."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import anymetric
from anymetric import MetricClassifier, MetricRegressor, scorer
from anymetric.metrics.evaluations import answered_by
from anymetric.metrics.metered import Metered
from anymetric.report import gather, page
from anymetric.report.importance import importances_of
from anymetric.report.sample import Sample
from anymetric.report.snippet import constructed


def rows(n=600, d=4, seed=0):
    """The first feature matters most, the second less, the others not at all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    chance = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0] - X[:, 1] + 1.0))
    return X, (rng.random(n) < chance).astype(int)


@pytest.fixture(scope="module")
def linear():
    X, y = rows()
    return MetricClassifier("f1", model="linear", random_state=0).fit(X[:300], y[:300])


def measure(model, X, y, **ways):
    sample = Sample.of({"anymetric": model}, X, y)
    blocks = ways.pop("blocks", {f"x{k}": [k] for k in range(X.shape[1])})
    return importances_of(model, sample, X, blocks, **ways)


def test_importances_are_those_of_scikit_learn(linear):
    X, y = rows(3000, seed=1)
    found = {one["name"]: one for one in measure(linear, X, y)["rows"]}
    theirs = permutation_importance(
        linear, X, y, scoring=scorer("f1"), n_repeats=10, random_state=0
    )
    for k in range(4):
        one = found[f"x{k}"]
        assert one["importance"] == pytest.approx(theirs.importances_mean[k], abs=3 * one["error"])
    assert list(found)[:2] == ["x0", "x1"]


def test_errors_are_as_large_as_importances_vary_from_sample_to_sample(linear):
    runs = [measure(linear, *rows(400, seed=seed))["rows"] for seed in range(2, 22)]
    first = np.array([next(r for r in run if r["name"] == "x0")["importance"] for run in runs])
    errors = [next(r for r in run if r["name"] == "x0")["error"] for run in runs]
    assert 0.6 < np.mean(errors) / first.std(ddof=1) < 1.7


def test_features_of_one_column_are_shuffled_together(linear):
    X, y = rows(1000, seed=1)
    found = measure(linear, X, y, blocks={"both": [0, 1], "rest": [2, 3]})["rows"]
    alone = measure(linear, X, y)["rows"]
    assert found[0]["name"] == "both"
    assert found[0]["importance"] > alone[0]["importance"]


def test_lower_is_better_where_it_is():
    X, _ = rows()
    y = X[:, 1] + 0.1 * X[:, 2]
    model = MetricRegressor("mean_absolute_error", model="linear", random_state=0).fit(
        X[:300], y[:300]
    )
    found = measure(model, X[300:], y[300:])["rows"]
    assert found[0]["name"] == "x1"
    # Shuffled, a standard normal value is off by 2 / sqrt(pi) on average.
    assert found[0]["importance"] == pytest.approx(2.0 / math.sqrt(math.pi), rel=0.15)


def test_of_a_wide_table_the_columns_that_move_the_scores_are_measured():
    X, y = rows(400, d=300)
    model = LogisticRegression(C=0.05).fit(X[:200], y[:200])
    ours = MetricClassifier("f1", model="linear", random_state=0).fit(X[:200], y[:200])
    ours.coef_, ours.intercept_ = model.coef_, model.intercept_
    ours.__dict__.pop("model_", None)
    found = measure(ours, X[200:], y[200:])
    assert len(found["rows"]) == 20
    assert found["left_out"] == 280
    assert {"x0", "x1"} <= {one["name"] for one in found["rows"]}


def test_of_columns_that_cannot_all_be_tried_the_models_own_come_first(monkeypatch):
    monkeypatch.setattr("anymetric.report.shuffled.SECONDS", 0.0)
    X, y = rows(400, d=100)
    model = MetricClassifier("f1", model="linear", random_state=0).fit(X[:200, ::-1], y[:200])
    found = measure(model, X[200:, ::-1], y[200:])
    assert [one["name"] for one in found["rows"]] == ["x99"]
    assert found["left_out"] == 99


def test_frames_pipelines_and_sparse_rows_are_taken():
    X, y = rows()
    table = pd.DataFrame(X, columns=["age", "priors", "noise", "more"])
    model = make_pipeline(StandardScaler(), MetricClassifier("f1", model="linear", random_state=0))
    run = gather(model.fit(table[:300], y[:300]), table[300:], y[300:])
    assert [one["name"] for one in run.importances["rows"]][:2] == ["age", "priors"]
    assert "Which columns matter" in page(run)
    thin = sparse.csr_array(X)
    model = MetricClassifier("f1", model="linear", random_state=0).fit(thin[:300], y[:300])
    assert measure(model, thin[300:], y[300:])["rows"][0]["name"] == "x0"


def test_calls_that_are_budgeted_are_not_spent(linear):
    X, y = rows(200, seed=1)

    def own_score(y_true, y_pred):
        return float(np.mean(y_true == y_pred))

    linear.metric_, kept = anymetric.as_metric(own_score), linear.metric_
    try:
        meter = Metered(most=50)
        with answered_by(meter):
            assert "absent" in measure(linear, X, y)
        assert "rows" in measure(linear, X, y)
    finally:
        linear.metric_ = kept
    assert meter.calls == 0


def test_rows_that_trained_tell_no_importance(linear):
    X, y = rows()
    assert "did not train" in measure(linear, X, y, held_out=False)["absent"]


def test_the_code_of_an_estimator_runs_in_another_process(tmp_path):
    model = MetricClassifier(
        anymetric.metrics.FBeta(2.0),
        model="linear",
        method=anymetric.Auto(),
        random_state=0,
    )
    code = constructed(model) + "\nprint(model)"
    home = str(Path(anymetric.__file__).parents[1])
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": home},
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == repr(model)
