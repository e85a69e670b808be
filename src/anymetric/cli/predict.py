"""Predict: scores and labels of new rows."""

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
from anymetric.cli.tables import check_out, write_table
from anymetric.cli.voice import Voice

# Of fewer rows it says nothing that all are called the same.
MANY = 20


def predict(
    model_path: Path,
    path: Path,
    out: Path | None,
    keep: tuple[str, ...],
    voice: Voice,
    *,
    encoding: str = "",
    lenient: bool = False,
) -> dict[str, Any]:
    """Score the rows of a file; write them to another, or to standard output."""
    if out is not None:
        check_out(out, model_path, path)
    model, table = load_model(model_path), read_table(path, encoding)
    tell_encoding(table, str(path), voice)
    for column in keep:
        require(column, list(table.columns), str(path), "--keep")
        if column in (*model.score_names, "prediction"):
            raise UserError(f"--keep {column}: that is the name of a column to be written.")
    check_plain(table, keep, str(path))
    model.check(table, str(path), voice, lenient)
    with notes_of_warnings(Voice(quiet=True)):
        scores = model.scores(table, str(path))
    if (line := one_sided(scores, model.target)) and len(scores) >= MANY:
        voice.note(line)
    found = {column: as_typed(table[column]) for column in keep}
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
