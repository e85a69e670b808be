"""Writers: how answers get into a ledger, at once and shared, or a little later by one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from anymetric.errors import LedgerError
from anymetric.store.records import Evaluation
from anymetric.store.store import Store

# Seconds that a lease lasts unless it is renewed.
LEASE = 120.0
# Seconds between writes; an answer that took as long itself is on the disk before it is used.
PAUSE, SLOW = 0.5, 0.05


class Writer(Protocol):
    """Knows what is in a ledger, and writes what is not."""

    def known(self, keys: Sequence[str]) -> dict[str, Evaluation]:
        """Return what is recorded of these keys."""
        ...

    def take(self, keys: Sequence[str], who: str, at_once: int) -> list[str]:
        """Return the keys that are to be evaluated here now; none if others are at all of them."""
        ...

    @contextmanager
    def holding(self, who: str) -> Iterator[None]:
        """Keep what was taken while it is evaluated."""
        ...

    def write(self, found: Evaluation) -> bool:
        """Record an answer; return False if somebody else's came first."""
        ...

    def release(self, who: str) -> None:
        """Let others have what was taken."""
        ...

    def flush(self) -> None:
        """Write what is not yet written."""
        ...


@dataclass(eq=False)
class Leased:
    """Take leases, so that several processes share the work; write each answer durably at once.

    Parameters
    ----------
    store : Store
    lease : float
        Seconds.

    Examples
    --------
    >>> from anymetric.store import open_store
    >>> writer = Leased(open_store())
    >>> writer.take(["3f", "9a"], "me", 1), writer.write(Evaluation("3f", 0.5))
    (['3f'], True)
    """

    store: Store
    lease: float = LEASE

    def known(self, keys: Sequence[str]) -> dict[str, Evaluation]:
        """Look into the ledger: others may have written."""
        return self.store.known(keys)

    def take(self, keys: Sequence[str], who: str, at_once: int) -> list[str]:
        """Lease as many as can be evaluated at once."""
        return self.store.lease(keys, who, self.lease, at_once)

    @contextmanager
    def holding(self, who: str) -> Iterator[None]:
        """Renew the leases for as long as the work lasts."""
        done = threading.Event()

        def renew() -> None:
            while not done.wait(self.lease / 3.0):
                with suppress(LedgerError, OSError):  # another time; the work itself goes on
                    self.store.renew(who, self.lease)

        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def write(self, found: Evaluation) -> bool:
        """Write the answer before it is used."""
        return self.store.record(found)

    def release(self, who: str) -> None:
        """Give the leases back."""
        self.store.release(who)

    def flush(self) -> None:
        """Do nothing: all is written."""


@dataclass(eq=False)
class Buffered:
    """Keep answers of one process in memory, and write them twice a second.

    A function that answers in a millisecond should not wait for the disk at each call: what is
    written late is half a second's work at most.

    Parameters
    ----------
    store : Store

    Examples
    --------
    >>> from anymetric.store import open_store
    >>> writer = Buffered(open_store())
    >>> writer.write(Evaluation("3f", 0.5)), len(writer.store.known())
    (True, 0)
    >>> writer.flush()
    >>> len(writer.store.known())
    1
    """

    store: Store
    found: dict[str, Evaluation] = field(default_factory=dict)
    late: list[Evaluation] = field(default_factory=list)
    wrote: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        if not self.found:
            self.found.update(self.store.known())

    def known(self, keys: Sequence[str]) -> dict[str, Evaluation]:
        """Look into memory: nobody else writes."""
        return {key: self.found[key] for key in keys if key in self.found}

    def take(self, keys: Sequence[str], who: str, at_once: int) -> list[str]:
        """Take all."""
        return list(keys)

    @contextmanager
    def holding(self, who: str) -> Iterator[None]:
        """Do nothing: nobody else is there."""
        yield

    def write(self, found: Evaluation) -> bool:
        """Keep the answer; write it with others, or now if it took long."""
        self.found[found.key] = found
        self.late.append(found)
        now = time.perf_counter()
        if now - self.wrote > PAUSE or (found.seconds or 0.0) > SLOW:
            self.flush()
        return True

    def release(self, who: str) -> None:
        """Do nothing: nothing is held."""

    def flush(self) -> None:
        """Write what is not yet written."""
        self.wrote = time.perf_counter()
        if self.late:
            self.store.record_all(self.late)
            self.late.clear()  # one list for all who share this writer
