"""Packages: third-party packages, imported only where a section compares with them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def package(name: str, pip: str | None = None) -> Any:
    """Import a package that only benchmarks need, or say how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise SystemExit(
            f"This section compares with {name}: pip install {pip or name.split('.')[0]} (into an "
            "environment for benchmarks; the library does not need it)."
        ) from error
