"""Damage: ledgers as no sound disk would give them back."""

from __future__ import annotations

import math
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

from anymetric.errors import LedgerError
from anymetric.store import Evaluation, Posed, open_store

WAYS = ("flipped", "torn", "zeroed", "mixed")
STRANGERS = ("text", "foreign", "newer", "folder")


def written(path: Path) -> Path:
    """Write a ledger of forty answers, all of it in one file."""
    store = open_store(path)
    store.begin({"metric": "profit"})
    store.choose("seed", lambda: [1, 2, 3, 4])
    for k in range(40):
        failed = k % 10 == 9
        error = "no licence" * 50 if failed else None
        status = "failed" if failed else "done"
        value = None if failed else math.sin(k)
        store.record(Evaluation(f"{k:040x}", value, status, 1, 0.5, error, "me"))
    store.pose([Posed("f" * 40, os.urandom(6000))])
    store.close()
    return path


def told(path: Path) -> Any:
    """Return all that a run would read from a ledger."""
    store = open_store(path)
    try:
        made = {k: (e.value, e.status, e.error, e.seconds) for k, e in store.known().items()}
        return made, store.fingerprint(), store.choose("seed", lambda: None)
    finally:
        store.close()


def hurt(whole: bytes, how: str, rng: random.Random) -> bytes:
    """Return the bytes of a file flipped, torn, zeroed or mixed up at a random place."""
    data, at = bytearray(whole), rng.randrange(len(whole))
    if how == "torn":
        return bytes(data[:at])
    if how == "zeroed":
        size = rng.choice([16, 512, 4096])
        data[at : at + size] = bytes(len(data[at : at + size]))
    elif how == "mixed":
        other, size = rng.randrange(len(whole)), rng.choice([8, 512, 4096])
        part = data[other : other + size]
        data[at : at + len(part)] = part
    else:
        for place in [at, *(rng.randrange(len(whole)) for _ in range(rng.randrange(3)))]:
            data[place] ^= 1 << rng.randrange(8)
    return bytes(data)


def noticed(path: Path, before: bytes, sound: Any) -> str:
    """Return what opening a ledger comes to: 'refused', 'harmless', or what is wrong."""
    path.write_bytes(before)
    try:
        found = told(path)
    except LedgerError:
        return "refused" if path.read_bytes() == before else "refused, but written to"
    except Exception as error:
        return f"unclear: {type(error).__name__}: {error}"
    return "harmless" if found == sound or not before else "taken for sound"


def strange(path: Path, kind: str) -> bool:
    """Return whether what is no ledger of ours is refused and left as it is."""
    if kind == "text":
        path.write_text("a,b\n1,2\n" * 500)
    elif kind == "foreign":
        with sqlite3.connect(path) as base:
            base.execute("CREATE TABLE trials (x INTEGER)")
    elif kind == "newer":
        written(path)
        with sqlite3.connect(path) as base:
            base.execute("UPDATE about SET value = '99'")
    else:
        path.mkdir()
    before = None if path.is_dir() else path.read_bytes()
    try:
        told(path)
    except LedgerError:
        return path.is_dir() if before is None else path.read_bytes() == before
    return False


def damage(home: Path, cases: int, rng: random.Random) -> dict[str, dict[str, int]]:
    """Return, for each way of damage, how many files came to what."""
    home.mkdir(parents=True, exist_ok=True)
    whole = written(home / "sound.db").read_bytes()
    sound, found = told(home / "sound.db"), dict[str, dict[str, int]]()
    for number in range(cases):
        how = WAYS[number % len(WAYS)]
        said = noticed(home / "hurt.db", hurt(whole, how, rng), sound)
        for left in home.glob("hurt.db*"):
            left.unlink()
        found.setdefault(how, {}).setdefault(said, 0)
        found[how][said] += 1
    for kind in STRANGERS:
        good = strange(home / f"{kind}.db", kind)
        found[kind] = {"refused" if good else "taken or touched": 1}
    return found
