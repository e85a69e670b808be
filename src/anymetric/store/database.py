"""Database: transactions on a SQLite file, which hold whatever ends the process."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from anymetric.errors import LedgerError

Execute = Callable[..., list[Any]]
MEMORY = ":memory:"
# Seconds that a writer waits for another one.
PATIENCE = 60.0


class Database(Protocol):
    """What a ledger is kept in."""

    bytes_type: str

    def transaction(self) -> Any:
        """Return a context that gives ``execute(sql, **values)``; all of it holds, or nothing."""
        ...

    def tables(self) -> set[str]:
        """Return the names of the tables."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class SQLite:
    """A file; each process has its own connection, whose threads take turns.

    Examples
    --------
    >>> base = SQLite(MEMORY)
    >>> with base.transaction() as execute:
    ...     _ = execute("CREATE TABLE a (x INTEGER)")
    ...     _ = execute("INSERT INTO a VALUES (:x)", x=3)
    >>> with base.transaction() as execute:
    ...     execute("SELECT x FROM a")
    [(3,)]
    >>> base.close()
    """

    bytes_type = "BLOB"

    def __init__(self, where: str | Path) -> None:
        self.where = str(where)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0

    def __repr__(self) -> str:
        return self.where

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """Give ``execute(sql, **values)``; all of it is on the disk at the end, or nothing."""
        with self._lock, self._explained():
            connection = self._connected()

            def execute(sql: str, **values: Any) -> list[Any]:
                return connection.execute(sql, values).fetchall()

            connection.execute("BEGIN IMMEDIATE")
            try:
                yield execute
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def tables(self) -> set[str]:
        """Return the names of the tables, having looked for damage; nothing is written."""
        with self._lock, self._explained():
            connection = self._connected()
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(found)
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {name for (name,) in rows}

    def close(self) -> None:
        """Close the connection of this process."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    def durable(self) -> None:
        """Let every transaction reach the disk before it counts; this writes to the file."""
        with self._lock, self._explained():
            connection = self._connected()
            ends = time.monotonic() + PATIENCE
            while True:
                try:
                    connection.execute("PRAGMA journal_mode = WAL")
                    return
                except sqlite3.OperationalError as error:  # another process is changing it too
                    if "locked" not in str(error) or time.monotonic() > ends:
                        raise
                    time.sleep(0.05)

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None or self._pid != os.getpid():
            self._connection = sqlite3.connect(
                self.where, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA synchronous = FULL")
            self._pid = os.getpid()
        return self._connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise explained(error, self.where) from error


def explained(error: sqlite3.DatabaseError, where: str) -> Exception:
    """Return what SQLite said as something that its user can act on.

    Examples
    --------
    >>> explained(sqlite3.OperationalError("database or disk is full"), "run.db").errno
    28
    >>> print(explained(sqlite3.DatabaseError("file is not a database"), "run.db"))
    run.db is no ledger of anymetric (file is not a database): ... It was left as it is.
    """
    said = str(error)
    if "full" in said:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), where)
    if "locked" in said:
        return LedgerError(f"{where} has been locked by another process for {PATIENCE:g} seconds.")
    if "unable to open" in said or "readonly" in said or "disk I/O" in said:
        return LedgerError(f"{where} cannot be written as a ledger: {said}.")
    if "not a database" in said:
        what = "name another file"
        return LedgerError(
            f"{where} is no ledger of anymetric ({said}): {what}. It was left as it is."
        )
    return LedgerError(
        f"{where} is damaged ({said}): restore a copy of it, or name another file. It was left as "
        "it is."
    )
