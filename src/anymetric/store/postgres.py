"""PostgreSQL: the same tables on a server, for evaluators on several machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anymetric.errors import Deferred, LedgerError, import_extra
from anymetric.store.database import Execute

NEEDS = {"needed_by": "A ledger on PostgreSQL", "extra": "postgres"}
sqlalchemy = Deferred("sqlalchemy", **NEEDS)
# One writer at a time, as with a file: a number of our own in the server's list of locks.
LOCK = 7_206_115


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
                f"The ledger {address!r} was asked: it must be a path, or an address "
                "postgresql://user@host/name."
            )
        import_extra("psycopg", **NEEDS)
        self._engine = sqlalchemy.create_engine(f"postgresql+psycopg://{rest}", pool_pre_ping=True)

    def __repr__(self) -> str:
        return self.address

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """Give ``execute(sql, **values)``; all of it is on the server at the end, or nothing."""
        with self._explained(), self._engine.begin() as connection:

            def execute(sql: str, **values: Any) -> list[Any]:
                found = connection.execute(sqlalchemy.text(sql), values)
                return [tuple(row) for row in found] if found.returns_rows else []

            execute("SELECT pg_advisory_xact_lock(:n)", n=LOCK)
            yield execute

    def tables(self) -> set[str]:
        """Return the names of the tables."""
        with self._explained():
            return set(sqlalchemy.inspect(self._engine).get_table_names())

    def close(self) -> None:
        """Close the connections of this process."""
        self._engine.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlalchemy.exc.SQLAlchemyError as error:
            said = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise LedgerError(f"The ledger {self._hidden()} cannot be used: {said}.") from error

    def _hidden(self) -> str:
        """The address without its password."""
        shown: str = self._engine.url.render_as_string(hide_password=True)
        return shown
