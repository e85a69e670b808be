"""Help: the options of a command in groups, as plain text that fits a terminal."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

# Letters of the names of options beside their help; longer ones have a line of their own.
NAMES = 26
PLAIN = "Options"
HYPHEN = "\N{NON-BREAKING HYPHEN}"


class PlainCommand(TyperCommand):
    """A command whose help is plain text in at most 80 columns.

    Examples
    --------
    >>> import typer
    >>> app = typer.Typer(rich_markup_mode=None, add_completion=False)
    >>> @app.command(cls=PlainCommand)
    ... def fit(target: str = typer.Option(..., help="The column to predict.")):
    ...     "Train a model."
    >>> app(["--help"], standalone_mode=False, prog_name="fit")
    Usage: fit [OPTIONS]
    <BLANKLINE>
      Train a model.
    <BLANKLINE>
    Options:
      --target TEXT  The column to predict.  [required]
      --help         Show this message and exit.
    0
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description, arguments and the groups of options."""
        described(self, ctx, formatter)
        listed(panels(self, ctx), formatter)


class PlainGroup(TyperGroup):
    """All commands, each with the first sentence of its help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, description, the commands and the options of all."""
        described(self, ctx, formatter)
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        records = [(name, first_sentence(one.help or "")) for name, one in commands if one]
        listed({"Commands": records, **panels(self, ctx)}, formatter)


def listed(panels: dict[str, list[tuple[str, str]]], formatter: Any) -> None:
    """Write names with their help, group by group; words with hyphens are not broken."""
    for title, records in panels.items():
        with formatter.section(title):
            whole = [(name, said.replace("-", HYPHEN)) for name, said in records]
            formatter.write_dl(whole, col_max=NAMES)
    formatter.buffer[:] = [part.replace(HYPHEN, "-") for part in formatter.buffer]


def described(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the usage and the description of a command, its paragraphs apart."""
    pieces = [piece.strip("{}") for piece in command.collect_usage_pieces(ctx)]
    formatter.write_usage(ctx.command_path, " ".join(pieces))
    for paragraph in unmarked(command.help or "").split("\n\n"):
        if paragraph:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(paragraph.replace("-", HYPHEN))


def panels(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Return names and help of all parameters by group: arguments first, ungrouped options next."""
    found: dict[str, list[tuple[str, str]]] = {"Arguments": [], PLAIN: []}
    for one in command.get_params(ctx):
        record = one.get_help_record(ctx)
        if record is None:
            continue
        argument = one.param_type_name == "argument"
        panel = "Arguments" if argument else getattr(one, "rich_help_panel", None) or PLAIN
        names, said = record
        shown = str(names).split()[0].strip("{}[]") if argument else named(names)
        found.setdefault(panel, []).append((shown, unmarked(said)))
    return {title: records for title, records in found.items() if records}


def named(names: str) -> str:
    """Return the names of an option with what follows it in capitals, as most programs write it.

    Examples
    --------
    >>> named("-m, --metric <str>"), named("--debug <bool>"), named("--drop <list[str]>")
    ('-m, --metric TEXT', '--debug', '--drop TEXT')
    """
    for wrong, right in KINDS.items():
        names = names.replace(wrong, right)
    return re.sub(r"<([^>]*)>", r"[\1]", names.rstrip())


# How the types of values are written, here and by Typer.
KINDS = {
    " <bool>": "",
    "<list[str]>": "TEXT",
    "<str>": "TEXT",
    "<path>": "PATH",
    "<int>": "INTEGER",
    "<float>": "NUMBER",
    "<int range>": "INTEGER",
    "<float range>": "NUMBER",
}


def unmarked(text: str) -> str:
    """Return text without the marks of rich.

    Examples
    --------
    >>> unmarked("[dim]anymetric fit[/dim] [default: auto]")
    'anymetric fit [default: auto]'
    """
    return re.sub(r"\[/?(?:dim|bold|b|i)\]", "", text).strip()


def first_sentence(text: str) -> str:
    """Return the first sentence of a description.

    Examples
    --------
    >>> first_sentence("Train a model. And more.")
    'Train a model.'
    """
    return unmarked(text).split("\n\n")[0].split(". ")[0].rstrip(".") + "."
