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
        """Tell something beside the result."""
        self.notes.print(Text(shown(line)))

    def line(self, text: str) -> None:
        """Tell a line of the result."""
        if not (self.quiet or self.json):
            Console(highlight=False, soft_wrap=True).print(Text(shown(text)))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
        """Tell a table of the result: the first column is text, the others are numbers.

        A number stands on one line wherever that leaves some room for the first column.
        """
        if self.quiet or self.json:
            return
        whole = self.fits([" " * ROOM, *head[1:]], [["", *row[1:]] for row in rows])
        table = Table(box=box.SIMPLE_HEAD, title=Text(shown(title)) if title else None)
        table.title_justify, table.pad_edge = "left", False
        for k, name in enumerate(head):
            look: dict[str, Any] = {"justify": "right" if k else "left", "no_wrap": whole and k > 0}
            table.add_column(Text(shown(name)), overflow="fold", **look)
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        Console(highlight=False).print(table)

    def fits(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
        """Whether a table needs no folding."""
        widths = [
            max(len(shown(cell)) for cell in cells) for cells in zip(head, *rows, strict=True)
        ]
        return sum(widths) + 3 * len(widths) <= Console().width

    def prose(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Tell a table of words: the last column takes what room is left, and wraps."""
        if self.quiet or self.json:
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for k, name in enumerate(head):
            table.add_column(Text(shown(name)), no_wrap=k < len(head) - 1)
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        Console(highlight=False).print(table)

    def columns(self, kinds: Mapping[str, Sequence[str]]) -> None:
        """Tell, beside the result, how columns are read: a row a kind, the first of many names."""
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(justify="right")
        for _ in range(2):
            table.add_column(no_wrap=False)
        for kind, names in kinds.items():
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            told = ", ".join(shown(name) for name in names[:NAMED]) + more
            table.add_row(f"{len(names):,}", Text(kind), Text(told))
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
    """Return a number for a table; a dash if there is none.

    Examples
    --------
    >>> number(0.12345), number(None), number(1234567.8), number(float("nan"))
    ('0.1235', '-', '1,234,568', '-')
    >>> number(-0.0), number(-1.5e-10), number(0.01, 1)
    ('0.0000', '-1.5e-10', '0.0')
    """
    if value is None or value != value:
        return "-"
    if 0.0 < abs(value) < 0.5e-4 and digits > 3:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value + 0.0:.{digits}f}"


def measured(value: float | None, error: float | None, sign: bool = False) -> str:
    """Return a number with its error for a table.

    Examples
    --------
    >>> measured(0.12, 0.01), measured(0.1, None, sign=True), measured(None, None)
    ('0.1200 ± 0.0100', '+0.1000', '-')
    """
    if value is None or value != value:
        return "-"
    first = f"{'+' if sign and value >= 0.0 else ''}{number(value)}"
    return first if error is None or error != error else f"{first} ± {number(error)}"


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
