"""Errors and warnings: what anymetric says when something outside it is missing or broken."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

# Frames that a user did not write.
INSIDE = ("anymetric", "sklearn", "contextlib", "joblib")


class MissingExtra(ImportError):  # noqa: N818 - it reads as what it says
    """An optional dependency is needed and not installed; the message says how to get it.

    Examples
    --------
    >>> raise MissingExtra("TorchModel needs torch: pip install 'anymetric[torch]'.")
    Traceback (most recent call last):
    ...
    anymetric.errors.MissingExtra: TorchModel needs torch: pip install 'anymetric[torch]'.
    """


class DataError(OSError):
    """A data file cannot be had, or is not the file that it should be.

    Examples
    --------
    >>> issubclass(DataError, OSError)
    True
    """


class LedgerError(ValueError):
    """A ledger cannot be used: damaged, of another run, of a newer version, or none at all.

    Examples
    --------
    >>> raise LedgerError("run.db is no ledger of anymetric.")
    Traceback (most recent call last):
    anymetric.errors.LedgerError: run.db is no ledger of anymetric.
    """


class WorkspaceError(OSError):
    """A metric cannot be called: no disk space for its work files, no process for its program.

    The metric is not to blame, so this is no answer of it: the run stops, and may be begun again.

    Examples
    --------
    >>> issubclass(WorkspaceError, OSError)
    True
    """


class MetricWarning(UserWarning):
    """A run ended with a model, and there is something that its user should know.

    Examples
    --------
    >>> issubclass(MetricWarning, UserWarning)
    True
    """


def warn(message: str) -> None:
    """Issue a `MetricWarning` that points at the user's line.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn("The metric had the same value for all models.")
    >>> told[0].category.__name__
    'MetricWarning'
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, MetricWarning, stacklevel=level)


def import_extra(module: str, *, needed_by: str, extra: str) -> Any:
    """Import an optional module, or say which extra brings it.

    Examples
    --------
    >>> import_extra("json", needed_by="This page", extra="paper").dumps([1])
    '[1]'
    >>> import_extra("no_such_module", needed_by="This page", extra="paper")
    Traceback (most recent call last):
    ...
    anymetric.errors.MissingExtra: This page needs no_such_module: pip install 'anymetric[paper]'.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A broken installation of the package itself is another matter, and says so itself.
        if (error.name or "").partition(".")[0] != package:
            raise
        message = f"{needed_by} needs {package}: pip install 'anymetric[{extra}]'."
        raise MissingExtra(message, name=package) from error
    except OSError as error:
        message = f"{needed_by} needs {package}, which is installed but cannot be loaded: {error}"
        raise MissingExtra(message, name=package) from error


class Deferred:
    """An optional module that is imported when it is first used.

    Examples
    --------
    >>> Deferred("json", needed_by="This page", extra="paper").dumps([1])
    '[1]'
    """

    def __init__(self, module: str, *, needed_by: str, extra: str) -> None:
        self._asked = {"module": module, "needed_by": needed_by, "extra": extra}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_extra(**self._asked), name)
