"""Store: one row of results for each task, method and seed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from anymetric.paper import store
from anymetric.paper.store import fingerprint, versions

__all__ = ["HEADER", "Cell", "Row", "Store", "fingerprint", "versions"]


class Cell(NamedTuple):
    """Where a result stands: which method on which task with which seed."""

    task: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row:
    """One result: the metric on test and validation rows, and what it took to get there.

    A row with an `error` has no numbers, and its cell is tried again.
    """

    task: str
    method: str
    seed: int
    value: float = float("nan")
    cost: float = float("nan")
    validation_value: float = float("nan")
    seconds: float = float("nan")
    calls: float = float("nan")
    versions: str = ""
    when: str = ""
    error: str = ""

    @property
    def cell(self) -> Cell:
        """The row's place."""
        return Cell(self.task, self.method, self.seed)

    @property
    def good(self) -> bool:
        """Whether the method came to an end."""
        return not self.error


HEADER = [field.name for field in fields(Row)]


@dataclass(frozen=True)
class Store(store.Store[Row]):
    """The CSV of this benchmark."""

    kind: type[Row] = Row
