"""A run with a ledger: nothing known is asked again, and the model is the same bit for bit."""

import multiprocessing
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import make_scorer

from anymetric import MetricClassifier, MetricRanker, MetricRegressor
from anymetric.errors import LedgerError, MetricWarning
from anymetric.metrics import MetricError
from anymetric.store import Evaluation, open_store
from anymetric.store.owners import machine, owner
from anymetric.store.records import seal


class Killed(BaseException):
    """What ends a process, as far as the code within it can tell."""


class Counted:
    """A metric that counts its calls and dies at one of them."""

    __name__ = "counted"

    def __init__(self, dies_at=None):
        self.calls, self.dies_at = 0, dies_at

    def __repr__(self):
        return "Counted()"

    def __call__(self, y_true, y_pred):
        self.calls += 1
        if self.calls == self.dies_at:
            raise Killed
        hits = (y_true == 1) & (y_pred == 1)
        return float(hits.sum() / max(1, (y_pred == 1).sum() + 40))


def by_score(y_true, y_score):
    return float(np.mean(y_score[y_true == 1]) - np.mean(y_score[y_true != 1]) > 1.0)


def absolute(y_true, y_pred):
    return float(np.mean(np.abs(y_true - y_pred)))


@pytest.fixture(scope="module")
def rows():
    return make_classification(300, 5, weights=[0.8], flip_y=0.1, random_state=0)


def classifier(metric, ledger=None, **more):
    settings = {"model": "linear", "greater_is_better": True, "random_state": 0, **more}
    return MetricClassifier(metric, ledger=ledger, **settings)


def fitted_numbers(model):
    found = {name: getattr(model, name) for name in ("coef_", "intercept_", "cost_")}
    return {name: np.asarray(value).tobytes() for name, value in found.items()}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_run_cut_off_anywhere_goes_on_to_the_same_model(rows, tmp_path, share):
    whole, plain = Counted(), Counted()
    expected = classifier(whole, tmp_path / "whole.db").fit(*rows)
    without = classifier(plain).fit(*rows)
    assert fitted_numbers(expected) == fitted_numbers(without)
    assert expected.n_metric_calls_ == without.n_metric_calls_ == plain.calls
    first = Counted(dies_at=1 + int(share * whole.calls))
    with pytest.raises(Killed):
        classifier(first, tmp_path / "cut.db").fit(*rows)
    second = Counted()
    found = classifier(second, tmp_path / "cut.db").fit(*rows)
    assert fitted_numbers(found) == fitted_numbers(expected)
    assert (first.calls - 1) + second.calls == whole.calls
    third = Counted()
    classifier(third, tmp_path / "cut.db").fit(*rows)
    assert third.calls == 0


def test_equal_decisions_are_asked_about_once(rows, tmp_path):
    metric = Counted()
    model = classifier(metric, tmp_path / "run.db").fit(*rows)
    assert metric.calls == len(open_store(tmp_path / "run.db").known()) <= model.n_metric_calls_


@pytest.mark.parametrize("method", ["descent", "paper"])
def test_other_methods_replay_too(rows, tmp_path, method):
    settings = {"method": method, "max_metric_calls": 300}
    first, second = Counted(), Counted()
    one, two = (
        classifier(metric, tmp_path / "run.db", **settings).fit(*rows) for metric in (first, second)
    )
    assert first.calls > 10
    assert second.calls == 0
    assert fitted_numbers(one) == fitted_numbers(two)


def test_several_processes_share_a_ledger_within_one_run(rows, tmp_path):
    settings = {"method": "paper", "max_metric_calls": 300, "n_jobs": 2}
    one = classifier(slow_hits, tmp_path / "run.db", **settings).fit(*rows)
    known = len(open_store(tmp_path / "run.db").known())
    two = classifier(slow_hits, tmp_path / "run.db", **settings).fit(*rows)
    assert len(open_store(tmp_path / "run.db").known()) == known > 20
    assert fitted_numbers(one) == fitted_numbers(two)


def slow_hits(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def test_scores_numbers_classes_and_orders_replay(tmp_path):
    X, y = make_classification(200, 4, random_state=1)
    three = make_classification(200, 4, n_informative=3, n_classes=3, n_redundant=0, random_state=1)
    cases = {
        "scores": (classifier(by_score), X, y),
        "classes": (classifier(slow_hits), *three),
        "scorer": (classifier(make_scorer(slow_hits)), X, y),
        "numbers": (
            MetricRegressor(absolute, greater_is_better=False, model="linear", max_metric_calls=60),
            *make_regression(100, 3, noise=5.0, random_state=0),
        ),
        "orders": (MetricRanker(by_score, greater_is_better=True, max_metric_calls=60), X, y),
    }
    for name, (model, X, y) in cases.items():
        ledger = tmp_path / f"{name}.db"
        one = model.set_params(ledger=ledger).fit(X, y)
        scores = one.predict(X)
        known = open_store(ledger).known()
        two = model.fit(X, y)  # without a seed: that of the first fit is in the ledger
        np.testing.assert_array_equal(two.predict(X), scores)
        assert open_store(ledger).known() == known, name
        assert len(known) > 5, name


def test_another_run_is_refused_with_the_difference(rows, tmp_path):
    X, y = rows
    classifier(Counted(), tmp_path / "run.db").fit(X, y)
    changes = {
        "method was 'auto', and is now 'descent'": (classifier(Counted(), method="descent"), X, y),
        "random_state was 0, and is now 1": (classifier(Counted(), random_state=1), X, y),
        "X was '300 x 5, ": (classifier(Counted()), X + 1.0, y),
        "y was '300, ": (classifier(Counted()), X, 1 - y),
        "metric was": (classifier(slow_hits), X, y),
    }
    for said, (model, features, target) in changes.items():
        said = said.replace("'auto'", "\"'auto'\"").replace("'descent'", "\"'descent'\"")
        with pytest.raises(LedgerError, match="is the ledger of another run") as error:
            model.set_params(ledger=tmp_path / "run.db").fit(features, target)
        assert said in str(error.value)
    model = classifier(Counted(), tmp_path / "run.db", n_jobs=1, verbose=0)
    assert model.fit(X, y).n_metric_calls_ > 0


def test_a_failure_that_ended_a_run_is_tried_again(rows, tmp_path):
    state = {"down": True}

    def vendor(y_true, y_pred):
        if state["down"]:
            raise OSError("no licence")
        return float(np.mean(y_true == y_pred))

    with pytest.raises(MetricError, match="no licence"):
        classifier(vendor, tmp_path / "run.db").fit(*rows)
    store = open_store(tmp_path / "run.db")
    assert store.status == "failed"
    state["down"] = False
    assert classifier(vendor, tmp_path / "run.db").fit(*rows).cost_ < 0.0
    assert store.status == "done"
    assert any("no licence" in said for _, _, said in store.notes())


def test_other_versions_are_reported(rows, tmp_path):
    classifier(Counted(), tmp_path / "run.db").fit(*rows)
    old = '{"numpy": "0.1"}'
    with sqlite3.connect(tmp_path / "run.db") as base:
        change = "UPDATE choice SET value = ?, seal = ? WHERE name = 'versions'"
        base.execute(change, (old, seal("versions", old)))
    with pytest.warns(MetricWarning, match=r"numpy 0\.1 is now"):
        classifier(Counted(), tmp_path / "run.db").fit(*rows)


def evaluate(path, log):
    X, y = make_classification(300, 5, weights=[0.8], flip_y=0.1, random_state=0)

    def metric(y_true, y_pred):
        with log.open("a") as file:
            file.write("x\n")
        return float(np.mean(y_true == y_pred))

    metric.__module__, metric.__qualname__ = "shared", "metric"
    classifier(metric, path).fit(X, y)


def test_evaluators_at_once_answer_every_question_once(tmp_path):
    context = multiprocessing.get_context("fork")
    given = (tmp_path / "run.db", tmp_path / "calls")
    processes = [context.Process(target=evaluate, args=given) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    store = open_store(tmp_path / "run.db")
    assert len(store.known()) == len((tmp_path / "calls").read_text().splitlines())
    assert store.notes() == []
    assert len({one.owner for one in store.known().values()}) > 1


def test_leases_are_respected_until_they_run_out_or_their_owner_is_gone():
    store, me = open_store(), owner()
    assert store.lease(["a", "b", "c"], "another", 60.0, 2) == ["a", "b"]
    assert store.lease(["a", "b", "c"], me, 60.0, 3) == ["c"]
    assert store.lease(["a"], me, 60.0) == []
    dead = f"{machine()}/4194304/1"
    assert store.lease(["d"], dead, 60.0) == ["d"]
    assert store.lease(["d"], me, 60.0) == ["d"]
    assert store.lease(["e"], "another", -1.0) == ["e"]
    assert store.lease(["e"], me, 60.0) == ["e"]
    assert store.record(Evaluation("a", 1.0, owner=me))  # a late answer counts
    assert store.lease(["a"], me, 60.0) == []
    assert not store.record(Evaluation("a", 2.0, owner="another"))
    assert store.known(["a"])["a"].value == 1.0
    assert [said for _, _, said in store.notes()] == ["a second answer was ignored: 2.0"]


def damaged(path):
    open_store(path).close()
    store = open_store(path)
    for k in range(300):
        store.record(Evaluation(f"{k:040x}", float(k)))
    store.close()
    whole = bytearray(path.read_bytes())
    whole[4096 : 4096 + 2000] = b"\xff" * 2000
    path.write_bytes(whole)


def torn(path):
    damaged(path)
    path.write_bytes(path.read_bytes()[:6000])


def foreign(path):
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE trials (x INTEGER)")


def newer(path):
    open_store(path).close()
    with sqlite3.connect(path) as base:
        base.execute("UPDATE about SET value = '99'")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text("a,b\n1,2\n" * 500), "no ledger of anymetric"),
        (foreign, "its tables are trials"),
        (newer, "version 99"),
        (damaged, "damaged"),
        (torn, "damaged"),
    ],
    ids=["text", "foreign", "newer", "damaged", "torn"],
)
def test_what_is_no_sound_ledger_is_refused_and_left_as_it_is(rows, tmp_path, make, said):
    path = Path(tmp_path) / "run.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=said):
        classifier(Counted(), path).fit(*rows)
    assert path.read_bytes() == before


def test_a_ledger_needs_its_folder(rows, tmp_path):
    with pytest.raises(LedgerError, match="folder of the ledger does not exist"):
        classifier(Counted(), tmp_path / "none" / "run.db").fit(*rows)
