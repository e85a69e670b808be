"""A column's type is decided once, from the training rows, and every file is read with it."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anymetric.cli.faults import UserError
from anymetric.cli.kinds import CATEGORY, DATE, FLAG, NUMBER, TEXT, guess
from anymetric.cli.models import load_model
from anymetric.cli.reading import read_table
from anymetric.cli.roles import Roles
from anymetric.cli.schema import Schema
from anymetric.cli.spellings import numbers
from anymetric.cli.vectors import Features
from anymetric.cli.voice import Voice

from .conftest import people


def column(*values):
    return pd.Series(list(values), name="x", dtype="str")


WRITTEN = {
    "money": (column("$1,200.50", "$3.00", "-$5.10", "($7.25)"), [1200.5, 3.0, -5.1, -7.25]),
    "thousands": (column("24,259", "1,000", "17"), [24259.0, 1000.0, 17.0]),
    "european": (column("1.234,5", "2,0", "1.000"), [1234.5, 2.0, 1000.0]),
    "percent": (column("5%", "12.5 %"), [0.05, 0.125]),
    "swiss": (column("1'200.50", "CHF 7"), [1200.5, 7.0]),
    "french": (column("1 234,5 €", "2 000,1 €"), [1234.5, 2000.1]),
    "stray words": (column(*map(str, range(30)), "unknown"), [*range(30), np.nan]),
    "scientific": (column("1e3", "2.5E-2"), [1000.0, 0.025]),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_numbers_are_read_as_people_write_them(case):
    values, expected = WRITTEN[case]
    found = guess(values)
    assert found.kind == NUMBER
    np.testing.assert_allclose(found.read(values), expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (column("Jul 26, 2023", "May 3, 2022"), ["2023-07-26", "2022-05-03"]),
        (column("26/07/2023", "01/02/2023"), ["2023-07-26", "2023-02-01"]),
        (column("07/26/2023", "01/02/2023"), ["2023-07-26", "2023-01-02"]),
        (column("2023-07-26", "2023-07-26T10:00:00Z"), ["2023-07-26", "2023-07-26T10:00"]),
        (column("26.07.2023", "1.2.2023"), ["2023-07-26", "2023-02-01"]),
        (column("26-Jul-23", "03-May-22"), ["2023-07-26", "2022-05-03"]),
        (column("7/26/2023 3:45 PM", "1/2/2023 1:00 AM"), ["2023-07-26T15:45", "2023-01-02T01:00"]),
    ],
)
def test_dates_are_read_as_people_write_them(values, expected):
    found = guess(values)
    assert found.kind == DATE
    assert found.read(values).tolist() == [pd.Timestamp(day) for day in expected]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (column("007", "123", "420"), CATEGORY),
        (column("yes", "no", "No"), FLAG),
        (column("yes", "no", "maybe"), CATEGORY),
        (column("+", "-", "+", "-"), CATEGORY),
        (column("1-2", "3-4", "1-2", "3-4"), CATEGORY),
        (column("1.2.3", "1.2.4", "1.2.3", "2.0.0"), CATEGORY),
        (column("12:30", "13:45", "12:30"), CATEGORY),
        (column(*(f"word{i} and more" for i in range(200))), TEXT),
        (pd.Series([True, False], name="x"), FLAG),
        (pd.Series([1, 2], name="x"), NUMBER),
        (pd.Series(["a", "b"] * 5, name="x", dtype="category"), CATEGORY),
    ],
)
def test_other_columns_are_not_taken_for_numbers_or_dates(values, kind):
    assert guess(values).kind == kind


@settings(deadline=None)
@given(st.lists(st.floats(-1e12, 1e12), min_size=1), st.sampled_from(["point", "comma"]))
def test_a_written_number_is_read_back(values, mark):
    text = [f"{value:,.3f}" for value in values]
    if mark == "comma":
        text = [word.translate(str.maketrans(",.", ".,")) for word in text]
    np.testing.assert_allclose(numbers(column(*text), mark), np.round(values, 3), atol=1e-3)


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=30))
def test_any_text_is_some_kind_of_column_and_is_read(values):
    values = column(*values)
    found = guess(values)
    read = found.read(values)
    assert len(read) == len(values)
    # Reading what was read changes nothing.
    pd.testing.assert_series_equal(found.read(read), read, check_dtype=False)


def test_a_european_column_settles_what_others_leave_open():
    table = pd.DataFrame({"a": ["1,5", "2,25"], "b": ["12.000", "7.500"], "y": ["0", "1"]})
    assert Schema.of(table, Roles("y")).read(table).b.tolist() == [12000.0, 7500.0]


def frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(3)
    y = np.where(x + rng.normal(0.0, 0.7, n) > 0.0, "yes", "no")
    code = np.array([f"{k:03d}" for k in rng.integers(0, 9, n)])
    return pd.DataFrame({"x": x.astype(str), "code": code, "y": y})


def test_a_stray_word_at_fit_and_an_empty_cell_later_leave_the_answer_as_it_is(told, tmp_path):
    train, new = frame(), frame(200, seed=1)
    train.loc[7, "x"] = "unknown"
    train.to_csv(tmp_path / "train.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    new.assign(x=["", *new["x"][1:]]).to_csv(tmp_path / "gap.csv", index=False)
    ask = ["-t", "y", "-m", "f1", "--model", "linear", "--run", tmp_path / "run"]
    code, out, err = told("fit", tmp_path / "train.csv", *ask, "--json")
    assert code == 0, err
    assert "x (0.3% unreadable, missing)" in err
    assert json.loads(out)["columns"] == {
        "number": ["x (0.3% unreadable, missing)"],
        "category": ["code (9 values)"],
    }
    model = tmp_path / "run" / "model.skops"
    assert load_model(model).schema["code"].words[7] == "007"
    values = []
    for name in ("new.csv", "gap.csv"):
        code, out, err = told("evaluate", model, tmp_path / name, "--json")
        assert code == 0, err
        values.append(json.loads(out)["metrics"][0]["value"])
    assert values[0] > 0.7
    assert values[1] == pytest.approx(values[0], abs=0.02)
    # What a column was is on the page, too.
    assert "unreadable, missing" in (tmp_path / "run" / "report.html").read_text()
    new.assign(code=new["code"].str.lstrip("0")).to_csv(tmp_path / "bare.csv", index=False)
    for ask in (["predict", model], ["evaluate", model]):
        code, out, err = told(*ask, tmp_path / "bare.csv")
        assert (code, out) == (2, "")
        assert "column 'code' was a category in training; " in err
        assert "were never seen there, such as '" in err
        code, _out, err = told(*ask, tmp_path / "bare.csv", "--allow-unknown")
        assert code == 0, err
        assert "count as missing" in err


def test_a_test_file_that_writes_a_column_otherwise_is_refused(told, tmp_path):
    frame().to_csv(tmp_path / "train.csv", index=False)
    frame(seed=1).assign(x="1,5").to_csv(tmp_path / "test.csv", index=False)
    ask = ["-t", "y", "-m", "f1", "--run", tmp_path / "run"]
    code, out, err = told("fit", tmp_path / "train.csv", *ask, "--test", tmp_path / "test.csv")
    assert (code, out) == (2, "")
    assert "'x' was a number in training; 300 of 300 values (100%) cannot be read" in err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_encodings_are_found(encoding, tmp_path):
    (tmp_path / "a.csv").write_bytes("stadt,x\nZürich,1\nGenève,2\n".encode(encoding))
    assert read_table(tmp_path / "a.csv").stadt.tolist() == ["Zürich", "Genève"]


def test_an_encoding_may_be_named(tmp_path):
    (tmp_path / "a.csv").write_bytes("город\nМосква\n".encode("cp1251"))
    assert read_table(tmp_path / "a.csv", "cp1251")["город"].tolist() == ["Москва"]
    for wrong in ("utf-8", "no such"):
        with pytest.raises(UserError, match="encoding"):
            read_table(tmp_path / "a.csv", wrong)


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson.gz", "a.json", "a.xlsx"])
def test_json_lines_and_excel_are_the_same_table(name, tmp_path):
    table = frame(30)
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
        table.to_excel(tmp_path / name, index=False)
    else:
        lines = "json" in name and not name.endswith(".json")
        table.to_json(tmp_path / name, orient="records", lines=lines)
    roles = Roles("y")
    schema = Schema.of(table, roles)
    assert Schema.of(read_table(tmp_path / name), roles) == schema


def test_what_the_user_says_of_a_column_goes(told, tmp_path):
    table = people(100)
    table["day"] = pd.to_datetime(table["since"]).dt.strftime("%Y%m%d")
    kinds = (("day", DATE), ("vendor", TEXT), ("amount", CATEGORY))
    schema = Schema.of(table, Roles("income", kinds=kinds))
    assert [schema[name].kind for name, _ in kinds] == [DATE, TEXT, CATEGORY]
    assert schema.read(table).day.tolist() == pd.to_datetime(table["since"]).tolist()
    table.to_csv(tmp_path / "rows.csv", index=False)
    ask = ["fit", tmp_path / "rows.csv", "-t", "income", "-m", "f1"]
    for options, said in (
        (["--number", "city"], "--number city: "),
        (["--number", "ctiy"], "no column 'ctiy' (--number). Did you mean 'city'?"),
        (["--text", "city", "--category", "city"], "is said to be a category and a text"),
    ):
        code, out, err = told(*ask, *options)
        assert (code, out) == (2, "")
        assert said in err


def test_empty_constant_and_repeated_columns_are_left_out():
    table = frame(50).assign(one="a", none="", again=lambda t: t["x"])
    schema = Schema.of(table, Roles("y"))
    assert schema.features == ("x", "code")
    assert schema.dropped == {"one": "one value", "none": "empty", "again": "the same as 'x'"}


def test_wide_tables_take_seconds():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 500)).round(3)).astype(str)
    table.columns = [f"g{k}" for k in range(500)]
    table["y"] = rng.choice(["a", "b"], 60)
    schema = Schema.of(table, Roles("y"))
    features, matrix = Features.fitted(schema, schema.read(table), 0)
    assert matrix.shape == (60, 500)
    assert features.names == features.owners == list(schema.features)
    # One encoder for all numbers, not one a column: that is what took minutes.
    assert len(features.steps["table"].transformers_) <= 3


def test_columns_of_a_model_survive_its_file_and_read_alike(done):
    schema = load_model(done.model).schema
    assert schema == Schema.of(
        read_table(done.home / "rows.csv"), Roles("income", ("sex",), drop=("id",))
    )
    schema.check(people(50, seed=4), "new.csv", Voice(quiet=True))
