"""Predict: scores, ranks, labels and probabilities of new rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from anymetric.cli.baselines import notes_of_warnings
from anymetric.cli.faults import UserError, need
from anymetric.cli.models import load_model
from anymetric.cli.reading import check_plain, read_table
from anymetric.cli.roles import require
from anymetric.cli.rows import tell_encoding
from anymetric.cli.sanity import one_sided
from anymetric.cli.table_model import TableModel
from anymetric.cli.tables import check_kind, check_out, write_table
from anymetric.cli.voice import Voice
from anymetric.rules import TopRule

# Of fewer rows nothing is said if all get the same label.
MANY = 20


def predict(
    model_path: Path,
    path: Path,
    out: Path | None,
    keep: tuple[str, ...],
    voice: Voice,
    *,
    proba: bool = False,
    force: bool = False,
    encoding: str = "",
    lenient: bool = False,
) -> dict[str, Any]:
    """Score the rows of a file; write them to another, or to standard output."""
    if out is not None:
        check_out(out, model_path, path, force=force)
        check_kind(out)
    model, table = load_model(model_path), read_table(path, encoding)
    tell_encoding(table, str(path), voice)
    for column in keep:
        require(column, list(table.columns), str(path), "--keep")
    check_plain(table, keep, str(path))
    model.check(table, str(path), voice, lenient)
    with notes_of_warnings(voice):
        found = predicted(model, table, str(path), proba, voice)
    for column in keep:
        if column in found:
            raise UserError(f"--keep {column}: that is the name of a column to be written.")
    found = {**{column: as_typed(table[column]) for column in keep}, **found}
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


def predicted(
    model: TableModel, table: Any, name: str, proba: bool, voice: Voice
) -> dict[str, Any]:
    """Return the columns that a model predicts of a table: score, rank, label, probabilities."""
    scores = model.scores(table, name)
    found: dict[str, Any] = {}
    if model.target.labels is not None:
        found |= model.columns_of(scores)
        if not model.target.many:
            found["rank"] = model.ranks(scores, table)
    if model.calls or model.target.labels is None:
        found["prediction"] = model.decide(scores)
        describe(model, scores, voice)
    if proba:
        found |= probability_columns(model, model.matrix(table, name))
    return found


def describe(model: TableModel, scores: Any, voice: Voice) -> None:
    """Say how many rows the top has, and warn if all rows get the same label."""
    if isinstance(model.rule, TopRule):
        top, n = model.rule, len(scores)
        share = f"{100.0 * top.top:g}% of the" if top.top < 1.0 else f"{int(top.top)}"
        voice.note(f"Flagged: the top {share} rows of this file, {top.count(n):,} of {n:,}.")
    elif (line := one_sided(scores, model.target)) and len(scores) >= MANY:
        voice.note(line)


def probability_columns(model: TableModel, X: Any) -> dict[str, Any]:
    """Return a column with the probability of the positive label; of many classes, one for each."""
    shares = model.probabilities(X)
    if not model.target.many:
        return {"probability": shares[:, 1]}
    labels = model.target.labels or ()
    return {f"probability_{label}": shares[:, k] for k, label in enumerate(labels)}


def as_typed(column: Any) -> Any:
    """Return a column of plain numbers as numbers; whatever else is written stays as it is.

    Examples
    --------
    >>> pd = need("pandas")
    >>> as_typed(pd.Series(["7", "8"])).tolist(), as_typed(pd.Series(["007", "8"])).tolist()
    ([7, 8], ['007', '8'])
    """
    if not need("pandas").api.types.is_string_dtype(column.dtype):
        return column
    plain = column.str.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", na=True).all()
    return need("pandas").to_numeric(column) if plain else column
