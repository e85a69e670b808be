"""Vectors: from a table of numbers, words, dates and gaps to a matrix of standardised numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from anymetric.cli.faults import UserError, first_line, need
from anymetric.cli.voice import Voice

# Up to so many different words a column is one-hot: a linear model reads that best.
FEW_WORDS = 100
# What people write in numbers that a reader does not take for one.
MARKS = r"[\s,'$€£%]"
# How a date of ISO 8601 begins: whatever follows, no other date is meant.
ISO = r"\d{4}-\d{2}-\d{2}"
FLAGS = {"true", "false", "yes", "no", "t", "f", "y", "n", "on", "off"}
# What a column was in training, and how to write it.
KINDS = {
    "number": ("a number", "Write them with a decimal point."),
    "flag": ("a number or a flag", "Write them as True and False."),
    "date": ("a date", "Write them as year-month-day, such as 2020-07-13."),
}


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
    table = without_infinity(table if fit else dated(steps, table))
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


def dated(steps: Any, table: Any) -> Any:
    """Return the table with the dates in it read: what were dates in training.

    Examples
    --------
    >>> pd = need("pandas")
    >>> steps = vectoriser(0)
    >>> _ = vectors(steps, pd.DataFrame({"day": ["13/07/2020", "14/07/2020"]}), fit=True)
    >>> dated(steps, pd.DataFrame({"day": ["15/07/2020", "2020-07-15 00:00"]})).day.nunique()
    1
    """
    kinds = steps["table"].column_to_kind_
    days = [name for name in table if kinds.get(name) == "datetime"]
    return table.assign(**{name: dates(table[name], _spelling(steps, name)) for name in days})


def _spelling(steps: Any, column: str) -> str | None:
    """Return how training spelt the dates of a column; None if they were no text."""
    parts = steps["table"].all_processing_steps_[column]
    return next((part.format_ for part in parts if hasattr(part, "format_")), None)


def dates(column: Any, spelling: str | None) -> Any:
    """Return a column of text as dates: as training spelt them, or as ISO 8601 does.

    Examples
    --------
    >>> text = need("pandas").Series(["13/07/2020", "2020-07-13T00:00:00", "7/13/2020"])
    >>> dates(text, "%d/%m/%Y").dt.day.tolist()
    [13.0, 13.0, nan]
    """
    pd = need("pandas")
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column
    text, ways = column.astype("str").str.strip(), {"errors": "coerce", "utc": True}
    found = pd.to_datetime(text.where(text.str.match(ISO)), format="ISO8601", **ways)
    if spelling is None:
        return found
    return pd.to_datetime(text, format=spelling, **ways).fillna(found)


@dataclass(frozen=True)
class Unread:
    """A column that holds something else than in training: how many values, of how many.

    Examples
    --------
    >>> Unread("flag", "flag", 3, 3).says
    "column 'flag' was a number or a flag in training; 3 of 3 values are none here"
    """

    column: str
    kind: str
    wrong: int
    count: int

    @property
    def says(self) -> str:
        """What there is to say of it."""
        values = f"{self.wrong:,} of {self.count:,} values"
        return (
            f"column {self.column!r} was {KINDS[self.kind][0]} in training; {values} are none here"
        )


def unread(steps: Any, table: Any) -> Iterator[Unread]:
    """Yield the columns that were numbers or dates in training and hold something else.

    Examples
    --------
    >>> pd = need("pandas")
    >>> steps = vectoriser(0)
    >>> _ = vectors(steps, pd.DataFrame({"x": [1.0, 2.0, 3.0]}), fit=True)
    >>> next(unread(steps, pd.DataFrame({"x": ["1.5", "oops", None]})))
    Unread(column='x', kind='number', wrong=1, count=2)
    """
    kinds = steps["table"].kind_to_columns_
    for column in (*kinds["numeric"], *kinds["datetime"]):
        values = table[column].dropna()
        kind = "date" if column in kinds["datetime"] else "number"
        if kind == "date":
            good = int(dates(values, _spelling(steps, column)).notna().sum())
        else:
            good = numbers_among(values)
            kind = "flag" if set(values.astype(str).str.lower()) <= FLAGS else kind
        if good < len(values):
            yield Unread(column, kind, len(values) - good, len(values))


def tell_unread(steps: Any, table: Any, name: str, voice: Voice) -> None:
    """Say where a number or a date cannot be read; refuse a column in which none can."""
    for found in unread(steps, table):
        if found.wrong == found.count:
            raise UserError(f"{name}: {found.says}. {KINDS[found.kind][1]}")
        voice.note(f"Note: {name}: {found.says}, and count as missing.")


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
