"""The shipped data: shapes, counts and features, against pandas as an outside reader."""

from __future__ import annotations

import io
import pickle
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from anymetric.datasets import (
    Dataset,
    load_adult,
    load_adult_noisy_labels,
    load_adult_proxy,
    load_compas,
    load_credit_default,
)
from anymetric.datasets.store import SOURCES, read, sha256
from anymetric.datasets.tables import dense_text, read_columns

pd = pytest.importorskip("pandas")

load_adult = cache(load_adult)
LOADERS = {
    "adult": load_adult,
    "adult_proxy": cache(load_adult_proxy),
    "compas": cache(load_compas),
    "credit_default": cache(load_credit_default),
}
noisy_labels = cache(lambda seed: load_adult_noisy_labels(random_state=seed))
# name: rows, features, positives, rows by group
FACTS = {
    "adult": (32561, 122, 7841, {"Female": 10771, "Male": 21790}),
    "adult_proxy": (32561, 119, 10771, {"all": 32561}),
    "compas": (6172, 31, 2809, {"Female": 1175, "Male": 4997}),
    "credit_default": (30000, 89, 6636, {"Female": 18112, "Male": 11888}),
}
ADULT_COLUMNS = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race "
    "gender capital_gain capital_loss hours_per_week native_country income"
)


def frame(path: str, **options):
    return pd.read_csv(io.BytesIO(read(SOURCES[path])), **options)


@pytest.mark.parametrize("name", LOADERS)
def test_the_counts_are_the_known_ones(name):
    data = LOADERS[name]()
    rows, features, positives, groups = FACTS[name]
    assert data.name == name
    assert data.X.shape == (rows, features)
    assert data.X.dtype == np.float64
    assert set(np.unique(data.y)) == {0, 1}
    assert data.y.sum() == positives
    assert dict(zip(*np.unique(data.groups, return_counts=True), strict=True)) == groups


@pytest.mark.parametrize("name", LOADERS)
def test_features_are_finite_and_named_once(name):
    data = LOADERS[name]()
    assert np.isfinite(data.X).all()
    assert len(set(data.feature_names)) == data.X.shape[1]
    assert (
        "licence" in data.description or "CC BY" in data.description or "public" in data.description
    )


@pytest.mark.parametrize(
    ("path", "start"),
    [
        ("adult/adult.data", "5b00264637db"),
        ("adult/adult.test", "a2a9044bc167"),
        ("compas/compas_two_years.csv", "48f4b9179ff1"),
        ("credit_default/default_of_credit_card_clients.csv", "9e5c04a4331d"),
    ],
)
def test_the_shipped_bytes_are_the_published_ones(path, start, monkeypatch):
    monkeypatch.delenv("ANYMETRIC_DATA", raising=False)
    raw = read(SOURCES[path])
    assert sha256(raw) == SOURCES[path].sha256
    assert sha256(raw).startswith(start)


@pytest.mark.parametrize(("subset", "rows"), [("train", 32561), ("test", 16281), ("all", 48842)])
def test_adult_subsets_have_the_same_features(subset, rows):
    data = load_adult(subset)
    assert data.X.shape == (rows, 122)
    assert data.feature_names == load_adult().feature_names
    assert (data.X.sum(axis=1) == 13).all()


def test_adult_test_labels_survive_their_dots():
    assert load_adult("test").y.mean() == pytest.approx(0.236, abs=5e-4)


def test_an_unknown_subset_is_refused():
    with pytest.raises(ValueError, match=r"one of .* got 'both'"):
        load_adult("both")


def test_adult_agrees_with_pandas():
    raw = frame("adult/adult.data", names=ADULT_COLUMNS.split(), skipinitialspace=True)
    cuts = {
        "age": np.quantile(raw["age"], [0, 0.25, 0.5, 0.75, 1]),
        "capital_gain": [-1, 1, 4000, 10000, 100000],
        "capital_loss": [-1, 1, 1800, 1950, 4500],
        "hours_per_week": [0, 39, 41, 50, 100],
        "education_num": [0, 8, 9, 11, 16],
    }
    for name, edges in cuts.items():
        raw[name] = pd.cut(raw[name], edges, labels=False, include_lowest=True)
    categories = ADULT_COLUMNS.split()
    kept = [c for c in categories if c not in cuts and c not in ("fnlwgt", "income")]
    expected = pd.get_dummies(raw[kept + list(cuts)], columns=kept + list(cuts))
    np.testing.assert_array_equal(load_adult().X, expected.to_numpy(dtype=float))


def test_adult_is_the_same_when_sparse():
    kept = load_adult("train", sparse=True)
    assert isinstance(kept.X, sparse.csr_array)
    assert kept.X.nnz == 13 * 32561
    np.testing.assert_array_equal(kept.X.toarray(), load_adult().X)
    proxy = load_adult_proxy(sparse=True)
    np.testing.assert_array_equal(proxy.X.toarray(), LOADERS["adult_proxy"]().X)


def test_the_proxy_is_true_of_1566_women_and_2_men():
    task = LOADERS["adult_proxy"]()
    proxy = task.side["proxy"] == 1
    assert (proxy & (task.y == 1)).sum() == 1566
    assert (proxy & (task.y == 0)).sum() == 2
    gone = set(load_adult().feature_names) - set(task.feature_names)
    assert gone == {"gender=Female", "gender=Male", "relationship=Wife"}
    assert "wife" not in task.side


def test_compas_agrees_with_pandas():
    raw = frame("compas/compas_two_years.csv", keep_default_na=False)
    raw["days_b_screening_arrest"] = pd.to_numeric(raw["days_b_screening_arrest"])
    kept = raw[
        raw["days_b_screening_arrest"].abs().le(30)
        & raw["is_recid"].ne(-1)
        & raw["c_charge_degree"].ne("O")
        & raw["score_text"].ne("N/A")
    ]
    hot = pd.get_dummies(kept[["c_charge_degree", "race", "score_text", "sex"]]).to_numpy(float)
    ages = [0, *np.percentile(kept["age"], [20, 40, 60, 80, 90, 100])]
    age = pd.get_dummies(pd.cut(kept["age"], ages, labels=False)).to_numpy(float)
    scores = [0, *np.percentile(kept["decile_score"], [20, 40, 60, 80, 90])]
    priors = np.percentile(kept["priors_count"], [0, 50, 70, 80, 90])
    score = kept["decile_score"].to_numpy()[:, None] > np.array(scores)
    prior = kept["priors_count"].to_numpy()[:, None] > priors
    days = kept[["days_b_screening_arrest"]].to_numpy(float)
    data = LOADERS["compas"]()
    np.testing.assert_array_equal(data.X, np.hstack([days, hot, age, score, prior]))
    np.testing.assert_array_equal(data.y, kept["two_year_recid"])
    assert round(0.66 * len(data)) == pytest.approx(4073, abs=1)


def test_credit_agrees_with_pandas():
    raw = frame("credit_default/default_of_credit_card_clients.csv")
    states = ["PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6", "EDUCATION", "MARRIAGE"]
    hot = pd.get_dummies(raw[states], columns=states).to_numpy(float)
    assert hot.shape[1] == 64 + 7 + 4
    amounts = raw.drop(columns=["ID", "SEX", "default.payment.next.month", *states])
    scaled = (amounts - amounts.mean()) / amounts.std(ddof=0)
    data = LOADERS["credit_default"]()
    np.testing.assert_allclose(data.X, np.hstack([hot, scaled]), atol=1e-12)
    np.testing.assert_array_equal(data.side["LIMIT_BAL"], raw["LIMIT_BAL"])
    np.testing.assert_array_equal(data.groups == "Female", raw["SEX"] == 2)


@pytest.mark.parametrize("seed", ["notebook", 0])
def test_noisy_labels_only_lose_positives_and_only_in_training(seed):
    task = noisy_labels(seed)
    assert (len(task.train), len(task.validation), len(task.test)) == (32235, 326, 16281)
    clean = task.train.side["clean_y"]
    assert (task.train.y <= clean).all()
    assert 1 - task.train.y.sum() / clean.sum() == pytest.approx(0.3, abs=0.02)
    assert clean.sum() + task.validation.y.sum() == 7841
    np.testing.assert_array_equal(task.test.y, load_adult("test").y)


def test_noisy_labels_are_drawn_anew_from_each_seed():
    again = load_adult_noisy_labels(random_state=0).train
    np.testing.assert_array_equal(noisy_labels(0).train.y, again.y)
    assert (noisy_labels("notebook").train.y != again.y).any()


def test_a_dataset_can_be_cut_turned_and_pickled():
    data = LOADERS["compas"]()
    few = data.take(np.array([5, 1]))
    assert len(few) == 2
    assert few.side["age"].tolist() == data.side["age"][[5, 1]].tolist()
    turned = few.as_data()
    np.testing.assert_array_equal(turned.y, 2.0 * few.y - 1.0)
    assert turned.column("groups").tolist() == few.groups.tolist()
    again = pickle.loads(pickle.dumps(few))
    np.testing.assert_array_equal(again.X, few.X)
    assert sorted(again.side) == sorted(few.side)


def test_a_dataset_of_unequal_columns_is_refused():
    X, y, groups = np.eye(2), np.array([0, 1]), np.array(["a", "a"])
    assert len(Dataset("toy", X, y, groups, ["a", "b"])) == 2
    with pytest.raises(ValueError, match="2 rows of X"):
        Dataset("toy", X, y, groups, ["a", "b"], {"amount": np.ones(3)})
    with pytest.raises(ValueError, match="2 columns; got 1"):
        Dataset("toy", X, y, groups, ["a"])


def test_ragged_and_wordy_tables_are_refused():
    with pytest.raises(ValueError, match="2 columns"):
        read_columns(b"a,b\n1\n")
    with pytest.raises(ValueError, match="'three' to float64 at row 1"):
        dense_text(b"1 2\nthree 4\n", 2)
    with pytest.raises(ValueError, match="Lines of 3 numbers were expected; got 2"):
        dense_text(b"1 2\n", 3)
