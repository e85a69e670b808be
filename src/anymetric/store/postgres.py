"""PostgreSQL: the same tables on a server, for evaluators on several machines."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anymetric.errors import Deferred, LedgerError, import_extra
from anymetric.store.database import PATIENCE, Execute, Unreachable

NEEDS = {"needed_by": "A ledger on PostgreSQL", "extra": "postgres"}
sqlalchemy = Deferred("sqlalchemy", **NEEDS)
# One writer at a time, as with a file: a number of our own in the server's list of locks.
LOCK = 7_206_115
# Seconds between attempts to reach a server that was there before.
AGAIN = 0.5


class PostgreSQL:
    """A database at ``postgresql://user@host/name``.

    Parameters
    ----------
    address : str
    """

    bytes_type = "BYTEA"

    def __init__(self, address: str) -> None:
        self.address = address
        scheme, _, rest = address.partition("://")
        if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
            raise LedgerError(
                f"A ledger of the kind {scheme}:// was given: it must be a path, or an address "
                "postgresql://user@host/name."
            )
        import_extra("psycopg", **NEEDS)
        try:
            self._engine = sqlalchemy.create_engine(
                f"postgresql+psycopg://{rest}", pool_pre_ping=True
            )
        except (sqlalchemy.exc.SQLAlchemyError, ValueError) as error:
            told = "The address of the ledger is not postgresql://user@host/name"
            raise LedgerError(f"{told}: {type(error).__name__}.") from None
        self._pid, self._reached = os.getpid(), False

    def __repr__(self) -> str:
        shown: str = self._engine.url.render_as_string(hide_password=True)
        return shown.replace("+psycopg", "", 1)

    @contextmanager
    def transaction(self, write: bool = True, durable: bool = True) -> Iterator[Execute]:
        """Give ``execute(sql, **values)``; all of it is on the server at the end, or nothing."""
        with self._explained(), self._connected() as connection, connection.begin():

            def execute(sql: str, **values: Any) -> list[Any]:
                found = connection.execute(sqlalchemy.text(sql), values)
                return [tuple(row) for row in found] if found.returns_rows else []

            if not durable:
                execute("SET LOCAL synchronous_commit = off")
            if write:
                execute("SELECT pg_advisory_xact_lock(:n)", n=LOCK)
            yield execute

    def now(self, execute: Execute) -> float:
        """Return the time by the server's clock."""
        return float(execute("SELECT EXTRACT(EPOCH FROM clock_timestamp())")[0][0])

    def tables(self) -> set[str]:
        """Return the names of the tables and views."""
        with self._explained(), self._connected() as connection:
            found = sqlalchemy.inspect(connection)
            return {*found.get_table_names(), *found.get_view_names()}

    def durable(self) -> None:
        """Do nothing: the server sees to it."""

    def close(self) -> None:
        """Close the connections of this process."""
        self._engine.dispose()

    def _connected(self) -> Any:
        """Return a connection; of a server that was there before, the return is waited for."""
        if self._pid != os.getpid():  # those of the process that this one was forked from
            self._engine.dispose(close=False)
            self._pid = os.getpid()
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                found = self._engine.connect()
                self._reached = True
                return found
            except sqlalchemy.exc.OperationalError:
                if not self._reached or time.monotonic() > ends:
                    raise
                time.sleep(AGAIN)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlalchemy.exc.SQLAlchemyError as error:
            said = (str(getattr(error, "orig", None) or error).strip() or "no reason").splitlines()
            kind = Unreachable if getattr(error, "connection_invalidated", False) else LedgerError
            raise kind(f"The ledger {self!r} cannot be used: {said[0]}.") from error
