"""The store of a ledger, in a file and on a server: leases, late answers, forks, damage."""

import copy
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anymetric.errors import LedgerError
from anymetric.store import Evaluation, Posed, open_store
from anymetric.store.owners import gone, lives, machine, worker

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.drill.damage import WAYS, hurt, noticed, told, written
from benchmarks.drill.server import server, why_not

BASES = ["file", "memory", "server"]


@pytest.fixture(scope="module")
def postgres():
    if why_not():
        pytest.skip(why_not())
    with server() as found:
        yield found


@pytest.fixture
def address(request, tmp_path, kind):
    if kind == "server":
        return request.getfixturevalue("postgres").address()
    return tmp_path / "run.db" if kind == "file" else None


@pytest.fixture
def store(address):
    found = open_store(address)
    yield found
    found.close()


@pytest.mark.parametrize("kind", BASES)
def test_answers_come_back_bit_for_bit(store):
    values = [1 / 3, 0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]
    for k, value in enumerate(values):
        assert store.record(Evaluation(f"{k}", value, attempt=2, seconds=0.1, owner="me"))
    found = store.known()
    assert [found[f"{k}"].value.hex() for k in range(5)] == [v.hex() for v in values]
    assert found["0"].seconds == 0.1
    assert store.record(Evaluation("zero", -0.0))
    assert store.known(["zero"])["zero"].value == 0.0
    assert found["0"].attempt == 2


@pytest.mark.parametrize("kind", BASES)
def test_a_second_answer_is_ignored_and_noted_and_a_late_one_counts(store):
    assert store.lease(["a"], "one", -1.0) == ["a"]
    assert store.lease(["a"], "two", 60.0) == ["a"]
    assert store.record(Evaluation("a", 1.0, owner="one"))
    assert not store.record(Evaluation("a", 2.0, owner="two"))
    assert not store.record(Evaluation("a", None, "failed", error="no licence", owner="two"))
    assert store.known(["a", "b"])["a"].value == 1.0
    assert [said for _, _, said in store.notes()] == [
        "a second answer was ignored: 2.0",
        "a second answer was ignored: no licence",
    ]
    assert store.leases() == {}


@pytest.mark.parametrize("kind", BASES)
def test_texts_that_no_database_keeps_are_cleaned(store):
    store.record(Evaluation("a", None, "failed", error="a\0b\udc80ü", owner="me"))
    assert store.known()["a"].error == "a?b?ü"


@pytest.mark.parametrize("kind", BASES)
def test_questions_are_lent_to_one_at_a_time(store):
    store.pose([Posed("a", b"\0\1"), Posed("b", b""), Posed("a", b"other")])
    assert store.open_keys() == ["a", "b"]
    assert store.posed("a").payload == b"\0\1"
    assert store.posed("c") is None
    me, you = worker(), worker()
    assert store.lease(["a", "b", "c"], me, 60.0, 2) == ["a", "b"]
    assert store.lease(["a", "b", "c"], you, 60.0, 2) == ["c"]
    store.release(me)
    assert store.lease(["a", "b", "c"], you, 60.0, 9) == ["a", "b", "c"]
    assert {who for who, _ in store.leases().values()} == {you}


@pytest.mark.parametrize("kind", BASES)
def test_a_clock_that_leaps_takes_nothing_from_who_still_works(store):
    me, you = worker(), worker()
    assert store.lease(["a"], me, -1e6) == ["a"]  # run out, as after a leap or a sleep
    assert store.lease(["a"], you, 60.0) == []  # but its owner lives: it is given time to renew
    store.renew(me, 60.0)
    assert store.leases()["a"][0] == me
    assert store.lease(["a"], me, -1e6) == ["a"]
    assert store.lease(["a"], you, -1.0) == []
    assert store.lease(["a"], you, 60.0) == ["a"]  # it did not renew


def test_the_dead_hold_nothing_even_if_nobody_buried_them():
    store = open_store()
    child = subprocess.Popen(["sleep", "60"])
    started = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19]
    who = f"{machine()}/{child.pid}/{started}/3f"
    assert lives(who)
    assert store.lease(["a"], who, 60.0) == ["a"]
    child.send_signal(signal.SIGSTOP)
    wait_for(lambda: not lives(who))
    assert not gone(who)  # stopped, not dead: its lease holds until it runs out
    assert store.lease(["a"], "me", 60.0) == []
    child.kill()
    wait_for(lambda: gone(who))  # a zombie by now
    assert store.lease(["a"], "me", 60.0) == ["a"]
    child.wait()


def wait_for(condition, seconds=20.0):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.mark.parametrize("kind", ["file", "server"])
def test_what_was_chosen_first_holds_for_all(store, address):
    other = open_store(address)

    def slow():
        assert other.choose("seed", lambda: 1) == 1  # whoever is faster
        return 2

    assert store.choose("seed", slow) == 1
    other.close()


@pytest.mark.parametrize("kind", ["file", "server"])
def test_threads_and_processes_lend_each_question_once(store, address):
    keys = [f"{k:03}" for k in range(60)]
    taken = []

    def work(mine):
        me = worker()
        while got := mine.lease(keys, me, 60.0, 3):
            taken.extend(got)
            for key in got:
                assert mine.record(Evaluation(key, 1.0, owner=me))

    threads = [threading.Thread(target=work, args=(s,)) for s in (store, store, pickled(store))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(taken) == keys
    assert store.notes() == []


def pickled(store):
    return pickle.loads(pickle.dumps(store))


def test_a_ledger_in_memory_is_not_sent_elsewhere():
    store = open_store()
    store.record(Evaluation("a", 1.0))
    with pytest.raises(pickle.PicklingError, match="in memory is of one process"):
        pickle.dumps(store)
    assert copy.deepcopy(store) is store


def forked(store, results):
    store.record(Evaluation("child", 2.0))
    results.put(sorted(store.known()))


@pytest.mark.parametrize("kind", ["file", "server", "memory"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_a_connection_of_its_own(store, kind):
    store.record(Evaluation("parent", 1.0))
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=forked, args=(store, results))
    child.start()
    found = results.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert found == ["child", "parent"]
    assert store.record(Evaluation("later", 3.0))
    expected = ["later", "parent"] if kind == "memory" else ["child", "later", "parent"]
    assert sorted(store.known()) == expected


@pytest.mark.parametrize("kind", ["server"])
def test_a_server_that_comes_back_loses_nothing(store, postgres):
    store.record(Evaluation("a", 1.0))
    postgres.stop(signal.SIGINT)
    back = threading.Timer(0.5, postgres.start)
    back.start()
    assert store.record(Evaluation("b", 2.0))
    back.join()
    assert sorted(store.known()) == ["a", "b"]
    assert store.notes() == []


@pytest.mark.skipif(bool(why_not()), reason=str(why_not()))
def test_no_password_is_shown():
    with pytest.raises(LedgerError) as error:
        open_store("postgresql://me:secret@127.0.0.1:1/run")
    assert "secret" not in str(error.value)
    assert "me:***@127.0.0.1" in str(error.value)
    for address in ("mysql://me:secret@host/run", "postgresql://me:secret@host:port/run"):
        with pytest.raises(LedgerError) as error:
            open_store(address)
        assert "secret" not in str(error.value)


@pytest.mark.parametrize("kind", ["server"])
def test_a_database_of_somebody_else_is_left_alone(postgres, kind):
    address = postgres.address()
    import psycopg

    where = address.replace("postgresql://drill@/", "dbname=").replace("?host=", " host=")
    with psycopg.connect(f"{where} user=drill", autocommit=True) as connection:
        connection.execute("CREATE VIEW trials AS SELECT 1 AS x")
    with pytest.raises(LedgerError, match="its tables are trials"):
        open_store(address)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A ledger of 40 answers, all of it in one file."""
    return written(tmp_path_factory.mktemp("ledger") / "run.db")


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(WAYS), st.integers(0, 2**32))
def test_a_damaged_file_is_noticed_or_harmless(sound, tmp_path_factory, how, seed):
    path = tmp_path_factory.mktemp("hurt", numbered=True) / "run.db"
    corrupted = hurt(sound.read_bytes(), how, random.Random(seed))
    assert noticed(path, corrupted, told(sound)) in ("refused", "harmless")
    shutil.rmtree(path.parent)


def test_a_number_that_somebody_changed_is_noticed(sound, tmp_path):
    for change in (
        "UPDATE evaluation SET value = value + 1 WHERE status = 'done'",
        "UPDATE evaluation SET value = 'much'",
        "UPDATE evaluation SET status = 'odd'",
        "UPDATE choice SET value = '[0]'",
        "UPDATE run SET fingerprint = '{}'",
    ):
        path = tmp_path / "run.db"
        shutil.copy(sound, path)
        with sqlite3.connect(path) as base:
            base.execute(change)
        base.close()
        with pytest.raises(LedgerError, match="is damaged"):
            told(path)


@pytest.mark.parametrize("seed", [3692, 11676])
def test_damage_that_sqlite_cannot_even_name_is_noticed(sound, tmp_path, seed):
    corrupted = hurt(sound.read_bytes(), "flipped", random.Random(seed))
    assert noticed(tmp_path / "run.db", corrupted, told(sound)) == "refused"


@pytest.mark.parametrize("what", ["folder", "pipe", "device"])
def test_only_a_file_is_a_ledger(tmp_path, what):
    path = {"folder": tmp_path, "pipe": tmp_path / "pipe", "device": Path("/dev/null")}[what]
    if what == "pipe":
        os.mkfifo(path)
    with pytest.raises(LedgerError, match="is no file"):
        open_store(path)


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_a_foreign_database_is_not_even_touched(tmp_path, journal):
    path = tmp_path / "theirs.db"
    base = sqlite3.connect(path, isolation_level=None)
    base.execute(f"PRAGMA journal_mode = {journal}")
    base.execute("CREATE TABLE trials (x INTEGER)")
    base.execute("INSERT INTO trials VALUES (1)")
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir() if "shm" not in one.name}
    with pytest.raises(LedgerError, match="its tables are trials"):
        open_store(path)
    after = {one.name: one.read_bytes() for one in tmp_path.iterdir() if "shm" not in one.name}
    assert after == before
    base.close()


KILLED = """
import sys
from anymetric.store import Evaluation, open_store
store = open_store(sys.argv[1])
for k in range(10**6):
    store.record(Evaluation(str(k), float(k), owner="me"))
    print(k, flush=True)
"""


def test_what_was_recorded_survives_kill_9_at_any_moment(tmp_path):
    rng = random.Random(5)
    for k in range(6):
        path = tmp_path / f"{k}.db"
        words = [sys.executable, "-c", KILLED, str(path)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE)
        if k:  # once before the file is there at all
            process.stdout.readline()
        time.sleep(rng.random() * 0.2)
        process.kill()
        said = process.stdout.read().split()
        process.wait()
        store = open_store(path)
        known = store.known()
        assert len(known) - len(said) in (0, 1, 2)
        assert all(int(key) == one.value for key, one in known.items())
        assert store.record(Evaluation("after", 0.5))
        store.close()


def test_a_ledger_in_the_making_is_finished_by_the_next(tmp_path):
    """Killed between the first page and the last: what SQLite left is put right."""
    code = (
        "import os, sqlite3, sys; b = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "b.execute('PRAGMA cache_size = 1'); b.execute('BEGIN IMMEDIATE');"
        "[b.execute(f'CREATE TABLE t{k} (x TEXT PRIMARY KEY)') for k in range(60)];"
        "os.kill(os.getpid(), 9)"
    )
    path = tmp_path / "run.db"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert (tmp_path / "run.db-journal").exists()
    store = open_store(path)
    assert store.status == "new"
    store.close()


def test_a_ledger_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "old.db"
    store = open_store(path)
    store.record(Evaluation("3f", 0.5))
    store.close()
    base = sqlite3.connect(path)
    base.execute("DROP TABLE subject")
    base.execute("UPDATE about SET value = '1' WHERE name = 'schema'")
    base.commit()
    base.close()
    store = open_store(path)
    store.record(Evaluation("9a", 0.7, about='{"iteration": 3}'))
    assert [one.value for one in store.known().values()] == [0.5, 0.7]
    assert store.subjects() == {"9a": {"iteration": 3}}
    store.close()
