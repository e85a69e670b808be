"""`anymetric fit`: a held-out table, a model that is the one in it, a folder that is whole."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, mean_absolute_error

from anymetric.cli.models import load_model

from .conftest import ASK, people


def by_name(found):
    return {row["name"]: row for row in found["table"]}


def test_the_table_and_its_rows_are_those_of_the_file(done):
    table, scores = people(), pd.read_csv(done.folder / "scores.csv")
    assert done.found["rows"]["train"] + done.found["rows"]["table"] == len(table)
    assert len(scores) == done.found["rows"]["table"]
    assert scores["target"].tolist() == table["income"].iloc[scores["row"] - 1].tolist()


def test_the_value_shown_is_scikit_learns(done):
    scores = pd.read_csv(done.folder / "scores.csv")
    each = [
        f1_score(part["target"], part["prediction"], pos_label="low")
        for _, part in scores.groupby("group")
    ]
    saved = done.found["recommendation"]["saved"]
    assert by_name(done.found)[saved]["value"] == pytest.approx(np.mean(each))


def test_the_saved_model_is_the_one_of_the_table(done):
    scores = pd.read_csv(done.folder / "scores.csv")
    model = load_model(done.model)
    again = model.scores(people().iloc[scores["row"] - 1])
    np.testing.assert_allclose(again, scores["score"])
    assert model.decide(again).tolist() == scores["prediction"].tolist()


def test_the_usual_baselines_are_in_the_table_and_the_improvement_is_the_difference(done):
    rows = by_name(done.found)
    assert {"anymetric", "logistic regression", "balanced", "tuned threshold"} <= set(rows)
    for row in rows.values():
        assert row["improvement"] == pytest.approx(rows["anymetric"]["value"] - row["value"])
        assert row["error"] > 0.0


def test_a_run_is_a_folder_and_nothing_else_is_left(done):
    assert sorted(os.listdir(done.folder)) == [
        "model.skops",
        "progress.json",
        "report.html",
        "run.db",
        "run.json",
        "scores.csv",
        "settings.json",
    ]
    assert sorted(os.listdir(done.folder.parent)) == ["one"]
    assert done.model.read_bytes() == (done.folder / "model.skops").read_bytes()


def test_one_recommendation_is_stated_everywhere_and_the_way_to_run_it_again(done):
    run = json.loads((done.folder / "run.json").read_text())
    says = done.found["recommendation"]["says"]
    assert run["recommendation"]["says"] == says
    assert says in (done.folder / "report.html").read_text().replace("&#x27;", "'")
    assert done.found["recommendation"]["model"] == done.found["recommendation"]["saved"]
    assert run["asked"]["command"].startswith("anymetric fit ")
    assert run["asked"]["group"] == "sex"


def test_without_a_terminal_notes_are_plain_lines(done):
    assert "\x1b" not in done.err
    assert "Positive is 'low', negative 'high' (--positive names the other)." in done.err


PROFIT = """
def profit(y_true, y_pred, amount):
    assert set(y_true) <= {"high", "low"} and set(y_pred) <= {"high", "low"}
    return amount[(y_true == "high") & (y_pred == "high")].sum() - 60.0 * (y_pred == "high").sum()
"""


def test_a_function_of_the_users_gets_words_and_side_columns(rows, told, tmp_path):
    (tmp_path / "till.py").write_text(PROFIT)
    ask = ["-t", "income", "-m", "till:profit", "--side", "amount", "--greater-is-better"]
    code, out, err = told(
        "fit", rows, *ask, "--positive", "high", "--run", "r", "--budget", 60, "--json"
    )
    assert code == 0, err
    found = json.loads(out)
    assert found["target"]["labels"] == ["low", "high"]
    assert all(row["calls"] <= 60 for row in found["table"])
    # The file of a model holds no function, and needs none to predict.
    (tmp_path / "till.py").unlink()
    code, out, err = told("predict", "r/model.skops", rows)
    assert code == 0, err
    assert "amount" not in load_model(tmp_path / "r" / "model.skops").schema.features
    scores, table = pd.read_csv("r/scores.csv"), pd.read_csv(rows)
    flagged = scores["prediction"] == "high"
    amount = table["amount"].iloc[scores["row"] - 1].to_numpy()
    worth = amount[flagged & (scores["target"] == "high")].sum() - 60.0 * flagged.sum()
    assert by_name(found)[found["recommendation"]["saved"]]["value"] == pytest.approx(worth)


def test_a_function_that_reads_other_labels_names_those_of_the_file(rows, told, tmp_path):
    (tmp_path / "numb.py").write_text("def hit_score(y_true, y_pred): return (y_pred == 1).mean()")
    code, _, err = told("fit", rows, "-t", "income", "-m", "numb:hit_score", "--run", "r")
    assert code == 0, err
    assert "for every model" in err
    assert "['high', 'low']" in err


def test_the_readme_says_which_way_a_function_is_better(rows, told, tmp_path):
    (tmp_path / "mymodule.py").write_text(PROFIT)
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    asked = re.search(r"`(--metric mymodule:profit[^`]*)`", readme)[1].split()
    code, _out, err = told("fit", rows, "-t", "income", *asked, "--budget", 20, "--run", "r")
    assert code == 0, err


@pytest.mark.parametrize("count", [2, 3])
def test_a_positive_number_may_be_written_as_in_the_file(count, rows, told):
    table = people().drop(columns="note")
    table["income"] = table["age"].fillna(40.0).rank(pct=True).mul(count).clip(upper=count - 0.1)
    table["income"] = np.floor(table["income"])
    table.to_csv(rows, index=False)
    assert ",1.0\n" in Path(rows).read_text(encoding="utf-8")
    ask = ["fit", rows, "-t", "income", "-m", "f1", "--json", "--positive"]
    code, out, err = told(*ask, "1.0", "--run", "a")
    assert code == 0, err
    again = json.loads(told(*ask, "1", "--run", "b")[1])
    assert json.loads(out)["target"] == again["target"]
    ours, theirs = by_name(json.loads(out))["anymetric"], by_name(again)["anymetric"]
    assert ours["value"] == theirs["value"]


def test_numbers_are_a_regression(rows, told):
    code, out, err = told(
        "fit", rows, "-t", "age", "-m", "mean_absolute_error", "--json", "--run", "r"
    )
    assert code == 0, err
    found, scores = json.loads(out), pd.read_csv("r/scores.csv")
    assert found["target"]["labels"] is None
    value = mean_absolute_error(scores["target"], scores["score"])
    assert by_name(found)[found["recommendation"]["saved"]]["value"] == pytest.approx(value)
    assert "without a value of 'age' were left out" in err


def test_clean_rows_validate_and_make_the_table_and_sources_are_weighed(rows, told):
    people(120, seed=1).drop(columns="vendor").to_parquet("clean.parquet")
    people(150, seed=2).to_feather("test.arrow")
    ask = [*ASK, "--source", "vendor", "--valid", "clean.parquet", "--test", "test.arrow"]
    code, out, err = told("fit", rows, *ask, "--run", "r")
    assert code == 0, err
    assert "group_mean_f1 on 150 rows of test.arrow" in out
    assert "Report: r/report.html" in out
    model = load_model("r/model.skops")
    assert any("source=A" in name for name in model.estimator.weights_)
    assert "vendor" not in model.schema.features


def test_which_family_of_models_won_is_reported(rows, told):
    ask = ["-t", "income", "-m", "f1", "--drop", "note", "--model", "auto", "--budget", 60]
    code, out, err = told("fit", rows, *ask, "--run", "r")
    assert code == 0, err
    assert "The models: Of 3 families, " in out
    run = json.loads(Path("r/run.json").read_text(encoding="utf-8"))
    code, out, err = told("fit", rows, *ask, "--run", "again", "--json")
    assert code == 0, err
    found = json.loads(out)["families"]
    assert found == run["diagnosis"]["families"]
    assert set(found) == {"linear", "boosted", "forest"}


def test_the_same_seed_gives_the_same_model(rows, told):
    ask = ["fit", rows, "-t", "income", "-m", "f1", "--drop", "note", "-q", "--seed", 3]
    ask += ["--model", "linear", "--run"]
    for name in ("a", "b"):
        assert told(*ask, name) == (0, "", "")
    one, two = (load_model(f"{name}/model.skops").estimator for name in ("a", "b"))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_groups_have_thresholds_of_their_own_in_every_command(rows, told):
    table = people(800)
    table["income"] = np.where(
        table["age"].fillna(40.0) > np.where(table["sex"] == "Male", 45.0, 35.0), "high", "low"
    )
    table.to_csv(rows, index=False)
    ask = ["-t", "income", "-m", "accuracy", "-g", "sex", "--drop", "sex", "--drop", "note"]
    ask.append("--no-refit")
    code, out, err = told("fit", rows, *ask, "--group-thresholds", "--run", "r", "--json")
    assert code == 0, err
    values = by_name(json.loads(out))
    assert values["anymetric"]["value"] > values["tuned threshold"]["value"] + 0.1
    scores, model = pd.read_csv("r/scores.csv"), load_model("r/model.skops")
    again = model.scores(table.iloc[scores["row"] - 1])
    np.testing.assert_allclose(again, scores["score"])
    right = np.mean(scores["prediction"] == scores["target"])
    saved = json.loads(out)["recommendation"]["saved"]
    assert values[saved]["value"] == pytest.approx(right)
    assert set(model.estimator.shifts_) == {"Female", "Male"}
    assert "Each has its own threshold" in Path("r/report.html").read_text(encoding="utf-8")
    code, out, err = told("explain", "r/model.skops", "--json")
    assert json.loads(out)["shifts"] == model.estimator.shifts_
    code, out, err = told("evaluate", "r/model.skops", rows, "--json")
    assert code == 0, err
    assert "Groups have thresholds" in told("explain", "r/model.skops")[1]
    table.drop(columns="sex").to_csv("blind.csv", index=False)
    code, out, err = told("predict", "r/model.skops", "blind.csv")
    assert (code, out) == (2, "")
    assert "blind.csv has no column 'sex' (groups have thresholds of their own)" in err
