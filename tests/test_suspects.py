"""Suspects: flipped labels, corrupted features and bad sources are found; surprises are said."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from anymetric import MetricClassifier
from anymetric.suspects import find
from anymetric.suspects.noise import Noise


def bayes(p, y, flips):
    """Return the probability that a label was flipped, written out for one row at a time."""
    found = []
    for chance, label in zip(p, y, strict=True):
        other = chance if label == 0 else 1 - chance
        wrong, right = flips * other, (1 - flips) * (1 - other)
        found.append(wrong / (wrong + right))
    return np.array(found)


@pytest.fixture(scope="module")
def flipped():
    """A table with 40 % of the labels of one group flipped, and 200 clean rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2200, 4))
    p = 1 / (1 + np.exp(-3 * X[:, 0] - 2 * X[:, 1]))
    y, groups = (rng.random(2200) < p).astype(int), np.where(X[:, 3] > 0, "a", "b")
    wrong = (groups[:2000] == "a") & (rng.random(2000) < 0.4)
    noisy = np.where(wrong, 1 - y[:2000], y[:2000])
    clf = MetricClassifier("f1", model="linear", random_state=0)
    rest = {"X_val": X[2000:], "y_val": y[2000:], "groups_val": groups[2000:]}
    clf.fit(X[:2000], noisy, groups=groups[:2000], **rest)
    ideal = np.where(groups[:2000] == "a", bayes(p[:2000], noisy, 0.4), 0.0)
    return clf, wrong, ideal, noisy


def precision(ranking, wrong):
    return wrong[np.argsort(-ranking)[: wrong.sum()]].mean()


def test_flipped_labels_are_found_almost_as_well_as_by_who_knows_the_truth(flipped):
    clf, wrong, ideal, noisy = flipped
    found = clf.suspects_
    assert precision(found.probability, wrong) > precision(ideal, wrong) - 0.04
    assert abs(found.probability.sum() / wrong.sum() - 1) < 0.25
    np.testing.assert_array_equal(found.label, noisy)
    assert set(found.reason[found.rows]) == {"label"}
    assert clf.suspects_ is found


def test_slices_share_out_the_rows_and_the_gains(flipped):
    found = flipped[0].suspects_
    assert sum(part.rows for part in found.by_slice) == 2000
    assert sum(part.expected for part in found.by_slice) == pytest.approx(found.probability.sum())
    assert sum(part.gain_fix for part in found.by_slice) == pytest.approx(found.gain_fix.sum())
    assert all("groups=a" in part.name for part in found.by_slice[:2])
    frame = found.to_frame()
    assert frame["row"].tolist() == found.rows.tolist()
    assert frame["probability"].is_monotonic_decreasing
    assert (frame["groups"] == "a").mean() > 0.95


def test_fixing_suspects_mends_more_labels_than_it_spoils(flipped):
    clf, wrong, _, noisy = flipped
    truth = np.where(wrong, 1 - noisy, noisy)
    assert np.mean(clf.suspects_.fixed == truth) > np.mean(noisy == truth) + 0.1


def test_clean_labels_are_left_alone():
    X, y = make_classification(1300, class_sep=1.5, flip_y=0.0, random_state=1)
    found = find(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    assert len(found) < 15


def test_rows_of_corrupted_features_have_that_reason():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1300, 5))
    y = (X[:, 0] > 0).astype(int)
    X[:200, 2:] += 6.0 * rng.choice([-1.0, 1.0], (200, 3))
    found = find(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    assert np.mean(found.reason[:200] == "features") > 0.9
    assert np.mean(found.reason[200:] == "features") < 0.05


def test_a_source_of_chance_is_the_reason():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    source = np.where(np.arange(1200) % 3 == 0, "bad", "good")
    noisy = np.where(source == "bad", rng.integers(0, 2, 1200), y[:1200])
    found = find(X[:1200], noisy, X_val=X[1200:], y_val=y[1200:], source=source)
    assert [part.name for part in found.by_source] == ["bad", "good"]
    assert found.by_source[0].informed < 0.2 < 0.9 < found.by_source[1].informed
    assert np.mean(found.reason[found.rows] == "source") > 0.9


def test_three_classes_and_no_clean_rows():
    X, y = make_classification(
        900, n_classes=3, n_informative=5, class_sep=2.0, flip_y=0.0, random_state=0
    )
    words = np.array(["x", "y", "z"])
    wrong = np.arange(900) < 60
    noisy = words[np.where(wrong, (y + 1) % 3, y)]
    found = find(X, noisy)
    assert not found.anchored
    assert precision(found.probability, wrong) > 0.6
    caught = found.rows[wrong[found.rows]]
    assert len(caught) > 0
    assert np.mean(found.suggested[caught] == words[y[caught]]) > 0.8
    assert np.isnan(found.gain_fix).all()


def test_noise_is_estimated_as_it_was_made():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, size=20_000)
    y = rng.random(20_000) < p
    label = np.where(y, rng.random(20_000) < 0.7, rng.random(20_000) < 0.1).astype(np.intp)
    probabilities, cells = np.column_stack([1 - p, p]), np.zeros(20_000, dtype=np.intp)
    found = Noise.estimated(probabilities, label, cells, Noise.plain(1, 2))
    np.testing.assert_allclose(found.table[0], [[0.9, 0.1], [0.3, 0.7]], atol=0.02)


def test_rows_of_weight_zero_are_no_suspects_and_pickles_hold_no_rows():
    X, y = make_classification(400, random_state=0)
    weight = np.ones(300)
    weight[:7] = 0.0
    clf = MetricClassifier("f1", model="linear", random_state=0)
    clf.fit(X[:300], y[:300], sample_weight=weight, X_val=X[300:], y_val=y[300:])
    assert clf.suspects_.probability.shape == (300,)
    assert not clf.suspects_.probability[:7].any()
    again = pickle.loads(pickle.dumps(clf))
    with pytest.raises(AttributeError, match="after loading"):
        _ = again.suspects_


def test_listing_attributes_computes_nothing():
    X, y = make_classification(200, random_state=0)
    clf = MetricClassifier("f1", model="linear", random_state=0).fit(X, y)
    clf._repr_html_()
    assert "_suspects" not in vars(clf)


def test_surprises_are_said_with_their_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    groups = np.where(np.arange(1500) % 2 == 0, "a", "b")
    y = np.where(groups == "a", X[:, 0] > 0, rng.random(1500) < 0.5).astype(int)
    X[1000:1030], y[1000:1030], groups[1000:1030] = X[:30], y[:30], groups[:30]
    clf = MetricClassifier("accuracy", model="linear", random_state=0)
    rest = {"X_val": X[1000:], "y_val": y[1000:], "groups_val": groups[1000:]}
    clf.fit(X[:1000], y[:1000], groups=groups[:1000], **rest)
    said = {one.kind: one for one in clf.surprises_}
    assert said["same rows"].value == 30
    assert "30 of 500" in str(said["same rows"])
    assert "group b" in said["unpredictable group"].text


def test_the_command_numbers_rows_as_the_file_does(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from anymetric.cli.commands import app

    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    y = np.where(X[:, 0] > 0, "yes", "no").astype(object)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    wrong = np.arange(20, 50)
    table.loc[wrong, "y"] = np.where(y[wrong] == "yes", "no", "yes")
    table.loc[3, "y"] = None
    table[:500].to_csv(tmp_path / "train.csv", index=False)
    table[500:].to_csv(tmp_path / "clean.csv", index=False)
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    fit = "fit train.csv --target y --metric f1 --model linear --valid clean.csv --run run"
    done = run(app, fit.split())
    assert done.exit_code == 0, done.output
    done = run(app, ["suspects", "run", "--out", "rows.csv"])
    assert done.exit_code == 0, done.output
    found = pd.read_csv("rows.csv")
    assert np.mean(np.isin(found["row"][:30], wrong + 1)) > 0.8
    assert set(found["reason"]) <= {"label", "features"}
    table[:499].to_csv("train.csv", index=False)
    done = run(app, ["suspects", "run"])
    assert done.exit_code != 0
