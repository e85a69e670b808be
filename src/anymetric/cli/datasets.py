"""Data sets: those of the paper's experiments, listed, described and written as tables."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anymetric import datasets
from anymetric.cli.faults import UserError, hint, need
from anymetric.cli.tables import check_out, write_table
from anymetric.cli.voice import Voice
from anymetric.datasets.dataset import Dataset
from anymetric.datasets.store import SOURCES, _folders, cache_folder, fetch, read

ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
]


@dataclass(frozen=True)
class Entry:
    """A data set as it is listed.

    Parameters
    ----------
    says : str
    files : tuple of str
        What must be there; shipped files always are.
    table : function
        From nothing to a data frame.
    try_it : str
        The options of a `fit` that makes sense.
    """

    says: str
    files: tuple[str, ...]
    table: Callable[[], Any]
    try_it: str = ""


def adult(file: str) -> Any:
    """Return a file of Adult with the names of its columns.

    Examples
    --------
    >>> adult("adult/adult.test").income.unique().tolist()
    ['<=50K', '>50K']
    """
    text = read(SOURCES[file]).decode("utf-8")
    table = need("pandas").read_csv(
        io.StringIO(text), names=ADULT, comment="|", skipinitialspace=True, na_values="?"
    )
    return table.assign(income=table.income.str.rstrip("."))


def csv(file: str) -> Any:
    """Return a file that has a header.

    Examples
    --------
    >>> csv("compas/compas_two_years.csv").shape
    (7214, 10)
    """
    return need("pandas").read_csv(io.BytesIO(read(SOURCES[file])))


def matrix(load: Callable[[], Dataset]) -> Any:
    """Return a loader's features beside groups and target; metadata may determine it.

    Examples
    --------
    >>> matrix(lambda: datasets.load_simulated(8, random_state=0)).columns[-1]
    'target'
    """
    found, pd = load(), need("pandas")
    X = found.X.toarray() if hasattr(found.X, "toarray") else found.X
    table = pd.DataFrame(X, columns=found.feature_names)
    groups = {} if len(set(found.groups.tolist())) < 2 else {"group": found.groups}
    return pd.concat([table, pd.DataFrame({**groups, "target": found.y})], axis=1)


ENTRIES = {
    "adult": Entry(
        "Census income, 32,561 people: does one earn more than 50,000 dollars a year?",
        ("adult/adult.data",),
        lambda: adult("adult/adult.data"),
        "--target income --metric group_mean_f1 --group sex",
    ),
    "adult-test": Entry(
        "The 16,281 further people of the same census.",
        ("adult/adult.test",),
        lambda: adult("adult/adult.test"),
    ),
    "compas": Entry(
        "7,214 defendants: is one charged again within two years?",
        ("compas/compas_two_years.csv",),
        lambda: csv("compas/compas_two_years.csv"),
        "--target two_year_recid --metric group_mean_f1 --group sex --drop is_recid",
    ),
    "credit": Entry(
        "30,000 holders of credit cards: does one default next month?",
        ("credit_default/default_of_credit_card_clients.csv",),
        lambda: csv("credit_default/default_of_credit_card_clients.csv"),
        "--target default.payment.next.month --metric group_mean_f1 --group SEX --drop ID",
    ),
    "simulated": Entry(
        "5,000 rows of the simulation of section 6.1.",
        (),
        lambda: matrix(lambda: datasets.load_simulated(random_state=0)),
        "--target target --metric gmean",
    ),
    "business": Entry(
        "Pairs of business records: do both describe the same site? The phone stays out.",
        ("business_sites/early_childhood_sites.csv",),
        lambda: matrix(lambda: datasets.load_business_pairs(features="no_phone")),
        "--target target --metric group_mean_f1 --group group",
    ),
    "protein": Entry(
        "Pairs of protein sequences in blocks: are both of one family?",
        ("protein_homology/bio_train.dat",),
        lambda: matrix(datasets.load_protein_homology),
        "--target target --metric prbep",
    ),
}


def show_data(
    name: str | None, out: Path | None, get: bool, voice: Voice, force: bool = False
) -> None:
    """List the data sets, describe one, or write it to a file."""
    if name is None:
        if out is not None or get:
            raise UserError("Which data set? Name one: `anymetric data` lists them.")
        rows = [[key, "yes" if here(entry) else "no", entry.says] for key, entry in ENTRIES.items()]
        voice.prose(["data set", "here", "what it is"], rows)
        listed = [
            {"name": key, "here": here(entry), "says": entry.says} for key, entry in ENTRIES.items()
        ]
        voice.document({"datasets": listed})
        return
    if name not in ENTRIES:
        end = hint(name, ENTRIES) or f" There are: {', '.join(ENTRIES)}."
        raise UserError(f"No data set is called {name!r}.{end}")
    if out is not None:
        check_out(out, force=force)
    table = bring(name, get)
    if out is not None:
        write_table(table, out)
    tell(name, table, out, voice)


def here(entry: Entry) -> bool:
    """Whether a data set can be had without a download."""
    return all(is_here(file) for file in entry.files)


def is_here(file: str) -> bool:
    """Whether a file of data is in a data folder, in the package or in the cache.

    Examples
    --------
    >>> is_here("adult/adult.data")
    True
    """
    places = [*_folders(), cache_folder()]
    return any(place.joinpath(f"{file}{end}").is_file() for place in places for end in (".gz", ""))


def bring(name: str, get: bool) -> Any:
    """Return a data set as a table; it is downloaded only if that was said."""
    entry = ENTRIES[name]
    for file in entry.files:
        if not is_here(file):
            if not get:
                raise UserError(f"{name} is not here: say --fetch to download it.")
            fetch(SOURCES[file])
    return entry.table()


def tell(name: str, table: Any, out: Path | None, voice: Voice) -> None:
    """Describe a data set, and say what to do next."""
    entry = ENTRIES[name]
    voice.line(f"{name}: {entry.says}")
    voice.line(
        f"{len(table):,} rows, {len(table.columns)} columns: {', '.join(table.columns[:40])}"
    )
    if out is not None:
        voice.line(f"Written: {out}")
    if entry.try_it:
        voice.line(f"Try: anymetric fit {out or f'{name}.csv'} {entry.try_it}")
    voice.document(
        {
            "name": name,
            "says": entry.says,
            "rows": len(table),
            "columns": list(table.columns),
            "saved": None if out is None else str(out),
            "try": entry.try_it,
        }
    )
