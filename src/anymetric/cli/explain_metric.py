"""Explain metric: what the metric of a run values, as the run's own file has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anymetric.cli.voice import Voice
from anymetric.report import Run

RUN, MODEL = "run.json", "model.skops"


def model_of(path: Path) -> Path:
    """Return the model's file of a run's folder; any other path as it is.

    Examples
    --------
    >>> model_of(Path("model.skops")).name
    'model.skops'
    """
    return path / MODEL if path.is_dir() else path


def explain_metric(path: Path, voice: Voice) -> dict[str, Any]:
    """Show and return what the metric values, if the path is a run's folder that knows it."""
    try:
        found = Run.load(path / RUN).explanation if path.is_dir() else {}
    except (OSError, ValueError, TypeError):
        return {}
    if not found or not (found["understood"] or found["calls"]):
        return {}
    voice.line("")
    for line in (found["headline"], *found["sentences"], *found["limits"]):
        voice.line(line)
    if found["unread"]:
        voice.line(f"It does not read: {'; '.join(found['unread'])}.")
    if found["prices"]:
        rows = [
            [one["mistake"], f"{one['rows']:,}", shown(one["price"]), shown(one["ratio"])]
            for one in found["prices"]
        ]
        voice.table(
            ["one more mistake", "rows", "costs", "in units of the cheapest"],
            rows,
            "What the metric values, at the model's decisions",
        )
    return {"explanation": found}


def shown(number: float | None) -> str:
    """Return a number in four digits; a dash for none.

    Examples
    --------
    >>> shown(0.123456), shown(None)
    ('0.1235', '–')
    """
    return "–" if number is None else f"{number:.4g}"
