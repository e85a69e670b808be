"""Tables with every kind of column and label, and runs that many tests look at."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from anymetric.__main__ import main

ASK = [
    "--model",
    "linear",
    "--target",
    "income",
    "--metric",
    "group_mean_f1",
    "--group",
    "sex",
    "--drop",
    "id",
]


def people(n=400, seed=0):
    """Numbers with gaps, words, free text, dates, flags; an income that depends on some."""
    rng = np.random.default_rng(seed)
    age = rng.normal(40.0, 10.0, n)
    sex = rng.choice(["Female", "Male"], n)
    city = rng.choice(["Zürich", "北京", "O'Fallon", "a,b"], n)
    rich = age + 8.0 * (sex == "Male") + 6.0 * (city == "Zürich") + rng.normal(0.0, 8.0, n)
    words = np.array(["likes", "tea", "and", "rain", "hates", "snow", "walks", "far"])
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": np.where(rng.random(n) < 0.1, np.nan, age.round(1)),
            "sex": sex,
            "city": np.where(rng.random(n) < 0.1, None, city),
            "note": [f"{i} " + " ".join(rng.choice(words, 5)) for i in range(n)],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "member": rng.random(n) < 0.5,
            "amount": rng.exponential(100.0, n).round(2),
            "vendor": rng.choice(["A", "B"], n),
            "income": np.where(rich > 55.0, "high", "low"),
        }
    )
    return table.astype({"since": str})


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A file of people in an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    people().to_csv("rows.csv", index=False)
    return "rows.csv"


@pytest.fixture
def told(capsys):
    """Run a command; return its exit code, standard output and standard error."""

    def run(*arguments):
        capsys.readouterr()
        code = main([str(part) for part in arguments])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return run


@dataclass
class Done:
    home: Path
    folder: Path
    model: Path
    found: dict
    err: str


def fit_run(home, table, ask):
    """Run `fit` on a table in a folder; return everything that it printed and wrote."""
    table.to_csv(home / "rows.csv", index=False)
    folder, model = home / "runs" / "one", home / "model.skops"
    out, err = io.StringIO(), io.StringIO()
    asked = ["fit", str(home / "rows.csv"), *ask, "--run", str(folder), "--out", str(model)]
    asked.append("--no-refit")  # the saved model is that of the table
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main([*asked, "--json"]) == 0
    return Done(home, folder, model, json.loads(out.getvalue()), err.getvalue())


@pytest.fixture(scope="session")
def done(tmp_path_factory):
    """One run of `fit`, of two classes."""
    return fit_run(tmp_path_factory.mktemp("fit"), people(), ASK)


def flowers():
    """The irises, in two fields that say nothing."""
    iris = load_iris(as_frame=True)
    field = np.where(np.arange(150) % 2, "near", "far")
    return iris.data.assign(field=field, species=iris.target_names[iris.target])


@pytest.fixture(scope="session")
def grown(tmp_path_factory):
    """One run of `fit`, of three classes."""
    ask = ["-t", "species", "-m", "macro_f1", "-g", "field"]
    return fit_run(tmp_path_factory.mktemp("many"), flowers(), ask)
