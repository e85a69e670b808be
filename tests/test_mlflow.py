"""Mlflow's autolog records a fit as a run, whatever happens to it, and never harms it."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline

from anymetric import MetricClassifier, MetricRegressor
from anymetric.errors import MetricWarning

mlflow = pytest.importorskip("mlflow")
X, y = make_classification(200, weights=[0.8], random_state=0)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Switch autolog on; return a function that lists the runs, the latest first."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow.sklearn

    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    mlflow.sklearn.autolog(log_models=False)
    client = mlflow.MlflowClient()
    yield lambda: client.search_runs(["0"])
    mlflow.sklearn.autolog(disable=True)
    mlflow.set_tracking_uri(before)


def test_a_fit_is_one_run_with_its_parameters_and_its_metric(runs):
    clf = MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    (run,) = runs()
    assert run.info.status == "FINISHED"
    assert run.data.params["metric"] == "f1"
    assert set(run.data.params) == set(clf.get_params())
    assert run.data.metrics["validation_f1"] == pytest.approx(clf.validation_score_)
    assert run.data.metrics["n_metric_calls"] == clf.n_metric_calls_
    assert run.data.tags["estimator_name"] == "MetricClassifier"
    assert mlflow.active_run() is None


def test_a_run_that_is_open_is_used_and_left_open(runs):
    with mlflow.start_run() as own:
        MetricRegressor("pinball_0.9", model="linear").fit(X, X @ np.arange(20.0))
        assert mlflow.active_run().info.run_id == own.info.run_id
    (run,) = runs()
    assert run.data.params["metric"] == "pinball_0.9"


def test_within_a_pipeline_mlflow_records_the_whole_once(runs):
    make_pipeline(MetricClassifier("f1", model="linear")).fit(X, y)
    (run,) = runs()
    assert run.data.tags["estimator_name"] == "Pipeline"


def test_a_fit_that_raises_is_a_failed_run(runs):
    with pytest.raises(ValueError, match="No metric is called"):
        MetricClassifier("nonsense").fit(X, y)
    assert [run.info.status for run in runs()] == ["FAILED"]
    assert mlflow.active_run() is None


def test_a_store_that_fails_does_not_harm_the_fit(runs, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    mlflow.set_tracking_uri((tmp_path / "file").as_uri())
    with pytest.warns(MetricWarning, match="mlflow could not record"):
        clf = MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.0


def test_the_model_is_logged_and_loads(runs):
    mlflow.sklearn.autolog(log_models=True)
    clf = MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    (run,) = runs()
    (model,) = run.outputs.model_outputs
    loaded = mlflow.sklearn.load_model(f"models:/{model.model_id}")
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


def test_nothing_is_recorded_where_autolog_is_off(runs):
    mlflow.sklearn.autolog(disable=True)
    MetricClassifier("f1", model="linear").fit(X, y)
    assert runs() == []


def test_mlflow_is_not_imported_by_us():
    import subprocess

    code = "import sys, anymetric; anymetric.MetricClassifier; print('mlflow' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
