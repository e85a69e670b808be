"""Table: rows of numbers as Markdown, with where they were made."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import anymetric


@dataclass(frozen=True)
class Table:
    """A titled table with notes below it."""

    title: str
    header: list[str]
    rows: list[list[Any]]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Return the section."""
        cells = [[shown(cell) for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.header, *cells, strict=True)]
        lines = [line(self.header, widths), line(["-" * width for width in widths], widths)]
        lines += [line(row, widths) for row in cells]
        below = [text for note in self.notes for text in (note, "")]
        return "\n".join([f"## {self.title}", "", *lines, "", *below])


def line(cells: list[str], widths: list[int]) -> str:
    """Return one line of a table."""
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"


def shown(value: Any) -> str:
    """Return three digits of a number, and anything else as it is."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def where_made(options: str) -> str:
    """Say on what machine and with what versions the numbers were made."""
    versions = (
        f"anymetric {anymetric.__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )
    return (
        f"`python benchmarks/speed.py{options}`: {versions}; {processor()}, {os.cpu_count()} "
        "cores. All in one process with one thread, seed 0; seconds are processor time."
    )


def processor() -> str:
    """Return the processor's name."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        for row in told.read_text(encoding="utf-8").splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    return platform.processor() or platform.machine()
