"""A run is a folder from its first moment: nothing recorded is lost, and nothing is paid twice."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from anymetric.cli.budget import Plan
from anymetric.cli.models import load_model
from anymetric.cli.runs import new_folder
from anymetric.store import open_store

from .conftest import people

pytestmark = pytest.mark.skipif(shutil.which("awk") is None, reason="no awk here")

SCORE = """BEGIN { FS = "," }
NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
$at["prediction"] == $at["y_true"] { hits++ }
END { print hits / (NR - 1) }
"""
COUNTED = "echo call >> calls.txt; sleep {}; awk -f score.awk {{predictions}}"
ASK = ["-t", "income", "--drop", "note", "--drop", "id", "--model", "linear"]


@pytest.fixture
def desk(rows):
    people(200).to_csv("rows.csv", index=False)
    Path("score.awk").write_text(SCORE)
    return ["fit", rows, *ASK, "--greater-is-better"]


def counted(pause=0.0):
    """A command that leaves a mark each time, slow if asked."""
    return ["--command-shell", "--metric-command", COUNTED.format(pause)]


def calls():
    path = Path("calls.txt")
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_program_is_a_metric_and_its_budget_is_never_exceeded(desk, told):
    asked = [*desk, *counted(), "--budget", "20", "--run", "run"]
    code, _out, err = told(*asked)
    assert code == 0, err
    planned = re.search(
        r"at most 20 calls: (\d+) to train, (\d+) for each of (\d+) baselines, (\d+) for the table",
        err,
    )
    assert planned is not None, err
    training, each, baselines, table = map(int, planned.groups())
    assert training + each * baselines + table == 20
    assert 8 <= calls() <= 20
    assert f"{calls()} of 20 calls" in err
    with_rows = json.loads(Path("run/run.json").read_text())
    assert [row["value"] is not None for row in with_rows["methods"]] == [True] * (1 + baselines)


def test_a_program_reads_a_table_from_a_file_or_standard_input(desk, told):
    shown = "cat {} > seen.txt; echo '{{\"score\": 0.5}}'"
    way = ["--budget", "5", "--command-shell", "--command-field", "score"]
    for words, form, first in [
        ("{predictions}", "csv", "row,y_true,prediction,amount"),
        ("-", "jsonl", '{"row": '),
    ]:
        given = ["--metric-command", shown.format(words), "--command-format", form]
        code, _out, err = told(*desk, *way, *given, "--side", "amount")
        assert code == 0, err
        assert Path("seen.txt").read_text().startswith(first)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric-command", "nowhere.exe"], "the program 'nowhere.exe' is not found"),
        (["--metric-command", "awk 'x"], "No closing quotation"),
        (["--metric-command", "  "], "is empty"),
        (["--metric-command", "false"], "exit code 1"),
        (["--metric-command", "echo good"], "printed 'good' as its last line, not a number"),
        (["--metric-command", "awk 1", "-m", "f1"], "Name one metric"),
        ([], "Name one metric"),
        (["-m", "f1", "--command-slots", "2"], "--command-slots is for --metric-command"),
        (["--metric-told", "a", "--command-env", "A=1"], "--command-env is for --metric-command"),
        (["--metric-command", "awk 1", "--command-env", "=1"], "NAME=VALUE is expected"),
    ],
)
def test_a_program_that_is_none_is_reported_in_one_sentence(desk, told, words, said):
    before = sorted(os.listdir())
    code, out, err = told(*desk, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert sorted(os.listdir()) == before


def test_which_way_is_better_must_be_said(desk, told):
    code, _out, err = told(*desk[:-1], "--metric-command", "awk -f score.awk {predictions}")
    assert code == 2
    assert "say --greater-is-better or --lower-is-better" in err


def start(words):
    return subprocess.Popen(
        [sys.executable, "-m", "anymetric", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until(process, count, most=60.0):
    """Wait for so many calls."""
    ends = time.monotonic() + most
    while calls() < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < ends
        time.sleep(0.02)


def learned(path):
    model = load_model(Path(path))
    return np.append(np.ravel(model.estimator.coef_), model.estimator.intercept_)


def test_a_killed_run_goes_on_and_pays_for_nothing_twice(desk, told):
    asked = [*desk, *counted(0.1), "--budget", "20"]
    assert told(*asked, "--run", "whole")[0] == 0
    paid = calls()
    Path("calls.txt").unlink()
    process = start([*asked, "--run", "cut"])
    until(process, 6)
    process.kill()
    process.communicate()
    known = len(open_store("cut/run.db").known())
    assert 4 <= known <= calls()
    assert told("best", "cut", "-o", "best.skops")[0] == 0
    assert load_model(Path("best.skops")).metric == "score.awk"
    assert told("status", "cut")[1].count("anymetric resume cut goes on") == 1
    under_way = calls() - known
    assert told("resume", "cut")[0] == 0
    assert calls() - under_way == paid
    np.testing.assert_array_equal(learned("cut/model.skops"), learned("whole/model.skops"))
    left = sorted(os.listdir("cut"))
    assert left == sorted(os.listdir("whole"))
    assert told("resume", "cut")[0] == 0
    assert calls() - under_way == paid


def test_the_same_command_goes_on_and_another_is_refused_with_the_difference(desk, told):
    asked = [*desk, *counted(0.1), "--budget", "12"]
    process = start(asked)
    until(process, 3)
    process.kill()
    process.communicate()
    (folder,) = Path("anymetric-runs").iterdir()
    code, _out, err = told(*asked, "--seed", "1", "--run", folder)
    assert code == 2
    assert "seed was 0, and is now 1" in err
    people(200, seed=1).to_csv("rows.csv", index=False)
    code, _out, err = told(*asked, "--run", folder)
    assert code == 2
    assert "train rows was" in err
    people(200).to_csv("rows.csv", index=False)
    Path("score.awk").write_text(SCORE + "\n")
    code, _out, err = told(*asked, "--run", folder)
    assert code == 2
    assert "metric file score.awk was" in err
    Path("score.awk").write_text(SCORE)
    before = calls()
    code, _out, err = told(*asked)
    assert code == 0, err
    assert "evaluations known" in err
    assert list(Path("anymetric-runs").iterdir()) == [folder]
    assert calls() - before < 12
    code, _out, err = told(*asked, "--run", folder)
    assert code == 2
    assert "is a finished run" in err


@pytest.mark.parametrize(("number", "after"), [(signal.SIGINT, 2), (signal.SIGTERM, 9)])
def test_a_signal_keeps_the_best_model_and_says_where(desk, told, number, after):
    process = start([*desk, *counted(0.1), "--budget", "30", "--run", "run"])
    until(process, after)
    process.send_signal(number)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Stopped in training; the best model so far is kept: run/model.skops" in err
    assert "`anymetric resume run` goes on" in err
    assert learned("run/model.skops").size
    assert [name for name in os.listdir("run") if name.startswith(".")] == []


def test_an_exit_inside_a_metric_is_a_failure(rows, told):
    Path("enough.py").write_text(
        "import sys\ndef gain_score(y_true, y_pred):\n    sys.exit('enough')\n"
    )
    Path("leaves.py").write_text("import sys\nsys.exit('enough')\n")
    code, _out, err = told("fit", rows, *ASK, "-m", "enough:gain_score")
    assert code == 2
    assert "SystemExit: enough" in err
    code, _out, err = told("fit", rows, *ASK, "-m", "leaves:gain_score")
    assert code == 2
    assert "Importing 'leaves' failed: SystemExit" in err


def test_run_names_are_unique_in_the_same_second(tmp_path, monkeypatch):
    from datetime import datetime

    monkeypatch.chdir(tmp_path)
    now = datetime(2020, 7, 13)
    assert len({new_folder("f1", now) for _ in range(5)}) == 5


def test_a_run_is_asked_and_answered_in_any_order_and_its_best_can_be_had(desk, told):
    begun = [*desk, "--metric-told", "rating", "--budget", "16", "--run", "run"]
    code, out, err = told(*begun)
    assert code == 0, err
    assert "anymetric ask run" in out
    assert told("best", "run")[0] == 2
    seen = {}
    for iteration in range(20):
        document = json.loads(told("ask", "run", "-n", "3", "--json")[1])
        if not document["questions"]:
            break
        pairs = []
        for one in reversed(document["questions"]):
            table = np.genfromtxt(one["predictions"], delimiter=",", dtype=str, names=True)
            value = float(np.mean(table["y_true"] == table["prediction"]))
            assert one["key"] not in seen
            seen[one["key"]] = value
            pairs += [one["key"][:12], str(value)]
        assert told("tell", "run", *pairs)[0] == 0
        if iteration == 0:
            assert told("best", "run", "-o", "early.skops")[0] == 0
    assert document["finished"]
    assert 8 <= len(seen) <= 16
    status = json.loads(told("status", "run", "--json")[1])
    assert 0.0 < status["best"] <= 1.0
    assert (status["state"], status["evaluations"]) == ("finished", len(seen))
    assert learned("run/model.skops").size
    code, out, err = told("tell", "run", next(iter(seen)), "0.123")
    assert code == 0
    assert "had an answer" in err
    for words, said in [
        (["zz", "1"], "No question has the key"),
        ([next(iter(seen)), "nan"], "one finite number"),
        ([next(iter(seen))], "KEY VALUE is expected"),
    ]:
        code, _out, err = told("tell", "run", *words)
        assert code == 2
        assert said in err


def test_what_is_no_run_is_refused(rows, told, tmp_path):
    (tmp_path / "empty").mkdir()
    for command in ("resume", "ask", "status", "best"):
        for folder in ("nowhere", "empty"):
            code, _out, err = told(command, folder)
            assert code == 2
            assert "is no run" in err
    assert os.listdir("empty") == []


def test_a_plan_spends_no_more_than_there_is():
    for total in range(1, 300):
        for methods in range(1, 18):
            plan = Plan.of(total, methods)
            spent = plan.training + plan.each * (methods - 1) + plan.table
            assert plan.training >= 1
            assert spent <= total


def test_a_program_evaluates_a_saved_model_and_no_file_names_what_is_run(desk, told):
    assert told(*desk, *counted(), "--budget", "16", "--run", "run")[0] == 0
    Path("calls.txt").unlink()
    code, _out, err = told("evaluate", "run/model.skops", "rows.csv")
    assert code == 2
    assert "is not run from its file" in err
    asked = ["evaluate", "run/model.skops", "rows.csv", *counted(), "--greater-is-better"]
    (found,) = json.loads(told(*asked, "--json")[1])["metrics"]
    accuracy = json.loads(told(*asked[:3], "--metric", "accuracy", "--json")[1])["metrics"][0]
    assert found["value"] == pytest.approx(accuracy["value"])
    assert calls() == 1
    (found,) = json.loads(told(*asked, "--budget", "25", "--json")[1])["metrics"]
    assert found["error"] == pytest.approx(accuracy["error"], rel=0.8)
    assert calls() <= 26


def test_a_comparison_shares_one_budget_between_its_splits(desk, told):
    asked = ["compare", *desk[1:], *counted(), "--short", "--folds", "2"]
    code, _out, err = told(*asked, "--budget", "20")
    assert code == 2
    assert "give 32" in err
    code, _out, err = told(*asked, "--budget", "34")
    assert code == 0, err
    assert 8 <= calls() <= 34


def test_a_run_is_exported_as_a_study_of_optuna(desk, told):
    optuna = pytest.importorskip("optuna")
    assert told(*desk, *counted(), "--budget", "16", "--run", "run")[0] == 0
    for written in (calls(), 0):
        found = json.loads(told("export", "run", "--optuna", "sqlite:///s.db", "--json")[1])
        assert found["written"] == written
    study = optuna.load_study(study_name="run", storage="sqlite:///s.db")
    known = {one.key: one.value for one in open_store("run/run.db").known().values()}
    assert study.direction.name == "MAXIMIZE"
    assert {trial.user_attrs["key"]: trial.value for trial in study.trials} == known
    first = study.trials[0].params
    assert (first["method"], first["family"], first["iteration"]) == ("anymetric", "linear", 0)
    assert 0.0 < first["flagged"] < 1.0
    assert {trial.params.get("stage") for trial in study.trials} >= {"candidate", "test"}
    code, _out, err = told("export", "run", "--optuna", "nonsense")
    assert code == 2
    assert "--optuna nonsense cannot be used" in err


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("fit", ["--metric-command", "--metric-told", "--command-timeout", "--command-retries"]),
        ("ask", ["--count", "--lease"]),
        ("tell", ["--failed", "KEY VALUE"]),
        ("export", ["--optuna"]),
    ],
)
def test_help_fits_eighty_columns(command, names, told, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _err = told(command, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert [name for name in names if name not in out] == []
