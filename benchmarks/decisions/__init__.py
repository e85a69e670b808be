"""Decisions: one module for each section, each with a `main(argv) -> int` of its own."""
