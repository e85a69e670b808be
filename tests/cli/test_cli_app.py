"""The app itself: light, lazy, and clear about what it has."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anymetric
from anymetric.__main__ import main
from anymetric.cli.progress import Course, Plain
from anymetric.cli.progress import told as telling
from anymetric.cli.reading import read_table, separator_of
from anymetric.cli.roles import Roles
from anymetric.cli.schema import Schema
from anymetric.cli.tables import write_table
from anymetric.cli.voice import Voice, measured, shown, strict
from anymetric.ledger import Probe
from anymetric.metrics import metric_names
from anymetric.solution import Iteration

from .conftest import people


def imported_by(code):
    code += "\nimport sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_help_loads_nothing_heavy():
    seen = imported_by("import anymetric.cli.commands")
    assert not seen & {"sklearn", "numpy", "scipy", "pandas", "skrub", "skops", "pyarrow"}


def test_every_public_name_is_there_when_asked_for():
    assert set(anymetric.__all__) <= set(dir(anymetric))
    space = {}
    exec("from anymetric import *", space)
    assert set(anymetric.__all__) <= set(space)
    assert anymetric.baselines.TunedThreshold
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = anymetric.nothing


def test_a_missing_extra_is_one_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--help"]) == 2
    assert capsys.readouterr().err == (
        "The command line needs typer: pip install 'anymetric[cli]'.\n"
    )


COMMANDS = ["fit", "predict", "evaluate", "explain", "report", "compare", "metrics", "data", "demo"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_every_command_has_a_word_of_help(command, monkeypatch):
    import typer

    from anymetric.cli.commands import app

    group = typer.main.get_command(app)
    for option in group.commands[command].params:
        assert option.help, f"{command} {option.name}"


def test_help_names_the_commands_in_reading_order(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    places = [out.index(f"\n  {name} ") for name in (*COMMANDS, "paper")]
    assert places == sorted(places)


def test_all_metrics_are_listed_with_a_formula(told):
    code, out, err = told("metrics", "--json")
    assert code == 0, err
    found = {entry["name"]: entry for entry in json.loads(out)["metrics"]}
    assert sorted(found) == metric_names()
    assert all(entry["formula"].endswith(".") for entry in found.values())
    assert found["group_mean_f1"]["needs"] == "--group"
    code, out, err = told("metrics")
    assert all(name in out for name in found)


def test_an_unknown_metric_is_answered_with_near_ones(told):
    code, out, err = told("metrics", "balanced_acuracy")
    assert (code, out) == (2, "")
    assert "Did you mean balanced_accuracy" in err


def test_shipped_data_are_written_as_tables(told, tmp_path):
    code, out, err = told("data", "adult-test", "--out", tmp_path / "a.parquet", "--json")
    assert code == 0, err
    table = pd.read_parquet(tmp_path / "a.parquet")
    assert table.shape == (16281, 15)
    assert sorted(table["income"].unique()) == ["<=50K", ">50K"]
    assert json.loads(out)["rows"] == 16281


def test_data_that_are_not_here_are_fetched_only_if_said(told, monkeypatch, tmp_path):
    monkeypatch.delenv("ANYMETRIC_DATA", raising=False)
    monkeypatch.setenv("ANYMETRIC_CACHE", str(tmp_path))
    code, out, err = told("data", "protein")
    assert (code, out) == (2, "")
    assert "say --fetch" in err
    assert told("data", "protien")[2].endswith("Did you mean 'protein'?\n")
    listed = json.loads(told("data", "--json")[1])["datasets"]
    assert {entry["name"]: entry["here"] for entry in listed}["protein"] is False


def test_paper_gets_what_is_typed(monkeypatch):
    import anymetric.paper.run

    seen = []
    monkeypatch.setattr(anymetric.paper.run, "main", lambda words: seen.append(words) or 1)
    assert main(["paper", "--quick", "--only", "table2"]) == 1
    assert seen == [["--quick", "--only", "table2"]]


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.bz2", "a.csv.xz", "a.csv.zip", "a.parquet", "a.arrow"],
)
def test_every_kind_of_file_gives_the_same_table(name, tmp_path):
    table = people(30)
    write_table(table, tmp_path / name)
    again = read_table(tmp_path / name)
    schema = Schema.of(table, Roles("income"))
    assert Schema.of(again, Roles("income")) == schema
    pd.testing.assert_frame_equal(schema.read(again), schema.read(table), check_dtype=False)


def test_zstandard_is_read(tmp_path):
    import pyarrow as pa

    people(30).to_csv(tmp_path / "a.csv", index=False)
    with pa.output_stream(str(tmp_path / "a.csv.zst"), compression="zstd") as packed:
        packed.write((tmp_path / "a.csv").read_bytes())
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "a.csv.zst"), read_table(tmp_path / "a.csv")
    )


@given(st.lists(st.text("abc", min_size=1), min_size=2, max_size=6), st.sampled_from(",;\t|"))
def test_the_separator_of_a_header_is_found(names, separator):
    assert separator_of(separator.join(names)) == separator


@pytest.mark.parametrize("name", ["logistic regression", "anymetric", "a" * 60])
def test_a_number_and_its_error_stand_on_one_line(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    cells = ["593.0800 ± 363.3715", "+593.0800 ± 363.3715", "12.3", "1,234"]
    Voice().table(["", "value", "improvement", "seconds", "calls"], [[name, *cells]], "profit")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(all(cell in line for cell in cells) for line in lines)


def test_where_numbers_do_not_fit_none_of_them_is_cut_off(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    cells = [f"{k}593.0800 ± 363.3715" for k in range(4)]
    Voice().table(["", *"abcd"], [["anymetric", *cells]])
    out = capsys.readouterr().out
    assert sum(letter.isdigit() for letter in out) == sum(map(len, cells)) - 4 * 5


@given(st.text())
def test_what_is_shown_cannot_move_a_terminal(text):
    assert all(letter == "\n" or letter.isprintable() for letter in shown(text))


@given(st.recursive(st.floats() | st.integers() | st.text(), lambda x: st.lists(x), max_leaves=8))
def test_documents_are_strict_json(value):
    assert list(json.loads(json.dumps(strict({"a": value}), allow_nan=False))) == ["a"]


def iteration(cost, calls):
    return Iteration(0, 0, Probe(np.zeros(1), np.ones(1), cost), np.ones(1), calls=calls)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_a_course_counts_iterations_and_calls_and_keeps_the_best(costs):
    course = Course("anymetric", most=20, began=0.0)
    for k, cost in enumerate(costs):
        course.note(iteration(cost, k + 1))
    assert (course.iterations, course.calls, course.best) == (len(costs), len(costs), min(costs))
    assert f"iteration {len(costs)}/20" in course.line(now=1.0)


def test_plain_lines_come_once_in_a_while_and_never_when_quiet(capsys, monkeypatch):
    monkeypatch.setattr("anymetric.cli.progress.PAUSE", 0.0)
    course = Course("anymetric", most=2)
    course.note(iteration(0.5, 1))
    Plain(Voice(), course).tell()
    assert "iteration 1/2" in capsys.readouterr().err
    with telling(Voice(quiet=True), course) as tell:
        tell()
    assert capsys.readouterr() == ("", "")


RUNS = ["resume", "ask", "tell", "status", "best", "export"]


@pytest.mark.parametrize("command", ["", *COMMANDS, *RUNS, "paper"])
def test_help_fits_eighty_columns_and_cuts_no_word(command, told, monkeypatch):
    import typer

    from anymetric.cli.commands import app

    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = told(*([command] if command else []), "--help")
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    if command == "paper":  # argparse writes that one
        return
    group = typer.main.get_command(app)
    params = group.commands[command].params if command else group.params
    flowing = " ".join(out.split())
    for one in params:
        assert all(name in flowing for name in one.opts if name.startswith("-"))
        assert one.help in flowing


@pytest.mark.parametrize("seconds", [0.12, 0.3])
def test_stopping_while_modules_are_imported_is_quiet(seconds, tmp_path):
    command = [sys.executable, "-m", "anymetric", "fit", "x.csv", "-t", "y", "-m", "f1"]
    begun = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    time.sleep(seconds)
    begun.send_signal(signal.SIGINT)
    _out, err = begun.communicate(timeout=60)
    assert "Traceback" not in err
    assert "KeyboardInterrupt" not in err


def test_numbers_of_a_column_stand_below_each_other(capsys):
    cells = [measured(0.689, 0.0094), measured(12.5, 0.12), measured(3.0, None)]
    rows = [[f"m{k}", cell] for k, cell in enumerate(cells)]
    Voice().table(["method", "value"], rows, "A title that is wider than the table below it is")
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.rstrip() == "A title that is wider than the table below it is"
    values = [line for line in lines if "." in line]
    assert len({line.index(".") for line in values}) == 1
    assert len({line.index("±") for line in values if "±" in line}) == 1
    assert values[0].split()[1:] == ["0.6890", "±", "0.0094"]
