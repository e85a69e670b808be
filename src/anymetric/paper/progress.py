"""Progress: prints each finished cell, with an estimate of the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from statistics import median
from typing import Any

Guess = Callable[[Any], float]


class Progress:
    """Prints each finished cell, and the estimated time left.

    Parameters
    ----------
    todo : cells
        With `task`, `method` and `seed`.
    seen : rows
        Good ones of earlier runs: they know how long such cells take.
    jobs : int
    guess : function from a cell to seconds, optional
        For cells like none that was seen; brought to this machine's speed by those that were.

    Examples
    --------
    >>> from anymetric.paper.store import Cell, Row
    >>> cells = [Cell("table2", "simulated", "logistic", seed, "any") for seed in (0, 1, 2)]
    >>> Progress(cells, [Row(*cells[0], cost=1.0, seconds=8.0)], jobs=2).left()
    12.0
    """

    def __init__(
        self, todo: Iterable[Any], seen: Iterable[Any], jobs: int, guess: Guess | None = None
    ) -> None:
        self.todo = set(todo)
        self.total = len(self.todo)
        self.jobs = max(jobs, 1)
        self.seen = [row for row in seen if row.good]
        self.guess = guess
        self.finished = self.failed = 0

    def tell(self, row: Any) -> None:
        """Print a line for a finished cell."""
        self.finished += 1
        self.todo.discard(row.cell)
        self.failed += not row.good
        self.seen += [row] if row.good else []
        outcome = f"cost {row.cost:.4f}, {row.seconds:.1f} s" if row.good else row.error
        print(
            f"[{self.finished}/{self.total}] {row.task} {row.method} seed {row.seed}: {outcome}; "
            f"about {duration(self.left())} left",
            file=sys.stderr,
            flush=True,
        )

    def left(self) -> float:
        """Return the seconds that the rest should take, going by cells of the same kind."""
        by_pair, others = self._medians(2), self._others()
        known = (by_pair.get((cell.method, cell.task)) or others(cell) for cell in self.todo)
        return sum(known) / self.jobs

    def _others(self) -> Guess:
        """Return the estimate for a cell of a kind without timings."""
        guess = self.guess
        if guess is not None:
            pace = median(row.seconds / guess(row.cell) for row in self.seen) if self.seen else 1.0
            return lambda cell: pace * guess(cell)
        by_method = self._medians(1)
        usual = median(row.seconds for row in self.seen) if self.seen else 1.0
        return lambda cell: by_method.get((cell.method,), usual)

    def _medians(self, depth: int) -> dict[tuple[str, ...], float]:
        seconds: dict[tuple[str, ...], list[float]] = {}
        for row in self.seen:
            seconds.setdefault((row.method, row.task)[:depth], []).append(row.seconds)
        return {key: median(values) for key, values in seconds.items()}


def duration(seconds: float) -> str:
    """Say a time as people do.

    Examples
    --------
    >>> duration(40.0), duration(720.0), duration(12600.0)
    ('40 s', '12 min', '3.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def seeds(text: str) -> list[int]:
    """Read seeds from a command line.

    Examples
    --------
    >>> seeds("0-2"), seeds("0,3")
    ([0, 1, 2], [0, 3])
    """
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def chosen(patterns: Iterable[str], names: Iterable[str], what: str) -> list[str]:
    """Return the names that match a pattern, in their own order; each pattern must match.

    Examples
    --------
    >>> chosen(["table*"], ["table2", "noise", "table3"], "experiment")
    ['table2', 'table3']
    >>> chosen(["tabel2"], ["table2", "noise"], "experiment")
    Traceback (most recent call last):
    ValueError: No experiment is called 'tabel2'. Did you mean table2?
    """
    names = list(names)
    matched: set[str] = set()
    for pattern in patterns:
        hits = {name for name in names if fnmatchcase(name, pattern)}
        if not hits:
            near = ", ".join(get_close_matches(pattern, names, n=4, cutoff=0.3)) or ", ".join(names)
            raise ValueError(f"No {what} is called {pattern!r}. Did you mean {near}?")
        matched |= hits
    return [name for name in names if name in matched]
