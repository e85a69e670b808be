"""Proposals: what is trained, in order of promise."""
