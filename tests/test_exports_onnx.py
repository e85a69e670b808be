"""ONNX: onnxruntime says what predict, predict_proba and decision_function say."""

import json

import numpy as np
import onnxruntime
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from anymetric import (
    Boosted,
    MetricClassifier,
    MetricRanker,
    MetricRegressor,
    Reweighted,
    export_onnx,
)
from anymetric.calibration import ClassCalibrator, Isotonic, Sigmoid
from anymetric.metrics import Profit
from anymetric.models.ensemble import Ensemble, LinearScorer
from anymetric.models.tables import Plain

TREES = Boosted(30, leaves=7)


def answers(model, X, dtype=np.float32, **further):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X.astype(dtype), **further}), strict=True))


def agrees(clf, X, inputs=None, **metadata):
    found = answers(clf.to_onnx(), X if inputs is None else inputs, **metadata)
    scores = clf.decision_function(X, **metadata)
    np.testing.assert_allclose(found["score"], scores, atol=1e-5)
    np.testing.assert_allclose(found["probabilities"], clf.predict_proba(X), atol=1e-5)
    assert np.array_equal(found["label"], clf.predict(X, **metadata))
    return found


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=500) > 0.5).astype(int)
    return X, y


@pytest.mark.parametrize("model", ["linear", TREES], ids=["line", "trees"])
def test_two_classes_agree(rows, model):
    X, y = rows
    agrees(MetricClassifier("f1", model=model, random_state=0).fit(X, np.where(y, "yes", "no")), X)


def test_missing_values_agree(rows):
    X, y = rows
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X).astype(np.float32)
    clf = MetricClassifier("f1", model=TREES, pos_label=0, random_state=0).fit(X, y)
    agrees(clf, X)


def test_an_average_of_trees_and_lines_agrees(rows):
    X, y = rows
    X = np.column_stack([X, np.arange(500) % 3]).astype(np.float32)
    X[::7, 1] = np.nan
    X[3, 2] = 1e9
    clf = MetricClassifier("f1", model=TREES, random_state=0).fit(X, y)
    plain = Plain.of(X, (4,))
    assert plain.limits
    assert len(plain.with_missing)
    line = LinearScorer(np.random.default_rng(2).normal(size=8), 0.3, plain)
    assert plain.table(X).shape[1] == 8
    clf.model_ = Ensemble.of([clf.model_, line], [0.7, 0.4], 0.1)
    agrees(clf, X)


def test_categories_are_codes(rows):
    import pandas as pd

    X, y = rows
    kinds = np.random.default_rng(1).choice(list("pqrs"), 500)
    frame = pd.DataFrame({"size": X[:, 0], "kind": pd.Categorical(kinds)})
    frame.loc[::9, "kind"] = np.nan
    y = np.where(frame["kind"].isin(["p", "r"]), y, 1 - y)
    clf = MetricClassifier("f1", model=TREES, random_state=0).fit(frame, y)
    codes = frame["kind"].cat.codes.to_numpy().astype(float)
    matrix = np.column_stack([X[:, 0], np.where(codes < 0, np.nan, codes)])
    agrees(clf, frame, matrix)
    told = {one.key: one.value for one in clf.to_onnx().metadata_props}
    assert json.loads(told["categories"]) == {"kind": ["p", "q", "r", "s"]}
    assert json.loads(told["features"]) == ["size", "kind"]


@pytest.mark.parametrize("model", ["linear", TREES], ids=["line", "trees"])
def test_three_classes_agree(rows, model):
    X, _ = rows
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.7])
    agrees(MetricClassifier("macro_f1", model=model, random_state=0).fit(X, y), X)


def test_labels_agree(rows):
    X, _ = rows
    y = (X[:, :3] + 0.3 * X[:, 1:] > 0.2).astype(int)
    agrees(MetricClassifier("macro_f1", model="linear", random_state=0).fit(X, y), X)


@pytest.mark.parametrize("names", [("a", "b"), (7, 9)], ids=["words", "numbers"])
def test_group_thresholds_take_an_input(rows, names):
    X, y = rows
    groups = np.array(names)[(np.random.default_rng(1).random(500) < 0.5).astype(int)]
    y = np.where(groups == names[0], y, (X[:, 2] > -0.8).astype(int))
    clf = MetricClassifier("group_mean_f1", model="linear", decision="group", random_state=0)
    clf.fit(X, y, groups=groups)
    assert any(clf.shifts_.values())
    agrees(clf, X, groups=groups)
    new = np.array(["never seen" if names[0] == "a" else 8] * 500)
    found = answers(clf.to_onnx(), X, groups=new)
    plain = answers(clf.to_onnx(decision=False), X)
    assert set(plain) == {"probabilities", "score"}
    np.testing.assert_allclose(found["score"], plain["score"])


@pytest.mark.parametrize("kind", ["two", "three"])
def test_isotonic_probabilities_agree(rows, kind):
    X, y = rows
    rng, n = np.random.default_rng(0), 400
    scores, classes = rng.normal(size=(n, 3)), 2 if kind == "two" else 3
    clf = MetricClassifier("accuracy", model="linear", random_state=0)
    clf.fit(X, y if kind == "two" else np.arange(500) % 3)
    if classes == 2:
        hits = (rng.random(n) < 0.5 + 0.4 * np.sign(scores[:, 0])).astype(float)
        clf.calibrator_ = Isotonic.of(scores[:, 0], hits, np.ones(n))
        assert len(clf.calibrator_.scores) > 3
        assert isinstance(clf.calibrator_.sigmoid, Sigmoid)
    else:
        members = np.eye(3)[np.argmax(scores + rng.normal(size=scores.shape), axis=1)]
        clf.calibrator_ = ClassCalibrator.stepped(scores, members, np.ones(n))
    agrees(clf, X)


@pytest.mark.parametrize("target", ["plain", "log"])
@pytest.mark.parametrize("model", ["linear", TREES], ids=["line", "trees"])
def test_regressions_agree(rows, model, target):
    X, _ = rows
    y = 50.0 * X[:, 0] + 400.0 if target == "plain" else np.exp(X[:, 0] + 3.0)
    link = "log" if target == "log" else "identity"
    reg = MetricRegressor("mean_absolute_error", model=model, link=link, random_state=0).fit(X, y)
    found = answers(reg.to_onnx(dtype="float64"), X, np.float64)["prediction"]
    np.testing.assert_allclose(found, reg.predict(X), rtol=1e-5)


def test_a_ranker_has_a_score(rows):
    X, y = rows
    ranker = MetricRanker("average_precision", model="linear", random_state=0).fit(X, y)
    found = answers(ranker.to_onnx(), X)
    np.testing.assert_allclose(found["score"], ranker.predict(X), atol=1e-5)


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), RandomForestClassifier(8, max_depth=4, random_state=0)],
    ids=["decision values", "probabilities"],
)
def test_estimators_of_scikit_learn_are_converted(rows, estimator):
    X, y = rows
    agrees(MetricClassifier("f1", model=Reweighted(estimator), random_state=0).fit(X, y), X)


def test_rows_one_float_apart_stay_on_their_sides():
    """The thresholds lie between neighbouring floats: rounded to one, they would move rows."""
    tight = np.float32(1.0) + np.arange(500, dtype=np.float32)[:, np.newaxis] * np.float32(1.2e-7)
    clf = MetricClassifier("accuracy", model=Boosted(20, least_rows=2), random_state=0)
    clf.fit(tight, (np.arange(500) // 50) % 2)
    agrees(clf, tight)


def test_onnxmltools_converts_the_same_trees(rows):
    onnxmltools = pytest.importorskip("onnxmltools")
    from onnxmltools.convert.common.data_types import FloatTensorType

    X, _ = rows
    reg = MetricRegressor("r2", model=TREES, link="identity", random_state=0).fit(X, X[:, 0])
    (trees,), (weight,) = reg.model_.members[:1], reg.model_.weights[:1]
    other = onnxmltools.convert_lightgbm(
        trees.booster_, initial_types=[("X", FloatTensorType([None, 4]))], zipmap=False
    )
    theirs = weight * next(iter(answers(other, X).values())).ravel()
    reg.model_ = Ensemble((trees,), (weight,))
    np.testing.assert_allclose(answers(reg.to_onnx(), X)["prediction"], theirs, atol=1e-4)


def test_rules_that_a_graph_cannot_have_say_so(rows, tmp_path):
    X, y = rows
    top = MetricClassifier("f1", model="linear", decision=("top", 0.1), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"TopRule\(10%\) flags the best of all rows"):
        top.to_onnx()
    assert "label" not in answers(top.to_onnx(decision=False), X)
    amount = np.random.default_rng(0).exponential(5.0, 500)
    gain = MetricClassifier(Profit(tp="amount", fp=-2.0), model="linear", decision="row")
    gain.fit(X, y, side={"amount": amount})
    with pytest.raises(ValueError, match="reads the gains of each row"):
        export_onnx(gain, tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="dtype must be one of"):
        top.to_onnx(dtype="float16")
    assert export_onnx(top, tmp_path / "model.onnx", decision=False).stat().st_size > 100
