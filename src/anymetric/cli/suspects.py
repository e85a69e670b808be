"""Suspects: the training rows of a run whose label or features the clean rows contradict."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from typing import Any

from anymetric.cli.faults import UserError
from anymetric.cli.fit import Fit
from anymetric.cli.runs import open_run, read_settings
from anymetric.cli.tables import check_out, whole
from anymetric.cli.voice import Voice
from anymetric.suspects import Suspects, find

HEAD = ("rows", "number", "expected wrong", "suspects", "gain if fixed", "gain if dropped")


def suspects(folder: Path, out: Path | None, voice: Voice, force: bool = False) -> dict[str, Any]:
    """Find the suspects of a run, show them by slice and source, and write them by row."""
    asked = read_settings(folder)
    if out is not None:
        check_out(out, force=force)
    home = Path(asked["home"])
    if not home.is_dir():
        raise UserError(f"The run was begun in {home}, which does not exist any more.")
    with chdir(home):
        found, rows = searched(Fit.of_settings(asked), folder, voice)
    frame = found.to_frame()
    frame["row"] = rows[frame["row"].to_numpy()]
    if out is not None:
        with whole(out) as scratch:
            frame.to_csv(scratch, index=False)
    show(found, out, voice)
    return {
        "suspects": len(found),
        "rows": len(found.probability),
        "expected": float(found.probability.sum()),
        "anchored": found.anchored,
        "metric": found.metric,
        "by_slice": found.parts_frame().to_dict("records"),
        "by_source": found.parts_frame("source").to_dict("records"),
        "out": None if out is None else str(out),
    }


def searched(asked: Fit, folder: Path, voice: Voice) -> tuple[Suspects, Any]:
    """Return the suspects, and the number in the file of each training row, from 1."""
    setting, division = asked.read(Voice(quiet=True))
    if setting.target.labels is None:
        raise UserError(f"Suspects are found among labels; {asked.roles.target!r} holds numbers.")
    store = open_run(folder)
    before = store.fingerprint() or {}
    store.close()
    now = asked.fingerprint(setting, division)
    changed = [name for name in ("train rows", "valid rows") if before.get(name) != now[name]]
    if changed:
        raise UserError(f"The {changed[0]} are not those of the run {folder}: a file has changed.")
    _, train, valid, _ = division.vectors(asked.seed, setting.target, division.train.schema)
    voice.note(f"Searching {len(train.X):,} training rows ...")
    judged: dict[str, Any] = {}
    if valid is not None:
        judged = {"X_val": valid.X, "y_val": setting.target.words(valid.y)}
        judged |= {"groups_val": valid.groups, "side_val": valid.side}
    metric = setting.metric if asked.box is None and asked.budget is None else None
    found = find(
        train.X,
        setting.target.words(train.y),
        groups=train.groups,
        source=train.source,
        metric=metric,
        classes=setting.target.labels,
        random_state=asked.seed,
        **judged,
    )
    return found, division.train.rows + 1


def show(found: Suspects, out: Path | None, voice: Voice) -> None:
    """Say how many there are, and where."""
    share = found.probability.sum() / len(found.probability)
    voice.line(
        f"{len(found):,} of {len(found.probability):,} training rows are suspects; {share:.1%} are "
        "expected to be wrong."
    )
    if not found.anchored:
        voice.line("No clean rows were given (--valid): only predictions contradict labels.")
    for parts in (found.by_slice, found.by_source):
        lines = [
            [
                part.name,
                f"{part.rows:,}",
                f"{part.share:.0%}",
                f"{part.suspects:,}",
                gained(part.gain_fix, part.gain_fix_error),
                gained(part.gain_drop, part.gain_drop_error),
            ]
            for part in parts
        ]
        if lines:
            voice.table(HEAD, lines, f"Gains in {found.metric}" if found.metric else "")
    if out is not None:
        voice.line(f"By row: {out}")


def gained(gain: float, error: float) -> str:
    """Say a gain with its standard error.

    Examples
    --------
    >>> gained(0.02, 0.01), gained(0.0, 0.0), gained(float("nan"), float("nan"))
    ('+0.0200 ± 0.0100', '0', '-')
    """
    if gain != gain:
        return "-"
    if gain == 0.0 and error == 0.0:
        return "0"
    return f"{gain:+.4f}" + (f" ± {error:.4f}" if error == error else "")
