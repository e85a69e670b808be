"""Predict: scores and labels of new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from anymetric.cli.contenders import heard
from anymetric.cli.faults import UserError, need
from anymetric.cli.models import load_model
from anymetric.cli.roles import require
from anymetric.cli.tables import check_out, check_plain, read_table, write_table
from anymetric.cli.vectors import new_words, tell_unread
from anymetric.cli.voice import Voice


def predict(
    model_path: Path, path: Path, out: Path | None, keep: tuple[str, ...], voice: Voice
) -> dict[str, Any]:
    """Score the rows of a file; write them to another, or to standard output."""
    if out is not None:
        check_out(out, model_path, path)
    model, table = load_model(model_path), read_table(path)
    for column in keep:
        require(column, list(table.columns), str(path), "--keep")
        if column in (*model.score_names, "prediction"):
            raise UserError(f"--keep {column}: that is the name of a column to be written.")
    check_plain(table, keep, str(path))
    with heard(Voice(quiet=True)):
        scores = model.scores(table, str(path))
    tell_new(new_words(model.steps, table), voice)
    tell_unread(model.steps, table, str(path), voice)
    found = {column: table[column] for column in keep}
    if model.target.labels is not None:
        found |= model.columns_of(scores)
    if model.calls or model.target.labels is None:
        found["prediction"] = model.decide(scores)
    frame = need("pandas").DataFrame(found)
    if out is not None:
        write_table(frame, out)
        voice.line(f"{len(frame):,} rows scored: {out}")
        return {"rows": len(frame), "saved": str(out)}
    if not voice.json:
        frame.to_csv(sys.stdout, index=False)
        return {}
    frame = frame.astype(object).where(frame.notna(), None)
    return {"rows": len(frame), **{name: frame[name].tolist() for name in frame}}


def tell_new(found: dict[str, list[str]], voice: Voice) -> None:
    """Say which values training never saw."""
    for column, words in found.items():
        few = ", ".join(repr(word) for word in words[:3]) + (", ..." if len(words) > 3 else "")
        count = f"{len(words)} value{'s' if len(words) > 1 else ''}"
        voice.note(f"Note: column {column!r} has {count} that training never saw: {few}.")
