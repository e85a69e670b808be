"""Traced: the line of the user's own code that an error comes from."""

from __future__ import annotations

import os
import sysconfig
import traceback
from pathlib import Path

OURS = str(Path(__file__).parents[1]) + os.sep
STANDARD = str(Path(sysconfig.get_path("stdlib"))) + os.sep
INSTALLED = tuple({str(Path(sysconfig.get_path(name))) + os.sep for name in ("purelib", "platlib")})


def users_line(error: BaseException) -> str:
    """Return where in the user's code an error was raised: file, line, function and source.

    That is the deepest frame outside of installed packages. Empty if there is none, as of a
    program or of a function of scikit-learn.

    Examples
    --------
    >>> def profit():
    ...     return 1.0 / 0.0
    >>> try:
    ...     profit()
    ... except ZeroDivisionError as error:
    ...     users_line(error).rpartition(", line")[2]
    ' 2, in profit: return 1.0 / 0.0'
    """
    others = (OURS, STANDARD, "<frozen", *INSTALLED)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(others)]
    if not own:
        return ""
    found = own[-1]
    source = f": {found.line}" if found.line else ""
    return f"{nearby(found.filename)}, line {found.lineno}, in {found.name}{source}"


def nearby(filename: str) -> str:
    """Return a path from the working directory if it lies below, else as it is.

    Examples
    --------
    >>> nearby(os.path.join(os.getcwd(), "mine.py")), nearby("<stdin>")
    ('mine.py', '<stdin>')
    """
    folder = os.getcwd() + os.sep
    return filename.removeprefix(folder)
