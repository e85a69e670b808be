"""What goes wrong ends with one sentence and an exit code, and leaves nothing behind."""

import os
import resource
import subprocess
import sys

import pandas as pd
import pytest

from anymetric.cli import fit, models, work

from .conftest import ASK, people

# Words after `anymetric fit rows.csv`, and what the sentence must say.
WRONG = {
    "a missing target": ("-t incme -m f1", "no column 'incme' (--target). Did you mean 'income'"),
    "a missing group": ("-t income -m group_mean_f1 -g Sex", "Did you mean 'sex'?"),
    "no groups": ("-t income -m group_mean_f1", "say --group COLUMN"),
    "thresholds of no groups": ("-t income -m f1 --group-thresholds", "say --group COLUMN"),
    "thresholds of scores": (
        "-t income -m roc_auc -g sex --group-thresholds",
        "'roc_auc' with this target has no threshold",
    ),
    "thresholds of a descent": (
        "-t income -m f1 -g sex --group-thresholds --method descent",
        "--group-thresholds needs --method auto; got descent",
    ),
    "an unknown metric": ("-t income -m macro_f11x", "No metric is called"),
    "an unknown module": ("-t income -m nowhere:profit", "cannot be imported"),
    "an unknown function": ("-t income -m math:sqr", "Did you mean 'sqrt'"),
    "no direction": ("-t income -m math:dist", "--greater-is-better or --lower-is-better"),
    "no side column": ("-t income -m desk:gain_score", "say --side worth"),
    "many labels": ("-t city -m f1", "4 values; two classes are needed"),
    "a strange label": ("-t income -m f1 --positive hihg", "Did you mean 'high'?"),
    "words as numbers": ("-t city -m r2", "must hold numbers"),
    "the wrong task": ("-t income -m f1 --task regression", "is a metric of classification"),
    "nothing to learn from": (
        "-t income -m f1 " + "--drop id --drop age --drop sex --drop city "
        "--drop note --drop since --drop member --drop amount --drop vendor",
        "no column left",
    ),
    "too many groups": ("-t income -m group_mean_f1 -g id", "make 400 groups"),
    "a target with another role": ("-t income -m group_mean_f1 -g income", "another role"),
    "no valid file": ("-t income -m f1 --valid none.csv", "none.csv: no such file"),
    "a taken folder": ("-t income -m f1 --run taken", "taken exists already"),
    "no folder for the model": ("-t income -m f1 -o nowhere/m.skops", "nowhere does not exist"),
}


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.replace(" ", "-"))
def test_a_mistake_is_reported_in_one_sentence_and_leaves_nothing(case, rows, told, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "a.txt").touch()
    (tmp_path / "desk.py").write_text("def gain_score(y_true, y_pred, worth):\n    return 0.0\n")
    before = sorted(os.listdir())
    words, expected = WRONG[case]
    code, out, err = told("fit", rows, *words.split())
    assert (code, out) == (2, "")
    assert expected in err
    assert "Traceback" not in err
    assert len([line for line in err.splitlines() if line.startswith("anymetric: ")]) == 1
    assert sorted(set(os.listdir()) - {"__pycache__"}) == before


FILES = {
    "empty.csv": (b"", "empty.csv is empty"),
    "header.csv": (b"age,income\n", "a header and no rows"),
    "one.csv": (b"age,income\n1,a\n", "has 1 row; training needs at least 10"),
    "class.csv": (b"age,income\n" + b"1,a\n" * 60, "one value only, 'a', in all 60 rows"),
    "bytes.csv": (
        b"age,income\n\xff\xfe\x00,1\n",
        "no text that says its encoding: say --encoding",
    ),
    "broken.csv.gz": (b"\x1f\x8b\x08 no more", "cannot be read as CSV"),
    "broken.parquet": (b"PAR1 no", "cannot be read as Parquet"),
    "broken.arrow": (b"no", "cannot be read as Feather"),
    "rows.xlsx": (b"PK", "cannot be read as Excel"),
    "rows.jsonl": (b'{"age": 1', "cannot be read as JSON"),
    "rows.doc": (b"", "files may be CSV"),
    "ragged.csv": (b"age,income\n1,a\n1,b,c,d\n", "cannot be read as CSV"),
    "gaps.csv": (b"age,income\n" + b"1,\n" * 60, "is empty in every row"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_teaches_nothing_is_refused(name, told, tmp_path):
    (tmp_path / name).write_bytes(FILES[name][0])
    code, out, err = told("fit", tmp_path / name, "-t", "income", "-m", "f1")
    assert (code, out) == (2, "")
    assert FILES[name][1] in err
    assert len(err.splitlines()) == 1
    assert os.listdir(tmp_path) == [name]


def test_a_missing_column_at_predict_time_is_named(done, told, tmp_path):
    people(5).rename(columns={"age": "Age"}).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = told("predict", done.model, tmp_path / "new.csv")
    assert (code, out) == (2, "")
    assert "new.csv has no column 'age'. Did you mean 'Age'?" in err


def test_a_full_disk_is_reported(done, told):
    code, _out, err = told("predict", done.model, done.home / "rows.csv", "-o", "/dev/full")
    assert code == 2
    assert "no space is left on the disk; nothing was kept" in err


def test_a_disk_that_fills_up_leaves_no_run(rows, told):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        code, out, err = told("fit", rows, "-t", "income", "-m", "f1", "--drop", "note")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (code, out) == (2, "")
    assert "nothing was kept" in err
    assert os.listdir() == ["rows.csv"]


def test_a_run_that_was_saved_is_not_said_to_be_lost(rows):
    words = ["fit", rows, "-t", "income", "-m", "f1", "--drop", "note", "--run", "run", "--json"]
    words += ["--model", "linear"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "anymetric", *words, "-q"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "anymetric: no space is left on the disk.\n"
    assert "model.skops" in os.listdir("run")


def test_validation_rows_of_one_class_are_refused_in_the_words_of_the_file(rows, told):
    table = people()
    table[table["income"] == "high"].to_csv("judges.csv", index=False)
    code, out, err = told("fit", rows, "-t", "income", "-m", "f1", "--valid", "judges.csv")
    assert (code, out) == (2, "")
    assert "are all of the class 'high'" in err


def test_an_interrupted_run_leaves_nothing(rows, told, monkeypatch):
    def stopped(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(work, "dump_model", stopped)
    monkeypatch.setattr(work, "train_ours", stopped)
    assert told("fit", rows, *ASK)[0] == 130
    assert os.listdir() == ["rows.csv"]


def test_a_bug_is_reported_without_a_traceback_unless_asked_for(rows, told, monkeypatch):
    def broken(*given):
        raise KeyError("deep")

    monkeypatch.setattr(fit, "find_metric", broken)
    code, _out, err = told("fit", rows, *ASK)
    assert code == 1
    assert "Unexpected KeyError" in err
    assert "Traceback" not in err
    code, _out, err = told("--debug", "fit", rows, *ASK)
    assert code == 1
    assert "Traceback" in err


def test_a_metric_that_fails_is_reported(rows, told, tmp_path):
    (tmp_path / "bad.py").write_text("def bad_score(y_true, y_pred):\n    return 1 / 0\n")
    code, out, err = told("fit", rows, "-t", "income", "-m", "bad:bad_score", "--drop", "note")
    assert (code, out) == (2, "")
    assert "ZeroDivisionError: division by zero (bad.py, line 2, in bad_score: return 1 / 0)" in err
    assert "anymetric-runs" not in os.listdir()


SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    "\x1b[31mred",
    "a,b",
    "[bold]x[/bold]",
    "naïve 列",
    "y",
    "'",
]


def test_hostile_names_are_text_everywhere(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people(200)[["age", "amount", "sex", "member", "city", "vendor", "income"]]
    table.columns = HOSTILE
    table.to_csv("rows.csv", index=False)
    asked = ["-t", "'", "-m", "group_mean_f1", "-g", "a,b", "--model", "linear", "--run", "r"]
    code, out, err = told("fit", "rows.csv", *asked)
    assert code == 0, err
    page = (tmp_path / "r" / "report.html").read_text()
    assert SCRIPT not in page
    code, out, err = told("explain", "r/model.skops")
    assert SCRIPT in out
    assert "[bold]x[/bold]" in out
    assert "\x1b[31m" not in out
    code, out, err = told("predict", "r/model.skops", "rows.csv", "--keep", "a,b", "-o", "s.tsv")
    assert pd.read_csv("s.tsv", sep="\t")["a,b"].tolist() == table["a,b"].tolist()


def test_a_model_of_another_kind_is_no_table_model(tmp_path):
    assert not models.trusted("builtins.eval")
    assert not models.trusted("skrub._data_ops._data_ops.DataOp")
    assert not models.trusted("numpy.f2py.compile")
