"""Rows of queries: metrics are means over queries, and every baseline is compared on them."""

import json

import numpy as np
import pandas as pd
import pytest

from anymetric.cli.compare import Scores

ASK = ["-t", "y", "--side", "query"]


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """A file of thirty queries with three to ten rows each, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(30), rng.integers(3, 11, 30))
    table = pd.DataFrame({"a": rng.normal(size=len(query)), "query": query})
    table["y"] = (table["a"] + rng.normal(size=len(query)) > 0.5).astype(int)
    table.to_csv("rows.csv", index=False)
    return table


def mean_precision(kept, k):
    """The mean over queries with relevant rows of the share of them among the first k."""
    each = [
        part.nlargest(k, "score")["y"].mean()
        for _, part in kept.groupby("query")
        if part["y"].any()
    ]
    return np.mean(each)


def test_precision_at_k_is_the_mean_over_queries_as_it_is_for_rankers(searched, told):
    code, out, err = told("fit", "rows.csv", *ASK, "-m", "precision@5", "--run", "run", "--json")
    assert code == 0, err
    assert "with queries, precision@5 is their mean: query_precision@5" in err
    scores = pd.read_csv("run/scores.csv")
    kept = searched.iloc[scores["row"] - 1].assign(score=scores["score"].to_numpy())
    saved = json.loads(out)["recommendation"]["saved"]
    value = next(row["value"] for row in json.loads(out)["table"] if row["name"] == saved)
    assert value == pytest.approx(mean_precision(kept, 5))
    if saved == "anymetric":
        assert "each loss in the loss" in told("explain", "run/model.skops")[1]
    scored = told("predict", "run/model.skops", "rows.csv")[1].split()[1:]
    scored, ranks = np.array([line.split(",") for line in scored], dtype=float).T
    assert ranks.tolist() == (-pd.Series(scored)).groupby(searched["query"]).rank("first").tolist()
    kept = searched.assign(score=scored)
    for more in ([], ["-m", "precision@5"], ["-m", "query_precision@5"]):
        code, out, err = told("evaluate", "run/model.skops", "rows.csv", *more, "--json")
        assert code == 0, err
        found = json.loads(out)["metrics"][0]
        assert found["metric"] == "query_precision@5"
        assert found["value"] == pytest.approx(mean_precision(kept, 5))


def test_what_short_queries_are_divided_by_is_said(told):
    assert "fewer rows than k" in told("metrics", "query_precision@5")[1]


def test_every_baseline_is_compared_by_query(searched, told):
    searched[searched["query"] > 14].to_csv("judges.csv", index=False)
    searched[searched["query"] <= 14].to_csv("rows.csv", index=False)
    for more in ([], ["--valid", "judges.csv"]):
        ask = [*ASK, "-m", "ndcg@5", "--folds", 2, *more, "--json"]
        code, out, err = told("compare", "rows.csv", *ask)
        assert code == 0, err
        assert "left out" not in err
        names = {row["name"] for row in json.loads(out)["methods"]}
        assert {"anymetric", "precision at k (Kar)", "lambdarank"} <= names


def test_a_baseline_that_fails_on_a_split_is_not_compared(searched, told, monkeypatch):
    tries = []

    def fails(self, *_given, **_settings):
        tries.append(1)
        raise ValueError("no answer for these rows")

    monkeypatch.setattr("anymetric.baselines.LambdaRank.fit", fails)
    ask = [*ASK, "-m", "ndcg@5", "--folds", 2, "--short", "-o", "all.csv", "--json"]
    code, out, err = told("compare", "rows.csv", *ask)
    assert code == 0, err
    assert "lambdarank is left out of the table: no answer for these rows" in err
    assert len(tries) == 1
    names = {row["name"] for row in json.loads(out)["methods"]}
    assert names == {"anymetric", "logistic regression", "balanced", "LightGBM"}
    assert set(pd.read_csv("all.csv")["method"]) == names


def test_what_differs_by_rounding_is_the_same():
    scores = Scores(True, ["anymetric", "same", "worse"])
    for value in (0.3, 0.3, 0.3):
        row = {"anymetric": (value, 1.0), "same": (0.1 + 0.2, 1.0), "worse": (0.2, 1.0)}
        scores.add(row, 0.5)
    same = scores.summary()[1]
    assert (same["improvement"], same["improvement_error"], same["rank"]) == (0.0, 0.0, 1.5)
    mixed = Scores(True, ["anymetric"])
    for value in (0.3, 0.1 + 0.2):
        mixed.add({"anymetric": (value, 1.0)}, 0.5)
    assert mixed.summary()[0]["error"] == 0.0


def test_names_of_methods_are_distinguished(searched, told):
    code, _out, err = told("compare", "rows.csv", *ASK, "-m", "f1", "--only", "zzz")
    assert code == 2
    assert "'balanced', 'tuned threshold', 'balanced, tuned threshold', " in err
