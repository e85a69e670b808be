"""Adult: the census income data, its proxy-label task and the authors' noisy-label task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.model_selection import train_test_split

from anymetric.datasets.corruptions import flip_labels
from anymetric.datasets.dataset import Dataset, no_groups
from anymetric.datasets.store import SOURCES, read
from anymetric.datasets.tables import Block, buckets, numbers, one_hot, read_columns, side_by_side

Subset = Literal["train", "test", "all"]

_COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "gender",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
]
_CATEGORIES = [
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "gender",
    "native_country",
]
# The age cuts are the quartiles of the training file.
_CUTS: dict[str, list[float]] = {
    "age": [28, 37, 48],
    "capital_gain": [1, 4000, 10000],
    "capital_loss": [1, 1800, 1950],
    "hours_per_week": [39, 41, 50],
    "education_num": [8, 9, 11],
}
_NUMBERS = ["age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
_FILES = {"train": ["adult.data"], "test": ["adult.test"], "all": ["adult.data", "adult.test"]}
_SOURCE = "Becker and Kohavi, Adult, UCI Machine Learning Repository, 1996; CC BY 4.0."


def load_adult(subset: Subset = "train", *, sparse: bool = False) -> Dataset:
    """Load Adult: does a person earn more than 50,000 dollars a year? 122 binary features.

    Parameters
    ----------
    subset : {"train", "test", "all"}
        The 32,561 rows of ``adult.data`` (the paper's number), the 16,281 of ``adult.test``,
        or both, in this order.
    sparse : bool
        Return X as a csr_array: 13 of the 122 features are 1 in every row.

    Returns
    -------
    Dataset
        Groups ``Female`` and ``Male``. Metadata columns: the raw numbers (``age``, ``fnlwgt``,
        ``education_num``, ``capital_gain``, ``capital_loss``, ``hours_per_week``), ``race``,
        ``workforce`` (``private`` or ``non_private``) and ``wife`` (1 where relationship is
        Wife).

    Examples
    --------
    >>> load_adult()
    Dataset('adult', 32561 x 122, 24.08 % positive, groups: Female, Male)
    """
    if subset not in _FILES:
        raise ValueError(f"subset must be one of {sorted(_FILES)}; got {subset!r}.")
    parts = {name: _columns(name) for name in {"adult.data", *_FILES[subset]}}
    # Levels are those of the training file, so that all subsets have the same features.
    levels = {name: sorted(set(parts["adult.data"][name])) for name in _CATEGORIES}
    wanted = [parts[name] for name in _FILES[subset]]
    columns = {name: [value for part in wanted for value in part[name]] for name in _COLUMNS}
    values = {name: numbers(columns[name]) for name in _NUMBERS}
    X, names = side_by_side(_blocks(columns, values, levels))
    y = np.array([income.startswith(">50K") for income in columns["income"]], dtype=np.int64)
    description = f"A row is a person; positive: income above 50K. {_SOURCE}"
    groups = np.array(columns["gender"])
    side = {**values, **_side(columns)}
    matrix = sp.csr_array(X) if sparse else X
    return Dataset("adult", matrix, y, groups, names, side, description)


def load_adult_proxy(subset: Subset = "train", *, sparse: bool = False) -> Dataset:
    """Load the proxy task of section 6.4: is a person female, when training sees only wives?

    ``y`` is the true label (gender Female), metadata column ``proxy`` the cheap one (relationship
    Wife: 1,566 women and 2 men of the training file). The gender columns and the Wife column
    leave the features; 119 remain, and no groups.

    Parameters
    ----------
    subset, sparse
        As in :func:`load_adult`.

    Examples
    --------
    >>> task = load_adult_proxy()
    >>> task.X.shape, int(task.side["proxy"].sum()), int(task.y.sum())
    ((32561, 119), 1568, 10771)
    """
    adult = load_adult(subset)
    gone = {"gender=Female", "gender=Male", "relationship=Wife"}
    kept = [k for k, name in enumerate(adult.feature_names) if name not in gone]
    X = np.asarray(adult.X)[:, kept]
    side = {name: column for name, column in adult.side.items() if name != "wife"}
    return Dataset(
        "adult_proxy",
        sp.csr_array(X) if sparse else X,
        (adult.groups == "Female").astype(np.int64),
        no_groups(len(adult)),
        [adult.feature_names[k] for k in kept],
        {**side, "proxy": adult.side["wife"]},
        f"A row is a person; positive: female; proxy: relationship Wife. {_SOURCE}",
    )


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """A task with wrong labels in training and clean ones elsewhere.

    The training part keeps its true labels as metadata column ``clean_y``.

    Attributes
    ----------
    train : Dataset
        The rows whose labels may be wrong.
    validation, test : Dataset
        Clean rows.

    Examples
    --------
    >>> task = load_adult_noisy_labels(random_state=0)
    >>> bool((task.train.y <= task.train.side["clean_y"]).all())
    True
    """

    train: Dataset
    validation: Dataset
    test: Dataset


def load_adult_noisy_labels(
    *,
    random_state: int | Literal["notebook"] = "notebook",
    fraction: float = 0.3,
    validation: float = 0.01,
    sparse: bool = False,
) -> NoisyLabels:
    """Load the setting of the authors' notebook: flipped positives and few clean rows.

    One per cent of the training file is set aside as a clean validation sample (326 of 32,561
    rows); of the other 32,235 rows each positive label is turned negative with probability
    0.3. The test part is ``adult.test``.

    The notebook leaves the age of 395 training rows out of every bucket (it cuts without the
    lowest edge); here these rows fall into the first one, and no row is lost in either.

    Parameters
    ----------
    random_state : int or "notebook"
        ``"notebook"`` draws the very rows and flips that the notebook draws.
    fraction, validation : float
        The probability of a flip, and the share of clean rows.
    sparse : bool
        As in :func:`load_adult`.

    Examples
    --------
    >>> task = load_adult_noisy_labels()
    >>> len(task.train), len(task.validation), len(task.test)
    (32235, 326, 16281)
    """
    rows = load_adult("train", sparse=sparse)
    split_seed = 40 if random_state == "notebook" else random_state
    kept, clean = train_test_split(
        np.arange(len(rows)), test_size=validation, random_state=split_seed
    )
    train = rows.take(kept)
    if random_state == "notebook":
        draws = np.random.RandomState(123456).rand(len(train))
        noisy = np.where(draws <= fraction, 0, train.y)
    else:
        noisy = flip_labels(train.y, fraction, np.random.default_rng(random_state))
    side = {**train.side, "clean_y": train.y}
    return NoisyLabels(
        replace(train, name="adult_noisy_labels", y=noisy, side=side),
        rows.take(clean),
        load_adult("test", sparse=sparse),
    )


def _columns(file: str) -> dict[str, list[str]]:
    raw = read(SOURCES[f"adult/{file}"])
    if raw.startswith(b"|"):  # adult.test opens with a line that is no row
        raw = raw.partition(b"\n")[2]
    return read_columns(raw, _COLUMNS)


def _blocks(
    columns: dict[str, list[str]],
    values: dict[str, NDArray[np.float64]],
    levels: dict[str, list[str]],
) -> list[Block]:
    categories = [one_hot(name, columns[name], levels[name]) for name in _CATEGORIES]
    return [*categories, *(buckets(name, values[name], cuts) for name, cuts in _CUTS.items())]


def _side(columns: dict[str, list[str]]) -> dict[str, NDArray[Any]]:
    private = np.array(columns["workclass"]) == "Private"
    wife = np.array([value == "Wife" for value in columns["relationship"]], dtype=np.int64)
    return {
        "race": np.array(columns["race"]),
        "workforce": np.where(private, "private", "non_private"),
        "wife": wife,
    }
