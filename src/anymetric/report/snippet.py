"""Snippet: Python code that makes an estimator again, and runs as it is."""

from __future__ import annotations

import inspect
import math
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import anymetric

Imports = dict[str, str]


class Unwritable(Exception):  # noqa: N818 - no error: the code is left out
    """A value that no code of ours makes again.

    Examples
    --------
    >>> issubclass(Unwritable, Exception)
    True
    """


def constructed(model: Any) -> str:
    """Return code that makes an unfitted copy of a model; empty if it could not run elsewhere.

    Examples
    --------
    >>> from anymetric import MetricClassifier
    >>> print(constructed(MetricClassifier("f1", random_state=0)))
    from anymetric import MetricClassifier
    <BLANKLINE>
    model = MetricClassifier(metric='f1', random_state=0)
    # model.fit(X_train, y_train).predict(X_new)
    >>> constructed(MetricClassifier(lambda y_true, y_pred: 1.0, greater_is_better=True))
    ''
    """
    imports: Imports = {}
    try:
        code = _made(model, model.get_params(deep=False), imports)
    except Unwritable:
        return ""
    lines = [f"from {home} import {name}" for name, home in sorted(imports.items())]
    last = "# model.fit(X_train, y_train).predict(X_new)"
    return "\n".join([*lines, "", f"model = {code}", last])


def code_of(value: Any, imports: Imports) -> str:
    """Return code that makes a value; what it takes is added to the imports.

    Examples
    --------
    >>> imports = {}
    >>> code_of({"a": (1, [None])}, imports), code_of(math.sqrt, imports), imports
    ("{'a': (1, [None])}", 'sqrt', {'sqrt': 'math'})
    """
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if type(value) in (list, tuple):
        inner = ", ".join(code_of(one, imports) for one in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if type(value) is dict:
        pairs = [f"{code_of(k, imports)}: {code_of(v, imports)}" for k, v in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if callable(value) and hasattr(value, "__qualname__"):
        return _imported(value, imports)
    if is_dataclass(value) and not isinstance(value, type):
        given = {part.name: getattr(value, part.name) for part in fields(value) if part.init}
        return _made(value, given, imports)
    if hasattr(value, "get_params"):
        return _made(value, value.get_params(deep=False), imports)
    raise Unwritable(type(value).__name__)


def _made(thing: Any, given: dict[str, Any], imports: Imports) -> str:
    """Return the call that makes a thing, without what it leaves at the default."""
    known = inspect.signature(type(thing)).parameters
    parts = []
    for name, value in given.items():
        if name not in known:
            raise Unwritable(name)
        code = code_of(value, imports) if not _default(value, known[name].default) else ""
        parts += [f"{name}={code}"] if code else []
    return f"{_imported(type(thing), imports)}({', '.join(parts)})"


def _default(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and repr(value) == repr(default))


def _imported(thing: Any, imports: Imports) -> str:
    """Return a name that can be imported in another process, from the most public place."""
    name = thing.__qualname__
    for home in ("anymetric", thing.__module__):
        public = home != "__main__" and "." not in name and _found(home, name) is thing
        if public and imports.setdefault(name, home) == home:
            return str(name)
    raise Unwritable(name)


def _found(home: str, name: str) -> Any:
    try:
        return getattr(anymetric if home == "anymetric" else import_module(home), name, None)
    except ImportError:
        return None
