"""Questions: ask, tell, status and best, for people or programs in place of a metric."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from anymetric.cli.faults import UserError
from anymetric.cli.fit import Fit
from anymetric.cli.models import TableModel, dump_model, load_model
from anymetric.cli.runs import (
    DONE,
    MODEL,
    QUESTIONS,
    busy,
    open_run,
    read_progress,
    read_settings,
)
from anymetric.cli.tables import check_out, whole
from anymetric.cli.voice import Voice, number
from anymetric.cli.work import Answers
from anymetric.metrics import MetricError
from anymetric.metrics.exchange import write_table
from anymetric.metrics.faults import Answer
from anymetric.recorded import entry, table_of, waiting
from anymetric.runs import finite
from anymetric.store import Store
from anymetric.store.files import tidy

# Digits of a key that are shown: enough to tell questions apart.
DIGITS = 12


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open the ledger of a run for a while."""
    store = open_run(folder)
    try:
        yield store
    finally:
        store.close()


def again(folder: Path, voice: Voice, answers: Answers | None = None) -> dict[str, Any]:
    """Do a run's work again with what is known, from the folder that it was begun in."""
    asked, folder = read_settings(folder), folder.resolve()
    home = Path(asked["home"])
    if not home.is_dir():
        raise UserError(f"The run was begun in {home}, which is no more.")
    with chdir(home):
        return replace(Fit.of_settings(asked), run=folder)(voice, answers)


def resume(folder: Path, voice: Voice) -> dict[str, Any]:
    """Go on with a run that was cut off."""
    if (folder / DONE).is_file():
        voice.note(f"{folder} is finished.")
        return {"run": str(folder), "finished": True}
    return again(folder, voice)


def ask(folder: Path, count: int, form: str, lease: float, voice: Voice) -> dict[str, Any]:
    """Hand out questions that nobody is at: their keys, and files of predictions."""
    with opened(folder) as store:
        keys = _leased(store, count, lease)
        if not keys and not store.open_keys() and not (folder / DONE).is_file():
            with suppress_waiting():
                again(folder, Voice(quiet=True), Answers.ASKED)
            keys = _leased(store, count, lease)
        found = {key: _written(store, folder, key, form) for key in keys}
        left = len(store.open_keys())
    for key, path in found.items():
        voice.line(f"{key[:DIGITS]} {path}")
    if not found:
        voice.note(_nothing(folder, left))
    done = (folder / DONE).is_file()
    listed = [{"key": key, "predictions": str(path)} for key, path in found.items()]
    return {"questions": listed, "open": left, "finished": done}


def _nothing(folder: Path, left: int) -> str:
    if left:
        return f"All {left} open questions are with somebody: try again when they are answered."
    return f"There is nothing to ask: the run is finished. Its model: {folder / MODEL}"


def _leased(store: Store, count: int, seconds: float) -> list[str]:
    return store.lease(store.open_keys(), f"asked-{secrets.token_hex(8)}", seconds, count)


def _written(store: Store, folder: Path, key: str, form: str) -> Path:
    posed = store.posed(key)
    assert posed is not None
    home = folder / QUESTIONS
    home.mkdir(exist_ok=True)
    tidy(home)
    path = home / f"{key[:DIGITS]}.{form}"
    with whole(path) as scratch:
        write_table(table_of(posed), scratch, form)
    return path


@contextmanager
def suppress_waiting() -> Iterator[None]:
    """End quietly where a run waits for answers."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if not waiting(stop):
            raise


def tell(
    folder: Path, pairs: Sequence[tuple[str, str]], failed: str | None, voice: Voice
) -> dict[str, Any]:
    """Write answers, or why there is none; all are checked before the first is written."""
    with opened(folder) as store:
        keys = [full_key(store, key) for key, _ in pairs]
        answers = [_answer(value, failed) for _, value in pairs]
        recorded = []
        for key, answer in zip(keys, answers, strict=True):
            recorded.append(store.record(entry(key, answer, None, "told")))
            if not recorded[-1]:
                before = store.known([key])[key]
                was = "a failure" if before.value is None else f"{before.value:g}"
                voice.note(f"Note: {key[:DIGITS]} had an answer ({was}), which stays.")
            for path in (folder / QUESTIONS).glob(f"{key[:DIGITS]}.*"):
                with suppress(OSError):
                    path.unlink()
        left = len(store.open_keys())
    known = sum(recorded)
    voice.line(
        f"{known} answer{'s' if known != 1 else ''} recorded; {left} question"
        f"{'s are' if left != 1 else ' is'} open. Next: anymetric ask {folder}"
    )
    return {"recorded": recorded, "open": left}


def _answer(value: str, failed: str | None) -> Any:
    if failed is None:
        return Answer(finite(value))
    return Answer(error=MetricError(f"No answer was given: {failed}."))


def full_key(store: Store, key: str) -> str:
    """Return the key of a question that begins so."""
    if store.posed(key) is not None:
        return key
    known = [*store.open_keys(), *store.known()]
    found = [one for one in dict.fromkeys(known) if key and one.startswith(key.lower())]
    found = [one for one in found if store.posed(one) is not None]
    if len(found) != 1:
        what = "No question has" if not found else f"{len(found)} questions begin with"
        raise UserError(f"{what} the key {key[:60]!r}: `anymetric ask` gives keys.")
    return found[0]


def pairs_of(words: Sequence[str], failed: str | None) -> list[tuple[str, str]]:
    """Return keys with their values.

    Examples
    --------
    >>> pairs_of(["3f", "0.5", "9a", "0.7"], None)
    [('3f', '0.5'), ('9a', '0.7')]
    >>> pairs_of(["3f"], "no answer")
    [('3f', '')]
    """
    if failed is not None:
        return [(key, "") for key in words]
    if not words or len(words) % 2:
        raise UserError(f"KEY VALUE is expected, or several such pairs; got {len(words)} word(s).")
    return list(zip(words[::2], words[1::2], strict=True))


def status(folder: Path, voice: Voice) -> dict[str, Any]:
    """Tell how a run stands, without doing any of its work."""
    asked = read_settings(folder)
    with opened(folder) as store:
        known, leases = store.known(), store.leases()
        open_keys, notes, state = store.open_keys(), store.notes(), store.status
        about = store.fingerprint() or {}
    failed = [one for one in known.values() if one.failed]
    box = asked.get("box") or {}
    told = bool(box.get("told"))
    stands = standing(folder, state, told, len(open_keys))
    seconds = [one.seconds for one in known.values() if one.seconds is not None]
    calls, budget = sum(one.attempt for one in known.values()), asked["budget"]
    left = None if budget is None else max(budget - calls, 0)
    each = sum(seconds) / len(seconds) if seconds else None
    finished = (folder / DONE).is_file()
    found = {
        "run": str(folder),
        "file": asked["path"],
        "metric": box.get("command") or asked["metric"],
        "state": stands,
        "best": read_progress(folder).get("best"),
        "evaluations": len(known) - len(failed),
        "failures": len(failed),
        "calls": calls,
        "budget": budget,
        "left": None if finished else left,
        "open": len(open_keys),
        "handed out": len([key for key in open_keys if key in leases]),
        "seconds": sum(seconds),
        "seconds left": None if finished or left is None or each is None else each * left,
        "began": min((one.made for one in known.values()), default=None),
        "last": max((one.made for one in known.values()), default=None),
        "notes": len(notes),
        "fingerprint": about,
    }
    rows = [[name, shown(name, value)] for name, value in found.items() if name != "fingerprint"]
    voice.prose(["", ""], [row for row in rows if row[1]])
    for one in failed[-3:]:
        voice.note(f"Failed: {one.key[:DIGITS]}: {one.error}")
    return found


def shown(name: str, value: Any) -> str:
    """Return a value as the table of a run's state shows it; empty if there is nothing to show.

    Examples
    --------
    >>> shown("seconds", 2.345), shown("budget", None), shown("open", 0)
    ('2.3', '', '0')
    """
    if name == "best" and value is not None:
        return number(value, 4)
    if value is None or (name in ("failures", "notes") and not value):
        return ""
    if name in ("began", "last"):
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(value))
    return number(value, 1) if isinstance(value, float) else str(value)


def standing(folder: Path, state: str, told: bool, left: int) -> str:
    """Return how a run stands, in a word or two."""
    if (folder / DONE).is_file():
        return "finished"
    if busy(folder):
        return "at work"
    if told:
        return "waits for answers" if left else f"ready: anymetric ask {folder} goes on"
    return f"{'failed' if state == 'failed' else 'stopped'}: anymetric resume {folder} goes on"


def best(folder: Path, out: Path, voice: Voice, force: bool = False) -> dict[str, Any]:
    """Write the best model by what is known so far; nothing is asked for."""
    check_out(out, force=force)
    target, finished = out.resolve(), (folder / DONE).is_file()
    model = load_model(folder / MODEL) if finished else best_model(folder)
    with whole(target) as scratch:
        dump_model(model, scratch)
    what = "The model" if finished else "The best model so far"
    voice.line(f"{what}: {out}")
    return {"model": str(out), "finished": finished}


def best_model(folder: Path) -> TableModel:
    """Return the best model of a run by the answers so far."""
    with opened(folder) as store:
        if not any(not one.failed for one in store.known().values()):
            raise UserError(f"{folder} has no answer yet, and so there is no model.")
    try:
        again(folder, Voice(quiet=True), Answers.KNOWN)
    except KeyboardInterrupt as stop:
        model = getattr(stop, "best_model", None)
        if not waiting(stop):
            raise
        if model is None:
            raise UserError(f"{folder}: the answers so far do not tell any model.") from stop
        return model  # type: ignore[no-any-return]
    return load_model(folder / MODEL)
