"""Spellings: numbers, dates and flags as people write them, read from text."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from anymetric.cli.faults import need

# What stands for nothing, in any case: everywhere, and in a column of numbers or dates. A label
# or a group may be called None or "-".
NOTHING = frozenset(
    ["", "nan", "null", "<na>", "nat", "#n/a", "#na", "#null!", "#value!", "#ref!", "#div/0!"]
)
MISSING = NOTHING | frozenset(["na", "n/a", "none", "nil", "-", "--", "---", "?", "."])
TRUE = frozenset(["true", "yes", "y", "t", "on", "ja", "oui", "sí", "si", "1", "1.0"])
FALSE = frozenset(["false", "no", "n", "f", "off", "nein", "non", "0", "0.0"])
# The decimal mark, and what may stand between thousands beside a space or an apostrophe.
MARKS = {"point": (r"\.", ","), "comma": (",", r"\.")}
MONEY = r"(?:[$€£¥₹₩₽¢]|US\$|R\$|USD|EUR|GBP|CHF|JPY|CAD|AUD|INR|SEK|NOK|DKK|PLN|kr\.?|zł|Fr\.)"
# A date of ISO 8601: whatever a column is written in otherwise, no other date is meant.
ISO = r"\d{4}-\d{2}-\d{2}"
# What pandas' guess does not know: two digits of a year, hours of twelve, a month and a year.
FORMATS = (
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%b-%y",
    "%b %Y",
    "%B %Y",
)
# Values that a guess at the format of dates looks at.
LOOKED_AT = 20


def stripped(column: Any, nothing: frozenset[str] = NOTHING) -> Any:
    """Return a column of text without blanks at the ends; what stands for nothing is missing.

    Examples
    --------
    >>> stripped(need("pandas").Series([" a ", "N/A", ""]), MISSING).isna().tolist()
    [False, True, True]
    """
    text = column.astype("str").str.strip()
    return text.where(~text.str.casefold().isin(nothing))


def plain_numbers(column: Any, mark: str = "point") -> Any | None:
    """Return a column of which every value is a plain number or missing; None of any other.

    Examples
    --------
    >>> plain_numbers(need("pandas").Series(["1.5", None])).tolist()
    [1.5, nan]
    >>> plain_numbers(need("pandas").Series(["1,5"])) is None
    True
    """
    if mark == "comma" and column.str.contains(".", regex=False, na=False).any():
        return None  # a point may stand between thousands: 1.234 is no 1.2
    try:
        return need("pandas").to_numeric(column).astype("float64")
    except (TypeError, ValueError):
        return None


def number_pattern(mark: str) -> str:
    """Return what a number looks like whose decimal mark is a point or a comma."""
    decimal, thousands = MARKS[mark]
    between = rf"[{thousands} \u00a0\u202f'’_]"
    whole = rf"\d{{1,3}}(?:{between}\d{{2,3}})*{between}\d{{3}}|\d+"
    return rf"(?:(?:{whole})(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][-+]?\d+)?"


def numbers(text: Any, mark: str = "point") -> Any:
    """Return text as numbers: money, percents, thousands and brackets for losses are read.

    Examples
    --------
    >>> pd = need("pandas")
    >>> numbers(pd.Series(["$1,200.50", "5%", "(3)", "1.234,5", "a"])).tolist()
    [1200.5, 0.05, -3.0, nan, nan]
    >>> numbers(pd.Series(["1.234,5", "7 €", "−2"]), "comma").tolist()
    [1234.5, 7.0, -2.0]
    """
    pd = need("pandas")
    plain = pd.to_numeric(text, errors="coerce").astype("float64")
    # Where a comma is the decimal mark, a point may stand between thousands: 1.234 is no 1.2.
    plain = (
        plain.where(~text.str.contains(".", regex=False, na=False)) if mark == "comma" else plain
    )
    open_ = text[plain.isna() & text.notna()]
    return plain if open_.empty else plain.fillna(_written(open_, mark).reindex(plain.index))


def _written(text: Any, mark: str) -> Any:
    pd = need("pandas")
    sign, money = r"(?P<sign>[-+−(]?)", rf"(?:{MONEY}\s?)?"
    inner = rf"(?P<sign2>[-+−]?)(?P<number>{number_pattern(mark)})"
    end = rf"(?:\s?{MONEY})?(?P<percent>\s?%)?(?P<close>[-)]?)"
    parts = text.astype(object).str.extract(rf"^{sign}{money}{inner}{end}$")
    decimal, thousands = MARKS[mark]
    digits = parts["number"].str.replace(rf"[{thousands} \u00a0\u202f'’_]", "", regex=True)
    value = pd.to_numeric(digits.str.replace(decimal, ".", regex=True), errors="coerce")
    bracket = parts["sign"].eq("(")
    value = value.where(bracket.eq(parts["close"].eq(")"))).astype("float64")
    negative = bracket | parts[["sign", "sign2"]].isin(["-", "−"]).any(axis=1)
    value = value.where(~(negative | parts["close"].eq("-")), -value)
    return value.where(parts["percent"].isna(), value / 100.0)


def percents(text: Any) -> int:
    """Return how many values are written with a percent sign.

    Examples
    --------
    >>> percents(need("pandas").Series(["5%", "7"]))
    1
    """
    return int(text.str.endswith("%", na=False).sum())


def codes(text: Any) -> bool:
    """Whether digits are codes rather than numbers: they begin with a zero that says something.

    Examples
    --------
    >>> pd = need("pandas")
    >>> codes(pd.Series(["007", "123"])), codes(pd.Series(["0", "10"]))
    (True, False)
    """
    padded = text.str.match(r"0\d+$", na=False)
    if not padded.any():
        return False
    even = text.str.len().nunique() == 1
    return bool(even or padded.sum() > 0.05 * text.notna().sum())


def flags(text: Any) -> Any:
    """Return words for yes and no as 1 and 0; other words are missing.

    Examples
    --------
    >>> flags(need("pandas").Series(["Yes", "FALSE", "maybe"])).tolist()
    [1.0, 0.0, nan]
    """
    known = dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
    return text.str.casefold().map(known).astype("float64")


def dates(text: Any, format_: str = "") -> Any:
    """Return text as dates: in a format, or as ISO 8601 has it; in UTC, without a zone.

    Examples
    --------
    >>> text = need("pandas").Series(["13/07/2020", "2020-07-13T00:00:00", "7/13/2020"])
    >>> dates(text, "%d/%m/%Y").dt.day.tolist()
    [13.0, 13.0, nan]
    """
    pd = need("pandas")
    text, ways = text.astype("str"), {"errors": "coerce", "utc": True}
    iso = text.str.match(ISO, na=False)
    found = pd.to_datetime(text.where(iso), format="ISO8601", **ways)
    if format_ and not iso.all():
        found = found.fillna(pd.to_datetime(text.where(~iso), format=format_, **ways))
    return found.dt.tz_localize(None).astype("datetime64[us]")


def date_format(text: Any, day_first: bool = False, asked: bool = False) -> tuple[str, int]:
    """Return the format that reads most values as dates, and how many; "" is ISO 8601.

    Examples
    --------
    >>> date_format(need("pandas").Series(["Jul 26, 2023", "May 3, 2022", "soon"]))
    ('%b %d, %Y', 2)
    """
    best, most = "", 0
    for one in date_formats(text, day_first, asked):
        count = int(dates(text, one).notna().sum())
        best, most = (one, count) if count > most else (best, most)
        if most == len(text):
            break
    return best, most


def date_formats(text: Any, day_first: bool = False, asked: bool = False) -> Iterator[str]:
    """Yield formats that some values may be dates in, the more probable first; none for numbers."""
    guess = need("pandas.tseries.api").guess_datetime_format
    values = list(dict.fromkeys(text.dropna()))[:LOOKED_AT]
    if not asked and sum(map(_dated, values)) < 0.5 * len(values):
        return
    yield ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [guess(value, dayfirst=first) for first in (False, True) for value in values]
    both = dict.fromkeys([*(one for one in found if one), *FORMATS])
    yield from sorted(_whole(both), key=lambda one: day_first != one.startswith("%d"))


def _dated(value: str) -> bool:
    """Whether a value has two parts or more, and digits in them."""
    return any(letter.isdigit() for letter in value) and not value.replace(".", "", 1).isdigit()


def _whole(formats: Iterable[str]) -> Iterator[str]:
    for one in formats:
        if ("%y" in one.lower()) and ("%m" in one or "%b" in one or "%B" in one):
            yield one
