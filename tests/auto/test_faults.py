"""Faults that were once there, each with a test that it stays away."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification

from anymetric import Auto, Boosted, MetricClassifier, MetricRanker, MetricRegressor, metric
from anymetric.__main__ import main
from anymetric.metrics import Profit
from anymetric.surrogates import Pairwise, Softmax
from conftest import blobs


def three(z):
    return np.digitize(z, [-1.0, 1.0])


KINDS = {
    "two": (MetricClassifier("f1", model="linear"), lambda z: z > 0.8),
    "classes": (
        MetricClassifier("macro_f1", model="linear"),
        three,
    ),
    "numbers": (MetricRegressor("mean_absolute_error", model="linear"), lambda z: z),
    "trees": (MetricClassifier("f1", model="boosted"), lambda z: z > 0.8),
}


def rows(rng, n=120):
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("unit", [0.999, 1e-6])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_unit_of_the_weights_changes_nothing(kind, apart, unit, rng):
    estimator, target = KINDS[kind]
    X, z = rows(rng)
    y, weights = target(z), rng.uniform(0.5, 2.0, len(z))
    found = []
    for factor in (1.0, unit):
        given = {"sample_weight": factor * weights}
        if apart:
            given["sample_weight"] = factor * weights[:80]
            given |= {"X_val": X[80:], "y_val": y[80:]}
            given["sample_weight_val"] = factor * weights[80:]
        train = slice(80 if apart else None)
        clf = type(estimator)(**estimator.get_params()).set_params(random_state=0)
        clf.fit(X[train], y[train], **given)
        told = clf.predict if kind == "numbers" else clf.decision_function
        found.append(told(X))
    np.testing.assert_allclose(found[0], found[1], atol=1e-3 * np.std(found[0]))


@pytest.mark.parametrize("name", ["balanced", "half balanced", "train", "valid", "all", "linear"])
def test_what_a_source_is_called_changes_nothing(name, rng):
    X, z = rows(rng, 300)
    y = z > 0.8
    coded = rng.integers(0, 3, 300)
    found = []
    for names in (["amsterdam", "berlin", "calais"], ["amsterdam", name, "calais"]):
        order = np.argsort(np.argsort(names))  # names sort as they are
        source = np.array(sorted(names))[coded]
        clf = MetricClassifier("f1", model="linear", random_state=0).fit(X, y, source=source)
        found.append((clf.coef_, order))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9)


def test_a_score_of_label_sets_does_not_change_the_estimator():
    X, y = make_multilabel_classification(160, 5, n_classes=4, random_state=0)
    clf = MetricClassifier("micro_f1", model="linear", random_state=0).fit(X[:80], y[:80])
    before = pickle.dumps(clf)
    one = clf.score(X[80:], y[80:])
    new = 1 - y[80:]  # sets that training never saw
    clf.score(X[80:], new)
    assert pickle.dumps(clf) == before
    assert clf.score(X[80:], y[80:]) == one


def profits(unit, kind, rng):
    X, z = rows(rng, 300)
    y = (z > 0.8).astype(int)
    amount = np.exp(X[:, 2])
    if kind == "table":
        spec, side = Profit(tp=3.0 * unit, fp=-1.0 * unit), {}
    elif kind == "amounts":
        spec, side = Profit(tp="amount", flag_cost=0.5 * unit), {"side": {"amount": unit * amount}}
    else:

        @metric(greater_is_better=True)
        def spec(y_true, y_pred):
            return unit * float(np.sum((4.0 * y_true - 1.0) * y_pred))

        side = {}
    clf = MetricClassifier(spec, model="linear", random_state=0).fit(X, y, **side)
    return clf.predict(X, **side)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("kind", ["table", "amounts", "function"])
def test_a_profit_in_any_unit_gives_the_same_decisions(kind, unit):
    one, other = (profits(size, kind, np.random.default_rng(0)) for size in (1.0, unit))
    np.testing.assert_array_equal(one, other)
    assert 0 < one.sum() < len(one)


@pytest.mark.parametrize("kind", ["one sample", "two samples", "groups", "sources", "numbers"])
def test_no_candidate_is_evaluated_twice(kind, rng):
    X, z = rows(rng, 260)
    y = z if kind == "numbers" else (z > 0.8).astype(int)
    given = {}
    if kind == "two samples":
        given = {"X_val": X[160:], "y_val": y[160:]}
        X, y = X[:160], y[:160]
    if kind == "groups":
        given["groups"] = rng.choice(["a", "b"], len(y))
    if kind == "sources":
        given["source"] = rng.choice(["balanced", "b", "c"], len(y))
    name = {"groups": "group_mean_f1", "numbers": "median_absolute_error"}.get(kind, "f1")
    one = MetricRegressor if kind == "numbers" else MetricClassifier
    clf = one(name, method=Auto(resamples=10), model="auto", random_state=0).fit(X, y, **given)
    names = [c.name for c in clf.summary_.candidates]
    assert len(set(names)) == len(names)
    assert any(name.startswith("boosted") for name in names)


def test_no_ranking_is_evaluated_twice(rng):
    X, query = rng.normal(size=(120, 3)), np.repeat(np.arange(24), 5)
    y = (X[:, 0] + rng.normal(size=120) > 0.5).astype(int)
    trees = Boosted(trees=10, least_rows=5)
    auto = Auto(resamples=5, learners=(trees,))
    ranker = MetricRanker("map", surrogates=[Pairwise(), Softmax()], method=auto, random_state=0)
    names = [c.name for c in ranker.fit(X, y, query=query).summary_.candidates]
    assert len(set(names)) == len(names)


def hits(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


@pytest.mark.parametrize("fitted", [False, True])
def test_pickling_leaves_the_users_function_as_it_is(fitted, rng):
    X, z = rows(rng, 80)
    clf = MetricClassifier(hits, greater_is_better=True, model="linear", random_state=0)
    if fitted:
        clf.fit(X, z > 0.8)
    before = dict(vars(hits)), hits.__name__, hits.__qualname__, hits.__module__
    copy = pickle.loads(pickle.dumps(clf))
    assert (dict(vars(hits)), hits.__name__, hits.__qualname__, hits.__module__) == before
    assert clf.metric is hits
    assert copy.metric is hits
    if fitted:
        np.testing.assert_array_equal(copy.predict(X), clf.predict(X))


@pytest.mark.parametrize("method", ["descent", "auto"])
def test_a_metric_that_fails_is_reported_on_the_command_line(method, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "failing", raising=False)
    data = blobs(np.random.default_rng(0), n=120)
    lines = [
        "a,b,y",
        *(f"{x[0]:.3f},{x[3]:.3f},{int(y > 0)}" for x, y in zip(data.X, data.y, strict=True)),
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    source = """
calls = []

def fails(y_true, y_pred):
    calls.append(1)
    if len(calls) > 12:
        raise RuntimeError("the service is down")
    return float((y_true == y_pred).mean())
"""
    (tmp_path / "failing.py").write_text(source, encoding="utf-8")
    asked = ["fit", "rows.csv", "--target", "y", "--metric", "failing:fails", "--method", method]
    code = main([*asked, "--greater-is-better", "--seed", "0"])
    seen = capsys.readouterr()
    assert code != 0
    assert "the service is down" in seen.err
    assert "Traceback" not in seen.err
