"""Records: the lines of a ledger as plain values."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

DONE, FAILED = "done", "failed"


@dataclass(frozen=True)
class Evaluation:
    """One answer, or why there is none.

    Attributes
    ----------
    key : str
    value : float or None
    status : {"done", "failed"}
    attempt : int
        How many calls it took.
    seconds : float, optional
    error : str, optional
    owner : str
        Who evaluated.
    made : float
        When, in seconds since 1970.
    about : str
        What the question is about, as JSON; written, but not read with the answer.

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
    about: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is no answer."""
        return self.status == FAILED

    @property
    def sound(self) -> bool:
        """Whether it is one finite number, or a failure."""
        number = isinstance(self.value, float) and math.isfinite(self.value)
        return number if self.status == DONE else self.failed and self.value is None


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
    about: str = ""


def seal(*values: Any) -> str:
    """Return a hash that goes with a line: a database notices torn pages, not a changed number.

    Examples
    --------
    >>> seal("3f", 0.5) == seal("3f", 0.5), seal("3f", 0.5) == seal("3f", 0.25)
    (True, False)
    """
    return hashlib.sha256(json.dumps(values, default=repr).encode()).hexdigest()[:16]


def clean(text: str) -> str:
    """Return a text that any database can keep: without zero bytes and broken characters.

    Examples
    --------
    >>> clean("a\\0b\\udc80")
    'a?b?'
    """
    return text.replace("\0", "?").encode("utf-8", "replace").decode()
