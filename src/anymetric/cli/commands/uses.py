"""Commands that use a trained model: predict, evaluate, explain and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anymetric.cli import options as o
from anymetric.cli.app import app, ending
from anymetric.cli.voice import Voice


@app.command()
@ending
def predict(
    model: o.Model,
    path: o.Rows,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file of scores; without it, standard output."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="A column to copy beside the scores, such as an id."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the calibrated probability of each label.")
    ] = False,
    force: o.Force = False,
    encoding: o.Encoding = "",
    allow_unknown: o.AllowUnknown = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Predict new rows: score, rank and label of each, in the order of the file.

    A score above zero means the positive label, and rank 1 is the highest score; of more than two
    labels each has a score, and the highest decides. A model for a metric at the top, such as
    precision@5%, flags the top of the file. Values that training never saw count as missing.
    """
    from anymetric.cli.predict import predict as scored

    voice = Voice(quiet, json)
    ways: dict[str, Any] = {
        "proba": proba,
        "force": force,
        "encoding": encoding,
        "lenient": allow_unknown,
    }
    voice.document(scored(model, path, out, tuple(keep or ()), voice, **ways))


@app.command()
@ending
def evaluate(
    model: o.Model,
    path: o.Rows,
    metric: o.Metrics = None,
    greater: o.Greater = None,
    metric_command: o.MetricCommand = None,
    metric_reads: o.MetricReads = None,
    command_format: o.CommandFormat = None,
    command_field: o.CommandField = None,
    command_timeout: o.CommandTimeout = None,
    command_retries: o.CommandRetries = None,
    command_env: o.CommandEnv = None,
    command_slots: o.CommandSlots = None,
    command_shell: o.CommandShell = False,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The most calls of a metric of your own. A program is called once for all rows "
            "and once for each group, unless more is allowed, for the error.",
        ),
    ] = None,
    trust_metric: o.TrustMetric = False,
    seed: o.Seed = 0,
    encoding: o.Encoding = "",
    allow_unknown: o.AllowUnknown = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Evaluate a model on rows with known targets: its metric or others, whole and by group."""
    from anymetric.cli.black_box import black_box
    from anymetric.cli.evaluate import evaluate as judged

    voice = Voice(quiet, json)
    named = tuple(metric or ())
    box = black_box(
        metric_command,
        None,
        None if metric_command else "its own",
        reads=metric_reads and metric_reads.value,
        form=command_format and command_format.value,
        field=command_field,
        timeout=command_timeout,
        retries=command_retries,
        env=tuple(command_env or ()),
        slots=command_slots,
        shell=command_shell,
    )
    ways = {"encoding": encoding, "lenient": allow_unknown, "box": box, "budget": budget}
    ways["trust"] = trust_metric
    voice.document(judged(model, path, named, greater, seed, voice, **ways))


@app.command()
@ending
def explain(
    model: o.Model,
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ROWS]",
            help="Rows with known targets, to measure importances on; by default those of fit.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", "-m", help="The metric that counts; by default the model's own."),
    ] = None,
    trust_metric: o.TrustMetric = False,
    top: Annotated[int, typer.Option(min=1, help="Show so many columns and features.")] = 20,
    seed: o.Seed = 0,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Explain a model: importances, learned weights, coefficients; of a run, its metric too."""
    from anymetric.cli.explain import explain as explained
    from anymetric.cli.explain_metric import explain_metric, model_of

    voice = Voice(quiet, json)
    ways: dict[str, Any] = {"rows": path, "metric": metric, "trust": trust_metric, "seed": seed}
    found = explained(model_of(model), top, voice, **ways)
    voice.document({**found, **explain_metric(model, voice)})


@app.command()
@ending
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder, or its run.json.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The report; by default report.html in the folder."),
    ] = None,
    force: o.Force = False,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write the report of a run again: one HTML file that loads nothing from elsewhere."""
    from anymetric.cli.explain import write_page

    voice = Voice(quiet, json)
    page = write_page(run, out, force)
    voice.line(f"Report: {page}")
    if show:
        typer.launch(page.resolve().as_uri())
    voice.document({"report": str(page)})
