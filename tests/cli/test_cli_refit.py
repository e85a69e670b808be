"""After the table: the model of all rows, what it may cost, and what is said of it."""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV
from sklearn.naive_bayes import GaussianNB

import anymetric
from anymetric.baselines import GroupThresholds, LightGBMThreshold, LogisticBaseline
from anymetric.cli.models import dump_model, load_model
from anymetric.cli.refit import unfitted
from anymetric.cli.roles import Roles
from anymetric.cli.schema import Schema
from anymetric.cli.table_model import TableModel
from anymetric.cli.targets import Target
from anymetric.cli.vectors import Features

from .conftest import ASK, people

COUNTED = """
from pathlib import Path
def counted_score(y_true, y_pred):
    with Path("calls.txt").open("a") as file:
        file.write("1")
    return float(((y_true == y_pred) * range(len(y_true))).sum()) / len(y_true) ** 2
"""


def fitted(told, *more):
    code, out, err = told("fit", "rows.csv", *more, "--json")
    assert code == 0, err
    return json.loads(out)


def coefficients(path):
    model = load_model(Path(path))
    return np.append(model.estimator.coef_.ravel(), model.estimator.intercept_)


@pytest.fixture
def small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(150).to_csv("rows.csv", index=False)
    people(100, seed=1).to_csv("clean.csv", index=False)


@pytest.mark.parametrize("valid", [[], ["--valid", "clean.csv"]], ids=["alone", "valid"])
def test_the_saved_model_is_that_of_all_rows_and_the_table_that_of_held_out_ones(
    small, told, valid
):
    ask = [*ASK, *valid, "--method", "threshold"]  # one model, whatever is recommended
    found = fitted(told, *ask, "--run", "all")
    plain = fitted(told, *ask, "--run", "some", "--no-refit")
    whole = fitted(told, *ask, "--run", "whole", "--no-holdout")
    everything = coefficients("whole/model.skops")
    np.testing.assert_allclose(coefficients("all/model.skops"), everything)
    # More validation rows may leave the threshold where it is; more training rows move the line.
    assert valid or not np.allclose(coefficients("some/model.skops"), everything)
    assert [row["value"] for row in found["table"]] == [row["value"] for row in plain["table"]]
    assert pd.read_csv("all/scores.csv").equals(pd.read_csv("some/scores.csv"))
    assert found["refit"]["done"]
    assert f"on all {250 if valid else 150} rows" in found["refit"]["says"]
    assert "Not refitted (--no-refit)" in plain["refit"]["says"]
    assert "No rows were held out" in whole["refit"]["says"]
    assert html.escape(found["refit"]["says"]) in Path("all/report.html").read_text()
    assert "all" in load_model(Path("all/model.skops")).trained_on


def test_rows_of_a_test_file_never_train(small, told):
    found = fitted(told, *ASK, "--test", "clean.csv", "--run", "run")
    assert not found["refit"]["done"]
    assert "clean.csv only test" in found["refit"]["says"]


def test_calls_with_a_budget_are_spent_on_a_refit_only_if_that_is_asked_for(small, told):
    Path("counted.py").write_text(COUNTED)
    ask = ["--model", "linear", "-t", "income", "-m", "counted:counted_score", "--drop", "id"]
    found = fitted(told, *ask, "--budget", 60, "--run", "not")
    assert "more calls of counted_score (--refit)" in found["refit"]["says"]
    assert "absent" in found["importances"]
    Path("calls.txt").unlink()
    code, out, err = told(
        "fit", "rows.csv", *ask, "--budget", 60, "--refit", "--run", "refit", "--json"
    )
    assert code == 0, err
    announced = re.search(r"at most 60 calls: (\d+) to train, .* (\d+) for all rows", err)
    assert abs(int(announced[1]) - int(announced[2])) <= 1
    assert json.loads(out)["refit"]["done"]
    assert len(Path("calls.txt").read_text()) <= 60


def test_little_time_is_kept(small, told):
    found = fitted(told, *ASK, "--max-seconds", 0.01, "--run", "run")
    assert "--max-seconds leaves no time" in found["refit"]["says"]


def table_model(estimator, table, y, target, groups=None):
    roles = Roles("y", groups=("sex",) if groups is not None else ())
    schema = Schema.of(table.assign(y=y), roles)
    features, X = Features.fitted(schema, schema.read(table), 0)
    if groups is None:
        estimator.fit(X, y)
    else:
        estimator.fit(X, y, groups=groups)
    return TableModel(features, estimator, roles, target, "f1"), X


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        GaussianNB(),
        LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
        LogisticBaseline("f1", random_state=0),
        LightGBMThreshold("f1", trees=5, random_state=0),
        GroupThresholds("group_mean_f1", random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("many", [False, True], ids=["two", "three"])
def test_any_fitted_classifier_is_saved_loaded_and_made_again(estimator, many, tmp_path):
    ours = hasattr(estimator, "metric")
    if many and ours:
        pytest.skip("of two classes")
    table = people(200)[["age", "sex", "city", "amount"]]
    y = np.digitize(table["age"].fillna(40.0), [35.0, 45.0] if many else [40.0])
    grouped = isinstance(estimator, GroupThresholds)
    groups = table["sex"].to_numpy() if grouped else None
    target = Target((0, 1, 2) if many else (0, 1))
    model, X = table_model(estimator, table, y, target, groups)
    dump_model(model, tmp_path / "m.skops")
    loaded = anymetric.load(tmp_path / "m.skops")
    expected = estimator.predict(X, groups=groups) if grouped else estimator.predict(X)
    assert loaded.predict(table).tolist() == expected.tolist()
    setting = type("Setting", (), {"plan": None, "called": False})
    assert repr(unfitted(estimator, setting, 0.0)) == repr(estimator)


@pytest.mark.parametrize("estimator", [RidgeCV(), PoissonRegressor()], ids=["linear", "log"])
def test_any_fitted_regressor_is_saved_and_loaded(estimator, tmp_path):
    table = people(200)[["age", "sex", "city"]]
    y = people(200)["amount"].to_numpy()
    model, X = table_model(estimator, table, y, Target())
    dump_model(model, tmp_path / "m.skops")
    loaded = anymetric.load(tmp_path / "m.skops")
    np.testing.assert_allclose(loaded.predict(table), estimator.predict(X))


def test_the_code_on_a_report_runs_as_it_is(done, told, tmp_path, monkeypatch):
    page = (done.folder / "report.html").read_text()
    code = html.unescape(re.search(r'<code class="python">(.*?)</code>', page, re.S)[1])
    home = str(Path(anymetric.__file__).parents[1])
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": home},
    )
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"'(low|high)'", ended.stdout)
    command = html.unescape(re.search(r"anymetric (predict .*?)</code>", page)[1]).split()
    monkeypatch.chdir(tmp_path)
    assert told(*command)[0] == 0
    assert len(pd.read_csv(tmp_path / "scores.csv")) == 400
