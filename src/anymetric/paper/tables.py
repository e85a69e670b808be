"""Tables: the paper's figure, ours, its standard error and the difference, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from anymetric.paper.experiments import Entry, Experiment
from anymetric.paper.scales import Scale
from anymetric.paper.store import Cell, Row

HEADER = ("data", "method", "paper", "ours", "s.e.", "difference", "seeds", "seconds", "calls")
FAR = "more than two standard errors from the paper"


@dataclass(frozen=True)
class Line:
    """One figure: what the paper prints, and the values of all seeds here.

    Examples
    --------
    >>> entry = Entry("Adult", "LogReg", "table3", "adult_noise0", "logistic", 0.668)
    >>> line = Line(entry, (0.63, 0.65))
    >>> round(line.mean, 2), round(line.error, 2), round(line.difference, 3), line.far
    (0.64, 0.01, -0.028, True)
    """

    entry: Entry
    values: tuple[float, ...]
    seconds: float = float("nan")
    calls: float = float("nan")
    seeds: tuple[int, ...] = ()

    @property
    def mean(self) -> float:
        """The mean over seeds; not a number without any."""
        return mean(self.values) if self.values else float("nan")

    @property
    def error(self) -> float:
        """Its standard error; not a number with a single seed."""
        many = len(self.values)
        return stdev(self.values) / many**0.5 if many > 1 else float("nan")

    @property
    def difference(self) -> float:
        """Ours less the paper's, where it has one."""
        return self.mean - (float("nan") if self.entry.paper is None else self.entry.paper)

    @property
    def far(self) -> bool:
        """Whether the difference is more than two standard errors; never if that is unknown."""
        return abs(self.difference) > 2.0 * self.error

    def texts(self) -> list[str]:
        """Return the fields as the table has them."""
        paper = "–" if self.entry.paper is None else f"{self.entry.paper:.6g}"
        form = "+.0f" if counts(self.mean) else "+.4f"
        difference = number(self.difference, form) + (" *" if self.far else "")
        return [
            self.entry.row,
            self.entry.column,
            paper,
            number(self.mean, plain(self.mean)),
            number(self.error, plain(self.error)),
            difference,
            str(len(self.values)),
            number(self.seconds, ".3g"),
            number(self.calls, ".0f"),
        ]


def lines_of(experiment: Experiment, rows: Mapping[Cell, Row], scale: Scale) -> list[Line]:
    """Return the lines of an experiment that have results."""
    found: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows.values():
        if row.good:
            place = (row.experiment, row.task, row.method, row.scale)
            found.setdefault(place, []).append(row)
    lines = []
    for entry in experiment.entries:
        own = entry.cell(0, scale)
        many = sorted(found.get((*own[:3], own.scale), []), key=lambda row: row.seed)
        if many:
            lines.append(_line(entry, many))
    return lines


def _line(entry: Entry, rows: Sequence[Row]) -> Line:
    values = tuple(getattr(row, entry.field) for row in rows)
    seconds, calls = _mean(row.seconds for row in rows), _mean(row.calls for row in rows)
    return Line(entry, values, seconds, calls, tuple(row.seed for row in rows))


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if value == value]
    return mean(known) if known else float("nan")


def report(experiment: Experiment, lines: Sequence[Line], scale: Scale, made: Iterable[Row]) -> str:
    """Return the Markdown of an experiment: title, table, reasons and versions."""
    words = experiment.words
    parts = [f"# {words.title}", words.shown]
    if any(line.entry.scaled for line in lines):
        parts.append(scale.says)
    parts.append(markdown(HEADER, [line.texts() for line in lines]))
    if any(line.calls > 0.0 for line in lines):
        parts.append(
            "ours: mean over seeds; seconds of one core and calls of the metric: mean of a fit."
        )
    if any(line.far for line in lines):
        parts.append(f"\\* {FAR}. {words.reason}")
    elif words.reason:
        parts.append(words.reason)
    parts.extend(made_with(made))
    return "\n\n".join(parts) + "\n"


def made_with(rows: Iterable[Row]) -> list[str]:
    """Say what the rows were made with, most rows first.

    Examples
    --------
    >>> made_with([Row("k", "K=2", "sigma=0.01", 0, "any", versions="numpy 2")])
    ['1 rows made with numpy 2.']
    """
    counts = Counter(row.versions for row in rows)
    return [f"{count} rows made with {text}." for text, count in counts.most_common()]


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table with columns wide enough to be read as they are.

    Examples
    --------
    >>> print(markdown(["a", "b"], [["1", "long"]]))
    | a | b    |
    | - | ---- |
    | 1 | long |
    """
    table = [[text.replace("|", "\\|") for text in line] for line in (header, *lines)]
    widths = [max(len(line[k]) for line in table) for k in range(len(header))]
    padded = [
        [text.ljust(width) for text, width in zip(line, widths, strict=True)] for line in table
    ]
    rule = ["-" * width for width in widths]
    return "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])


def latex(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table for a paper, with the rules of the booktabs package.

    Examples
    --------
    >>> print(latex(["data", "ours"], [["A & B", "0.5"]]))
    \\begin{tabular}{lr}
    \\toprule
    data & ours \\\\
    \\midrule
    A \\& B & 0.5 \\\\
    \\bottomrule
    \\end{tabular}
    """
    marks = str.maketrans({**{mark: f"\\{mark}" for mark in "&%$#_"}, "–": "--", "±": r"$\pm$"})
    rows = [" & ".join(text.translate(marks) for text in line) + r" \\" for line in lines]
    top = " & ".join(header) + r" \\"
    columns = "l" * (len(header) - 1) + "r" if len(header) == 2 else "ll" + "r" * (len(header) - 2)
    opened = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", top, r"\midrule"]
    return "\n".join([*opened, *rows, r"\bottomrule", r"\end{tabular}"])


def plain(value: Any) -> str:
    """Return a format with four decimals, or three digits of what would be lost in them.

    Examples
    --------
    >>> format(0.5, plain(0.5)), format(0.000012345, plain(0.000012345))
    ('0.5000', '1.23e-05')
    >>> format(5000.0, plain(5000.0))
    '5000'
    """
    if counts(value):
        return ".0f"
    return ".4f" if value == 0.0 or abs(value) >= 1e-4 else ".3g"


def counts(value: float) -> bool:
    """Return whether a figure is a number of rows or columns.

    Examples
    --------
    >>> counts(31.0), counts(1.0), counts(0.5)
    (True, False, False)
    """
    return value > 1.0 and float(value).is_integer()


def number(value: float, form: str) -> str:
    """Say a number, or that there is none.

    Examples
    --------
    >>> number(0.25, ".3f"), number(float("nan"), ".3f")
    ('0.250', '–')
    """
    return format(value, form) if value == value else "–"
