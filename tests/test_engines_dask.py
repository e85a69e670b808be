"""Rows on a Dask cluster of real processes: the same sums, and none lost with a worker."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from anymetric import MetricClassifier, ParquetRows
from anymetric.engines import DaskCollection, OnDask, ReadRows, RowsLost, Term, ValuesAndSlopes
from anymetric.engines.distributed import client_of
from anymetric.engines.distributed.waiting import Awaited
from anymetric.losses import as_loss
from anymetric.models import Linear
from stored_rows import table, written

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
CLF = MetricClassifier("f1", model="linear", random_state=0)


def weigh(data):
    return data.weights


def signs(shard):
    from anymetric.data import Data

    return Data(shard.X, np.where(np.asarray(shard.y) > 0, 1.0, -1.0))


WORK = ValuesAndSlopes(Linear(), (Term(as_loss("logistic"), weigh),), np.full((1, 5), 0.1))


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process that is started again when it is killed."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as found:
        yield found


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A table, its target, and the files that hold both."""
    frame, y = table()
    return frame, y, written(tmp_path_factory.mktemp("stored"), frame, y)


@pytest.fixture
def held(stored, small_samples):
    frame, y, _ = stored
    return CLF.fit(frame, y).coef_


def test_files_are_summed_alike_at_home_and_by_any_number_of_workers(client, stored):
    rows = ParquetRows(stored[2])
    home = ReadRows(rows, signs).sums(WORK)
    assert len(client.scheduler_info()["workers"]) == 2
    for _ in range(2):
        found = OnDask(rows, client).rows(signs).sums(WORK)
        for one, other in zip(home, found, strict=True):
            np.testing.assert_array_equal(one, other)
    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0") as one_worker:
        found = OnDask(rows, one_worker).rows(signs).sums(WORK)
    for one, other in zip(home, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["files", "array", "data frame"])
def test_a_cluster_and_memory_have_the_same_model(kind, client, stored, held):
    frame, y, path = stored
    if kind == "files":
        given = {"X": ParquetRows(path), "client": client}
    elif kind == "array":
        X = da.from_array(frame.to_numpy(), chunks=(1300, 2))
        given = {"X": X, "y": da.from_array(y, chunks=900)}
    else:
        whole = dd.from_pandas(frame.assign(y=y), npartitions=5)
        given = {"X": whole[list(frame.columns)], "y": whole["y"]}
    clf = CLF.fit(**given)
    np.testing.assert_allclose(clf.coef_, held, rtol=1e-6)
    assert clf.summary_.rows == {"linear": len(y)}


def test_validation_rows_weights_and_groups_may_be_collections_too(client, stored, small_samples):
    frame, y, _ = stored
    rng = np.random.default_rng(0)
    columns = {
        "sample_weight": rng.integers(1, 3, len(y)),
        "groups": rng.choice(["a", "b"], len(y)),
    }
    clf = MetricClassifier("group_mean_f1", model="linear", random_state=0)

    def given(wrap):
        X, parts = frame.to_numpy(), {name: wrap(one) for name, one in columns.items()}
        val = {
            "X_val": wrap(X[:500]),
            "y_val": wrap(y[:500]),
            "groups_val": wrap(columns["groups"][:500]),
        }
        return {"X": wrap(X), "y": wrap(y), **parts, **val}

    coef = clf.fit(**given(lambda one: one)).coef_
    found = clf.fit(**given(lambda one: da.from_array(one, chunks=700))).coef_
    np.testing.assert_allclose(found, coef, rtol=1e-6)


def test_uneven_partitions_do_not_change_the_model(client, stored, held):
    frame, y, _ = stored
    sizes = (1, 4000, 37, 962)
    clf = CLF.fit(
        da.from_array(frame.to_numpy(), chunks=(sizes, 4)), da.from_array(y, chunks=(sizes,))
    )
    np.testing.assert_allclose(clf.coef_, held, rtol=1e-6)


@pytest.mark.parametrize("kind", ["files", "array"])
def test_a_killed_worker_does_not_change_the_model(kind, client, stored, held):
    frame, y, path = stored
    X, target = da.from_array(frame.to_numpy(), chunks=(500, 4)), da.from_array(y, chunks=500)
    given = {"X": ParquetRows(path)} if kind == "files" else {"X": X, "y": target}
    pids = client.run(os.getpid)

    def kill():
        time.sleep(0.4)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    coef = CLF.fit(**given, client=client).coef_
    killer.join()
    np.testing.assert_allclose(coef, held, rtol=1e-6)
    again = CLF.fit(**given, client=client).coef_  # with what the dead worker had computed again
    np.testing.assert_allclose(again, held, rtol=1e-6)


def test_an_error_of_the_rows_is_raised_as_it_is(client, stored, small_samples):
    frame, y, _ = stored
    X = frame.to_numpy(np.float64).copy()
    X[4999, 0] = 1e200
    chunks = da.from_array(X, chunks=(1000, 4)), da.from_array(y, chunks=1000)
    with pytest.raises(ValueError, match="rescale it"):
        CLF.fit(*chunks)


def test_large_arguments_of_one_call_are_not_those_of_the_next(client):
    awaited = Awaited(client, 60.0)
    for k in range(3):
        found = awaited.each(
            lambda part, numbers: part + numbers[-1], [10, 20], np.full(200_000, k)
        )
        assert found == [10 + k, 20 + k]


def test_a_worker_that_never_answers_is_not_awaited_for_ever(client):
    on = OnDask(
        DaskCollection(da.ones((4, 2), chunks=(2, 2)), da.ones(4, chunks=2), client), client, 1.0
    )
    began = time.monotonic()
    with pytest.raises(RowsLost, match="No part was done"):
        on.asked(lambda part: time.sleep(8.0))
    assert time.monotonic() - began < 6.0


def test_results_that_are_lost_each_time_are_an_error(client, monkeypatch):
    calls = []

    async def lost(futures):
        calls.append(len(futures))
        raise OSError("connection lost")

    monkeypatch.setattr(type(client), "gather", lambda self, futures, **given: lost(futures))
    with pytest.raises(OSError, match="connection lost"):
        Awaited(client, 60.0).each(lambda part: part, [1, 2])
    assert calls == [2] * 4


def test_a_cluster_without_workers_is_not_awaited_as_long(monkeypatch):
    monkeypatch.setattr("anymetric.engines.distributed.waiting.GRACE", 0.2)
    monkeypatch.setattr("anymetric.engines.distributed.waiting.DESERTED", 1.0)
    given = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**given) as cluster, distributed.Client(cluster) as client:
        awaited = Awaited(client, 60.0)
        assert awaited.each(lambda part: time.sleep(1.5) or part, [1]) == [1]  # at work all along
        cluster.scale(0)
        began = time.monotonic()
        with pytest.raises(RowsLost, match="no workers for"):
            awaited.each(lambda part: part, [1, 2])
        assert time.monotonic() - began < 20.0


def test_without_a_client_the_error_says_how_to_make_one(monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", none)
    with pytest.raises(ValueError, match=r"distributed.Client"):
        MetricClassifier().fit(da.ones((4, 2)), da.ones(4))


def test_a_client_is_taken_as_it_is():
    client = object()
    assert client_of(client) is client


SCHEDULER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    given = {"dashboard_address": ":0", "silence_logs": 50}
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, **given)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


def test_a_lost_scheduler_leaves_the_model_of_the_sample(
    stored, tmp_path, small_samples, monkeypatch
):
    monkeypatch.setattr("anymetric.engines.distributed.waiting.GRACE", 1.0)
    script = tmp_path / "scheduler.py"
    script.write_text(SCHEDULER)
    process = subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    frame, y, path = stored
    with distributed.Client(process.stdout.readline().strip(), set_as_default=False) as client:
        from anymetric.auto.passes import refit

        def killed(*arguments):
            process.kill()
            return kept(*arguments)

        kept = refit.minimised
        monkeypatch.setattr(refit, "minimised", killed)
        with pytest.raises(RowsLost, match="scheduler") as lost:
            CLF.fit(ParquetRows(path), client=client)
    process.communicate()
    best = lost.value.best
    assert best.score(frame, y) > 0.6
    assert best.status_.name == "FAILED"
