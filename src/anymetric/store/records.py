"""Records: the lines of a ledger as plain values."""

from __future__ import annotations

from dataclasses import dataclass

DONE, FAILED = "done", "failed"


@dataclass(frozen=True)
class Evaluation:
    """One answer, or why there is none.

    Examples
    --------
    >>> Evaluation("3f", 0.5).failed
    False
    """

    key: str
    value: float | None
    status: str = DONE
    attempt: int = 1
    seconds: float | None = None
    error: str | None = None
    owner: str = ""
    made: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether there is no answer."""
        return self.status == FAILED


@dataclass(frozen=True)
class Posed:
    """A question that waits to be answered.

    Examples
    --------
    >>> Posed("3f", b"...").key
    '3f'
    """

    key: str
    payload: bytes
