"""Faults: what went wrong as one sentence, and the exit code that goes with it."""

from __future__ import annotations

import errno
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from enum import IntEnum
from functools import cache
from typing import Any

from anymetric.errors import DataError, LedgerError, MissingExtra, import_extra

# What a disk says that takes no more.
FULL = {
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "no space is left on the disk",
    errno.EFBIG: "the file would be larger than the system allows",
}


class Exit(IntEnum):
    """How a command ended.

    Examples
    --------
    >>> int(Exit.USER)
    2
    """

    DONE = 0
    BUG = 1
    USER = 2
    STOPPED = 130


class UserError(Exception):
    """Something that the user can mend; the message is the whole of what is told.

    Examples
    --------
    >>> raise UserError("rows.csv is empty.")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: rows.csv is empty.
    """


class Stopped(Exception):  # noqa: N818 - no error: the user asked for it
    """The user stopped the work, and something was kept; the message says what.

    Examples
    --------
    >>> str(Stopped("Stopped in evaluation; the model is kept."))
    'Stopped in evaluation; the model is kept.'
    """


@cache
def need(module: str) -> Any:
    """Import a package of the extra `cli`, or say how to get it.

    Examples
    --------
    >>> need("json").dumps(1)
    '1'
    """
    return import_extra(module, needed_by="The command line", extra="cli")


def hint(name: str, names: Iterable[str]) -> str:
    """Return a question that names what was perhaps meant; empty if nothing is near.

    Examples
    --------
    >>> hint("incme", ["income", "age"])
    " Did you mean 'income'?"
    >>> hint("Sex", ["sex"]), hint("x", ["income"])
    (" Did you mean 'sex'?", '')
    """
    folded = {str(known).casefold(): str(known) for known in names}
    near = get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.7)
    words = " or ".join(repr(folded[known]) for known in near)
    return f" Did you mean {words}?" if words else ""


def sentence(error: BaseException) -> str | None:
    """Return what to tell the user; None if the error is a bug of ours.

    Examples
    --------
    >>> sentence(FileNotFoundError(2, "No such file or directory", "a.csv"))
    'a.csv: no such file or directory.'
    >>> sentence(KeyError("x")) is None
    True
    """
    if isinstance(error, UserError | MissingExtra | DataError | LedgerError):
        return str(error)
    if isinstance(error, MemoryError):
        return "The memory is not enough for these rows: give fewer rows or columns."
    if isinstance(error, OSError):
        return _system(error)
    return None


def _system(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    if error.errno in FULL:
        return f"{where}{FULL[error.errno]}."
    what = (error.strerror or str(error) or type(error).__name__).rstrip(".")
    return f"{where}{what[:1].lower()}{what[1:]}."


def full(error: BaseException) -> bool:
    """Whether a disk took no more.

    Examples
    --------
    >>> full(OSError(errno.ENOSPC, "No space left on device")), full(KeyError("x"))
    (True, False)
    """
    return isinstance(error, OSError) and error.errno in FULL


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Say of a disk that fills up that nothing was kept: true where files appear when whole.

    Examples
    --------
    >>> with all_or_nothing():
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: no space is left on the disk; nothing was kept.
    """
    try:
        yield
    except OSError as error:
        if not full(error):
            raise
        raise UserError(f"{_system(error).rstrip('.')}; nothing was kept.") from error


@contextmanager
def stopping() -> Iterator[None]:
    """Let a signal that ends processes stop the work as Ctrl-C does, so that what there is is kept.

    Examples
    --------
    >>> with stopping():
    ...     pass
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), _stopped) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _stopped(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, without a full stop.

    Examples
    --------
    >>> first_line(ValueError("Bad cell.\\nMore."))
    'Bad cell'
    """
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(". ") if lines else type(error).__name__
