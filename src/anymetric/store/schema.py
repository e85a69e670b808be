"""Schema: the tables of a ledger, in words that SQLite and PostgreSQL both know."""

from __future__ import annotations

# Raised when a table changes; a ledger of a higher number is of a newer anymetric.
VERSION = 2
TABLES = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # One run to a ledger: what it is of, and whether it has ended.
    "CREATE TABLE run (id INTEGER PRIMARY KEY CHECK (id = 1), fingerprint TEXT NOT NULL,"
    " begun DOUBLE PRECISION NOT NULL, status TEXT NOT NULL, seal TEXT NOT NULL)",
    # What chance or the clock decided, so that a replay decides the same.
    "CREATE TABLE choice (name TEXT PRIMARY KEY, value TEXT NOT NULL, seal TEXT NOT NULL)",
    "CREATE TABLE evaluation (key TEXT PRIMARY KEY, value DOUBLE PRECISION, status TEXT NOT NULL,"
    " attempt INTEGER NOT NULL, seconds DOUBLE PRECISION, error TEXT, owner TEXT NOT NULL,"
    " made DOUBLE PRECISION NOT NULL, seal TEXT NOT NULL)",
    "CREATE TABLE lease (key TEXT PRIMARY KEY, owner TEXT NOT NULL,"
    " until DOUBLE PRECISION NOT NULL)",
    # Open questions of ask and tell.
    "CREATE TABLE question (key TEXT PRIMARY KEY, place INTEGER NOT NULL,"
    " payload {bytes} NOT NULL)",
    # What the question of a key is about: family, weighting, iteration; as JSON. Since version 2.
    "CREATE TABLE subject (key TEXT PRIMARY KEY, what TEXT NOT NULL)",
    "CREATE TABLE note (made DOUBLE PRECISION NOT NULL, key TEXT NOT NULL, said TEXT NOT NULL)",
)
# Those of the first version: what is missing of the others is added.
NAMES = ("about", "run", "choice", "evaluation", "lease", "question", "note")
