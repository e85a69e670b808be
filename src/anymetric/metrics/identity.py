"""Identity: what a metric or a setting is, as plain values that another process would find too.

Of a function it is the source, and what the function reads besides its arguments: a changed
closure, default or helper is another metric, whatever its name. Texts that it reads are hashed, for
they may be secrets.
"""

from __future__ import annotations

import inspect
import math
import textwrap
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from anymetric.metrics.digests import ADDRESS, digest

# Lists and mappings that are longer are hashed.
LONG = 40
# What a callable was when it was first seen: some count their calls.
_first: dict[int, tuple[Any, Any]] = {}


def identity(value: Any) -> Any:
    """Return what a value is: plain values, lists and mappings of such.

    Examples
    --------
    >>> def f_beta(beta):
    ...     return lambda y_true, y_pred: beta
    >>> identity(f_beta(1.0)) == identity(f_beta(1.0)), identity(f_beta(1.0)) == identity(f_beta(2))
    (True, False)
    """
    return _described(value, ())


def _described(value: Any, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if id(value) in above:
        return "as above"
    if not callable(value) or isinstance(value, type):
        return _known(value, (*above, id(value)))
    return _at_first(value, (*above, id(value)))


def _at_first(value: Any, above: tuple[int, ...]) -> Any:
    kept = _first.get(id(value))
    if kept is not None and kept[0]() is value:
        return kept[1]
    described = _known(value, above)
    key = id(value)
    with suppress(TypeError):  # not everything can be remembered without being kept alive
        _first[key] = weakref.ref(value, lambda _: _first.pop(key, None)), described
    return described


def _known(value: Any, above: tuple[int, ...]) -> Any:
    def described(part: Any) -> Any:
        return _described(part, above)

    name = _name(value)
    if isinstance(value, Mapping | list | tuple) and len(value) > LONG:
        return f"{type(value).__name__} of {len(value)}, {digest(_plain(value, above))[:16]}"
    if isinstance(value, Mapping | list | tuple):
        return _plain(value, above)
    if isinstance(value, set | frozenset | bytes | complex) or _is_array(value):
        return f"{type(value).__name__} {digest(value)[:16]}"
    if isinstance(value, partial):
        return {"partial": described(value.func), "given": described([*value.args, value.keywords])}
    if isinstance(value, MethodType):
        return {"method": described(value.__func__), "of": described(value.__self__)}
    if isinstance(value, FunctionType):
        return {"name": name, **_of_function(value, above)}
    if isinstance(value, type | ModuleType) or inspect.isbuiltin(value):
        return name
    return {"kind": name, **_of_object(value, above)}


def _plain(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _described(part, above) for key, part in value.items()}
    return [_described(part, above) for part in value]


def _of_object(value: Any, above: tuple[int, ...]) -> dict[str, Any]:
    """Return an object's settings: declared, shown by its repr, or all its attributes."""
    described: Any
    if hasattr(value, "identified"):
        described = value.identified()
    elif is_dataclass(value):
        described = {one.name: getattr(value, one.name) for one in fields(value)}
    elif hasattr(value, "get_params"):
        described = value.get_params(deep=False)
    elif hasattr(value, "_score_func"):  # what scikit-learn makes of a function
        kept = ("_score_func", "_sign", "_kwargs", "_response_method")
        described = {key: getattr(value, key, None) for key in kept}
    elif callable(getattr(value, "state_dict", None)):  # a torch module
        state = {key: np.asarray(part.cpu()) for key, part in value.state_dict().items()}
        described = {"shown": shown(value), **state}
    elif getattr(type(value), "__repr__", None) is object.__repr__:
        described = {"source": _source(type(value)), **getattr(value, "__dict__", {})}
    else:
        described = {"source": _source(type(value)), "shown": shown(value)}
    return {str(key): _described(part, above) for key, part in described.items()}


def _of_function(function: FunctionType, above: tuple[int, ...]) -> dict[str, Any]:
    code = function.__code__
    reads = dict(_closure(function))
    reads |= {name: part for name, part in _globals(function) if part is not function}
    defaults = [*(function.__defaults__ or ()), function.__kwdefaults__ or {}]
    described: dict[str, Any] = {"source": _source(function)}
    if function.__name__ == "<lambda>":  # a line may have several
        described["code"] = digest(_codes(code))[:16]
    found = {name: _described(hashed_text(part), above) for name, part in sorted(reads.items())}
    return described | {"defaults": _described(hashed_text(defaults), above), "reads": found}


def _closure(function: FunctionType) -> list[tuple[str, Any]]:
    found = []
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            found.append((name, cell.cell_contents))
        except ValueError:  # a name that has no value yet
            continue
    return found


def _globals(function: FunctionType) -> list[tuple[str, Any]]:
    """Return what a function reads of its module: plain values, arrays, and the module's own."""
    names = {name for code in _parts(function.__code__) for name in code.co_names}
    found = [(name, function.__globals__[name]) for name in names if name in function.__globals__]
    plain = (bool, int, float, str, tuple, list, dict, np.ndarray)
    home = function.__module__
    return [(n, v) for n, v in found if isinstance(v, plain) or _made_in(v, home)]


def _made_in(value: Any, home: str) -> bool:
    kinds = (FunctionType, partial)
    return isinstance(value, kinds) and getattr(value, "__module__", home) == home


def _parts(code: CodeType) -> list[CodeType]:
    within = [part for one in code.co_consts if isinstance(one, CodeType) for part in _parts(one)]
    return [code, *within]


def _codes(code: CodeType) -> list[Any]:
    consts = [repr(one) for one in code.co_consts if not isinstance(one, CodeType)]
    nested = [_codes(one) for one in code.co_consts if isinstance(one, CodeType)]
    return [code.co_code, list(code.co_names), consts, nested]


def _source(thing: Any) -> str:
    try:
        return digest(textwrap.dedent(inspect.getsource(thing)))[:16]
    except (OSError, TypeError, SyntaxError, IndexError):
        code = getattr(thing, "__code__", None)
        return "unknown" if code is None else digest(_codes(code))[:16]


def hashed_text(value: Any) -> Any:
    """Return a value with its texts hashed.

    Examples
    --------
    >>> hashed_text({"limit": 3, "key": "secret"})
    {'limit': 3, 'key': 'text 64a6e99c569382f5'}
    """
    if isinstance(value, str):
        return f"text {digest(value)[:16]}"
    if isinstance(value, Mapping):
        return {key: hashed_text(part) for key, part in value.items()}
    return [hashed_text(part) for part in value] if isinstance(value, list | tuple) else value


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and not callable(value) and not isinstance(value, type)


def _name(value: Any) -> str:
    thing = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(value))}"


def shown(value: Any) -> str:
    """Return a setting as text: without addresses in memory, and short.

    Examples
    --------
    >>> shown("auto"), shown(object())
    ("'auto'", '<object object at 0x>')
    """
    text = ADDRESS.sub("0x", repr(value))
    return text if len(text) <= 200 else f"{text[:150]}... {digest(text)[:12]}"
