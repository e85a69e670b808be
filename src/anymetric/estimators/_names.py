"""Names: slices and surrogates as the user would call them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# The entry of validation rows that trained too; it has no loss of its own.
VALIDATION_ROWS = "validation rows"


def class_names(names: Sequence[str], classes: Any = None) -> dict[str, str]:
    """Return names in which the classes are called as in y.

    Examples
    --------
    >>> class_names(["hinge[class=+1, groups=a]"], ["no", "yes"])
    {'hinge[class=+1, groups=a]': 'hinge[class=yes, groups=a]'}
    """
    called = {name: name for name in names}
    if classes is not None:
        own = {"-1": str(classes[0]), "+1": str(classes[-1])}
        called = {
            name: re.sub(r"\[class=([-+]1)(?=[,\]])", lambda found: f"[class={own[found[1]]}", name)
            for name in names
        }
    return distinct(called)


def short_names(names: Sequence[str], classes: Any = None) -> dict[str, str]:
    """Return names as `class_names` does, and without a loss that all of them share.

    Examples
    --------
    >>> names = ["logistic[class=-1, groups=a]", "logistic[class=+1, groups=a]", "validation rows"]
    >>> list(short_names(names, ["no", "yes"]).values())
    ['class=no, groups=a', 'class=yes, groups=a', 'validation rows']
    >>> list(short_names(["lp(1.5)[all]", "lp(2)[all]"]).values())
    ['lp(1.5)[all]', 'lp(2)[all]']
    >>> list(short_names(["pairwise_logistic", "pairwise_logistic[gains]"]).values())
    ['pairwise_logistic', 'pairwise_logistic[gains]']
    """
    called = class_names(names, classes)
    parts = [re.fullmatch(r"([\w().]+)\[(.+)\]", text, re.DOTALL) for text in called.values()]
    losses = {
        part and part[1] for part, name in zip(parts, names, strict=True) if name != VALIDATION_ROWS
    }
    if len(losses) != 1:
        return called
    pairs = zip(called.items(), parts, strict=True)
    return distinct({name: part[2] if part else text for (name, text), part in pairs})


def distinct(called: dict[str, str]) -> dict[str, str]:
    """Return the names, or the old ones if two would become one."""
    return called if len(set(called.values())) == len(called) else {name: name for name in called}
