"""Digests: a short name for arrays and plain values, the same on every machine."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse

ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
# Values of these types show all of themselves.
PLAIN = (type(None), bool, int, float, complex, str, bytes)


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
        _feed_text(found, f"mapping {len(part)}")
        for name in sorted(part, key=lambda name: (str(name), type(name).__name__)):
            _feed(found, name)
            _feed(found, part[name])
    elif isinstance(part, list | tuple):
        _feed_text(found, f"sequence {len(part)}")
        for one in part:
            _feed(found, one)
    elif isinstance(part, set | frozenset):
        _feed_text(found, f"set {sorted(digest(one) for one in part)}")
    elif sparse.issparse(part):
        _feed_sparse(found, part)
    elif isinstance(part, np.ndarray):
        _feed_array(found, part)
    elif hasattr(part, "to_numpy") or hasattr(part, "itercolumns"):
        _feed_table(found, part)
    else:
        _feed_value(found, part)


def _feed_sparse(found: Any, part: Any) -> None:
    whole = sparse.coo_array(part)
    whole.sum_duplicates()
    _feed_text(found, f"sparse {whole.shape}")
    for array in (*whole.coords, whole.data):
        _feed_array(found, array)


def _feed_table(found: Any, part: Any) -> None:
    """Feed a data frame or a series: names, types and values of its columns."""
    columns = list(_columns(part))
    _feed_text(found, f"table {len(columns)}")
    for name, column in columns:
        _feed(found, name)
        kind = getattr(column, "dtype", getattr(column, "type", None))
        _feed_text(found, f"column {kind}")
        if hasattr(column, "cat") and hasattr(column.cat, "codes"):
            _feed(found, bool(column.cat.ordered))
            _feed_array(found, column.cat.categories.to_numpy())
            column = column.cat.codes
        _feed_array(found, column.to_numpy())


def _columns(part: Any) -> Iterator[tuple[Any, Any]]:
    if hasattr(part, "iloc") and hasattr(part, "columns"):  # pandas
        yield from ((name, part.iloc[:, k]) for k, name in enumerate(part.columns))
    elif hasattr(part, "get_columns"):  # polars
        yield from ((column.name, column) for column in part.get_columns())
    elif hasattr(part, "itercolumns"):  # arrow
        yield from zip(part.column_names, part.itercolumns(), strict=True)
    else:  # one column of any of them
        yield None, part


def _feed_array(found: Any, array: Any) -> None:
    array = np.asarray(array)
    if array.dtype.kind in "UST":  # texts of any width
        _feed_text(found, f"texts {array.shape} {array.tolist()!r}")
    elif array.dtype.hasobject:
        _feed_objects(found, array)
    else:
        # Numbers of more than eight bytes have padding with undefined content.
        kind = np.float64 if array.dtype.char == "g" else array.dtype.newbyteorder("<")
        plain = np.ascontiguousarray(array, dtype=kind)
        _feed_text(found, f"array {array.shape} {array.dtype.newbyteorder('<').str}")
        found.update(plain.tobytes())


def _feed_objects(found: Any, array: Any) -> None:
    values = array.ravel().tolist()
    if all(type(value) in PLAIN for value in values):
        _feed_text(found, f"texts {array.shape} {array.tolist()!r}")
        return
    _feed_text(found, f"objects {array.shape}")
    for value in values:
        _feed(found, value)


def _feed_value(found: Any, part: Any) -> None:
    text = repr(part)
    if type(part) not in PLAIN and ADDRESS.search(text):  # an address in memory is no name
        try:
            text = pickle.dumps(part, protocol=4).hex()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(f"A ledger has no name for {text}, which cannot be pickled.") from error
    _feed_text(found, f"value {type(part).__name__} {text}")


def _feed_text(found: Any, text: str) -> None:
    encoded = text.encode("utf-8", "surrogatepass")
    found.update(f"{len(encoded)}:".encode())
    found.update(encoded)
