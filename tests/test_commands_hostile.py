"""Programs that misbehave, machines that are short of something, and what is left of them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anymetric import CommandMetric, MetricError, ToldMetric
from anymetric.errors import WorkspaceError
from anymetric.metrics import guard as guards
from anymetric.metrics.commands import Command, CommandError
from anymetric.metrics.evaluations import STOPPING
from anymetric.metrics.exchange import predictions_table, write_table
from anymetric.metrics.watcher import members
from anymetric.store.owners import machine

SCORES = np.array([2.0, -1.0, -0.5, 0.5])


@pytest.fixture
def private(tmp_path, monkeypatch):
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def bound(metric, side=None):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    return metric.bind(y, side=side or {}, labels=("no", "yes"))


def shell(text, **settings):
    return CommandMetric(text, shell=True, greater_is_better=True, **settings)


def wait_for(condition, seconds=20.0):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("leave", ["timeout 50 sleep 50 &", "set -m; sleep 50 &"])
def test_children_in_groups_of_their_own_end_too(tmp_path, leave):
    note = tmp_path / "pid"
    assert bound(shell(f"{leave} echo $! > {note}; sleep 0.2; echo 1")).values(SCORES) == 1.0
    wait_for(lambda: not alive(int(note.read_text())))


def test_temporary_files_of_a_program_go_with_it(private):
    made = 'mkdir -p "$TMPDIR/a/b" && echo x > "$(mktemp)" && chmod 000 "$TMPDIR/a"; echo 1'
    assert bound(shell(made)).values(SCORES) == 1.0
    assert list(private.iterdir()) == []


def test_a_watcher_that_was_killed_is_replaced(private):
    watcher = guards.guard()._watcher
    watcher.kill()
    watcher.wait()
    assert bound(shell("echo 1")).values(SCORES) == 1.0
    assert guards.guard()._watcher.poll() is None


def test_folders_that_nobody_could_remove_are_removed_by_the_next_run(tmp_path):
    mine, theirs = (
        tmp_path / f"{guards._prefix(f'{machine()}/{pid}/{start}')}-{'0' * 16}"
        for pid, start in ((4194304, 1), (os.getpid(), guards.owner().rpartition("/")[2]))
    )
    other = tmp_path / "anymetric-elsewhere-1-1-00"
    for folder in (mine, theirs, other):
        folder.mkdir()
        (folder / "predictions.csv").write_text("row\n")
    guards.tidy(tmp_path)
    assert [folder.exists() for folder in (mine, theirs, other)] == [False, True, True]


FORKED = """
import os, sys, time
from anymetric.metrics.guard import guard
with guard().folder() as folder:
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    print(folder, flush=True)
    time.sleep(60)
"""


def test_a_fork_does_not_keep_the_watcher_waiting():
    process = subprocess.Popen(
        [sys.executable, "-c", FORKED], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        folder = Path(process.stdout.readline().decode().strip())
        assert folder.exists()
        process.kill()
        wait_for(lambda: not folder.exists())
    finally:
        for pid in members(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()


def test_only_those_are_stopped_who_belong_together():
    with guards.guard().folder() as folder, (folder / "out").open("wb") as out:
        given = (["sleep", "30"], {"PATH": os.environ["PATH"]}, os.devnull, out, out)
        token = STOPPING.set(threading.Event())
        with guards.guard().program(*given) as one:
            STOPPING.reset(token)
            token = STOPPING.set(threading.Event())
            with guards.guard().program(*given) as other:
                guards.guard().stop()
                wait_for(lambda: other.poll() is not None)
                assert one.poll() is None
            STOPPING.reset(token)


def test_who_is_stopped_does_not_try_again(tmp_path):
    note, stopping = tmp_path / "tries", threading.Event()
    stopping.set()
    token = STOPPING.set(stopping)
    try:
        with pytest.raises(CommandError, match="exit code 3"):
            Command(("/bin/sh", "-c", f"echo x >> {note}; exit 3"), retries=5, backoff=60.0)(
                np.ones(1), np.ones(1)
            )
    finally:
        STOPPING.reset(token)
    assert note.read_text() == "x\n"


def test_the_error_counts_the_attempts():
    with pytest.raises(MetricError, match=r"exit code 3.*the last of 3 attempts"):
        bound(shell("exit 3", retries=2, backoff=0.0)).values(SCORES)


@pytest.mark.parametrize("name", ["y_true", "prediction", "score", "prediction_1"])
@pytest.mark.parametrize("metric", [shell("echo 1"), ToldMetric("rating", greater_is_better=True)])
def test_metadata_cannot_take_the_place_of_predictions(metric, name):
    with pytest.raises(ValueError, match=f"cannot be called '{name}'"):
        bound(metric, {name: np.zeros(4)})


@pytest.mark.parametrize("name", ["self", "second", "amount", "Ünïcode, with; all"])
def test_metadata_of_any_other_name_arrives(name):
    counted = shell("head -1 | tr -cd , | wc -c")
    assert bound(counted, {name: np.zeros(4)}).values(SCORES) >= 3.0


@pytest.mark.parametrize("printed", ["1_000", "１", "0,5", "0x10", "1 2", "++1", "[2] 1", "True"])
def test_only_plain_digits_are_a_number(printed):
    with pytest.raises(MetricError, match="as its last line, not a number"):
        bound(shell(f"echo '{printed}'")).values(SCORES)


def test_what_is_missing_and_dates_are_written_so_that_all_can_read_them(tmp_path):
    side = {
        "day": np.array(["2020-02-03", "NaT"], "M8[ns]"),
        "amount": np.array([np.nan, np.inf]),
        "name": np.array([None, "a\ud800"], dtype=object),
        "count": pd.array([1, None], dtype="Int64").to_numpy(dtype=object),
    }
    table = predictions_table(np.array([0, 1]), np.array([1, 1]), side, "decisions")
    write_table(table, tmp_path / "a.jsonl", "jsonl")
    text = (tmp_path / "a.jsonl").read_text()
    rows = [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
    assert rows[0]["day"].startswith("2020-02-03T00:00")
    assert rows[1]["day"] is None
    assert [rows[0]["amount"], rows[1]["amount"]] == [None, "inf"]
    assert [rows[0]["count"], rows[1]["count"]] == [1, None]
    write_table(table, tmp_path / "a.csv", "csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[2] == "1,1,1,,inf,a?,"
    clean = {name: column for name, column in table.items() if name != "name"}
    write_table(clean, tmp_path / "a.parquet", "parquet")
    back = pd.read_parquet(tmp_path / "a.parquet")
    assert back["day"].tolist()[0].startswith("2020-02-03")


def test_a_machine_without_room_is_not_the_metrics_fault(private, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device", "predictions.csv")

    monkeypatch.setattr("anymetric.metrics.commands.write_table", full)
    with pytest.raises(WorkspaceError, match="No room to run sh: No space left"):
        bound(shell("echo 1")).values(SCORES)
    assert list(private.iterdir()) == []


@pytest.mark.skipif(not Path("/usr/bin/Rscript").exists(), reason="R is not installed")
def test_an_r_script_scores(tmp_path):
    script = tmp_path / "score.R"
    script.write_text(
        "rows <- read.csv(commandArgs(TRUE)[1])\nprint(mean(rows$y_true == rows$prediction))\n"
    )
    metric = CommandMetric(["Rscript", str(script), "{predictions}"], greater_is_better=True)
    assert bound(metric).values(SCORES) == 0.5
