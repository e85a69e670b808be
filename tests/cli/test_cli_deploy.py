"""A saved model in production: loaded in Python, ranks and probabilities, nothing overwritten."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from scipy.stats import rankdata
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.metrics import brier_score_loss

import anymetric
from anymetric.cli.faults import UserError
from anymetric.cli.models import TRUSTED

from .conftest import ASK, people

SHIFTY = """
def shifty_score(y_true, y_pred):
    return float(((y_true == y_pred) * range(len(y_true))).sum()) / len(y_true) ** 2
"""
TOP = ["--model", "linear", "-t", "income", "--drop", "id", "-m", "precision@5%", "--quiet"]


def test_a_loaded_model_predicts_what_the_command_line_does(done, told, tmp_path):
    people(60, seed=5).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = told("predict", done.model, tmp_path / "new.csv", "--proba", "--json")
    assert code == 0, err
    found, model = json.loads(out), anymetric.load(done.model)
    rows = model.read(tmp_path / "new.csv")
    assert model.predict(rows).tolist() == found["prediction"]
    np.testing.assert_allclose(model.decision_function(rows), found["score"])
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], found["probability"])
    assert model.rank(rows).tolist() == found["rank"]
    assert found["rank"] == rankdata(-np.array(found["score"]), method="ordinal").tolist()
    assert model.classes_.tolist() == ["high", "low"]


def test_typed_frames_of_other_libraries_and_single_rows_predict_the_same(done, tmp_path):
    table, model = people(30, seed=6), anymetric.load(done.model)
    table.to_csv(tmp_path / "new.csv", index=False)
    written = model.decision_function(model.read(tmp_path / "new.csv"))
    np.testing.assert_allclose(model.decision_function(table), written)
    np.testing.assert_allclose(model.decision_function(table[table.columns[::-1]]), written)
    np.testing.assert_allclose(model.decision_function(pl.from_pandas(table)), written)
    first = [table.iloc[0].to_dict()]
    np.testing.assert_allclose(model.decision_function(first), written[:1])


def test_what_a_loaded_model_cannot_read_is_an_error_and_a_little_of_it_a_warning(done):
    table, model = people(50, seed=7), anymetric.load(done.model)
    with pytest.raises(UserError, match="no column 'age'"):
        model.predict(table.drop(columns="age"))
    with pytest.raises(UserError, match="'city' was a category in training; 50 of 50"):
        model.predict(table.assign(city="Oslo"))
    with pytest.warns(anymetric.MetricWarning, match="'city' was a category"):
        model.predict(table.assign(city="Oslo"), allow_unknown=True)
    with pytest.raises(UserError, match="named columns"):
        model.predict(table.to_numpy())


def test_probabilities_are_calibrated_on_new_rows(done):
    table, model = people(2000, seed=8), anymetric.load(done.model)
    low = (table["income"] == "low").to_numpy()
    shares = model.predict_proba(table)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert abs(shares[:, 1].mean() - low.mean()) < 0.06
    assert brier_score_loss(low, shares[:, 1]) < 0.8 * low.mean() * (1.0 - low.mean())


def test_every_type_in_a_file_is_on_the_list(done, grown):
    for path in (done.model, grown.model):
        for name in skops.io.get_untrusted_types(file=path):
            assert name in TRUSTED or name.startswith("skrub.")


def test_a_loaded_model_works_with_scikit_learns_permutation_importance(done):
    table, model = people(300, seed=9), anymetric.load(done.model)
    found = permutation_importance(
        FrozenEstimator(model),
        table.drop(columns="income"),
        table["income"],
        scoring=anymetric.scorer("f1"),
        n_repeats=2,
        random_state=0,
    )
    names = table.columns.drop("income")
    assert names[np.argmax(found.importances_mean)] == "age"
    assert found.importances_mean[names == "id"] == 0.0


def test_the_metrics_module_is_needed_to_evaluate_only_and_only_if_trusted(rows, told, tmp_path):
    Path("shifty.py").write_text(SHIFTY)
    ask = ["--model", "linear", "-t", "income", "-m", "shifty:shifty_score", "--drop", "id"]
    ask += ["--budget", "40"]
    code, _out, err = told("fit", rows, *ask, "--run", "run", "--quiet")
    assert code == 0, err
    Path("shifty.py").rename("hidden.py")
    sys.modules.pop("shifty")
    code, out, err = told("predict", "run/model.skops", rows)
    assert code == 0, err
    assert len(out.splitlines()) == 401
    assert "shifty" not in sys.modules
    Path("hidden.py").rename("shifty.py")

    code, _out, err = told("evaluate", "run/model.skops", rows)
    assert code == 2
    assert "the module 'shifty'" in err
    assert str(tmp_path / "shifty.py") in err
    assert "--trust-metric" in err
    code, out, err = told(
        "evaluate", "run/model.skops", rows, "--trust-metric", "--json", "--budget", 1
    )
    assert code == 0, err
    assert "Importing 'shifty'" in err
    assert json.loads(out)["metrics"][0]["metric"] == "shifty_score"
    assert told("evaluate", "run/model.skops", rows, "-m", "f1")[0] == 0


def test_a_metric_at_the_top_flags_the_top_of_what_it_is_given(rows, told, tmp_path):
    code, _out, err = told("fit", rows, *TOP, "--run", "run")
    assert code == 0, err
    for n, flagged in ((300, 15), (40, 2), (5, 1)):
        new = people(n, seed=10)
        new.to_csv("new.csv", index=False)
        code, out, err = told("predict", "run/model.skops", "new.csv", "--json")
        found = pd.DataFrame(json.loads(out)).drop(columns="rows")
        top = found["prediction"] == "low"
        assert top.sum() == flagged
        assert (found["rank"][top] <= flagged).all()
        assert ((found["score"] > 0.0) == top).all()
        assert f"{flagged} of {n}" in err
    model = anymetric.load("run/model.skops")
    assert model.predict(new).tolist() == found["prediction"].tolist()
    # A row's own score does not depend on its company.
    np.testing.assert_allclose(
        model.decision_function(new[:2]), model.decision_function(new)[:2], atol=1e-9
    )
    code, out, err = told("evaluate", "run/model.skops", rows, "-m", "recall", "--json")
    counts = json.loads(out)["metrics"][0]["confusion"]
    assert counts["true positives"] + counts["false positives"] == 20


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "rows.csv", *ASK, "--run", "another", "-o"],
        ["predict", "run/model.skops", "rows.csv", "-o"],
        ["report", "run", "-o"],
        ["best", "run", "-o"],
        ["compare", "rows.csv", *ASK, "--short", "--folds", "2", "-o"],
        ["data", "simulated", "-o"],
    ],
    ids=lambda command: command[0],
)
def test_a_file_that_is_there_is_replaced_only_by_force(command, done, told, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    people(80).to_csv("rows.csv", index=False)
    Path("run").symlink_to(done.folder)
    out = "there.html" if command[0] == "report" else "there.csv"
    Path(out).write_text("mine")
    code, _out, err = told(*command, out)
    assert code == 2
    assert f"{out} exists already: name another file, or add --force to replace it." in err
    assert Path(out).read_text() == "mine"
    assert not Path("another").exists()
    if command[0] != "compare":
        code, _out, err = told(*command, out, "--force")
        assert code == 0, err
        assert Path(out).read_bytes() != b"mine"
