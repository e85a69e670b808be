"""Store: keys and answers, leases and choices, each written durably or not at all."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anymetric.errors import LedgerError
from anymetric.store.database import (
    MEMORY,
    PATIENCE,
    Database,
    Execute,
    SQLite,
    Unreachable,
    damaged,
)
from anymetric.store.leases import Leases, of_keys
from anymetric.store.records import DONE, FAILED, Evaluation, Posed, clean, seal
from anymetric.store.schema import NAMES, TABLES, VERSION

COLUMNS = "key, value, status, attempt, seconds, error, owner, made"


class Store(Leases):
    """A ledger in a database; best made by `open_store`.

    Parameters
    ----------
    base : Database

    Examples
    --------
    >>> store = open_store()
    >>> store.record(Evaluation("3f", 0.5)), store.record(Evaluation("3f", 0.7))
    (True, False)
    >>> store.known(["3f", "9a"])["3f"].value, len(store.notes())
    (0.5, 1)
    """

    def __init__(self, base: Database) -> None:
        self.base = base
        self._prepare()

    def __repr__(self) -> str:
        return f"Store({self.base!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.alone:
            raise pickle.PicklingError(
                "a ledger in memory is of one process: name a file, or leave n_jobs unset"
            )
        return open_store, (self.base.address,)

    @property
    def alone(self) -> bool:
        """Whether no other process can open it."""
        return self.base.address == MEMORY

    def __deepcopy__(self, memo: Any) -> Store:
        return self

    def _prepare(self) -> None:
        found = self.base.tables()
        if not found:
            self._create()
        elif not set(NAMES) <= found:
            raise LedgerError(
                f"{self.base!r} is no ledger of anymetric: its tables are "
                f"{', '.join(sorted(found)[:8])}. Name another; it was left as it is."
            )
        with self.base.transaction(write=False) as execute:
            rows = execute("SELECT value FROM about WHERE name = 'schema'")
        version = rows[0][0] if rows else "none"
        if version == "1":
            self._create()
            version = str(VERSION)
        if version != str(VERSION):
            raise LedgerError(
                f"{self.base!r} is a ledger of version {version}, and this anymetric reads "
                f"version {VERSION}: upgrade anymetric, or name another. It was left as it is."
            )
        self.base.durable()

    def _create(self) -> None:
        with self.base.transaction() as execute:
            for table in TABLES:
                made = table.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
                execute(made.format(bytes=self.base.bytes_type))
            execute(
                "INSERT INTO about VALUES ('schema', :v) "
                "ON CONFLICT (name) DO UPDATE SET value = :v",
                v=str(VERSION),
            )

    def begin(self, fingerprint: Mapping[str, Any]) -> bool:
        """Say what the run is of; return whether it had begun before. Another run is refused."""
        told = json.dumps(fingerprint, sort_keys=True)
        with self.base.transaction() as execute:
            before = self._fingerprint(execute)
            if before is None:
                values = {"f": told, "t": self.base.now(execute), "s": seal(told)}
                execute("INSERT INTO run VALUES (1, :f, :t, 'begun', :s)", **values)
                return False
        differ = differences(before, json.loads(told))
        if differ:
            raise LedgerError(
                f"{self.base!r} is the ledger of another run: {'; '.join(differ)}. Give what it "
                "was begun with, or another ledger."
            )
        return True

    def fingerprint(self) -> dict[str, Any] | None:
        """Return what the run is of; None before it has begun."""
        with self.base.transaction(write=False) as execute:
            return self._fingerprint(execute)

    def _fingerprint(self, execute: Execute) -> dict[str, Any] | None:
        rows = execute("SELECT fingerprint, seal FROM run")
        if rows and rows[0][1] != seal(rows[0][0]):
            raise damaged(repr(self.base), "what the run is of is not as it was written")
        return json.loads(rows[0][0]) if rows else None

    @property
    def status(self) -> str:
        """How the run stands: new, begun, or how it ended."""
        with self.base.transaction(write=False) as execute:
            rows = execute("SELECT status FROM run")
        return rows[0][0] if rows else "new"

    def end(self, status: str) -> None:
        """Write down how the run stands."""
        with self.base.transaction() as execute:
            execute("UPDATE run SET status = :s", s=status)

    def forgive(self, status: str | None = None) -> int:
        """Let failures be tried again, with a note of each; return how many there were.

        With a status, only in a run that ended so, which has thereby begun again.
        """
        with self.base.transaction() as execute:
            stands = execute("SELECT status FROM run")
            if status is not None and stands != [(status,)]:
                return 0
            failed = execute("SELECT key, error FROM evaluation WHERE status = :s", s=FAILED)
            for key, error in failed:
                self._note(execute, key, f"failed before, to be tried again: {error}")
            execute("DELETE FROM evaluation WHERE status = :s", s=FAILED)
            execute("UPDATE run SET status = 'begun'")
        return len(failed)

    def choose(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what was chosen under a name; the first time, choose."""
        with self.base.transaction(write=False) as execute:
            rows = execute("SELECT value, seal FROM choice WHERE name = :n", n=name)
        if not rows:
            made = json.dumps(make())
            with self.base.transaction() as execute:  # another process may have been first
                execute(
                    "INSERT INTO choice VALUES (:n, :v, :s) ON CONFLICT DO NOTHING",
                    **{"n": name, "v": made, "s": seal(name, made)},
                )
                rows = execute("SELECT value, seal FROM choice WHERE name = :n", n=name)
        if rows[0][1] != seal(name, rows[0][0]):
            raise damaged(repr(self.base), f"the choice {name!r} is not as it was written")
        return json.loads(rows[0][0])

    def known(self, keys: Sequence[str] | None = None) -> dict[str, Evaluation]:
        """Return what is recorded of these keys, or of all."""
        with self.base.transaction(write=False) as execute:
            what = f"SELECT {COLUMNS}, seal FROM evaluation"
            if keys is None:
                rows = execute(f"{what} ORDER BY made")
            else:
                rows = of_keys(execute, what, keys)
        return {row[0]: self._sound(row) for row in rows}

    def _sound(self, row: Sequence[Any]) -> Evaluation:
        found = Evaluation(*row[:-1])
        if not found.sound or row[-1] != seal(*row[:-1]):
            raise damaged(repr(self.base), f"the answer {row[0]!r} is not as it was written")
        return found

    def record(self, found: Evaluation) -> bool:
        """Write an answer; a second one for a key is ignored, noted, and returns False.

        Where the connection breaks in the middle it is written again.
        """
        ends, again = time.monotonic() + PATIENCE, False
        while True:
            try:
                return self._record(found, again)
            except Unreachable:
                if time.monotonic() > ends:
                    raise
                again = True

    def record_all(self, found: Sequence[Evaluation]) -> list[bool]:
        """Write several answers in one transaction; return of each whether it was the first."""
        with self.base.transaction() as execute:
            return [self._write(execute, one, again=False) for one in found]

    def _record(self, found: Evaluation, again: bool) -> bool:
        with self.base.transaction() as execute:
            return self._write(execute, found, again)

    def _write(self, execute: Any, found: Evaluation, again: bool) -> bool:
        line = replace(
            found,
            value=None if found.value is None else float(found.value) + 0.0,  # it knows no -0.0
            error=None if found.error is None else clean(found.error),
            made=self.base.now(execute),
        )
        execute("DELETE FROM lease WHERE key = :key", key=line.key)
        _describe(execute, line.key, line.about)
        values = {name: getattr(line, name) for name in COLUMNS.split(", ")}
        rows = execute(
            f"INSERT INTO evaluation ({COLUMNS}, seal) VALUES (:key, :value, :status, "
            ":attempt, :seconds, :error, :owner, :made, :seal) ON CONFLICT DO NOTHING "
            "RETURNING key",
            **{**values, "seal": seal(*values.values())},
        )
        if not rows and again:  # the first attempt may have been written after all
            rows = execute(
                "SELECT key FROM evaluation WHERE key = :k AND owner = :o",
                **{"k": line.key, "o": line.owner},
            )
        if not rows:
            what = line.error if line.status == FAILED else repr(line.value)
            self._note(execute, line.key, f"a second answer was ignored: {what}")
        return bool(rows)

    def pose(self, questions: Iterable[Posed]) -> None:
        """Store open questions."""
        with self.base.transaction() as execute:
            (last,) = execute("SELECT COALESCE(MAX(place), 0) FROM question")[0]
            for place, one in enumerate(questions, start=last + 1):
                _describe(execute, one.key, one.about)
                execute(
                    "INSERT INTO question VALUES (:key, :place, :payload) ON CONFLICT DO NOTHING",
                    **{"key": one.key, "place": place, "payload": one.payload},
                )

    def posed(self, key: str) -> Posed | None:
        """Return a question that was handed out or may be; None if there is none of this key."""
        with self.base.transaction(write=False) as execute:
            rows = execute("SELECT key, payload FROM question WHERE key = :key", key=key)
        return Posed(rows[0][0], bytes(rows[0][1])) if rows else None

    def open_keys(self) -> list[str]:
        """Return the questions without an answer, the oldest first."""
        with self.base.transaction(write=False) as execute:
            rows = execute(
                "SELECT key FROM question WHERE key NOT IN (SELECT key FROM evaluation) "
                "ORDER BY place"
            )
        return [key for (key,) in rows]

    def subjects(self) -> dict[str, dict[str, Any]]:
        """Return what the questions are about, by their keys, as far as anybody has said."""
        with self.base.transaction(write=False) as execute:
            rows = execute("SELECT key, what FROM subject")
        return {key: json.loads(what) for key, what in rows}

    def notes(self) -> list[tuple[float, str, str]]:
        """Return when, of which key, and what was noted."""
        with self.base.transaction(write=False) as execute:
            rows = execute("SELECT made, key, said FROM note ORDER BY made")
        return [(made, key, said) for made, key, said in rows]

    def close(self) -> None:
        """Let go of the database."""
        self.base.close()

    def _note(self, execute: Execute, key: str, said: str) -> None:
        values = {"t": self.base.now(execute), "k": key, "s": said}
        execute("INSERT INTO note VALUES (:t, :k, :s)", **values)


def _describe(execute: Execute, key: str, what: str) -> None:
    if what:
        execute("INSERT INTO subject VALUES (:k, :w) ON CONFLICT DO NOTHING", k=key, w=what)


def open_store(where: str | Path | None = None) -> Store:
    """Open the ledger at a path or an address ``postgresql://...``; one in memory by default.

    Examples
    --------
    >>> open_store().known()
    {}
    """
    text = MEMORY if where is None else str(where)
    if "://" in text:
        from anymetric.store.postgres import PostgreSQL

        return Store(PostgreSQL(text))
    if text != MEMORY:
        path = Path(text).absolute()
        if not path.parent.is_dir():
            raise LedgerError(f"{text}: the folder of the ledger does not exist.")
        if path.exists() and not path.is_file():
            raise LedgerError(f"{text} is no file: name another as the ledger.")
    return Store(SQLite(text))


def differences(before: Any, now: Any, name: str = "") -> list[str]:
    """Say what two runs do not share.

    Examples
    --------
    >>> differences({"method": "auto", "rows": 5}, {"method": "paper", "rows": 5})
    ["method was 'auto', and is now 'paper'"]
    >>> differences({"metric": {"reads": {"beta": 1.0}}}, {"metric": {"reads": {"beta": 2.0}}})
    ['metric reads beta was 1.0, and is now 2.0']
    """
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        told = [one.get("name", one.get("kind")) for one in (before, now)]
        if told[0] != told[1]:  # another thing altogether
            return [f"{name} was {told[0]!r}, and is now {told[1]!r}"]
        names = sorted(set(before) | set(now))
        parts = [differences(before.get(k), now.get(k), f"{name} {k}".strip()) for k in names]
        return [said for part in parts for said in part]
    was, now_is = (
        text if len(text) < 200 else f"{text[:150]}..." for text in map(repr, (before, now))
    )
    return [] if before == now else [f"{name} was {was}, and is now {now_is}"]


__all__ = ["DONE", "FAILED", "Store", "differences", "open_store"]
