"""Digests: a short name for arrays and plain values, the same on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse


def digest(*parts: Any) -> str:
    """Return 40 hexadecimal digits that differ if any part does, in value, shape or kind.

    Examples
    --------
    >>> digest("f1", np.array([1.0, 2.0])) == digest("f1", np.array([1.0, 2.0]))
    True
    >>> digest("f1", np.array([1.0, 2.0])) == digest("f1", np.array([[1.0, 2.0]]))
    False
    """
    found = hashlib.sha256()
    for part in parts:
        _feed(found, part)
    return found.hexdigest()[:40]


def _feed(found: Any, part: Any) -> None:
    if isinstance(part, Mapping):
        _feed(found, f"mapping {len(part)}")
        for name in sorted(part, key=str):
            _feed(found, str(name))
            _feed(found, part[name])
    elif isinstance(part, list | tuple):
        _feed(found, f"sequence {len(part)}")
        for one in part:
            _feed(found, one)
    elif sparse.issparse(part) and hasattr(part, "tocsr"):
        whole = part.tocsr()
        for array in (np.array(whole.shape), whole.indptr, whole.indices, whole.data):
            _feed(found, np.asarray(array))
    elif isinstance(part, np.ndarray):
        _feed_array(found, part)
    elif hasattr(part, "to_numpy"):  # a data frame or a series
        _feed(found, [str(name) for name in getattr(part, "columns", ())])
        _feed_array(found, part.to_numpy())
    else:
        _feed_text(found, f"{type(part).__name__} {part!r}")


def _feed_array(found: Any, array: Any) -> None:
    array = np.asarray(array)
    if array.dtype.kind in "OUST":  # texts of any width, and whatever objects show of themselves
        _feed_text(found, f"texts {array.shape} {array.tolist()!r}")
        return
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    _feed_text(found, f"array {plain.shape} {plain.dtype.str}")
    found.update(plain.tobytes())


def _feed_text(found: Any, text: str) -> None:
    encoded = text.encode("utf-8", "surrogatepass")
    found.update(f"{len(encoded)}:".encode())
    found.update(encoded)
