"""The command line's door: `anymetric` and `python -m anymetric`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from anymetric.errors import MissingExtra, import_extra


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 2 the user can mend it, 1 a bug, 130 stopped.

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
        for module in ("typer", "rich"):
            import_extra(module, needed_by="The command line", extra="cli")
    except MissingExtra as error:
        print(error, file=sys.stderr)
        return 2
    from anymetric.cli.app import run

    return run(given)


if __name__ == "__main__":
    sys.exit(main())
