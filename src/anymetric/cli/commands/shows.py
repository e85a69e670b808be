"""Commands that show what there is: metrics, data, paper and demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anymetric.cli import options as o
from anymetric.cli.app import app, ending
from anymetric.cli.voice import Voice


@app.command()
@ending
def metrics(
    name: Annotated[
        str | None, typer.Argument(help="One metric, or module:function; without it, all.")
    ] = None,
    json: o.Json = False,
) -> None:
    """List the ready-made metrics with their formulas."""
    from anymetric.cli.listing import list_metrics

    list_metrics(name, Voice(json=json))


@app.command()
@ending
def data(
    name: Annotated[
        str | None, typer.Argument(help="One data set; without it, the list of all.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write it to this file: CSV, Parquet or Arrow."),
    ] = None,
    force: o.Force = False,
    fetch: Annotated[
        bool,
        typer.Option("--fetch", help="Download it from where it is published, if it is missing."),
    ] = False,
    json: o.Json = False,
) -> None:
    """List, describe or write the data sets of the paper's experiments.

    [dim]anymetric data adult --out adult.csv[/dim]
    """
    from anymetric.cli.datasets import show_data

    show_data(name, out, fetch, Voice(json=json), force)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=False,
)
@ending
def paper(context: typer.Context) -> None:
    """Run the paper's experiments; `anymetric paper --help` has the options."""
    from anymetric.paper.run import main

    raise typer.Exit(main(list(context.args)))


@app.command()
@ending
def demo(
    seed: o.Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path(
        "anymetric-demo"
    ),
) -> None:
    """Train for macro F1 on noisy data: a table, a picture, a report."""
    from anymetric.demo import main

    raise typer.Exit(main(["--seed", str(seed), "--out", str(out)]))
