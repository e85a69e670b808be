"""Many classes: `anymetric fit` and `compare` keep the same promises as with two."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.metrics import f1_score

from anymetric.cli.targets import Task, read_target

from .conftest import flowers, people

GROWERS = np.array(["<b>ant</b>", "bee & co", "c'est, [bold]là[/bold]"])


def wines():
    """Wines of three growers with odd names, sold in two shops."""
    table = load_wine(as_frame=True).frame
    table["grower"] = GROWERS[table.pop("target")]
    rng = np.random.default_rng(0)
    table["shop"] = rng.choice(["north", "south"], len(table))
    table["price"] = rng.exponential(10.0, len(table)).round(2)
    return table.iloc[rng.permutation(len(table))].reset_index(drop=True)


@pytest.fixture
def cellar(tmp_path, monkeypatch):
    """A file of wines in an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    wines().to_csv("wines.csv", index=False)
    return "wines.csv"


def test_the_value_shown_is_scikit_learns(grown):
    scores = pd.read_csv(grown.folder / "scores.csv")
    table = {row["name"]: row for row in grown.found["table"]}
    assert set(table) == {
        "anymetric",
        "logistic regression",
        "balanced",
        "tuned offsets",
        "LightGBM",
    }
    value = f1_score(scores["target"], scores["prediction"], average="macro")
    assert table["anymetric"]["value"] == pytest.approx(value)
    assert grown.found["target"]["labels"] == ["setosa", "versicolor", "virginica"]
    assert "3 classes: 'setosa', 'versicolor' and 'virginica'." in grown.err
    assert "macro_f1 is the mean over classes; over groups it is group_mean_f1" in grown.err


def test_a_score_stands_for_each_class_and_the_highest_decides(grown):
    scores = pd.read_csv(grown.folder / "scores.csv")
    names = [f"score_{name}" for name in ("setosa", "versicolor", "virginica")]
    assert scores.columns.tolist() == ["row", "target", "group", *names, "prediction"]
    highest = scores[names].idxmax(axis=1).str.removeprefix("score_")
    assert highest.tolist() == scores["prediction"].tolist()


def test_a_label_that_training_never_saw_is_named(grown, told, tmp_path):
    table = flowers()
    table.loc[3, "species"] = "rosa"
    table.to_csv(tmp_path / "new.csv", index=False)
    words = "has the value 'rosa', which training never saw; it knows 'setosa', 'versicolor' and"
    code, out, err = told("evaluate", grown.model, tmp_path / "new.csv")
    assert (code, out) == (2, "")
    assert words in err
    ask = ["-t", "species", "-m", "accuracy", "--valid", tmp_path / "new.csv"]
    code, out, err = told("fit", grown.home / "rows.csv", *ask)
    assert (code, out) == (2, "")
    assert words in err


def test_odd_labels_are_text_everywhere(cellar, told):
    code, out, err = told("fit", cellar, "-t", "grower", "-m", "accuracy", "--run", "r")
    assert code == 0, err
    assert "Report: r/report.html" in out
    scores = pd.read_csv("r/scores.csv")
    assert scores.columns[2:5].tolist() == [f"score_{name}" for name in sorted(GROWERS)]
    assert "<b>ant" not in Path("r/report.html").read_text()
    code, out, err = told("explain", "r/model.skops")
    assert "c'est, [bold]là[/bold]" in out


PAID = """
def paid(y_true, y_pred, price):
    known = {"<b>ant</b>", "bee & co", "c'est, [bold]là[/bold]"}
    assert set(y_true) <= known and set(y_pred) <= known
    return float((price * (y_true == y_pred)).sum())
"""


def test_a_function_gets_labels_side_columns_and_no_more_calls_than_allowed(cellar, told, tmp_path):
    (tmp_path / "winery.py").write_text(PAID)
    wines().iloc[:40].to_csv("clean.csv", index=False)
    wines().iloc[40:80].to_csv("test.csv", index=False)
    ask = ["-t", "grower", "-m", "winery:paid", "--greater-is-better", "--side", "price"]
    ask += ["-g", "shop", "--drop", "shop", "--valid", "clean.csv", "--test", "test.csv"]
    code, out, err = told("fit", cellar, *ask, "--budget", 50, "--run", "r", "--json")
    assert code == 0, err
    ours = json.loads(out)["table"][0]
    assert ours["calls"] <= 50
    scores, price = pd.read_csv("r/scores.csv"), wines()["price"].iloc[40:80].to_numpy()
    right = (scores["target"] == scores["prediction"]).to_numpy()
    assert ours["value"] == pytest.approx(price[right].sum())
    (tmp_path / "winery.py").unlink()
    assert told("predict", "r/model.skops", cellar)[0] == 0


@pytest.mark.parametrize("model", ["boosted", "auto"])
def test_other_families_are_saved_without_pickle_and_predict_the_same(model, cellar, told):
    ask = ["-t", "grower", "-m", "balanced_accuracy", "--model", model, "--run", "r"]
    code, _, err = told("fit", cellar, *ask, "--source", "shop", "--no-refit")
    assert code == 0, err
    assert told("predict", "r/model.skops", cellar, "-o", "all.csv")[0] == 0
    kept = pd.read_csv("r/scores.csv")
    again = pd.read_csv("all.csv").iloc[kept["row"] - 1]
    np.testing.assert_allclose(again.filter(like="score_"), kept.filter(like="score_"), rtol=1e-9)
    code, out, _ = told("explain", "r/model.skops", "--json")
    found = json.loads(out)
    assert "coefficients" in found or set(found["members"]) <= {"Trees", "Table"}


def test_one_against_the_rest_is_asked_for_by_positive(cellar, told):
    ask = ["-t", "grower", "-m", "f1", "--positive", "bee & co", "--run", "r", "--json"]
    code, out, err = told("fit", cellar, *ask)
    assert code == 0, err
    assert json.loads(out)["target"]["labels"] == ["not bee & co", "bee & co"]
    assert "score" in pd.read_csv("r/scores.csv")


def numbered(**columns):
    table = load_wine(as_frame=True).frame
    table.assign(**columns).to_csv("numbers.csv", index=False)
    return "numbers.csv"


def test_numbers_are_classes_where_the_metric_or_the_user_says_so(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "def hit_score(y_true, y_pred):\n"
        "    assert set(y_pred) <= {0, 1, 2}\n"
        "    return (y_true == y_pred).mean()\n"
    )
    for k, ask in enumerate(
        (["accuracy"], ["f1_macro"], ["own:hit_score", "--task", "classification"])
    ):
        ask = [*ask, "--model", "linear", "--run", f"r{k}", "--json"]
        out = told("fit", numbered(), "-t", "target", "-m", *ask)[1]
        assert json.loads(out)["target"]["labels"] == [0, 1, 2], ask
    halves = np.array([10.5, 2.0, 0.5])[load_wine().target]
    ask = ["-t", "target", "-m", "error", "--model", "linear", "--run", "h"]
    code, out, err = told("fit", numbered(target=halves), *ask)
    assert code == 0, err
    assert set(pd.read_csv("h/scores.csv")["prediction"]) <= {10.5, 2.0, 0.5}
    scores = pd.read_csv("h/scores.csv")
    assert (scores["prediction"] == scores["target"]).mean() > 0.8


def test_a_class_of_one_row_trains(cellar, told):
    table = wines()
    table.loc[7, "grower"] = "only once"
    table.to_csv("rare.csv", index=False)
    for seed in range(3):  # wherever the row falls
        ask = ["-t", "grower", "-m", "accuracy", "--seed", seed, "--run", f"r{seed}", "--json"]
        code, out, err = told("fit", "rare.csv", *ask)
        assert code == 0, err
        assert "only once" in json.loads(out)["target"]["labels"]
        assert 8 not in pd.read_csv(f"r{seed}/scores.csv")["row"].tolist()
    ask = ["-t", "grower", "-m", "accuracy", "--folds", 3, "--only", "balanced"]
    code, _, err = told("compare", "rare.csv", *ask)
    assert code == 0, err


def test_comparisons_are_paired_over_the_splits(cellar, told):
    ask = ["-t", "grower", "-m", "macro_f1", "--folds", 3, "--drop", "price", "-o", "all.csv"]
    code, out, err = told("compare", cellar, *ask, "--json")
    assert code == 0, err
    found = {row["name"]: row for row in json.loads(out)["methods"]}
    assert {"logistic regression", "balanced", "tuned offsets", "LightGBM"} < set(found)
    values = pd.read_csv("all.csv").pivot(index="split", columns="method", values="value")
    for name, row in found.items():
        assert row["improvement"] == pytest.approx((values["anymetric"] - values[name]).mean())
    code, out, _ = told("compare", cellar, *ask[:-2], "--short", "--quiet", "--json")
    assert "on both" not in {row["name"] for row in json.loads(out)["methods"]}


def test_validation_rows_may_be_all_that_a_baseline_trains_on(cellar, told):
    wrong = wines().assign(grower=np.roll(wines()["grower"], 1))
    wrong.to_csv("wrong.csv", index=False)
    ask = ["-t", "grower", "-m", "accuracy", "--valid", cellar, "--folds", 2, "--json"]
    code, out, err = told("compare", "wrong.csv", *ask)
    assert code == 0, err
    found = {row["name"]: row["value"] for row in json.loads(out)["methods"]}
    assert found["on validation rows"] > found["on both"] > found["logistic regression"]
    assert found["anymetric"] > 0.9


def test_the_paper_s_descent_takes_many_classes_and_says_what_it_does_not(cellar, told):
    ask = ["-t", "grower", "-m", "macro_f1", "--method", "descent"]
    code, out, err = told("fit", cellar, *ask, "--budget", 200, "--run", "r")
    assert code == 0, err
    assert "Saved: anymetric" in out
    code, out, err = told("fit", cellar, *ask, "--model", "boosted", "--run", "s")
    assert (code, out) == (2, "")
    assert "--method descent with --model boosted" in err
    assert "does not train 3 classes: use --method auto" in err


# Words after `anymetric fit wines.csv -t grower`, and what the sentence must say.
REFUSED = {
    "f1": "3 values; two classes are needed for the metric 'f1'. Train with --positive VALUE",
    "average_precision": "give a metric of many classes: accuracy, balanced_accuracy, macro_f1",
    "precision@10": "two classes are needed for the metric 'precision@10'",
    "jaccard": "two classes are needed for the metric 'jaccard'",
    "equalised_odds -g shop": "two classes are needed for the metric 'gap(equalized_odds)'",
    "group_mean_mcc": "The metric 'group_mean_mcc' is taken by group",
    "hamming_loss": "'hamming_loss' is of sets of labels, which are trained in Python",
    "worst_group_error": "say --group COLUMN",
    "r2": "must hold numbers",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_metric_of_two_classes_says_what_to_take_instead(words, cellar, told):
    code, out, err = told("fit", cellar, "-t", "grower", "-m", *words.split())
    assert (code, out) == (2, "")
    assert REFUSED[words] in err
    assert len(err.splitlines()) == 1
    assert os.listdir() == [cellar]


@pytest.mark.parametrize(
    ("count", "says"),
    [(300, "classes may be at most 100"), (60, "60 values in 60 rows")],
)
def test_a_column_of_names_is_no_column_of_classes(count, says, told, tmp_path):
    people(count).to_csv(tmp_path / "rows.csv", index=False)
    code, out, err = told("fit", tmp_path / "rows.csv", "-t", "note", "-m", "accuracy")
    assert (code, out) == (2, "")
    assert says in err


labels = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(labels, min_size=3, max_size=8), st.data())
def test_labels_of_any_characters_come_back_as_they_were(words, data):
    known = sorted({word.strip() for word in words})
    if len(known) < 3:
        return
    target = read_target(pd.Series(words * 2), Task.AUTO, None, "rows.csv", False)
    assert target.labels == tuple(known)
    # Estimators sort as NumPy does.
    assert np.unique(np.array(known)).tolist() == known
    drawn = data.draw(st.lists(st.sampled_from(words), min_size=1))
    codes = target.codes(pd.Series(drawn), "rows.csv")
    assert target.words(codes).tolist() == [word.strip() for word in drawn]
