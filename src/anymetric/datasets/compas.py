"""COMPAS: ProPublica's two-year recidivism data, 31 features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymetric.datasets.dataset import Dataset
from anymetric.datasets.store import SOURCES, read
from anymetric.datasets.tables import (
    Block,
    buckets,
    numbers,
    one_hot,
    read_columns,
    side_by_side,
    thermometer,
)

_CATEGORIES = ["c_charge_degree", "race", "score_text", "sex"]
# Percentiles 20, 40, 60, 80, 90 of the kept rows; of the prior counts 0, 50, 70, 80, 90.
_AGE_CUTS = [24, 29, 35, 45, 52]
_SCORE_CUTS = [0, 1, 3, 5, 7, 9]
_PRIORS_CUTS = [0, 1, 3, 5, 9]
_DESCRIPTION = (
    "A row is a defendant of Broward County; positive: charged again within two years. "
    "ProPublica, compas-analysis, 2016; public records."
)


def load_compas() -> Dataset:
    """Load COMPAS: 6,172 defendants, will one be charged again within two years?

    Kept are rows screened within 30 days of the arrest, with a known outcome, a charge that is
    no mere traffic offence and a score. ``days_b_screening_arrest`` stays a number; charge
    degree, race, score text and sex are one-hot; age falls into buckets; decile score and prior
    counts are thermometers (above each cut or not). The paper's 4,073 rows are about two
    thirds of these, as the larger side of a 66/34 split would be.

    Returns
    -------
    Dataset
        Groups ``Female`` and ``Male``; metadata columns ``age``, ``race``, ``decile_score`` and
        ``priors_count``.

    Examples
    --------
    >>> load_compas()
    Dataset('compas', 6172 x 31, 45.51 % positive, groups: Female, Male)
    """
    table = read_columns(read(SOURCES["compas/compas_two_years.csv"]))
    columns = {name: np.array(column) for name, column in table.items()}
    kept = _kept_rows(columns)
    columns = {name: column[kept] for name, column in columns.items()}
    X, names = side_by_side(_blocks(columns))
    y = columns["two_year_recid"].astype(np.int64)
    side = {name: numbers(columns[name]) for name in ("age", "decile_score", "priors_count")}
    metadata_columns = {**side, "race": columns["race"]}
    return Dataset("compas", X, y, columns["sex"], names, metadata_columns, _DESCRIPTION)


def _kept_rows(columns: dict[str, NDArray[np.str_]]) -> NDArray[np.bool_]:
    days = numbers(columns["days_b_screening_arrest"])
    known = (columns["is_recid"] != "-1") & (columns["score_text"] != "N/A")
    kept = (np.abs(days) <= 30) & known & (columns["c_charge_degree"] != "O")
    return np.asarray(kept, dtype=np.bool_)


def _blocks(columns: dict[str, NDArray[np.str_]]) -> list[Block]:
    days = numbers(columns["days_b_screening_arrest"])
    return [
        Block(["days_b_screening_arrest"], days[:, None]),
        *(one_hot(name, columns[name].tolist(), _levels(columns[name])) for name in _CATEGORIES),
        buckets("age", numbers(columns["age"]), _AGE_CUTS),
        thermometer("decile_score", numbers(columns["decile_score"]), _SCORE_CUTS),
        thermometer("priors_count", numbers(columns["priors_count"]), _PRIORS_CUTS),
    ]


def _levels(column: NDArray[np.str_]) -> list[str]:
    return [str(level) for level in np.unique(column)]
