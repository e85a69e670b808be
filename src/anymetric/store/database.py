"""Database: transactions on a SQLite file, which hold whatever ends the process."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from anymetric.errors import LedgerError

Execute = Callable[..., list[Any]]
MEMORY = ":memory:"
# Seconds that a writer waits for another one.
PATIENCE = 60.0
# Bytes that are free on a disk that is not full.
SPARE = 1 << 16


class Unreachable(LedgerError):  # noqa: N818 - it reads as what it says
    """The connection to a ledger was lost: what was under way did not happen, or is not known to.

    Examples
    --------
    >>> raise Unreachable("The server has gone away.")
    Traceback (most recent call last):
    anymetric.store.database.Unreachable: The server has gone away.
    """


class Database(Protocol):
    """What a ledger is kept in."""

    bytes_type: str

    @property
    def address(self) -> str:
        """The address to open it with; `repr` is for display, and has no password."""
        ...

    def transaction(self, write: bool = True, durable: bool = True) -> Any:
        """Return a context that gives ``execute(sql, **values)``; all of it holds, or nothing.

        What need not outlive a machine's loss of power is written faster.
        """
        ...

    def now(self, execute: Execute) -> float:
        """Return the time, in seconds, by a clock that all who use the ledger share."""
        ...

    def tables(self) -> set[str]:
        """Return the names of the tables and views."""
        ...

    def durable(self) -> None:
        """Let every transaction reach the disk before it counts."""
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
    >>> with base.transaction(write=False) as execute:
    ...     execute("SELECT x FROM a")
    [(3,)]
    >>> base.close()
    """

    bytes_type = "BLOB"

    def __init__(self, where: str | Path) -> None:
        self.address = str(where)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        _open.add(self)

    def __repr__(self) -> str:
        return self.address

    @contextmanager
    def transaction(self, write: bool = True, durable: bool = True) -> Iterator[Execute]:
        """Give ``execute(sql, **values)``; all of it is on the disk at the end, or nothing."""
        with self._lock, self._explained():
            connection = self._connected()

            def execute(sql: str, **values: Any) -> list[Any]:
                return connection.execute(sql, values).fetchall()

            try:
                if write:
                    mode = "FULL" if durable else "NORMAL"
                    connection.execute(f"PRAGMA synchronous = {mode}")
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                yield execute
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def now(self, execute: Execute) -> float:
        """Return the time by this machine's clock, which all processes at the file share."""
        return time.time()

    def tables(self) -> set[str]:
        """Return the names of the tables and views, after a check for damage; nothing is written.

        A file that is no ledger must stay as it is, so it is not opened for writing.
        """
        if self.address == MEMORY:
            return set()
        path = Path(self.address).absolute()
        if not path.exists() or path.stat().st_size == 0:
            return set()
        # What a process left that was killed while it made the file is put right by a writer only.
        begun = path.with_name(f"{path.name}-journal").exists()
        mode = "rw" if begun else "ro"
        with self._lock, self._explained():
            made = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=PATIENCE)
            with closing(made) as connection:
                (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
                if found != "ok":
                    raise sqlite3.DatabaseError(found)
                rows = connection.execute("SELECT name FROM sqlite_master WHERE type <> 'index'")
                return {name for (name,) in rows}

    def close(self) -> None:
        """Close the connection of this process."""
        with self._lock:
            if self._connection is not None:
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
        if self._connection is None:
            self._connection = sqlite3.connect(
                self.address, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        return self._connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explained(error, self.address) from error
        except UnicodeDecodeError as error:  # in what SQLite itself wanted to say
            raise damaged(self.address, "a text is none") from error


# SQLite's locks know nothing of forks: two processes with one connection, even if one of them only
# closes it, can damage a file. So no process forks while there is one.
_open: weakref.WeakSet[SQLite] = weakref.WeakSet()
_held: list[SQLite] = []


def _before_fork() -> None:
    for base in tuple(_open):
        base._lock.acquire()
        _held.append(base)
        if base.address != MEMORY:
            base.close()


def _after_fork() -> None:
    while _held:
        _held.pop()._lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def explained(error: sqlite3.Error, where: str) -> Exception:
    """Return an error of SQLite as one that the user can act on.

    Examples
    --------
    >>> explained(sqlite3.OperationalError("database or disk is full"), "run.db").errno
    28
    >>> print(explained(sqlite3.DatabaseError("file is not a database"), "run.db"))
    run.db is no ledger of anymetric (file is not a database): ... It was left as it is.
    """
    said = str(error)
    if "full" in said or ("disk I/O" in said and _full(where)):
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
    return damaged(where, said)


def _full(where: str) -> bool:
    """Whether there is no room beside a file; some calls fail then without saying why."""
    try:
        return shutil.disk_usage(Path(where).absolute().parent).free < SPARE
    except OSError:
        return False


def damaged(where: str, said: str) -> LedgerError:
    """Return what to say of a ledger that is not as it was written.

    Examples
    --------
    >>> print(damaged("run.db", "a page is torn"))
    run.db is damaged (a page is torn): restore a copy of it, or name another. ...
    """
    return LedgerError(
        f"{where} is damaged ({said}): restore a copy of it, or name another. It was left as it is."
    )
