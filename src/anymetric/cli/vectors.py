"""Vectors: from a table of numbers, words, dates and gaps to a matrix of standardised numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from anymetric.cli.faults import UserError, first_line, need

# Up to so many different words a column is one-hot: a linear model reads that best.
FEW_WORDS = 100
# What people write in numbers that a reader does not take for one.
MARKS = r"[\s,'$€£%]"


def vectoriser(seed: int) -> Any:
    """Return the steps before the model: skrub's vectoriser, gaps filled and marked, scaled.

    Examples
    --------
    >>> pd = need("pandas")
    >>> table = pd.DataFrame({"age": [20.0, None, 40.0], "city": ["a", "b", "a"]})
    >>> vectoriser(0).fit_transform(table).shape
    (3, 3)
    """
    skrub = need("skrub")
    words = skrub.StringEncoder(n_components=30, random_state=seed)
    table = skrub.TableVectorizer(cardinality_threshold=FEW_WORDS, high_cardinality=words)
    gaps = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline([("table", table), ("gaps", gaps), ("scale", StandardScaler())])


def vectors(steps: Any, table: Any, *, fit: bool = False) -> NDArray[np.float64]:
    """Return the matrix of a table, learning the steps from it if asked."""
    table = without_infinity(table)
    try:
        found = steps.fit_transform(table) if fit else steps.transform(table)
    except Exception as error:  # skrub rejects a column in many ways
        raise UserError(
            f"The columns cannot be turned into numbers: {first_line(error)}."
        ) from error
    matrix = np.asarray(found, dtype=np.float64)
    if not matrix.shape[1]:
        raise UserError("No column holds anything to learn from: all are empty.")
    return matrix


def without_infinity(table: Any) -> Any:
    """Return the table with infinities as missing values.

    Examples
    --------
    >>> int(without_infinity(need("pandas").DataFrame({"x": [1.0, np.inf]})).x.isna().sum())
    1
    """
    wide = table.select_dtypes("number")
    endless = [name for name in wide if np.isinf(wide[name].to_numpy(np.float64, na_value=0)).any()]
    return table.assign(
        **{name: table[name].replace([np.inf, -np.inf], np.nan) for name in endless}
    )


def feature_names(steps: Any) -> list[str]:
    """Return a name for each column of the matrix.

    Examples
    --------
    >>> steps = vectoriser(0)
    >>> _ = vectors(steps, need("pandas").DataFrame({"city": ["a", "b", "a", "c"]}), fit=True)
    >>> feature_names(steps)
    ['city=a', 'city=b', 'city=c']
    """
    table, gaps = steps["table"], steps["gaps"]
    words: dict[str, str] = {}
    for column, outputs in table.input_to_outputs_.items():
        encoder = table.transformers_.get(column)
        if hasattr(encoder, "categories_"):
            words |= {out: f"{column}={out.removeprefix(f'{column}_')}" for out in outputs}
    names = [str(name) for name in table.get_feature_names_out()]
    marks = gaps.get_feature_names_out(names)[len(names) :]
    shown = [words.get(name, name) for name in names]
    return shown + [f"{str(name).removeprefix('missingindicator_')} missing" for name in marks]


def new_words(steps: Any, table: Any) -> dict[str, list[str]]:
    """Return, by column, the values that training never saw.

    Examples
    --------
    >>> pd = need("pandas")
    >>> steps = vectoriser(0)
    >>> _ = vectors(steps, pd.DataFrame({"city": ["a", "b", "a"]}), fit=True)
    >>> new_words(steps, pd.DataFrame({"city": ["a", "c"]}))
    {'city': ['c']}
    """
    found = {}
    for column, encoder in steps["table"].transformers_.items():
        if hasattr(encoder, "categories_"):
            known = {str(value) for value in encoder.categories_[0]}
            new = sorted({str(value) for value in table[column].dropna()} - known)
            if new:
                found[column] = new
    return found


def unread(steps: Any, table: Any) -> list[tuple[str, int, int]]:
    """Return columns that were numbers in training and hold something else: how many, of how many.

    Examples
    --------
    >>> pd = need("pandas")
    >>> steps = vectoriser(0)
    >>> _ = vectors(steps, pd.DataFrame({"x": [1.0, 2.0, 3.0]}), fit=True)
    >>> unread(steps, pd.DataFrame({"x": ["1.5", "oops", None]}))
    [('x', 1, 2)]
    """
    found = []
    for column in steps["table"].kind_to_columns_["numeric"]:
        values = table[column].dropna()
        wrong = len(values) - numbers_among(values)
        if wrong:
            found.append((column, wrong, len(values)))
    return found


def numbers_among(values: Any) -> int:
    """Return how many values are numbers, or say one."""
    return int(need("pandas").to_numeric(values, errors="coerce").notna().sum())


def nearly_numbers(table: Any) -> dict[str, tuple[int, int]]:
    """Return text columns most of whose values would be numbers, but for a comma or a sign.

    Examples
    --------
    >>> pd = need("pandas")
    >>> nearly_numbers(pd.DataFrame({"x": ["1,5", "2,0", "oops"], "city": ["a", "b", "c"]}))
    {'x': (2, 3)}
    """
    found = {}
    for column in table.select_dtypes(["object", "string"]):
        values = table[column].dropna().astype(str)
        count = numbers_among(values.str.replace(MARKS, "", regex=True))
        if count > 0.5 * len(values):
            found[column] = (count, len(values))
    return found
