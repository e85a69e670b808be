"""Signatures: what a function's own words say about how to call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

# What the second parameter's name says of what it wants, without ``y_`` and a plural's s.
_STEMS = {
    "decisions": ("pred", "prediction", "predicted", "hat", "yhat", "decision", "y2"),
    "scores": ("score", "margin", "logit", "pred_decision", "decision_function"),
    "probabilities": ("prob", "proba", "probability", "probabilitie"),
}
READINGS = tuple(_STEMS)


def reading(name: str) -> str | None:
    """Return what a second parameter of this name receives; None if its name does not say.

    Examples
    --------
    >>> reading("y_pred"), reading("scores"), reading("y_prob"), reading("z")
    ('decisions', 'scores', 'probabilities', None)
    """
    stem = name.removeprefix("y_").removesuffix("s")
    return next((what for what, stems in _STEMS.items() if stem in stems), None)


def read_signature(
    function: Callable[..., Any],
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the second parameter's name, the further required ones, and the optional ones.

    Examples
    --------
    >>> read_signature(lambda y_true, y_pred, amount, sample_weight=None: 0.0)
    ('y_pred', ('amount',), ('sample_weight',))
    """
    named = parameters(function)
    ordered = [p for p in named if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(ordered) < 2:
        raise ValueError(
            f"A metric function takes targets and predictions first, as in f(y_true, y_pred); "
            f"got {function_name(function)}({', '.join(p.name for p in named)}). If its "
            "signature cannot be read, say metric(f, on=..., needs=())."
        )
    further = [p for p in named if p not in ordered[:2]]
    required = tuple(p.name for p in further if p.default is p.empty)
    return ordered[1].name, required, tuple(p.name for p in further if p.default is not p.empty)


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the named parameters of a function; none if it has no signature.

    Examples
    --------
    >>> [p.name for p in parameters(lambda y_true, y_pred, *rest, **more: 0.0)]
    ['y_true', 'y_pred']
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in signature.parameters.values() if p.kind not in several]


def function_name(function: Any) -> str:
    """Return what a callable is called.

    Examples
    --------
    >>> function_name(partial(max, default=0))
    'max'
    """
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def direction(name: str) -> bool:
    """Whether greater is better, by scikit-learn's way of naming.

    Examples
    --------
    >>> direction("f1_score"), direction("max_error")
    (True, False)
    """
    if name.endswith("_score"):
        return True
    if name.endswith(("_error", "_loss", "_deviance")):
        return False
    raise ValueError(
        f"Is a greater {name!r} better? Its name does not say (*_score: yes; *_error, *_loss, "
        "*_deviance: no): give greater_is_better=True or False."
    )
