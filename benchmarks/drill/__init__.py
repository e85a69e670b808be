"""Drill: what a ledger promises, tried by force."""
