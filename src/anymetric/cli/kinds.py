"""Kinds: what a column holds, decided once from the training rows and kept with the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anymetric.cli.faults import need
from anymetric.cli.spellings import (
    FALSE,
    MISSING,
    TRUE,
    codes,
    date_format,
    dates,
    flags,
    numbers,
    percents,
    plain_numbers,
    stripped,
)

NUMBER, FLAG, DATE, CATEGORY, TEXT = "number", "yes/no", "date", "category", "text"
KINDS = (NUMBER, FLAG, DATE, CATEGORY, TEXT)
# Up to so many different words a column is a category: a linear model reads that best.
FEW_WORDS = 100
# A column of numbers or dates may have so large a share of other words.
STRAY = 0.1
# Beside many different numbers, so few words ("never", "unknown") stand for missing values.
STRAY_WORDS, MANY_NUMBERS = 3, 20


@dataclass(frozen=True)
class Column:
    """A column: its name, its kind and how it is read.

    Parameters
    ----------
    name, kind : str
    how : str
        Of numbers "point" or "comma", the decimal mark; of dates their format, empty for ISO 8601.
    words : tuple of str
        Of a category: the values that training saw.
    stray : float
        Share of the values at fit that could not be read.
    percent : bool
        Whether most numbers were written with a percent sign.

    Examples
    --------
    >>> price = Column("price", NUMBER, "point")
    >>> price.read(need("pandas").Series(["$1,200.50", "oops"])).tolist()
    [1200.5, nan]
    """

    name: str
    kind: str
    how: str = ""
    words: tuple[str, ...] = ()
    stray: float = 0.0
    percent: bool = False

    def read(self, column: Any) -> Any:
        """Return the values of a column of any file; what cannot be read is missing."""
        readers = {NUMBER: self._numbers, FLAG: self._flags, DATE: self._dates}
        return readers.get(self.kind, as_words)(column).rename(self.name)

    def _numbers(self, column: Any) -> Any:
        types = need("pandas").api.types
        if types.is_timedelta64_dtype(column.dtype):
            return column.dt.total_seconds()
        if types.is_numeric_dtype(column.dtype):
            found = column.to_numpy(np.float64, na_value=np.nan)
            return need("pandas").Series(found, index=column.index)
        mark = self.how or "point"
        found = plain_numbers(column, mark) if types.is_string_dtype(column.dtype) else None
        return numbers(stripped(as_words(column), MISSING), mark) if found is None else found

    def _flags(self, column: Any) -> Any:
        return flags(stripped(as_words(column), MISSING))

    def _dates(self, column: Any) -> Any:
        pd = need("pandas")
        if pd.api.types.is_datetime64_any_dtype(column.dtype):
            found = pd.to_datetime(column, utc=True)
            return found.dt.tz_localize(None).astype("datetime64[us]")
        return dates(stripped(as_words(column), MISSING), self.how)

    @property
    def says(self) -> str:
        """How it is read, in a few words; empty if there is nothing to add."""
        notes = []
        if self.kind == NUMBER:
            notes += ["decimal comma"] if self.how == "comma" else []
            notes += ["%"] if self.percent else []
        if self.kind == DATE and self.how:
            notes.append(written(self.how))
        if self.kind == CATEGORY:
            notes.append(f"{len(self.words)} values")
        notes += [f"{self.stray:.1%} unreadable, missing"] if self.stray else []
        return ", ".join(notes)


def written(format_: str) -> str:
    """Return the format of a date as people write it.

    Examples
    --------
    >>> written("%d/%m/%Y")
    'day/month/year'
    """
    words = {"%d": "day", "%Y": "year", "%y": "year", "%H": "hour", "%I": "hour", "%M": "minute"}
    words |= dict.fromkeys(("%m", "%b", "%B"), "month") | {"%S": "second", "%p": "AM/PM"}
    for mark, word in words.items():
        format_ = format_.replace(mark, word)
    return format_


def as_words(column: Any) -> Any:
    """Return any column as text: whole numbers without a point, dates as ISO 8601 has them.

    Examples
    --------
    >>> as_words(need("pandas").Series([1.0, None])).tolist()
    ['1', nan]
    """
    types = need("pandas").api.types
    if types.is_bool_dtype(column.dtype) or types.is_datetime64_any_dtype(column.dtype):
        return column.map(str, na_action="ignore").astype("str")
    if types.is_numeric_dtype(column.dtype):
        return column.map(_plain, na_action="ignore").astype("str")
    return stripped(column)


def _plain(value: Any) -> str:
    number = isinstance(value, float | np.floating)
    whole = number and value == np.rint(value) and bool(abs(value) < 2**53)
    return str(int(value)) if whole else str(value)


def guess(column: Any, comma: bool = False) -> Column:
    """Decide what a column holds, from its values.

    Parameters
    ----------
    column : Series
    comma : bool
        Whether the file's other numbers have a decimal comma: it settles what is open.

    Examples
    --------
    >>> pd = need("pandas")
    >>> [guess(pd.Series(x, name="x")).kind for x in (["5%", "7%"], ["007", "123"], ["yes", "no"])]
    ['number', 'category', 'yes/no']
    >>> guess(pd.Series(["26/07/2023", "01/02/2023"], name="day")).how
    '%d/%m/%Y'
    """
    pd, name = need("pandas"), str(column.name)
    types = pd.api.types
    if types.is_bool_dtype(column.dtype):
        return Column(name, FLAG)
    mark = "comma" if comma else "point"
    if types.is_numeric_dtype(column.dtype) or types.is_timedelta64_dtype(column.dtype):
        return Column(name, NUMBER, mark)
    if types.is_datetime64_any_dtype(column.dtype):
        return Column(name, DATE)
    if plain_numbers(column, mark) is not None and not codes(column) and not column.isna().all():
        return Column(name, NUMBER, mark)
    text = stripped(column, MISSING).dropna()
    found = _flag(name, text) or _number(name, text, comma) or _date(name, text, comma)
    return found or worded(name, as_words(column))


def _flag(name: str, text: Any) -> Column | None:
    # Three words are enough to see that it is none.
    seen = set(text.iloc[:1000].unique()) if len(text) > 1000 else set(text.unique())
    folded = {value.casefold() for value in seen} if len(seen) <= 4 else {"no", "flag"}
    if folded <= {"0", "1", "0.0", "1.0"} or not (folded & TRUE and folded & FALSE):
        return None
    return Column(name, FLAG) if set(text.str.casefold().unique()) <= TRUE | FALSE else None


def _number(name: str, text: Any, comma: bool, asked: bool = False) -> Column | None:
    if text.empty or (codes(text) and not asked):
        return None
    mark = "comma" if comma else "point"
    found = numbers(text, mark)
    if found.isna().any() or text.str.contains(",", regex=False).any():
        other = "point" if comma else "comma"
        others = numbers(text, other)
        if others.notna().sum() > found.notna().sum():
            mark, found = other, others
    wrong = text[found.isna()]
    few = wrong.nunique() <= STRAY_WORDS and found.nunique() >= MANY_NUMBERS
    if not asked and len(wrong) > (0.5 if few else STRAY) * len(text):
        return None
    most = percents(text) > 0.5 * len(text)
    return Column(name, NUMBER, mark, stray=len(wrong) / len(text), percent=most)


def _date(name: str, text: Any, comma: bool, asked: bool = False) -> Column | None:
    some = text if len(text) <= 1000 else text.sample(1000, random_state=0)
    format_, count = date_format(some, day_first=comma, asked=asked)
    if not asked and (not count or count < (1 - STRAY) * len(some)):
        return None
    read = dates(text, format_).notna().sum()
    return Column(name, DATE, format_, stray=1.0 - read / max(len(text), 1))


def worded(name: str, text: Any, kind: str = "") -> Column:
    """Return a column of words: a category where they are few and come again, else text."""
    words = text.dropna().unique()
    few = len(words) <= FEW_WORDS and (len(words) <= 0.5 * len(text) or len(words) <= 10)
    if kind == TEXT or not (kind or few):
        return Column(name, TEXT)
    return Column(name, CATEGORY, words=tuple(sorted(map(str, words))))


def said(column: Any, kind: str, comma: bool = False) -> Column:
    """Return a column as the kind that the user says it is.

    Examples
    --------
    >>> said(need("pandas").Series([1, 2, 2], name="shop"), CATEGORY).words
    ('1', '2')
    >>> said(need("pandas").Series(["20230726"], name="day"), DATE).how
    '%Y%m%d'
    """
    name, found = str(column.name), guess(column, comma)
    if kind in (CATEGORY, TEXT):
        return worded(name, as_words(column), kind)
    if found.kind == kind or (found.kind == FLAG and kind == NUMBER):
        return found
    text = stripped(as_words(column), MISSING).dropna()
    forced = _date(name, text, comma, asked=True) if kind == DATE else None
    return forced or _number(name, text, comma, asked=True) or Column(name, kind)


def decimal_comma(columns: Iterable[Any]) -> bool:
    """Whether the numbers of a file have a decimal comma: more columns say so than say a point.

    Examples
    --------
    >>> pd = need("pandas")
    >>> decimal_comma([pd.Series(["1.234,5", "2,0"]), pd.Series(["24.259", "1.000"])])
    True
    """
    types = need("pandas").api.types
    text = [column for column in columns if types.is_string_dtype(column.dtype)]
    commas = [column for column in text if column.str.contains(r"\d,\d", na=False).any()]
    found = [comma for column in commas if (comma := column_comma(column)) is not None]
    if not any(found):
        return False
    seen = set(map(id, commas))
    found += [
        comma for one in text if id(one) not in seen and (comma := column_comma(one)) is not None
    ]
    return sum(found) > 0.5 * len(found)


def column_comma(column: Any) -> bool | None:
    """Whether the numbers of a column have a decimal comma; None if that is unclear."""
    text = column[column.str.contains(r"\d[.,]\d", na=False)].iloc[:1000]
    point, comma = (int(numbers(text, mark).notna().sum()) for mark in ("point", "comma"))
    if point == comma or max(point, comma) < 0.5 * len(text):
        return None
    return comma > point
