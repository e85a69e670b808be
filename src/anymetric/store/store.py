"""Store: keys and answers, leases and choices, each written durably or not at all."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from anymetric.errors import LedgerError
from anymetric.store.database import MEMORY, Database, SQLite
from anymetric.store.owners import gone
from anymetric.store.records import DONE, FAILED, Evaluation, Posed
from anymetric.store.schema import NAMES, TABLES, VERSION

# Keys that one statement names.
CHUNK = 500
COLUMNS = "key, value, status, attempt, seconds, error, owner, made"


class Store:
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
        return open_store, (repr(self.base),)

    def _prepare(self) -> None:
        found = self.base.tables()
        if not found:
            self._create()
        elif not set(NAMES) <= found:
            raise LedgerError(
                f"{self.base!r} is no ledger of anymetric: its tables are "
                f"{', '.join(sorted(found)[:8])}. Name another; it was left as it is."
            )
        with self.base.transaction() as execute:
            rows = execute("SELECT value FROM about WHERE name = 'schema'")
        version = rows[0][0] if rows else "none"
        if version != str(VERSION):
            raise LedgerError(
                f"{self.base!r} is a ledger of version {version}, and this anymetric reads "
                f"version {VERSION}: upgrade anymetric, or name another. It was left as it is."
            )
        getattr(self.base, "durable", lambda: None)()

    def _create(self) -> None:
        with self.base.transaction() as execute:
            for table in TABLES:
                made = table.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
                execute(made.format(bytes=self.base.bytes_type))
            execute(
                "INSERT INTO about VALUES ('schema', :v) ON CONFLICT DO NOTHING", v=str(VERSION)
            )

    def begin(self, fingerprint: Mapping[str, Any]) -> bool:
        """Say what the run is of; return whether it had begun before. Another run is refused."""
        told = json.dumps(fingerprint, sort_keys=True)
        with self.base.transaction() as execute:
            rows = execute("SELECT fingerprint FROM run")
            if not rows:
                execute("INSERT INTO run VALUES (1, :f, :t, 'begun')", f=told, t=time.time())
                return False
        differ = differences(json.loads(rows[0][0]), json.loads(told))
        if differ:
            raise LedgerError(
                f"{self.base!r} is the ledger of another run: {'; '.join(differ)}. Give what it "
                "was begun with, or another ledger."
            )
        return True

    def fingerprint(self) -> dict[str, Any] | None:
        """Return what the run is of; None before it has begun."""
        with self.base.transaction() as execute:
            rows = execute("SELECT fingerprint FROM run")
        return json.loads(rows[0][0]) if rows else None

    @property
    def status(self) -> str:
        """How the run stands: new, begun, or how it ended."""
        with self.base.transaction() as execute:
            rows = execute("SELECT status FROM run")
        return rows[0][0] if rows else "new"

    def end(self, status: str) -> None:
        """Write down how the run stands."""
        with self.base.transaction() as execute:
            execute("UPDATE run SET status = :s", s=status)

    def forgive(self) -> int:
        """Let failures be tried again, with a note of each; return how many there were."""
        with self.base.transaction() as execute:
            failed = execute("SELECT key, error FROM evaluation WHERE status = :s", s=FAILED)
            for key, error in failed:
                _note(execute, key, f"failed before, to be tried again: {error}")
            execute("DELETE FROM evaluation WHERE status = :s", s=FAILED)
        return len(failed)

    def choose(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what was chosen under a name; the first time, choose."""
        with self.base.transaction() as execute:
            rows = execute("SELECT value FROM choice WHERE name = :n", n=name)
            if not rows:
                rows = [(json.dumps(make()),)]
                execute("INSERT INTO choice VALUES (:n, :v)", n=name, v=rows[0][0])
        return json.loads(rows[0][0])

    def known(self, keys: Sequence[str] | None = None) -> dict[str, Evaluation]:
        """Return what is recorded of these keys, or of all."""
        with self.base.transaction() as execute:
            if keys is None:
                rows = execute(f"SELECT {COLUMNS} FROM evaluation ORDER BY made")
            else:
                rows = _of_keys(execute, f"SELECT {COLUMNS} FROM evaluation", keys)
        return {row[0]: Evaluation(*row) for row in rows}

    def record(self, found: Evaluation) -> bool:
        """Write an answer; a second one for a key is ignored, noted, and returns False."""
        values = {**found.__dict__, "made": time.time()}
        with self.base.transaction() as execute:
            execute("DELETE FROM lease WHERE key = :key", key=found.key)
            rows = execute(
                f"INSERT INTO evaluation ({COLUMNS}) VALUES (:key, :value, :status, :attempt, "
                ":seconds, :error, :owner, :made) ON CONFLICT DO NOTHING RETURNING key",
                **values,
            )
            if not rows:
                what = found.error if found.status == FAILED else repr(found.value)
                _note(execute, found.key, f"a second answer was ignored: {what}")
        return bool(rows)

    def lease(self, keys: Iterable[str], owner: str, seconds: float, most: int = 1) -> list[str]:
        """Take up to `most` questions that have no answer and that nobody else is at."""
        now, taken, wanted = time.time(), list[str](), list(keys)
        with self.base.transaction() as execute:
            done = {row[0] for row in _of_keys(execute, "SELECT key FROM evaluation", wanted)}
            rows = _of_keys(execute, "SELECT key, owner, until FROM lease", wanted)
            held = {key: (who, until) for key, who, until in rows}
            for key in wanted:
                who, until = held.get(key, (owner, 0.0))
                if key in done or not (who == owner or until < now or gone(who)):
                    continue
                if len(taken) == most:
                    break
                execute(
                    "INSERT INTO lease VALUES (:key, :owner, :until) ON CONFLICT (key) "
                    "DO UPDATE SET owner = :owner, until = :until",
                    **{"key": key, "owner": owner, "until": now + seconds},
                )
                taken.append(key)
        return taken

    def leases(self) -> dict[str, tuple[str, float]]:
        """Return who is at which question, and until when; those that ran out are left out."""
        with self.base.transaction() as execute:
            rows = execute("SELECT key, owner, until FROM lease")
        now = time.time()
        return {key: (who, u) for key, who, u in rows if u >= now and not gone(who)}

    def renew(self, owner: str, seconds: float) -> None:
        """Go on holding what an owner holds."""
        with self.base.transaction() as execute:
            execute(
                "UPDATE lease SET until = :u WHERE owner = :owner",
                u=time.time() + seconds,
                owner=owner,
            )

    def release(self, owner: str) -> None:
        """Let others have what an owner holds."""
        with self.base.transaction() as execute:
            execute("DELETE FROM lease WHERE owner = :owner", owner=owner)

    def pose(self, questions: Iterable[Posed]) -> None:
        """Keep questions for whoever answers them."""
        with self.base.transaction() as execute:
            (last,) = execute("SELECT COALESCE(MAX(place), 0) FROM question")[0]
            for place, one in enumerate(questions, start=last + 1):
                execute(
                    "INSERT INTO question VALUES (:key, :place, :payload) ON CONFLICT DO NOTHING",
                    **{"key": one.key, "place": place, "payload": one.payload},
                )

    def posed(self, key: str) -> Posed | None:
        """Return a question that was handed out or may be; None if there is none of this key."""
        with self.base.transaction() as execute:
            rows = execute("SELECT key, payload FROM question WHERE key = :key", key=key)
        return Posed(rows[0][0], bytes(rows[0][1])) if rows else None

    def open_keys(self) -> list[str]:
        """Return the questions without an answer, the oldest first."""
        with self.base.transaction() as execute:
            rows = execute(
                "SELECT key FROM question WHERE key NOT IN (SELECT key FROM evaluation) "
                "ORDER BY place"
            )
        return [key for (key,) in rows]

    def notes(self) -> list[tuple[float, str, str]]:
        """Return when, of which key, and what was noted."""
        with self.base.transaction() as execute:
            rows = execute("SELECT made, key, said FROM note ORDER BY made")
        return [(made, key, said) for made, key, said in rows]

    def close(self) -> None:
        """Let go of the database."""
        self.base.close()


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
    if text != MEMORY and not Path(text).absolute().parent.is_dir():
        raise LedgerError(f"{text}: the folder of the ledger does not exist.")
    return Store(SQLite(text))


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say what two runs do not share.

    Examples
    --------
    >>> differences({"method": "auto", "rows": 5}, {"method": "paper", "rows": 5})
    ["method was 'auto', and is now 'paper'"]
    """
    names = sorted(set(before) | set(now))
    return [
        f"{name} was {before.get(name)!r}, and is now {now.get(name)!r}"
        for name in names
        if before.get(name) != now.get(name)
    ]


def _note(execute: Any, key: str, said: str) -> None:
    execute("INSERT INTO note VALUES (:t, :k, :s)", t=time.time(), k=key, s=said)


def _of_keys(execute: Any, select: str, keys: Sequence[str]) -> list[Any]:
    found = []
    for start in range(0, len(keys), CHUNK):
        part = {f"k{i}": key for i, key in enumerate(keys[start : start + CHUNK])}
        marks = ", ".join(f":{name}" for name in part)
        found += execute(f"{select} WHERE key IN ({marks})", **part)
    return found


__all__ = ["DONE", "FAILED", "Store", "differences", "open_store"]
