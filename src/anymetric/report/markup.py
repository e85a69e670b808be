"""Markup: HTML that is safe by construction: plain text is escaped, only tags are not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
# Decimals that are shown of a number; what needs more of them is shown with an exponent.
MOST_DECIMALS, SMALL, LARGE = 6, 1e-4, 1e12
# Columns that fit side by side on a phone.
NARROW = 3
# What could end a script element, or a line of a script, becomes an escape that JSON knows.
IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Markup(str):
    """Text that is HTML already; any other text is escaped when it meets a tag.

    Examples
    --------
    >>> tag("p", "1 < 2, ", tag("b", "sure"))
    '<p>1 &lt; 2, <b>sure</b></p>'
    """


def text(value: str) -> Markup:
    """Return text as HTML shows it; what no file can hold is replaced.

    Examples
    --------
    >>> text("<i>"), text(Markup("<i>"))
    ('&lt;i&gt;', '<i>')
    """
    if isinstance(value, Markup):
        return value
    return Markup(escape(storable(value)))


def storable(value: str) -> str:
    """Replace what UTF-8 cannot hold, and the null character, which HTML forbids.

    Examples
    --------
    >>> storable("a" + chr(0xD800))
    'a?'
    """
    return (
        value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )


def tag(name: str, *inside: str, **attributes: Any) -> Markup:
    """Return an element; ``class_`` means class, ``aria_label`` aria-label; None is left out.

    Examples
    --------
    >>> tag("a", "x & y", href="?a=<1>", hidden=True, id=None)
    '<a href="?a=&lt;1&gt;" hidden>x &amp; y</a>'
    """
    pairs = "".join(attribute(key, value) for key, value in attributes.items())
    return Markup(f"<{name}{pairs}>{''.join(map(text, inside))}</{name}>")


def attribute(key: str, value: Any) -> str:
    """Return one attribute with a space before it, or nothing."""
    key = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {key}" if value is True else f' {key}="{text(str(value))}"'


def coded(value: str) -> Markup:
    """Return text with what stands between backquotes as code.

    Examples
    --------
    >>> coded("raise `turns` & go")
    'raise <code>turns</code> &amp; go'
    """
    parts = re.split(r"`+([^`]+)`+", value)
    return joined(tag("code", part) if k % 2 else part for k, part in enumerate(parts))


def joined(parts: Iterable[str]) -> Markup:
    """Return the parts one after the other, escaped where they are plain text."""
    return Markup("".join(map(text, parts)))


def in_script(value: Any) -> Markup:
    """Return plain values as JSON that may stand in a script element.

    Examples
    --------
    >>> in_script({"name": "</script>"})
    '{"name": "\\\\u003c/script\\\\u003e"}'
    """
    return Markup(json.dumps(value, allow_nan=False).translate(IN_SCRIPT))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], **attributes: Any) -> Markup:
    """Return a table whose first column is its names; a phone shows wide ones row by row."""
    if len(head) > NARROW:
        attributes.setdefault("class_", "stack")
    top = tag("thead", tag("tr", *(tag("th", cell, scope="col") for cell in head)))
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            # A phone shows each row as a small list of its own, with these as its words.
            *(
                tag("td", cell, data_label=what)
                for what, cell in zip(head[1:], row[1:], strict=True)
            ),
        )
        for row in rows
    ]
    return tag("div", tag("table", top, tag("tbody", *body), **attributes), class_="wide")


def number(value: float | None, error: float | None = None, *, sign: bool = False) -> str:
    """Return a number with as many decimals as its error deserves, or four digits.

    Examples
    --------
    >>> number(0.68927, 0.0094), number(12345.678, 120.0), number(0.5), number(None)
    ('0.6893', '12,350', '0.5000', '–')
    >>> number(-0.02, 0.004, sign=True), number(1234567.0)
    ('−0.0200', '1,234,567')
    >>> number(1.234e-10), number(1.234e-10, 2e-12)
    ('1.234e−10', '1.234e−10')
    >>> number(9015867.0, 6953309.0), number(3.2e15)
    ('9,000,000', '3.200e+15')
    """
    if value is None:
        return NONE
    size = error or abs(value)
    digits = 2 if error else 4
    decimals = 4 if size == 0 else digits - 1 - math.floor(math.log10(size))
    form = f",.{min(max(decimals, 0), MOST_DECIMALS)}f"
    if (decimals > MOST_DECIMALS and 0.0 < abs(value) < SMALL) or abs(value) >= LARGE:
        form = f".{min(max(decimals + math.floor(math.log10(abs(value))), 0), 3)}e"
    elif error and decimals < 0:  # digits far below the error say nothing
        value = round(value, decimals)
    # Zero has no sign of its own.
    return f"{value + 0.0:{'+' if sign and value else ''}{form}}".replace("-", MINUS)


def with_error(value: float | None, error: float | None, *, sign: bool = False) -> str:
    """Return a number and its error.

    Examples
    --------
    >>> with_error(0.68927, 0.0094), with_error(0.5, None), with_error(None, None)
    ('0.6893 ± 0.0094', '0.5000', '–')
    """
    shown = number(value, error, sign=sign)
    return f"{shown} ± {number(error, error)}" if error and value is not None else shown
