"""The forest: out-of-bag scores, the tables it is tried on, and what becomes of its trees."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_friedman1, make_moons
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import r2_score

from anymetric import Auto, Forest, MetricClassifier, MetricRegressor, export_onnx, metric_names
from anymetric.data import Data
from anymetric.models.boosted import Boosted
from anymetric.models.forest import grown


def moons(n=300, seed=0):
    X, y = make_moons(n, noise=0.3, random_state=seed)
    return X, np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_as_good_as_scikit_learns_forest_and_its_out_of_bag_score_as_honest(seed):
    X, y = make_friedman1(700, random_state=seed)
    one = Forest(300).learn(
        Data(X[:200], y[:200]), np.ones(200), np.random.default_rng(seed), classes=0
    )
    other = ExtraTreesRegressor(300, bootstrap=True, oob_score=True, random_state=seed)
    other.fit(X[:200], y[:200])
    assert abs(r2_score(y[:200], one.out_of_bag) - other.oob_score_) < 0.015
    assert abs(r2_score(y[200:], one.scores(X[200:])) - other.score(X[200:], y[200:])) < 0.015


def test_an_out_of_bag_score_is_the_average_of_the_trees_that_left_the_row_out(rng):
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    bags = rng.multinomial(30, np.full(30, 1 / 30), size=8)
    found = grown(X, y, bags, 3, 0)
    for row in range(30):
        left = [t for t, bag in zip(found.estimator.estimators_, bags, strict=True) if not bag[row]]
        mean = np.mean([t.predict(X[[row]])[0] for t in left]) if left else 0.0
        np.testing.assert_allclose(found.out_of_bag[row], mean)


def test_out_of_bag_scores_do_not_know_their_own_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.choice([-1.0, 1.0], 400)
    forest = Forest(100).learn(Data(X, y), np.ones(400), rng)
    assert np.mean(np.sign(forest.scores(X)) == y) > 0.99
    assert np.mean(np.sign(forest.out_of_bag) == y) < 0.6


def test_weights_are_numbers_of_rows():
    X, y = moons(120)
    rows = np.where(np.arange(120) < 60, 0.0, 2.0)
    one = Forest(30).learn(Data(X, y), rows, np.random.default_rng(0))
    two = Forest(30).learn(Data(X[60:], y[60:]), np.ones(60), np.random.default_rng(0))
    np.testing.assert_array_equal(one.scores(X), two.scores(X))
    assert one.out_of_bag.shape == (60,)


def test_heavy_rows_are_left_out_of_some_bags():
    X, _ = moons(500)
    rows = np.where(np.arange(500) < 20, 100.0, 1.0)
    data = Data(X, X[:, 0] + 10.0)
    forest = Forest(100).learn(data, rows, np.random.default_rng(0), classes=0)
    assert np.all(forest.out_of_bag[:20] > 5.0)


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("kind", ["missing", "sparse", "huge"])
def test_tables_are_read_as_they_are(kind, classes, rng):
    X = rng.normal(size=(90, 4))
    y = {0: X[:, 0], 2: np.sign(X[:, 0]), 3: np.digitize(X[:, 0], [-0.5, 0.5]) * 1.0}[classes]
    if kind == "missing":
        X[::5, 1] = np.nan
    X = sparse.csr_array(X) if kind == "sparse" else X
    if kind == "huge":
        X[0, 0] = 1e300
    forest = Forest(20).learn(Data(X, y), np.ones(90), rng, classes=classes)
    for scores in (forest.scores(X), forest.out_of_bag):
        assert scores.shape == ((90, 3) if classes == 3 else (90,))
        assert np.isfinite(scores).all()


def test_it_is_tried_on_one_small_table_and_nowhere_else(rng):
    X, y = moons(400)
    fit = MetricClassifier("f1", random_state=0).fit
    assert "forest" in fit(X, y).summary_.families
    assert "forest" not in fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:]).summary_.families
    labels = np.column_stack([y, -y, y])
    named = MetricClassifier("micro_f1", random_state=0).fit(X, (labels > 0).astype(int))
    assert "forest" not in named.summary_.families
    assert not Forest().suits(Data(np.zeros((6000, 2)), np.zeros(6000)))


def test_it_wins_where_lines_and_boosted_trees_are_worse():
    X, y = make_moons((570, 30), noise=0.2, random_state=0)
    X_new, y_new = make_moons((5700, 300), noise=0.2, random_state=1)
    two = MetricClassifier("f1", method=Auto(learners=(Boosted(),)), random_state=0).fit(X, y)
    three = MetricClassifier("f1", random_state=0).fit(X, y)
    assert three.summary_.families["forest"].share > 0.0
    assert three.score(X_new, y_new) > two.score(X_new, y_new)


def test_alone_it_is_a_family_like_any_other():
    X, y = make_friedman1(400, random_state=0)
    reg = MetricRegressor("r2", model=Forest(), random_state=0).fit(X[:300], y[:300])
    assert {c.name.split(":")[0] for c in reg.summary_.candidates} == {"forest"}
    assert reg.score(X[300:], y[300:]) > 0.75
    assert reg.feature_importances_[:5].sum() > 0.8
    again = pickle.loads(pickle.dumps(reg))
    np.testing.assert_array_equal(again.predict(X), reg.predict(X))


@pytest.mark.parametrize("metric", ["macro_f1", "accuracy"])
def test_many_classes_have_a_score_each(metric):
    assert metric in metric_names()
    X, y = moons(300)
    classes = np.where(X[:, 0] > 1.2, "right", np.where(y > 0, "up", "down"))
    clf = MetricClassifier(metric, model=Forest(), random_state=0).fit(X, classes)
    assert clf.score(X, classes) > 0.8
    assert clf.predict_proba(X).shape == (300, 3)


def test_a_state_is_arrays_and_what_is_damaged_is_refused(rng):
    X, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2)) @ np.eye(2, 3)
    X[::7, 1] = np.nan
    found = grown(X, y, rng.multinomial(60, np.full(60, 1 / 60), size=9), 2, 0)
    state = found.__getstate__()
    assert all(isinstance(one, np.ndarray) for one in state["nodes"].values())
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.scores(X), found.scores(X))
    gains = [one.estimator.feature_importances_ for one in (found, again)]
    np.testing.assert_array_equal(*gains)
    for name, value in (
        ("left_child", 10**6),
        ("left_child", -2),
        ("right_child", 0),
        ("feature", 3),
        ("feature", -1),
    ):
        nodes = {key: one.copy() for key, one in state["nodes"].items()}
        nodes[name][0] = value
        with pytest.raises(ValueError, match="damaged"):
            found.__class__.__new__(found.__class__).__setstate__(state | {"nodes": nodes})


def test_a_forest_is_exported_to_onnx(tmp_path):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, y = moons(300)
    clf = MetricClassifier("f1", model=Forest(20), random_state=0).fit(X, y)
    export_onnx(clf, tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    label, _, score = session.run(None, {"X": X.astype(np.float32)})
    assert np.mean(np.ravel(label) == clf.predict(X)) > 0.99
    np.testing.assert_allclose(np.ravel(score), clf.decision_function(X), atol=1e-5)
