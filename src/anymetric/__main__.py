"""The command line's door: `anymetric` and `python -m anymetric`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 2 an error of usage, 1 a bug, 130 stopped.

    Parameters
    ----------
    arguments : list of str, optional
        By default those of the process.

    Examples
    --------
    >>> main(["--version"])
    anymetric 0.1.0
    0
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return started(given)
    except KeyboardInterrupt:  # while modules are still being imported
        print("anymetric: Stopped; nothing was kept.", file=sys.stderr)
        return STOPPED


def started(given: list[str]) -> int:
    """Import what the command line needs, and run the command."""
    from anymetric.errors import MissingExtra, import_extra

    try:
        for module in ("typer", "rich"):
            import_extra(module, needed_by="The command line", extra="cli")
    except MissingExtra as error:
        print(error, file=sys.stderr)
        return 2
    from anymetric.cli.app import run

    return run(given)


if __name__ == "__main__":
    sys.exit(main())
