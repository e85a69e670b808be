"""What is done with a saved model of many classes, with scikit-learn as the oracle."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, recall_score

from anymetric.cli.models import load_model

from .conftest import fit_run, flowers


def test_a_saved_model_predicts_what_the_table_says(grown, told):
    kept = pd.read_csv(grown.folder / "scores.csv")
    out = grown.home / "again.csv"
    code, _, err = told(
        "predict", grown.model, grown.home / "rows.csv", "--keep", "field", "-o", out
    )
    assert code == 0, err
    again = pd.read_csv(out).iloc[kept["row"] - 1]
    for name in kept.columns[3:-1]:
        np.testing.assert_allclose(again[name], kept[name])
    assert again["prediction"].tolist() == kept["prediction"].tolist()
    assert again["field"].tolist() == kept["group"].tolist()


def test_a_column_of_scores_is_not_kept_twice(grown, told):
    flowers().assign(score_setosa=1).to_csv(grown.home / "twice.csv")
    code, _, err = told("predict", grown.model, grown.home / "twice.csv", "--keep", "score_setosa")
    assert code == 2
    assert "--keep score_setosa: that is the name of a column to be written" in err


def test_evaluate_agrees_with_scikit_learn(grown, told):
    table = flowers()
    ask = ["-m", "accuracy", "-m", "worst_class_recall", "-m", "neg_log_loss"]
    code, out, err = told("evaluate", grown.model, grown.home / "rows.csv", *ask, "--json")
    assert code == 0, err
    accuracy, worst, loss = json.loads(out)["metrics"]
    model = load_model(grown.model)
    said, scores = model.predict(table), model.scores(table)
    assert accuracy["value"] == pytest.approx(accuracy_score(table["species"], said))
    assert accuracy["error"] > 0.0
    assert worst["value"] == recall_score(table["species"], said, average=None).min()
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert loss["value"] == pytest.approx(-log_loss(table["species"], share))
    near = (table["field"] == "near").to_numpy()
    assert accuracy["groups"]["near"] == np.mean((said == table["species"])[near])
    found = pd.DataFrame(accuracy["confusion"]).T
    assert found.to_numpy().tolist() == confusion_matrix(table["species"], said).tolist()


def test_a_terminal_that_is_too_narrow_gets_the_worst_mistakes(grown, lines, told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    out = told("evaluate", grown.model, grown.home / "rows.csv")[1]
    assert "setosa   versicolor   virginica   recall" in out
    monkeypatch.setenv("COLUMNS", "64")
    out = told("evaluate", grown.model, grown.home / "rows.csv")[1]
    assert "most often" in out
    assert "versicolor   virginica" not in out
    monkeypatch.setenv("COLUMNS", "48")
    assert "class   coefficient" in told("explain", lines.model)[1]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """One run of `fit` that saves lines, whatever is recommended."""
    ask = ["-t", "species", "-m", "macro_f1", "-g", "field", "--model", "linear"]
    return fit_run(tmp_path_factory.mktemp("lines"), flowers(), [*ask, "--no-holdout"])


def test_explain_names_what_decides_between_the_classes(lines, told):
    code, out, err = told("explain", lines.model, "--json")
    assert code == 0, err
    found, model = json.loads(out), load_model(lines.model)
    assert sum(found["slices"].values()) == pytest.approx(1.0)
    assert "species = setosa, field = near" in found["slices"]
    table = flowers()
    weights = pd.DataFrame(found["coefficients"])
    assert weights.index.tolist() == model.feature_names
    np.testing.assert_allclose(weights.sum(axis=1), 0.0, atol=1e-9)
    scores = model.matrix(table) @ weights.to_numpy() + list(found["intercepts"].values())
    assert model.decide(scores).tolist() == model.predict(table).tolist()
    assert "virginica" in told("explain", lines.model, "--top", 2)[1]


def test_the_page_can_be_written_again(grown, told, tmp_path):
    code, _, err = told("report", grown.folder, "-o", tmp_path / "again.html")
    assert code == 0, err
    assert (tmp_path / "again.html").read_text() == (grown.folder / "report.html").read_text()


def test_a_metric_of_two_classes_is_refused_at_evaluation_too(grown, told):
    code, out, err = told("evaluate", grown.model, grown.home / "rows.csv", "-m", "roc_auc")
    assert (code, out) == (2, "")
    assert "The model's target 'species' has 3 values" in err


def test_a_linear_answer_of_all_families_is_explained(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    labels = np.array(["a", "b", "c"])[np.argmax(X + 0.3 * rng.normal(size=X.shape), axis=1)]
    pd.DataFrame(X, columns=list("uvw")).assign(y=labels).to_csv("rows.csv", index=False)
    ask = ["-t", "y", "-m", "accuracy", "--model", "auto", "--run", "run", "--out", "m.skops"]
    code, _out, err = told("fit", "rows.csv", *ask)
    assert code == 0, err
    code, out, err = told("explain", "m.skops", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert ("coefficients" in found) != ("members" in found)
