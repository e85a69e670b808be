"""Voice: what is printed, where, and how much of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

# Letters that a table's first column has at least.
ROOM = 12
# Columns of a kind that are named.
NAMED = 8


@dataclass(frozen=True)
class Voice:
    """Notes go to standard error, results to standard output; `json` silences all but one document.

    Parameters
    ----------
    quiet : bool
        Say nothing but errors.
    json : bool
        Print one JSON document instead of tables.

    Examples
    --------
    >>> Voice().line("Saved: model.skops")
    Saved: model.skops
    >>> Voice(json=True).document({"value": float("nan"), "rows": 3})
    {
      "value": null,
      "rows": 3
    }
    """

    quiet: bool = False
    json: bool = False

    @property
    def notes(self) -> Console:
        """The console of notes and progress."""
        return Console(stderr=True, highlight=False, quiet=self.quiet, soft_wrap=True)

    def note(self, line: str) -> None:
        """Print something beside the result."""
        self.notes.print(Text(shown(line)))

    def line(self, text: str) -> None:
        """Print a line of the result."""
        if not (self.quiet or self.json):
            Console(highlight=False, soft_wrap=True).print(Text(shown(text)))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
        """Print a table of the result: the first column is text, the others are numbers.

        A number stands on one line wherever that leaves some room for the first column.
        """
        if self.quiet or self.json:
            return
        columns = [aligned(column) for column in zip(head, *rows, strict=True)]
        head, *rows = zip(*columns, strict=True)
        whole = self.fits([" " * ROOM, *head[1:]], [["", *row[1:]] for row in rows])
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for k, name in enumerate(head):
            # Padded cells stand as they are: rich would take the spaces after them away.
            padded = k == 0 or len({len(row[k]) for row in [head, *rows]}) == 1
            look: dict[str, Any] = {"justify": "left" if padded else "right"}
            look["no_wrap"] = whole and k > 0
            table.add_column(Text(shown(name)), overflow="fold", **look)
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        console = Console(highlight=False)
        if title:
            console.print(Text(shown(title)))
        console.print(table)

    def fits(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
        """Whether a table needs no folding."""
        widths = [
            max(len(shown(cell)) for cell in cells) for cells in zip(head, *rows, strict=True)
        ]
        return sum(widths) + 3 * len(widths) <= Console().width

    def prose(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table of words: the last column takes what room is left, and wraps."""
        if self.quiet or self.json:
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for k, name in enumerate(head):
            table.add_column(Text(shown(name)), no_wrap=k < len(head) - 1)
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        Console(highlight=False).print(table)

    def columns(self, kinds: Mapping[str, Sequence[str]]) -> None:
        """Print, beside the result, how columns are read: a row a kind, the first of many names."""
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(justify="right")
        for _ in range(2):
            table.add_column(no_wrap=False)
        for kind, names in kinds.items():
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            listed = ", ".join(shown(name) for name in names[:NAMED]) + more
            table.add_row(f"{len(names):,}", Text(kind), Text(listed))
        self.notes.print(table)

    def document(self, found: dict[str, Any]) -> None:
        """Print the result as JSON, if that was asked for."""
        if self.json:
            print(json.dumps(strict(found), indent=2, ensure_ascii=False))
            sys.stdout.flush()


def shown(text: Any) -> str:
    """Return text without what would move a terminal: control characters are spelt out.

    Examples
    --------
    >>> shown("a\\x1b[31mb\\tc")
    'a\\\\x1b[31mb c'
    """
    spaced = str(text).replace("\t", " ").replace("\r\n", "\n")
    return "".join(
        letter if letter == "\n" or letter.isprintable() else ascii(letter)[1:-1]
        for letter in spaced
    )


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for a table with four significant digits; a dash if there is none.

    Examples
    --------
    >>> number(0.12345), number(None), number(1234567.8), number(float("nan"))
    ('0.1235', '-', '1,234,568', '-')
    >>> number(-0.0), number(-1.5e-10), number(0.01, 1), number(123.456), number(12345.678)
    ('0.0000', '-1.5e-10', '0.0', '123.5', '12,346')
    """
    if value is None or value != value:
        return "-"
    if 0.0 < abs(value) < 0.5e-4 and digits > 3:
        return f"{value:.1e}"
    return written(value, min(digits, max(0, 3 - power(value))))


def measured(value: float | None, error: float | None, sign: bool = False) -> str:
    """Return a number with its error for a table, to the second digit of the error.

    Examples
    --------
    >>> measured(0.12, 0.0123), measured(0.1, None, sign=True), measured(None, None)
    ('0.120 ± 0.012', '+0.1000', '-')
    >>> measured(9015867.0, 6953309.0)
    '9,000,000 ± 7,000,000'
    """
    if value is None or value != value:
        return "-"
    known = None if error is None or error != error else float(error)
    return Measured(float(value), known, sign)


class Measured(str):
    """A number with its error as text, which a table formats with the others of its column.

    Examples
    --------
    >>> Measured(0.5, 0.012).beside(4)
    ('0.5000', '0.0120')
    """

    value: float
    error: float | None
    sign: bool

    def __new__(cls, value: float, error: float | None, sign: bool = False) -> Measured:
        """Write the number as it would stand alone."""
        decimals = decimals_of(value, error)
        parts = [written(value, decimals, sign)]
        made = super().__new__(
            cls, " ± ".join(parts if error is None else [*parts, written(error, decimals)])
        )
        made.value, made.error, made.sign = value, error, sign
        return made

    def beside(self, decimals: int) -> tuple[str, str]:
        """Return the number and its error with these decimals."""
        error = "" if self.error is None else written(self.error, decimals)
        return written(self.value, decimals, self.sign), error


def aligned(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column, numbers with an error to the same decimal and below each other.

    Examples
    --------
    >>> aligned([measured(0.68927, 0.0094), measured(12.5, None), "-"])
    [' 0.6893 ± 0.0094', '12.5000         ', '               -']
    """
    known = [cell for cell in cells if isinstance(cell, Measured)]
    if not known:
        return list(cells)
    decimals = max(decimals_of(one.value, one.error) for one in known)
    pairs = [cell.beside(decimals) if isinstance(cell, Measured) else (cell, "") for cell in cells]
    first = max(len(pair[0]) for pair, cell in zip(pairs, cells, strict=True) if cell in known)
    second = max(len(error) for _, error in pairs)
    texts = [
        paired(*pair, first, second) if isinstance(cell, Measured) else cell
        for pair, cell in zip(pairs, cells, strict=True)
    ]
    return [text.rjust(max(map(len, texts))) for text in texts]


def paired(value: str, error: str, first: int, second: int) -> str:
    """Return a number and its error, each as wide as the widest of its column."""
    rest = f" ± {error:>{second}}" if error else " " * (second + 3 if second else 0)
    return f"{value:>{first}}{rest}"


def decimals_of(value: float, error: float | None) -> int:
    """Return the decimals that a number deserves: two digits of its error, or four of its own."""
    if error:
        return 1 - power(error)
    return min(4, max(0, 3 - power(value)))


def power(value: float) -> int:
    """Return the power of ten of a number's first digit; that of 0.1 for zero.

    Examples
    --------
    >>> power(123.0), power(0.05), power(0.0)
    (2, -2, -1)
    """
    return int(f"{value:e}".partition("e")[2]) if value and value - value == 0.0 else -1


def written(value: float, decimals: int, sign: bool = False) -> str:
    """Return a number with so many decimals; fewer than none round it, many need an exponent.

    Examples
    --------
    >>> written(1234.0, -2), written(0.5, 3, sign=True), written(1.26e-9, 10)
    ('1,200', '+0.500', '1.3e-09')
    """
    plus = "+" if sign else ""
    if decimals > 6:
        return f"{value:{plus}.1e}"
    return f"{round(value, decimals) + 0.0:{plus},.{max(decimals, 0)}f}"


def strict(value: Any) -> Any:
    """Return a value as strict JSON has it: numbers that are not finite become null, dates text.

    Examples
    --------
    >>> strict({"a": [float("inf"), 1]})
    {'a': [None, 1]}
    >>> strict(__import__("datetime").date(2020, 7, 13))
    '2020-07-13'
    """
    if isinstance(value, dict):
        return {str(key): strict(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [strict(inner) for inner in value]
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if value is None or isinstance(value, str | int):
        return value
    return strict(value.item()) if hasattr(value, "item") else spelt(value)


def spelt(value: Any) -> str:
    """Return a date or a time as standards have it, and anything else as it prints."""
    return str(value.isoformat() if hasattr(value, "isoformat") else value)
