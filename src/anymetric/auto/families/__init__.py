"""Families: what trains proposals and scores the validation rows out of fold."""
