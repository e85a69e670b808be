"""A program as a metric: what it is given, what it may print, and that nothing of it stays."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_regression

from anymetric import CommandMetric, MetricClassifier, MetricError, MetricRegressor
from anymetric.metrics.commands import Command, CommandError

ACCURACY = "NR > 1 { hits += ($2 == $3) } END { print hits / (NR - 1) }"


@pytest.fixture
def private(tmp_path, monkeypatch):
    """A folder of its own for work files, to see that none is left."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def bound(metric, side=None):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    return metric.bind(y, side=side or {}, labels=("no", "yes"))


def python(code, **settings):
    words = [sys.executable, "-I", "-S", "-c", textwrap.dedent(code), "{predictions}"]
    return CommandMetric(words, **{"greater_is_better": True, **settings})


SCORES = np.array([2.0, -1.0, -0.5, 0.5])


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("csv", "list(csv.DictReader(open(sys.argv[1])))"),
        ("jsonl", "[json.loads(line) for line in open(sys.argv[1])]"),
    ],
)
@pytest.mark.parametrize(
    ("on", "column", "first"),
    [("decisions", "prediction", "yes"), ("scores", "score", 2.0)],
)
def test_a_program_gets_rows_truth_predictions_and_metadata(form, read, on, column, first):
    code = f"import csv, json, sys\nrows = {read}\nprint(rows[0], file=sys.stderr)\nprint('x')"
    metric = python(code, format=form, on=on)
    with pytest.raises(MetricError) as error:
        bound(metric, {"row": np.arange(4) + 7, "amount": np.array([1.5, 2, 3, 4])}).values(SCORES)
    expected = {"row": 7, "y_true": "yes", column: first, "amount": 1.5}
    shown = {k: str(v) for k, v in expected.items()} if form == "csv" else expected
    assert str(shown) in str(error.value)
    assert list(shown) == ["row", "y_true", column, "amount"]


def test_parquet_is_read_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    copy = tmp_path / "copy.parquet"
    words = ["sh", "-c", f'cp "$1" {copy} && echo 1', "sh", "{predictions}"]
    metric = CommandMetric(words, greater_is_better=True, format="parquet")
    assert bound(metric, {"amount": np.arange(4.0)}).values(SCORES) == 1.0
    assert pandas.read_parquet(copy)["prediction"].tolist() == ["yes", "no", "no", "yes"]


@pytest.mark.parametrize(
    "words", [["awk", "-F,", ACCURACY], ["awk", "-F,", ACCURACY, "{predictions}"]]
)
def test_a_file_and_standard_input_give_the_same(words):
    assert bound(CommandMetric(words, greater_is_better=True)).values(SCORES) == 0.5


def test_a_shell_only_where_it_is_asked():
    piped = CommandMetric("cat | wc -l", shell=True, greater_is_better=True)
    assert bound(piped).values(SCORES) == 5.0
    with pytest.raises(ValueError, match="shell=True one text"):
        CommandMetric("wc -l", greater_is_better=True)
    plain = CommandMetric(["echo", "$HOME; 3"], greater_is_better=True)
    with pytest.raises(MetricError, match="HOME; 3"):
        bound(plain).values(SCORES)


@pytest.mark.parametrize(
    ("printed", "field", "value"),
    [
        ("0.25", None, 0.25),
        ("reading...\n-1e3\n\n", None, -1000.0),
        ('log\n{"score": 3}', "score", 3.0),
        ('{\n"score": 0.5\n}', "score", 0.5),
    ],
)
def test_the_last_line_or_a_field_is_the_number(printed, field, value):
    metric = python(f"print({printed!r})", field=field)
    assert bound(metric).values(SCORES) == value


@pytest.mark.parametrize(
    ("code", "more", "said"),
    [
        ("print('n/a')", {}, "printed 'n/a' as its last line, not a number"),
        ("print('nan')", {}, "one finite number was expected, got nan"),
        ("", {}, "printed '' as its last line"),
        ("print('{\"a\": true}')", {"field": "a"}, "not JSON with a number as 'a'"),
        ("print('{}')", {"field": "a"}, "not JSON with a number as 'a'"),
        ("import sys; sys.exit('no licence')", {}, "exit code 1; its standard error: no licence"),
        ("import time; time.sleep(60)", {"timeout": 0.3}, "time-out of 0.3 seconds"),
        ("while True: print('x' * 100000)", {}, "wrote more than 16 MB"),
        ("import os; os.kill(os.getpid(), 11)", {}, "exit code -11"),
    ],
)
def test_what_is_no_number_is_reported_with_what_the_program_said(private, code, more, said):
    with pytest.raises(MetricError) as error:
        bound(python(code, **more)).values(SCORES)
    assert said in str(error.value)
    assert list(private.iterdir()) == []


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(MetricError, match="'no-such-program' is not found"):
        bound(CommandMetric(["no-such-program"], greater_is_better=True)).values(SCORES)


def test_a_time_out_ends_the_children_too(tmp_path):
    note = tmp_path / "pid"
    metric = CommandMetric(
        f"sleep 50 & echo $! > {note}; wait", shell=True, greater_is_better=True, timeout=0.5
    )
    with pytest.raises(MetricError, match="time-out"):
        bound(metric).values(SCORES)
    wait_for(lambda: not alive(int(note.read_text())))


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_retries_wait_longer_each_time(tmp_path):
    note = tmp_path / "tries"
    command = f"echo x >> {note}; test $(wc -l < {note}) -ge 3 && echo 7"
    metric = CommandMetric(command, shell=True, greater_is_better=True, retries=2, backoff=0.05)
    began = time.perf_counter()
    assert bound(metric).values(SCORES) == 7.0
    assert time.perf_counter() - began > 0.15
    with pytest.raises(CommandError, match="exit code 3"):
        Command(("/bin/sh", "-c", "exit 3"), retries=1, backoff=0.0)(np.ones(1), np.ones(1))


def test_the_environment_is_what_was_said(monkeypatch):
    monkeypatch.setenv("SECRET", "1")
    metric = CommandMetric(
        "echo ${SECRET:-0}$OURS", shell=True, greater_is_better=True, env={"OURS": "5"}
    )
    assert bound(metric).values(SCORES) == 5.0


def test_slots_run_at_the_same_time():
    metric = CommandMetric("sleep 0.3; echo 1", shell=True, greater_is_better=True, slots=4)
    began = time.perf_counter()
    assert bound(metric).values(np.tile(SCORES[:, None], 4)).tolist() == [1.0] * 4
    assert time.perf_counter() - began < 1.0


KILLED = """
import sys
sys.path[:0] = {path!r}
import numpy as np
from anymetric import CommandMetric
metric = CommandMetric("echo $$ > {note}; sleep 60; echo 1", shell=True, greater_is_better=True)
metric.bind(np.array([1.0, -1.0]), labels=(0, 1)).values(np.ones(2))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_the_process(tmp_path, how):
    note, work = tmp_path / "pid", tmp_path / "work"
    work.mkdir()
    code = KILLED.format(path=[p for p in sys.path if p], note=note)
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(work)},
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: note.exists() and note.read_text().strip())
    assert list(work.iterdir())
    process.send_signal(how)
    process.wait(30)
    wait_for(lambda: not alive(int(note.read_text())) and not list(work.iterdir()))


def wait_for(condition, seconds=30.0):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_an_awk_scorer_trains_a_classifier(private):
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    metric = CommandMetric(["awk", "-F,", ACCURACY], greater_is_better=True, slots=2)
    clf = MetricClassifier(metric, model="linear", max_metric_calls=80, random_state=0).fit(X, y)
    assert clf.score(X, y) == pytest.approx(np.mean(clf.predict(X) == y))
    assert clf.score(X, y) > 0.8
    assert list(private.iterdir()) == []


def test_an_awk_scorer_trains_classes_and_numbers():
    X, y = make_classification(150, 4, n_informative=3, n_classes=3, n_redundant=0, random_state=0)
    metric = CommandMetric(["awk", "-F,", ACCURACY], greater_is_better=True)
    clf = MetricClassifier(metric, model="linear", max_metric_calls=40, random_state=0).fit(X, y)
    assert clf.score(X, y) == pytest.approx(np.mean(clf.predict(X) == y))
    script = "NR > 1 { d = $2 - $3; s += d < 0 ? -d : d } END { print s / (NR - 1) }"
    error = CommandMetric(["awk", "-F,", script], greater_is_better=False)
    X, z = make_regression(80, 3, noise=5.0, random_state=0)
    reg = MetricRegressor(error, model="linear", max_metric_calls=40, random_state=0).fit(X, z)
    assert reg.score(X, z) == pytest.approx(np.mean(np.abs(reg.predict(X) - z)), rel=1e-4)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([None, "score"]))
def test_any_output_is_a_number_or_a_clear_error(tmp_path_factory, printed, field):
    err = tmp_path_factory.getbasetemp() / "err"
    err.write_bytes(b"")
    command = Command(("program",), field=field)
    try:
        said = command._number(printed.decode("utf-8", "replace"), err)
    except CommandError as error:
        said = str(error)
    assert isinstance(said, float) or "as its last line, not" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"format": "xml"}, "format='xml' was asked"),
        ({"timeout": 0}, "timeout must be positive"),
        ({"slots": 0}, "slots at least 1"),
        ({"on": "ranks"}, "got 'ranks'"),
    ],
)
def test_wrong_settings_are_refused(more, said):
    with pytest.raises(ValueError, match=said):
        CommandMetric(["wc"], greater_is_better=True, **more)
    with pytest.raises(ValueError, match="no words"):
        CommandMetric([], greater_is_better=True)


def test_a_command_metric_is_plain_data():
    import pickle

    metric = CommandMetric(["wc", "-l"], greater_is_better=False, env={"A": "b"})
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert json.dumps(metric.name) == '"wc"'
