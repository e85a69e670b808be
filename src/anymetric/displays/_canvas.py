"""Canvas: the one place that imports matplotlib, and what all displays share."""

from __future__ import annotations

from typing import Any

from anymetric.errors import import_extra

# Blue and orange are distinguishable with colour blindness; grey is for context.
BEST, CHOSEN, QUIET = "tab:blue", "tab:orange", "tab:gray"
GROUPS = "tab:blue", "tab:green", "tab:purple", "tab:red", "tab:brown", "tab:cyan"


def pyplot(caller: str) -> Any:
    """Return matplotlib's pyplot, or say how to get it."""
    return import_extra("matplotlib.pyplot", needed_by=caller, extra="plot")


def canvas(display: Any, ax: Any) -> Any:
    """Return the axes to draw on, new ones if none are given, and note them on the display."""
    plt = pyplot(f"{type(display).__name__}.plot")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def plain(text: Any) -> str:
    """Return text that matplotlib shows as it is: a dollar sign is no formula.

    Examples
    --------
    >>> plain("profit in $")
    'profit in \\\\$'
    """
    return str(text).replace("$", r"\$")
