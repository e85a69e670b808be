"""What is done with a saved model: predict, evaluate, explain, report, compare."""

import json
import os
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skops.io
from sklearn.metrics import f1_score, ndcg_score, roc_auc_score
from sklearn.preprocessing import FunctionTransformer

from anymetric.cli.models import load_model

from .conftest import ASK, people


def test_predictions_are_in_the_order_of_the_file(done, told, tmp_path):
    people(50, seed=3).to_csv(tmp_path / "new.csv", index=False)
    code, _out, err = told(
        "predict", done.model, tmp_path / "new.csv", "--keep", "id", "-o", tmp_path / "s.parquet"
    )
    assert code == 0, err
    found = pd.read_parquet(tmp_path / "s.parquet")
    assert found["id"].tolist() == list(range(50))
    assert ((found["score"] > 0) == (found["prediction"] == "low")).all()


def test_new_words_extra_columns_and_missing_values_are_taken(done, told, tmp_path):
    new = people(5, seed=3).drop(columns=["income", "id"]).assign(other=1)
    new["city"], new["age"], new["note"] = ["Oslo", None, "a,b", "Ålesund", "Oslo"], None, None
    new.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = told("predict", done.model, tmp_path / "new.csv", "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == 5
    assert "'city' was a category in training; 3 of 4 values (75%) were never seen there" in err
    assert "'Oslo', 'Ålesund'" in err


def test_one_row_is_enough_to_predict(done, told, tmp_path):
    people(1, seed=3).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = told("predict", done.model, tmp_path / "new.csv")
    assert code == 0, err
    assert out.splitlines()[0] == "score,rank,prediction"
    assert len(out.splitlines()) == 2


def test_evaluate_agrees_with_scikit_learn(done, told, tmp_path):
    table = people(200, seed=4)
    table.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = told(
        "evaluate", done.model, tmp_path / "new.csv", "-m", "f1", "-m", "roc_auc", "--json"
    )
    assert code == 0, err
    f1, auc = json.loads(out)["metrics"]
    model = load_model(done.model)
    scores, truth = model.scores(table), table["income"] == "low"
    assert f1["value"] == pytest.approx(f1_score(truth, scores > 0))
    assert auc["value"] == pytest.approx(roc_auc_score(truth, scores))
    women = (table["sex"] == "Female").to_numpy()
    assert f1["groups"]["Female"] == pytest.approx(f1_score(truth[women], scores[women] > 0))
    assert sum(f1["confusion"].values()) == 200
    assert f1["error"] > 0.0


def test_explain_names_every_coefficient_and_slice(done, told):
    code, out, err = told("explain", done.model, "--json")
    assert code == 0, err
    found = json.loads(out)
    model = load_model(done.model)
    assert len(found["coefficients"]) == model.estimator.coef_.size
    assert "income = low, sex = Male" in found["slices"]
    assert sum(found["slices"].values()) == pytest.approx(1.0)
    assert {"age", "age missing", "city=Zürich"} <= set(found["coefficients"])
    assert found["coefficients"]["age"] < 0.0  # the positive label is `low`
    code, out, err = told("explain", done.model, "--top", 3)
    assert "The 3 largest of" in out


def test_the_page_can_be_written_again(done, told, tmp_path):
    code, out, err = told("report", done.folder, "--out", tmp_path / "again.html")
    assert code == 0, err
    assert "group_mean_f1" in (tmp_path / "again.html").read_text()
    assert out == f"Report: {tmp_path / 'again.html'}\n"


def test_a_type_that_is_not_ours_is_refused_by_name(told, tmp_path):
    skops.io.dump(FunctionTransformer(os.system), tmp_path / "bad.skops")
    people(5).to_csv(tmp_path / "new.csv", index=False)
    code, _out, err = told("predict", tmp_path / "bad.skops", tmp_path / "new.csv")
    assert code == 2
    assert "posix.system" in err
    assert len(err.splitlines()) == 1


def test_a_file_that_is_no_model_is_refused(told, tmp_path):
    people(5).to_csv(tmp_path / "new.csv", index=False)
    skops.io.dump({"a": 1}, tmp_path / "other.skops")
    for name in ("new.csv", "other.skops"):
        code, _out, err = told("predict", tmp_path / name, tmp_path / "new.csv")
        assert code == 2
        assert "`anymetric fit` saved" in err


def test_comparisons_are_paired_over_the_splits(rows, told):
    ask = [*ASK[:-2], "--drop", "note", "--folds", 3, "--only", "balanced", "-o", "all.csv"]
    code, out, err = told("compare", rows, *ask, "--json")
    assert code == 0, err
    found = {row["name"]: row for row in json.loads(out)["methods"]}
    values = pd.read_csv("all.csv").pivot(index="split", columns="method", values="value")
    lead = values["anymetric"] - values["balanced"]
    assert found["balanced"]["improvement"] == pytest.approx(lead.mean())
    # Nadeau and Bengio: the variance counts that training sets overlap.
    error = np.sqrt((1 / 3 + 1 / 2) * lead.var())
    assert found["balanced"]["improvement_error"] == pytest.approx(error, rel=0.02)
    assert found["balanced"]["rank"] + found["anymetric"]["rank"] == pytest.approx(3.0)


def test_boosted_trees_are_saved_without_pickle_and_predict_the_same(rows, told):
    code, out, _ = told(
        "fit",
        rows,
        *ASK,
        "--model",
        "boosted",
        "--no-refit",
        "--run",
        "run",
        "--out",
        "m.skops",
        "--json",
    )
    assert code == 0
    assert json.loads(out)["saved"]["copy"] == "m.skops"
    assert told("predict", "m.skops", rows, "--out", "scores.csv")[0] == 0
    scored, kept = pd.read_csv("scores.csv"), pd.read_csv("run/scores.csv")
    again = scored["score"].to_numpy()[kept["row"].to_numpy() - 1]
    np.testing.assert_allclose(again, kept["score"], rtol=1e-9)
    code, out, _ = told("explain", "m.skops", "--json")
    assert code == 0
    assert set(json.loads(out)["members"]) == {"Trees"}


def test_a_table_that_could_not_be_written_is_refused_before_anything_is_trained(rows, told):
    for name in ("all.json", "all.csv.zst"):
        code, out, err = told("compare", rows, *ASK, "--folds", 2, "-o", name)
        assert (code, out) == (2, "")
        assert name in err
        assert "split" not in err


def test_what_is_said_of_a_direction_is_meant_for_functions(done, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "costs.py").write_text("def cost(y_true, y_pred):\n    return 1.0 * len(y_true)\n")
    asked = ["-m", "accuracy", "-m", "costs:cost", "--lower-is-better", "--json"]
    code, out, err = told("evaluate", done.model, done.home / "rows.csv", *asked)
    assert code == 0, err
    assert "400" in out
    code, _out, err = told("evaluate", done.model, done.home / "rows.csv", *asked[:2], asked[4])
    assert code == 2
    assert "accuracy" in err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sklearn.metrics:mean_squared_error", "lower is better"),
        ("sklearn.metrics:f1_score", "greater is better"),
        ("math:dist", "say --greater-is-better or --lower-is-better"),
    ],
)
def test_a_function_is_described_in_its_own_direction(name, said, told):
    code, out, err = told("metrics", name)
    assert code == 0, err
    assert said in out


def test_whole_queries_are_held_out(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "query": np.repeat(np.arange(30), 10)})
    table["y"] = (table["a"] + rng.normal(size=300) > 0.5).astype(int)
    table.to_csv("rows.csv", index=False)
    ask = ["-t", "y", "-m", "ndcg@5", "--side", "query", "--model", "linear"]
    code, _out, err = told("fit", "rows.csv", *ask, "--run", "run")
    assert code == 0, err
    out = pd.read_csv("run/scores.csv")["row"].to_numpy() - 1
    held = set(table["query"][out])
    assert len(held) == 6
    assert len(out) == 60
    code, _out, err = told("compare", "rows.csv", *ask, "--folds", 3, "--only", "balanced")
    assert code == 0, err
    table.assign(query=1).to_csv("one.csv", index=False)
    code, _out, err = told("fit", "one.csv", *ask)
    assert code == 2
    assert "one query" in err


def test_a_file_that_is_read_is_never_overwritten(rows, done, told):
    before = Path(rows).read_bytes()
    assert told("fit", rows, *ASK, "--out", rows)[0] == 2
    code, _out, err = told("predict", done.model, rows, "--out", rows)
    assert code == 2
    assert "would be overwritten" in err
    assert told("compare", rows, *ASK, "-o", rows)[0] == 2
    assert Path(rows).read_bytes() == before


def test_a_folder_for_a_model_is_refused_before_anything_is_trained(rows, told):
    code, _out, err = told("fit", rows, *ASK, "--run", "run", "--out", ".")
    assert code == 2
    assert "is a folder" in err
    assert "iterations" not in err


def test_a_column_named_twice_is_refused(told, tmp_path):
    (tmp_path / "rows.csv").write_text("x,label,label\n" + "1,a,a\n2,b,b\n" * 20)
    code, _out, err = told("fit", tmp_path / "rows.csv", "-t", "label", "-m", "f1")
    assert code == 2
    assert "'label' twice" in err


def test_commas_in_numbers_are_read_beside_semicolons(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people().drop(columns="note")
    table.to_csv("points.csv", index=False)
    table.to_csv("commas.csv", index=False, sep=";", decimal=",")
    found = []
    for name in ("points.csv", "commas.csv"):
        code, out, err = told("fit", name, *ASK, "--run", f"{name}.run", "--json")
        assert code == 0, err
        found.append([row["value"] for row in json.loads(out)["table"]])
    assert found[0] == found[1]


def test_a_number_that_cannot_be_read_is_spoken_of_when_predicting(done, told, tmp_path):
    table = people().astype({"amount": object})
    table.loc[3, "amount"] = "oops"
    table.to_csv(tmp_path / "one.csv", index=False)
    code, _out, err = told("predict", done.model, tmp_path / "one.csv")
    assert code == 0
    assert "1 of 400 values" in " ".join(err.split())
    table.assign(amount="oops").to_csv(tmp_path / "all.csv", index=False)
    for command in ("predict", "evaluate"):
        code, _out, err = told(command, done.model, tmp_path / "all.csv")
        assert code == 2
        assert "'amount' was a number in training" in err


@pytest.mark.parametrize("option", ["--valid", "--test"])
def test_rows_that_train_are_not_taken_for_others(rows, told, option):
    code, _out, err = told("fit", rows, *ASK, option, rows)
    assert code == 2
    assert "is the file that trains" in err


def test_what_a_metric_prints_is_no_part_of_the_answer(rows, told):
    Path("mine.py").write_text(
        "def hits_score(y_true, y_pred):\n"
        "    print('HELLO')\n"
        "    return (y_true == y_pred).mean()\n"
    )
    ask = ["-t", "income", "-m", "mine:hits_score", "--drop", "id", "--budget", 30, "--json"]
    code, out, err = told("fit", rows, *ask)
    assert code == 0, err
    assert json.loads(out)["metric"] == "hits_score"
    assert "HELLO" in err


def test_a_metric_that_ends_the_program_has_failed(rows, told):
    Path("quits.py").write_text("def quit_score(y_true, y_pred):\n    raise SystemExit(3)\n")
    code, _out, err = told("fit", rows, "-t", "income", "-m", "quits:quit_score")
    assert code == 2
    assert "SystemExit" in err


def test_a_model_that_was_trained_is_kept_when_evaluation_is_stopped(rows, told, monkeypatch):
    def stop(*_given, **_settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("anymetric.cli.work.gather", stop)
    code, _out, err = told("fit", rows, *ASK, "--run", "run")
    assert code == 130
    assert "the model is kept: run" in err
    assert told("predict", "run/model.skops", rows)[0] == 0


FLAKY = """
calls = 0
def flaky_score(y_true, y_pred):
    global calls
    calls += 1
    if calls >= 300:
        raise {error}
    # Later rows count more: what it would say cannot be told from counts.
    return float(((y_true == y_pred) * range(len(y_true))).sum())
"""


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        ("KeyboardInterrupt", 130, "Stopped in training; the best model so far is kept: run"),
        ("ValueError('no answer')", 2, "The best model so far is kept: run"),
    ],
)
def test_the_best_model_is_kept_when_training_is_cut_short(rows, told, error, code, says):
    name = f"flaky{code}"
    Path(f"{name}.py").write_text(FLAKY.format(error=error))
    ask = ["-t", "income", "-m", f"{name}:flaky_score", "--run", "run", "-o", "copy.skops"]
    ended, _out, err = told("fit", rows, *ask)
    assert ended == code
    assert says in err
    assert Path("copy.skops").read_bytes() == Path("run/model.skops").read_bytes()
    code, out, err = told("predict", "run/model.skops", rows)
    assert code == 0, err
    assert set(out.split()[1].split(",")[2:]) <= {"low", "high"}


def test_nothing_is_kept_where_nothing_was_evaluated(rows, told):
    Path("never.py").write_text("def never_score(y_true, y_pred):\n    raise KeyboardInterrupt\n")
    code, _out, err = told("fit", rows, "-t", "income", "-m", "never:never_score", "--run", "run")
    assert code == 130
    assert "nothing was kept" in err
    assert not Path("run").exists()


def test_a_small_budget_of_ours_does_not_cripple_the_others(rows, told):
    code, out, err = told("fit", rows, *ASK, "--budget", 1, "--json")
    assert code == 0, err
    value = {row["name"]: row["value"] for row in json.loads(out)["table"]}
    assert value["logistic regression"] > 0.5


def test_grades_of_queries_count(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=400), "query": np.repeat(np.arange(40), 10)})
    table["rel"] = np.clip(np.round(table["a"] + rng.normal(size=400)), 0, 3).astype(int)
    table.to_csv("rows.csv", index=False)
    ask = ["-t", "rel", "-m", "ndcg@5", "--side", "query", "--run", "run", "--json"]
    code, out, err = told("fit", "rows.csv", *ask)
    assert code == 0, err
    scores = pd.read_csv("run/scores.csv")
    kept = table.iloc[scores["row"] - 1].assign(score=scores["score"].to_numpy())
    expected = [
        ndcg_score([2.0 ** part["rel"] - 1.0], [part["score"]], k=5)
        for _, part in kept.groupby("query")
    ]
    value = next(row["value"] for row in json.loads(out)["table"] if row["name"] == "anymetric")
    assert value == pytest.approx(np.mean(expected), abs=1e-6)
    assert value > 0.5
    assert "prediction" not in scores
    assert told("predict", "run/model.skops", "rows.csv")[1].splitlines()[0] == "score,rank"
    _code, out, _err = told("evaluate", "run/model.skops", "rows.csv", "--json")
    assert json.loads(out)["metrics"][0]["confusion"] == {}
    assert "Right and wrong" not in Path("run/report.html").read_text(encoding="utf-8")


def test_a_label_or_a_group_may_be_called_none(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people().drop(columns="note")
    table["income"] = table["income"].map({"low": "None", "high": "NA"})
    table["sex"] = table["sex"].map({"Female": "N/A", "Male": "M"})
    table.to_csv("rows.csv", index=False)
    code, out, err = told("fit", "rows.csv", *ASK, "--positive", "NA", "--run", "run", "--json")
    assert code == 0, err
    assert json.loads(out)["target"]["labels"] == ["None", "NA"]
    assert set(pd.read_csv("run/scores.csv", keep_default_na=False)["group"]) == {"N/A", "M"}


def test_validation_rows_of_one_class_are_warned_of(rows, told):
    table = people()
    table[table["income"] == "high"].to_csv("judges.csv", index=False)
    _code, _out, err = told("fit", rows, "-t", "income", "-m", "accuracy", "--valid", "judges.csv")
    assert "all rows of judges.csv have the label 'high'" in " ".join(err.split())


def test_a_baseline_that_fails_is_left_out_of_the_table(rows, told, monkeypatch):
    def fails(self, *_given, **_settings):
        raise ValueError("no answer for these rows")

    monkeypatch.setattr("anymetric.baselines.TunedThreshold.fit", fails)
    code, out, err = told("fit", rows, *ASK, "--run", "run", "--json")
    assert code == 0, err
    assert "tuned threshold is left out of the table: no answer for these rows" in err
    names = [row["name"] for row in json.loads(out)["table"]]
    assert "tuned threshold" not in names
    assert {"anymetric", "balanced"} <= set(names)


def test_prices_are_predicted_by_their_logarithm(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    price = np.exp(5.0 + X @ [0.8, 0.5, 0.0] + 0.2 * rng.normal(size=400))
    pd.DataFrame(X, columns=list("abc")).assign(price=price).to_csv("rows.csv", index=False)
    ask = ["--target", "price", "--metric", "mean_absolute_error"]
    assert told("fit", "rows.csv", *ask, "--run", "r")[0] == 0
    code, out, err = told("explain", "r/model.skops")
    assert code == 0, err
    assert "logarithm" in out + err
    assert json.loads(told("explain", "r/model.skops", "--json")[1])["link"] == "log"
    assert told("predict", "r/model.skops", "rows.csv", "-o", "found.csv")[0] == 0
    off = np.abs(pd.read_csv("found.csv")["prediction"] - price).mean()
    assert off < 0.3 * np.abs(price - np.median(price)).mean()
    assert "logarithm of the prediction" in Path("r/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("run", ["done", "grown"])
def test_an_exported_model_agrees_with_the_saved_one(run, request, told, tmp_path):
    made, out = request.getfixturevalue(run), tmp_path / "model.onnx"
    code, said, err = told("export", made.model, "--onnx", out, "--json")
    assert code == 0, err
    found, model = json.loads(said), load_model(made.model)
    table = people(60, seed=5) if run == "done" else pd.read_csv(made.home / "rows.csv")
    session = onnxruntime.InferenceSession(out)
    label, probabilities, score = session.run(None, {"X": model.matrix(table)})
    assert label.tolist() == model.predict(table).tolist()
    np.testing.assert_allclose(score, model.scores(table), atol=1e-5)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert found["columns"] == model.feature_names
    assert found["inputs"] == ["X"]


def test_an_export_says_what_it_wants(done, told, tmp_path):
    code, _out, err = told("export", done.model)
    assert code == 2
    assert "Give one of --optuna ADDRESS (for a run) and --onnx FILE (for a model)." in err
    code, out, err = told("export", done.model, "--onnx", tmp_path / "model.onnx")
    assert code == 0, err
    assert "columns, vectorised as in training" in " ".join(out.split())
