"""Several Parquet files as one table: compared on a sample, fitted to all rows."""

import json
from pathlib import Path

import numpy as np
import pytest

from anymetric.cli.models import load_model

from .conftest import people

pytest.importorskip("pyarrow")
ASK = ["-t", "income", "-m", "f1", "--model", "linear"]
OUT = ["id", "note", "since"]


@pytest.fixture
def files(tmp_path, monkeypatch, small_samples):
    """Three files of people in the current folder, more than a sample has."""
    monkeypatch.chdir(tmp_path)
    table = people(3000).drop(columns=OUT)
    table.loc[5, "income"] = None
    for k in range(3):
        table.iloc[1000 * k : 1000 * (k + 1)].to_parquet(f"part-{k}.parquet", row_group_size=300)
    return "part-*.parquet"


def test_a_pattern_is_fitted_in_passes_over_all_rows(files, told):
    code, out, err = told("fit", files, *ASK, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert "3,000 rows" in err
    assert "passes over them" in found["refit"]["says"]
    code, out, err = told("evaluate", found["saved"]["model"], "part-0.parquet", "--json")
    assert code == 0, err
    lines = Path(found["saved"]["scores"]).read_text().splitlines()[1:]
    numbers = [int(line.partition(",")[0]) for line in lines]
    assert len(numbers) in (199, 200)
    assert max(numbers) > 1000  # the rows of the files, not of the sample


def test_few_files_are_one_table(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    table = people(300).drop(columns=OUT)
    table.iloc[:150].to_parquet("a-0.parquet")
    table.iloc[150:].to_parquet("a-1.parquet")
    table.to_parquet("whole.parquet")
    models = []
    for name in ("a-*.parquet", "whole.parquet"):
        code, out, err = told("fit", name, *ASK, "--json", "--run", f"run-{name[0]}")
        assert code == 0, err
        models.append(load_model(Path(json.loads(out)["saved"]["model"])).estimator)
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-10)


@pytest.mark.parametrize("name", ["none-*.parquet", "rows-*.csv"])
def test_a_pattern_of_nothing_is_an_error(name, tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    code, _, err = told("fit", name, "-t", "y", "-m", "f1")
    assert code != 0
    assert "no such file" in err or "where they are Parquet" in err
