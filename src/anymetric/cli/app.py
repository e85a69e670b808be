"""App: where commands are hung up, and how each one ends."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Annotated, Any, NoReturn

import typer

from anymetric import __version__
from anymetric.cli.faults import Exit, Stopped, sentence
from anymetric.cli.help import PlainGroup
from anymetric.cli.voice import shown

app = typer.Typer(
    name="anymetric",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=PlainGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
)
DEBUG = "--debug"
# What was typed after `anymetric`.
typed: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())


def run(arguments: Sequence[str]) -> int:
    """Run a command; return its exit code.

    Examples
    --------
    >>> run(["metrics", "gmean"])
    gmean: greater is better.
    Geometric mean of the two recalls: sqrt(TPR TNR).
    0
    """
    from anymetric.cli import commands

    typed.set(tuple(arguments))
    try:
        commands.app([part for part in arguments if part != DEBUG], prog_name="anymetric")
    except SystemExit as end:
        return int(end.code or 0) if not isinstance(end.code, str) else int(Exit.BUG)
    return int(Exit.DONE)


def command_line() -> str:
    """Return what was typed, so that it can be typed again.

    Examples
    --------
    >>> _ = typed.set(("fit", "my rows.csv"))
    >>> command_line()
    "anymetric fit 'my rows.csv'"
    """
    return shlex.join(["anymetric", *typed.get()])


def ending(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command end with an exit code and one sentence instead of a traceback."""

    @wraps(command)
    def ended(*given: Any, **settings: Any) -> None:
        try:
            command(*given, **settings)
            sys.stdout.flush()
        except typer.Exit:
            raise
        except Stopped as stopped:
            fail(str(stopped), Exit.STOPPED)
        except KeyboardInterrupt:
            fail("Stopped; nothing was kept.", Exit.STOPPED)
        except BrokenPipeError:  # the reader has seen enough
            let_go()
        except Exception as error:
            if isinstance(error, OSError):
                let_go()
            explain(error)

    ended.__doc__ = flowing(command.__doc__ or "")
    return ended


def flowing(text: str) -> str:
    """Return the paragraphs of a docstring, each on one line: the terminal breaks them itself.

    Examples
    --------
    >>> flowing("One.\\n\\n    Two\\n    three.")
    'One.\\n\\nTwo three.'
    """
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def let_go() -> None:
    """Flush standard output; if it takes nothing more, the interpreter must not try again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explain(error: Exception) -> NoReturn:
    """End with what there is to say of an error."""
    if DEBUG in typed.get():
        traceback.print_exc()
    known = sentence(error)
    if known is not None:
        fail(known, Exit.USER)
    what = f"Unexpected {type(error).__name__}: {error}"
    fail(f"{what}\nRun it again with {DEBUG} for the traceback.", Exit.BUG)


def fail(message: str, code: Exit) -> NoReturn:
    """Say one sentence on standard error and end."""
    print(f"anymetric: {shown(message)}", file=sys.stderr)
    raise typer.Exit(int(code))


def version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        print(f"anymetric {__version__}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show tracebacks.")] = False,
) -> None:
    """Train a model for the metric you care about, even when that metric is a black box."""
