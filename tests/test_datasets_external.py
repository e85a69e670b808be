"""Data that are read from a data folder; skipped where there is none."""

from __future__ import annotations

import io
import os
from functools import cache

import numpy as np
import pytest

from anymetric.datasets import (
    load_business_pairs,
    load_business_proxy,
    load_letor_sample,
    load_protein_homology,
    protein,
)
from anymetric.datasets.sites import candidates, read_sites
from anymetric.datasets.store import SOURCES, read, sha256

pytestmark = pytest.mark.skipif(
    not os.environ.get("ANYMETRIC_DATA"), reason="ANYMETRIC_DATA names no data folder"
)


@pytest.fixture(scope="module", autouse=True)
def cache_of_this_module(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANYMETRIC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@cache
def business(n_pairs=11560):
    pytest.importorskip("rapidfuzz")
    return load_business_pairs(n_pairs)


@pytest.mark.parametrize("path", SOURCES)
def test_the_raw_bytes_are_the_known_ones(path):
    assert sha256(read(SOURCES[path])) == SOURCES[path].sha256


def test_protein_homology_is_whole_and_parsed_only_once(monkeypatch):
    data = load_protein_homology()
    assert data.X.shape == (145751, 74)
    assert data.y.sum() == 1296
    assert np.unique(data.side["query"]).size == 153
    first = np.loadtxt(io.BytesIO(read(SOURCES["protein_homology/bio_train.dat"])), max_rows=50)
    np.testing.assert_array_equal(data.X[:50], first[:, 3:])
    np.testing.assert_array_equal(data.side["example"][:50], first[:, 1])
    monkeypatch.setattr(protein, "dense_text", None)
    again = load_protein_homology()
    np.testing.assert_array_equal(again.X, data.X)


@pytest.mark.parametrize(
    ("subset", "rows", "queries"), [("train", 3005, 201), ("test", 768, 50), ("all", 3773, 251)]
)
def test_letor_has_its_rows_and_queries(subset, rows, queries):
    data = load_letor_sample(subset)
    assert data.X.shape == (rows, 300)
    assert np.unique(data.side["query"]).size == queries
    assert set(np.unique(data.side["relevance"])) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(data.y, data.side["relevance"] >= 3)


def test_letor_first_row_is_the_file_s_first_line():
    data = load_letor_sample()
    label, *entries = read(SOURCES["letor_sample/rank.train"]).split(b"\n", 1)[0].split()
    row = np.zeros(300)
    for entry in entries:
        place, value = entry.split(b":")
        row[int(place) - 1] = float(value)
    np.testing.assert_array_equal(data.X[0], row)
    assert data.side["relevance"][0] == int(label)
    assert data.y.mean() == pytest.approx(0.097, abs=5e-4)
    np.testing.assert_array_equal(load_letor_sample(sparse=True).X.toarray(), data.X)


def test_blocking_keeps_6454_of_6608_true_pairs_in_44730():
    sites = read_sites()
    entities, sizes = np.unique([site.entity for site in sites], return_counts=True)
    assert (len(sites), entities.size) == (3337, 1162)
    assert (sizes * (sizes - 1) // 2).sum() == 6608
    pairs = candidates(sites)
    same = [sites[i].entity == sites[j].entity for i, j in pairs]
    assert (len(pairs), sum(same)) == (44730, 6454)
    assert (pairs[:, 0] < pairs[:, 1]).all()


def test_blocking_agrees_with_comparing_every_pair():
    sites = read_sites()[:300]
    counts: dict[str, int] = {}
    for site in sites:
        for token in set(site.name):
            counts[token] = counts.get(token, 0) + 1

    def alike(a, b):
        rare = any(counts[token] <= 60 for token in set(a.name) & set(b.name))
        street = len(a.address) >= 3 and a.address[:3] == b.address[:3]
        return rare or street or (a.phone != "" and a.phone == b.phone)

    brute = [
        [i, j]
        for i in range(len(sites))
        for j in range(i + 1, len(sites))
        if alike(sites[i], sites[j])
    ]
    assert candidates(sites).tolist() == brute


def test_business_pairs_are_as_the_paper_s_in_number():
    data = business()
    assert data.X.shape == (11560, 36)
    assert data.y.mean() == pytest.approx(0.144, abs=0.01)
    assert set(data.groups) == {"chain", "non_chain"}
    assert np.isfinite(data.X).all()
    assert data.X.min() >= 0.0
    assert (data.X.std(axis=0) > 0).all()


def test_the_same_phone_is_a_fair_proxy():
    data = business(None)
    assert len(data) == 44730
    same = data.side["same_phone"] == 1
    assert same.mean() == pytest.approx(0.13, abs=0.005)
    assert data.y[same].mean() == pytest.approx(0.84, abs=0.005)
    assert data.y[~same].mean() == pytest.approx(0.04, abs=0.005)


@pytest.mark.parametrize(
    ("features", "left", "gone"),
    [
        ("no_phone", 31, ("phone",)),
        ("no_address", 26, ("address",)),
        ("no_address_no_phone", 21, ("address", "phone")),
    ],
)
def test_fields_can_be_left_out(features, left, gone):
    whole = business()
    part = load_business_pairs(features=features)
    assert part.X.shape == (11560, left)
    assert not any(name.startswith(gone) for name in part.feature_names)
    kept = [whole.feature_names.index(name) for name in part.feature_names]
    np.testing.assert_array_equal(part.X, whole.X[:, kept])


def test_the_proxy_task_has_no_phone_among_its_features():
    task, whole = load_business_proxy(), business()
    assert not any("phone" in name for name in task.feature_names)
    np.testing.assert_array_equal(task.side["proxy"], whole.side["same_phone"])
    np.testing.assert_array_equal(task.y, whole.y)
    with pytest.raises(ValueError, match="phone is the proxy"):
        load_business_proxy(features="all")


def test_pairs_are_drawn_by_the_seed():
    first, again, other = (load_business_pairs(50, seed) for seed in (0, 0, 1))
    assert first.side["left"].tolist() == again.side["left"].tolist()
    assert first.side["left"].tolist() != other.side["left"].tolist()


def test_more_pairs_than_there_are_is_refused():
    with pytest.raises(ValueError, match="between 1 and 44730"):
        load_business_pairs(50000)
    with pytest.raises(ValueError, match="features must be one of"):
        load_business_pairs(features="none")
