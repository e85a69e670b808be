"""Budget: how the calls that a whole command may make are shared out, before any is made."""

from __future__ import annotations

from dataclasses import dataclass, replace

# The baselines together may tune themselves with one call in so many of all.
PART = 4
# Fewer calls than this for each method, and there is no comparison: all but one train.
LEAST = 4


@dataclass(frozen=True)
class Plan:
    """Calls of a black box by what they are for: training, each baseline, the table, the refit.

    What is left of them goes into the errors of the table, if it is enough for any.

    Examples
    --------
    >>> Plan.of(20, 4), Plan.of(10, 4)
    (Plan(total=20, training=13, each=1, table=4, refit=0),
     Plan(total=10, training=9, each=0, table=1, refit=0))
    >>> print(Plan.of(100, 4))
    at most 100 calls: 72 to train, 8 for each of 3 baselines, 4 for the table
    >>> print(Plan.of(100, 4, refit=True))
    at most 100 calls: 36 to train, 8 for each of 3 baselines, 4 for the table, 36 for all rows
    """

    total: int
    training: int
    each: int
    table: int
    refit: int = 0

    @classmethod
    def of(cls, total: int, methods: int, refit: bool = False) -> Plan:
        """Share out a budget between our method, its baselines, the table and a refit."""
        if methods < 2 or total < LEAST * methods:
            plan = cls(total, max(total - 1, 1), 0, min(1, total - 1))
        else:
            each = max(
                min(total // (PART * (methods - 1)), (total - methods) // (2 * methods - 2)), 1
            )
            plan = cls(total, total - methods - each * (methods - 1), each, methods)
        half = plan.training // 2 if refit else 0
        return replace(plan, training=plan.training - half, refit=half)

    @property
    def compares(self) -> bool:
        """Whether there are calls for the baselines."""
        return self.each > 0

    def __str__(self) -> str:
        parts = [f"{self.training} to train"]
        if self.compares:
            count = self.table - 1
            parts.append(f"{self.each} for each of {count} baseline{'s' if count > 1 else ''}")
        parts.append(f"{self.table} for the table")
        parts += [f"{self.refit} for all rows"] if self.refit else []
        return f"at most {self.total} call{'s' if self.total > 1 else ''}: {', '.join(parts)}"
