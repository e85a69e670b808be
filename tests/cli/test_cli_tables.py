"""Files as people write them: read as they are meant, or refused with a sentence."""

import json

import pandas as pd
import pyarrow as pa
import pytest

from anymetric.cli.reading import read_table

from .conftest import ASK, people


def ended(table, name, end):
    """Write a table whose rows, but not its header, have something more at the end."""
    head, *lines = table.to_csv(index=False).splitlines()
    name.write_text("\n".join([head, *(line + end for line in lines)]) + "\n", encoding="utf-8")


@pytest.mark.parametrize("first", ["id", "income"])
def test_separators_at_the_end_of_rows_move_no_column(first, tmp_path):
    table = people(30)
    table.insert(0, "first", table[first])
    table.to_csv(tmp_path / "plain.csv", index=False)
    ended(table, tmp_path / "ended.csv", ",")
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "ended.csv"),
        read_table(tmp_path / "plain.csv"),
    )


def test_a_model_reads_rows_that_end_in_a_separator_alike(done, told, tmp_path):
    people(20, seed=3).to_csv(tmp_path / "plain.csv", index=False)
    ended(people(20, seed=3), tmp_path / "ended.csv", ",")
    plain = told("predict", done.model, tmp_path / "plain.csv")
    assert plain[0] == 0, plain[2]
    assert told("predict", done.model, tmp_path / "ended.csv") == plain


def test_fields_without_a_name_are_refused(done, told, tmp_path):
    name = tmp_path / "rows.csv"
    ended(people(20), name, ",7")
    for ask in (["fit", name, *ASK], ["predict", done.model, name]):
        code, out, err = told(*ask)
        assert (code, out) == (2, "")
        assert "more fields in its rows than names in its header: name every column" in err


def test_an_arrow_stream_is_read_as_an_arrow_file_is(tmp_path):
    table = people(30)
    table.to_feather(tmp_path / "file.arrow")
    rows = pa.Table.from_pandas(table)
    with pa.ipc.new_stream(str(tmp_path / "stream.arrow"), rows.schema) as stream:
        stream.write_table(rows)
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "stream.arrow"), read_table(tmp_path / "file.arrow")
    )


def test_a_column_of_lists_is_in_nobodys_way_unless_it_is_read(rows, told, tmp_path):
    table = people()
    table["tags"] = [["a", "b"]] * len(table)
    table.to_parquet("rows.parquet")
    code, out, err = told("fit", "rows.parquet", *ASK)
    assert (code, out) == (2, "")
    assert "Column 'tags' of rows.parquet holds" in err
    ask = [*ASK, "--drop", "tags", "--drop", "note", "--run", "run", "-q"]
    assert told("fit", "rows.parquet", *ask) == (0, "", "")
    for command in ("predict", "evaluate"):
        code, _out, err = told(command, "run/model.skops", "rows.parquet")
        assert code == 0, err
    code, _out, err = told("predict", "run/model.skops", "rows.parquet", "--keep", "tags")
    assert code == 2
    assert "Column 'tags'" in err


def test_dates_that_are_kept_are_text_in_json(done, told, tmp_path):
    table = people(3)
    table["when"] = pd.to_datetime(["2023-10-07", None, "2023-10-07 12:30"], format="ISO8601")
    table["member"] = table["member"].astype("boolean").where([True, False, True])
    table.to_parquet(tmp_path / "new.parquet")
    ask = ["--keep", "when", "--keep", "member", "--json"]
    code, out, err = told("predict", done.model, tmp_path / "new.parquet", *ask)
    assert code == 0, err
    found = json.loads(out)
    assert found["when"] == ["2023-10-07T00:00:00", None, "2023-10-07T12:30:00"]
    assert found["member"][1] is None
    assert isinstance(found["member"][0], bool)


def test_a_date_is_the_same_however_iso_spells_it(done, told, tmp_path):
    table = people(20, seed=3)
    table.to_csv(tmp_path / "day.csv", index=False)
    expected = told("predict", done.model, tmp_path / "day.csv")
    for end in (" 00:00:00", "T00:00", "T00:00:00Z"):
        table.assign(since=table["since"] + end).to_csv(tmp_path / "time.csv", index=False)
        assert told("predict", done.model, tmp_path / "time.csv") == expected
    table.assign(since=pd.to_datetime(table["since"])).to_parquet(tmp_path / "time.parquet")
    assert told("predict", done.model, tmp_path / "time.parquet") == expected


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_date_that_cannot_be_read_is_spoken_of(command, done, told, tmp_path):
    table = people(20, seed=3)
    table.loc[3, "since"] = "soon"
    table.to_csv(tmp_path / "one.csv", index=False)
    code, _out, err = told(command, done.model, tmp_path / "one.csv")
    assert code == 0, err
    said = "column 'since' was a date in training; 1 of 20 values (5%) cannot be read, such as"
    assert f"{said} 'soon', and count as missing" in err
    days = pd.to_datetime(people(20, seed=3)["since"])
    for other in (days.dt.strftime("%d/%m/%Y"), "soon", 20231007):
        table.assign(since=other).to_csv(tmp_path / "all.csv", index=False)
        code, out, err = told(command, done.model, tmp_path / "all.csv")
        assert (code, out) == (2, "")
        assert "20 of 20 values (100%) cannot be read, such as" in err
        assert "year-month-day" in err


def test_dates_of_a_parquet_file_are_not_guessed_from_text(rows, told):
    table = people()
    table.assign(since=pd.to_datetime(table["since"])).to_parquet("rows.parquet")
    ask = ["-t", "income", "-m", "f1", "--drop", "note", "--run", "run", "-q"]
    assert told("fit", "rows.parquet", *ask) == (0, "", "")
    assert told("predict", "run/model.skops", rows) == told(
        "predict", "run/model.skops", "rows.parquet"
    )
    table.assign(since="07/10/2020").to_csv("guess.csv", index=False)
    code, _out, err = told("predict", "run/model.skops", "guess.csv")
    assert code == 2
    assert "'since' was a date in training" in err


@pytest.mark.parametrize("option", ["--valid", "--test"])
def test_numbers_that_validate_or_test_must_be_numbers(option, rows, told):
    table = people(100, seed=1)
    table.assign(amount="1,5").to_csv("other.csv", index=False)
    code, out, err = told("fit", rows, *ASK, option, "other.csv")
    assert (code, out) == (2, "")
    assert "other.csv: column 'amount' was a number in training; " in err
    table.astype({"amount": object}).assign(amount=["oops", *table["amount"][1:]]).to_csv(
        "other.csv", index=False
    )
    code, out, err = told("fit", rows, *ASK, option, "other.csv", "--drop", "note")
    assert code == 0, err
    assert err.count("other.csv: column 'amount' was a number in training; 1 of ") == 1


def test_a_flag_is_read_in_other_words(done, told, tmp_path):
    table = people(20, seed=3)
    table.to_csv(tmp_path / "new.csv", index=False)
    expected = told("predict", done.model, tmp_path / "new.csv")
    assert expected[0] == 0
    for yes, no in (("yes", "no"), ("Y", "N"), (1, 0), ("ja", "nein")):
        other = table.assign(member=table["member"].map({True: yes, False: no}))
        other.to_csv(tmp_path / "new.csv", index=False)
        assert told("predict", done.model, tmp_path / "new.csv") == expected
    table.assign(member="perhaps").to_csv(tmp_path / "new.csv", index=False)
    code, _out, err = told("predict", done.model, tmp_path / "new.csv")
    assert code == 2
    assert "'member' was yes/no in training; 20 of 20 values (100%) cannot be read" in err
