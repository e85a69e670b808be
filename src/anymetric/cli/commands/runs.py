"""Commands for runs that were begun: resume, ask, tell, status and best; and export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anymetric.cli import options as o
from anymetric.cli.app import app, ending
from anymetric.cli.voice import Voice


@app.command()
@ending
def resume(run: o.RunFolder, quiet: o.Quiet = False, json: o.Json = False) -> None:
    """Continue a run that was stopped or killed; recorded evaluations are not repeated.

    Started in several terminals, the processes share the evaluations of one run.
    """
    from anymetric.cli.questions import resume as resumed

    voice = Voice(quiet, json)
    voice.document(resumed(run, voice))


@app.command()
@ending
def ask(
    run: o.RunFolder,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="The most questions to hand out.")
    ] = 1,
    form: Annotated[
        o.Form, typer.Option("--format", help="Of the tables of predictions.")
    ] = o.Form.CSV,
    lease: Annotated[
        float,
        typer.Option(
            "--lease",
            metavar="SECONDS",
            min=0.0,
            help="Hand a question out again after this time without an answer.",
        ),
    ] = 3600.0,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Hand out the next questions of a run: each a line with its key and a file of predictions.

    Nothing is printed if all open questions are with somebody, or if the run is finished.
    """
    from anymetric.cli.questions import ask as asked

    voice = Voice(quiet, json)
    voice.document(asked(run, count, form.value, lease, voice))


@app.command(context_settings={"ignore_unknown_options": True})
@ending
def tell(
    run: o.RunFolder,
    pairs: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY VALUE...", help="A key, or its first digits, and the answer; or several."
        ),
    ],
    failed: Annotated[
        str | None,
        typer.Option("--failed", metavar="REASON", help="Why these keys have no answer."),
    ] = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Answer questions of a run, in any order; a second answer for a key is not used.

    [dim]anymetric tell my-run 3f2a91c0b7d4 0.82[/dim]
    """
    from anymetric.cli.questions import pairs_of
    from anymetric.cli.questions import tell as told

    voice = Voice(quiet, json)
    voice.document(told(run, pairs_of(pairs, failed), failed, voice))


@app.command()
@ending
def status(run: o.RunFolder, json: o.Json = False) -> None:
    """Show the state of a run: evaluations, open questions, failures, time."""
    from anymetric.cli.questions import status as stands

    voice = Voice(json=json)
    voice.document(stands(run, voice))


@app.command()
@ending
def best(
    run: o.RunFolder,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the model.")] = Path(
        "model.skops"
    ),
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the best model of a run by the answers so far."""
    from anymetric.cli.questions import best as written

    voice = Voice(quiet, json)
    voice.document(written(run, out, voice, force))


@app.command()
@ending
def export(
    source: Annotated[
        Path, typer.Argument(metavar="RUN|MODEL", help="A run's folder, or a saved model.")
    ],
    optuna: Annotated[
        str | None,
        typer.Option(
            "--optuna",
            metavar="ADDRESS",
            help="Write a run's evaluations to a database of Optuna's: sqlite:///study.db.",
        ),
    ] = None,
    onnx: Annotated[
        Path | None,
        typer.Option("--onnx", metavar="FILE", help="Write a model as ONNX: model.onnx."),
    ] = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write a run as an Optuna study (--optuna), or a model as ONNX (--onnx)."""
    from anymetric.cli.export import chosen

    voice = Voice(quiet, json)
    voice.document(chosen(source, optuna, onnx, voice, force))


@app.command()
@ending
def suspects(
    run: o.RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The suspects by row, as a CSV file.")
    ] = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Find training rows whose label or features the clean rows of --valid contradict.

    Rows are numbered as in the training file, from 1, with a probability, the reason (label,
    features or source) and the gain that fixing or dropping them is expected to bring.
    """
    from anymetric.cli.suspects import suspects as found

    voice = Voice(quiet, json)
    voice.document(found(run, out, voice, force))
