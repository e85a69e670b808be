"""Leases: who is at which question, so that no two evaluate the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from anymetric.store.database import Database, Execute
from anymetric.store.owners import gone, lives

# Keys that one statement names.
CHUNK = 500
# Ends the name of an owner whose lease ran out though it lives: a clock leapt, or a machine slept.
DOUBTED = "?"


class Leases:
    """The part of a `Store` that lends questions."""

    base: Database

    def lease(self, keys: Iterable[str], owner: str, seconds: float, most: int = 1) -> list[str]:
        """Reserve up to `most` questions that have no answer and are not reserved.

        A lease that has run out while its owner lives on this machine is prolonged once: who still
        works at it will renew it.
        """
        taken, wanted = list[str](), list(keys)
        with self.base.transaction(durable=False) as execute:
            now = self.base.now(execute)
            done = {row[0] for row in of_keys(execute, "SELECT key FROM evaluation", wanted)}
            rows = of_keys(execute, "SELECT key, owner, until FROM lease", wanted)
            held = {key: (who, until) for key, who, until in rows}
            for key in wanted:
                who, until = held.get(key, (owner, now))
                if key in done or not (who == owner or until < now or gone(who)):
                    continue
                if len(taken) == most:
                    break
                doubt = who != owner and not who.endswith(DOUBTED) and lives(who)
                _hold(execute, key, f"{who}{DOUBTED}" if doubt else owner, now + seconds)
                taken += [] if doubt else [key]
        return taken

    def leases(self) -> dict[str, tuple[str, float]]:
        """Return who is at which question, and until when; those that ran out are left out."""
        with self.base.transaction(write=False) as execute:
            now = self.base.now(execute)
            rows = execute("SELECT key, owner, until FROM lease")
        held = ((key, who.removesuffix(DOUBTED), until) for key, who, until in rows)
        return {key: (who, until) for key, who, until in held if until >= now and not gone(who)}

    def renew(self, owner: str, seconds: float) -> None:
        """Go on holding what an owner holds."""
        with self.base.transaction(durable=False) as execute:
            execute(
                "UPDATE lease SET until = :u, owner = :owner WHERE owner IN (:owner, :doubted)",
                u=self.base.now(execute) + seconds,
                owner=owner,
                doubted=f"{owner}{DOUBTED}",
            )

    def release(self, owner: str) -> None:
        """Let others have what an owner holds."""
        with self.base.transaction(durable=False) as execute:
            execute(
                "DELETE FROM lease WHERE owner IN (:owner, :doubted)",
                **{"owner": owner, "doubted": f"{owner}{DOUBTED}"},
            )


def _hold(execute: Execute, key: str, owner: str, until: float) -> None:
    execute(
        "INSERT INTO lease VALUES (:key, :owner, :until) ON CONFLICT (key) "
        "DO UPDATE SET owner = :owner, until = :until",
        **{"key": key, "owner": owner, "until": until},
    )


def of_keys(execute: Execute, select: str, keys: Sequence[str]) -> list[Any]:
    """Return the rows of these keys.

    Examples
    --------
    >>> of_keys(lambda sql, **keys: [(sql, keys)], "SELECT key FROM lease", ["3f"])
    [('SELECT key FROM lease WHERE key IN (:k0)', {'k0': '3f'})]
    """
    found: list[Any] = []
    for start in range(0, len(keys), CHUNK):
        part = {f"k{i}": key for i, key in enumerate(keys[start : start + CHUNK])}
        marks = ", ".join(f":{name}" for name in part)
        found += execute(f"{select} WHERE key IN ({marks})", **part)
    return found
